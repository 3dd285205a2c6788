import Foundation
internal import JSON
import TestSupport
import Testing

/// An option is followed, or refused: no command says that it did what it did not do.
@Suite("Options have an effect")
struct OptionEffectTests {
    private func refused(
        _ platform: SandboxHome, _ arguments: [String], _ part: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let result = try platform.runner(arguments, input: .text("value")).run()
        failed(result, 2, part, sourceLocation: sourceLocation)
        #expect(result.output == "", sourceLocation: sourceLocation)
    }

    @Test func `options that contradict each other are refused, and nothing is sent`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value", "-t", "production")
        let file = try platform.home.directory.write("A=1\n", to: "a.env")
        let requests = try platform.requests {
            for (arguments, part) in [
                (["logout", "--all", "--account", "dev"], "--account"),
                (["login", "--account", "work"], "--name"),
                (["login", "--team", "acme"], "account use"),
                (["link", "web", "--local", "foo"], "--local"),
                (["link", "-p", "api", "--local", "foo"], "--local"),
                (["rotate", "--plan", file, "-p", "web"], "-p"),
                (["share", "web", "-p", "api", "--group", "team"], "different projects"),
                (["account", "use", "dev", "--account", "work"], "different accounts"),
                (["group", "exposure", "bob", "--force"], "--report"),
                (["verify", "--report", file, "--accept-older"], "--accept-older"),
                (["export", "-p", "web", "-t", "production", "--force"], "-o FILE"),
                (["convert", file, "--force"], "-o FILE"),
                (["import", "-", "-p", "web", "--remove"], "stdin"),
                (["check", "--types", "ts", "-o", "-", "--exit-code"], "-o FILE"),
                (["group", "invite", "bob", "--for", "0s"], "1 second"),
                (
                    ["rotate", "KEY", "-p", "web", "--redeploy", "--check-status", "204"],
                    "check-url"
                ),
            ] {
                try refused(platform, arguments, part)
            }
        }
        #expect(requests == [])
        #expect(
            try json(platform.run("account", "list", "--json"))["accounts"]?.elements.count == 1)
    }

    @Test(arguments: [
        ("1", true), ("true", true), ("maybe", true), ("0", false), ("Off", false), ("", false),
    ])
    func `ZG_ENV_OFFLINE is understood`(value: String, isOffline: Bool) throws {
        let platform = try SandboxHome()
        let seen = try platform.requests {
            _ = try platform.run(
                "project", "list", "--json", environment: ["ZG_ENV_OFFLINE": value])
        }
        #expect(seen.isEmpty == isOffline)
    }

    @Test func `a target that is narrower than a variable does not change the whole variable`()
        throws
    {
        let platform = try SandboxHome()
        try platform.set("KEY", "first")
        try platform.set("KEY", "second")
        failed(
            try platform.run(
                "set", "KEY", "-p", "web", "-t", "production", "--rotate-every", "30d"), 2,
            "production, preview, development")
        #expect(try platform.home.revealed("KEY", project: "web") == Array("second".utf8))
        done(
            try platform.run("restore-version", "KEY", "1", "-p", "web", "-t", "production"))
        func value(_ target: String) throws -> [UInt8] {
            try platform.home.revealed("KEY", "-t", target, project: "web")
        }
        #expect(try value("production") == Array("first".utf8))
        #expect(try value("preview") == Array("second".utf8))
        done(
            try platform.run(
                "restore-version", "KEY", "1", "-p", "web", "-t", "production,preview,development"))
        #expect(try platform.home.revealed("KEY", project: "web") == Array("first".utf8))
        let set = try json(
            platform.run(
                "set", "KEY", "-p", "web", "--allow-empty", "--rotate-every", "30d", "--json",
                input: .text("")))
        #expect(set["version"] == 3, "\(set)")
    }

    @Test func `a push with a target says what it changes beyond it, and prunes nothing there`()
        throws
    {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        try platform.create("WIDE", "theirs", ["target": ["production", "preview"]])
        try platform.create("NARROW", "theirs", ["target": ["production"]])
        let report = try json(
            platform.run(
                "push", "-p", "web", "-t", "production", "--prune", "--yes", "--json"))
        let warnings = report["warnings"]?.elements ?? []
        func text(_ code: String) -> String? {
            warnings.first { $0["code"]?.text == code }?["message"]?.text
        }
        #expect(text("beyond-target")?.contains("KEY (production, preview, development)") == true)
        #expect(text("not-pruned")?.contains("WIDE (production, preview)") == true)
        #expect(platform.records("WIDE").count == 1 && platform.records("NARROW").isEmpty)
    }

    @Test func `an environment that nothing applies to starts no program`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value", "-t", "qa")
        let mark = platform.home.directory.path("ran")
        failed(
            try platform.run("run", "-p", "web", "-t", "qaa", "--", "touch", mark), 125,
            "Did you mean qa?")
        failed(
            try platform.run("export", "-p", "web", "-t", "qaa", "-o", mark), 4, "Did you mean qa?")
        #expect(!FileManager.default.fileExists(atPath: mark))
        done(try platform.run("rm", "KEY", "-p", "web", "-t", "qa", "--yes"))
        done(try platform.run("run", "-p", "web", "-t", "qa", "--", "touch", mark))
        #expect(FileManager.default.fileExists(atPath: mark))
    }

    @Test func `import changes the type of what it does not change otherwise`() throws {
        let platform = try SandboxHome()
        try platform.set("A", "1", "-t", "production", "--type", "plain")
        let file = try platform.home.directory.write("A=1\n", to: "a.env")
        let report = try json(
            platform.run("import", file, "-p", "web", "--type", "sensitive", "--json"))
        #expect(report["updated"]?.elements == ["A"])
        let listed = try json(platform.run("list", "-p", "web", "--json"))["variables"]?.elements
        #expect(listed?.first?["type"] == "sensitive")
        failed(
            try platform.run(
                "import", file, "-p", "web", "--type", "plain", "--on-conflict", "fail"), 5)
        let kept = try json(
            platform.run(
                "import", file, "-p", "web", "--type", "plain", "--on-conflict", "skip", "--json"))
        #expect(kept["skipped"]?.elements == ["A"])
    }

    @Test func `no file of the vault is replaced or taken for a log`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value", "-t", "production")
        done(try platform.run("reveal", "KEY", "-p", "web"))
        let vault = platform.home.directory.path("data/zg-env/vault.zgv")
        let log = try #require(try json(platform.run("log", "--json"))["log"]?.text)
        let passphrase = platform.home.passphrasePath
        let files = [vault, log, passphrase]
        let before = try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        for path in files {
            failed(try platform.run("backup", path, "--force"), 2)
            failed(
                try platform.run("export", "-p", "web", "-t", "production", "-o", path, "--force"),
                2, "belongs to the vault")
        }
        for path in [vault, passphrase] {
            let result = try platform.run("reveal", "KEY", "-p", "web", "--audit-log", path)
            #expect(result.status != 0 && result.output == "", "\(result.error)")
        }
        #expect(try files.map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == before)
        let wrong = try platform.home.directory.write("wrong", to: "wrong", mode: 0o600)
        done(try platform.run("slot", "add", "recovery"))
        failed(
            try platform.run("rekey", "--slot-secret-file", wrong, "--yes"), 3,
            "does not open any slot")
    }

    @Test func `open fails if the browser cannot be started`() throws {
        let platform = try SandboxHome()
        _ = try platform.home.directory.makeDirectory("bin")
        try platform.home.directory.write("#!/bin/sh\nexit 3\n", to: "bin/xdg-open", mode: 0o700)
        let path = platform.home.directory.path("bin") + ":/usr/bin:/bin"
        failed(
            try platform.run("open", "-p", "web", environment: ["PATH": path, "DISPLAY": ":9"]), 1,
            "exit code 3")
    }

    @Test func `rotate goes on with a rotation of the named project only`() throws {
        let home = try RotationHome()
        _ = try home.rotate("--check", "exit 1", "--on-failure", "keep")
        try failedAsJSON(home.proceed("KEY", "--close", "-p", "nosuch"), 4, "not_found")
        try failedAsJSON(home.proceed("KEY", "--close", "-p", "api"), 4, "not_found")
        done(try home.proceed("KEY", "--close", "-p", "web"))
        for (project, count) in [("web", 1), ("api", 0)] {
            done(try home.platform.run("set", "OTHER", "-p", "api", input: .text("value")))
            let status = try json(home.platform.run("rotate", "--status", "-p", project, "--json"))
            #expect(status["rotations"]?.elements.count == count)
        }
        failed(try home.platform.run("status", "-p", "nosuch"), 4, "nosuch")
    }

    @Test func `two open rotations of one key are distinguished by their targets`() throws {
        let home = try RotationHome()
        done(
            try home.platform.run(
                "set", "KEY", "-p", "web", "-t", "preview", "--push", "--yes",
                input: .text(RotationHome.old)))
        for target in ["production", "preview"] {
            _ = try home.rotate("-t", target, "--check", "exit 1", "--on-failure", "keep")
        }
        try failedAsJSON(home.proceed("KEY", "--close"), 2, "usage")
        for target in ["preview", "production"] {
            done(try home.proceed("KEY", "--close", "-t", target))
        }
        try failedAsJSON(home.proceed("KEY", "--close"), 4, "not_found")
        // Nor is a value made for a target that had none.
        try failedAsJSON(home.rotate("-t", "production,qa"), 4, "not_found")
    }

    @Test func `a split that was interrupted is named, and the push finishes it`() throws {
        let home = try RotationHome(targets: "production,preview")
        try home.platform.setFaults("POST /v*/projects/*/env* 503 x99")
        let split = try home.rotate("-t", "production")
        #expect(split.status != 0)
        try home.platform.setFaults()
        let missing = try failedAsJSON(home.proceed("KEY", "--resume", "-p", "web"), 4, "not_found")
        #expect(missing.contains("no unfinished rotation"))
        let text = try home.platform.run("rotate", "KEY", "--resume", "-p", "web")
        #expect(text.error.contains("zg-env push KEY -p web"), "\(text.error)")
        done(try home.platform.run("push", "KEY", "-p", "web", "--yes"))
        #expect(
            home.platform.records("KEY") == [
                "preview=\(RotationHome.old)", "production=\(RotationHome.old)",
            ])
    }

    @Test func `a rotation of development has nothing to deploy or to revoke`() throws {
        let home = try RotationHome(targets: "production,development")
        let writes = try home.platform.writes {
            let message = try failedAsJSON(
                home.rotate(
                    "-t", "development", "--check", home.recorder("check"), "--revoke",
                    home.recorder("revoke")), 2, "usage")
            #expect(message.contains("only for development"))
        }
        #expect(writes == [] && home.read("check") == "" && home.read("revoke") == "")
    }

    @Test func `without a text of its own, a dry run says that nothing was changed`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value", "-t", "production")
        let before = try platform.home.vaultBytes()
        for arguments in [
            ["logout"], ["rename", "KEY", "NEW", "-p", "web"],
            ["restore-version", "KEY", "1", "-p", "web"], ["project", "rename", "web", "other"],
            ["config", "set", "schema-check", "on"],
        ] {
            let result = done(try platform.runner(arguments + ["--dry-run"]).run())
            #expect(result.error.contains("Dry run: nothing was changed."), "\(arguments)")
        }
        let shown = done(try platform.run("reveal", "KEY", "-p", "web", "--dry-run"))
        #expect(shown.output == "Would show KEY.\n")
        #expect(try platform.home.vaultBytes() == before)
    }

    @Test func `the notification service gets the account, the API and the passphrase file`() throws
    {
        let platform = try SandboxHome()
        let plan = done(
            try platform.run(
                "notify", "install", "--dry-run", "--account", "dev", "--team", "acme"))
        for part in ["--account", "acme", platform.url, "--passphrase-file"] {
            #expect(plan.output.contains(part), "\(plan.output)")
        }
    }

    @Test func `harden with --redeploy redeploys although nothing is left to harden`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        let before = try platform.current()
        let plan = done(
            try platform.run("harden", "KEY", "-p", "web", "--redeploy", "--dry-run"))
        #expect(plan.output.contains("redeploy"))
        let asked = try platform.run("harden", "KEY", "-p", "web", "--redeploy")
        #expect(asked.status == 2 && asked.error.contains("--yes"))
        #expect(try platform.current() == before)
        done(try platform.run("harden", "KEY", "-p", "web", "--redeploy", "--yes"))
        #expect(try platform.current() != before)
    }

    @Test func `a webhook of another project is not deleted`() throws {
        let platform = try SandboxHome()
        let made = try json(
            platform.run(
                "webhook", "create", "https://example.com/hook", "-p", "web", "--yes", "--json"))
        let id = try #require(made["id"]?.text)
        failed(
            try platform.run("webhook", "delete", id, "-p", "bare", "--yes"), 5, "not a webhook")
        done(try platform.run("webhook", "delete", id, "-p", "web", "--yes"))
    }
}

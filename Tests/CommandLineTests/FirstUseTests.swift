import Foundation
import Sandbox
import TestSupport
import Testing

/// Problems that first-time users of zg-env ran into.
@Suite("First use")
struct FirstUseTests {
    private func terminal(
        _ platform: SandboxHome, _ arguments: [String],
        _ script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)]
    ) throws -> ProgramResult {
        var runner = platform.home.terminalRunner(arguments, streams: true, script: script)
        runner.environment["ZG_ENV_API_URL"] = platform.url
        runner.environment["ZG_ENV_PASSPHRASE_FILE"] = platform.home.passphrasePath
        return try runner.run()
    }

    private static let setAndRedeploy = [
        "set", "KEY", "-p", "web", "--generate", "hex:16", "--push", "--redeploy",
    ]

    @Test("USE-B0: set --push --redeploy asks once, about the push and the redeploy")
    func asksBeforeProduction() throws {
        let platform = try SandboxHome()
        let before = try platform.current()
        // Nobody to ask: nothing changes, not even in the vault.
        try failedAsJSON(platform.runner(Self.setAndRedeploy + ["--json"]).run(), 2, "usage")
        failed(
            try platform.runner(Self.setAndRedeploy).run(), 2, "no terminal to prompt on", "--yes")
        #expect(try platform.home.run(["list", "KEY", "-p", "web"]).status != 0)

        let none = try terminal(
            platform, Self.setAndRedeploy,
            [
                (.terminal("Push to web and redeploy production?"), .line("n"))
            ])
        #expect(none.end == .exited(1), "\(none.screen)")
        #expect(none.stepsDone == 1, "\(none.screen)")
        let screen = String(decoding: none.terminal, as: UTF8.self)
        #expect(screen.contains("create KEY"))
        #expect(screen.contains("redeploy \(try #require(before)) of web for production"))
        #expect(screen.contains("The change is in the vault; Vercel was not updated."))
        #expect(platform.records("KEY").isEmpty)
        #expect(try platform.current() == before)

        let all = try terminal(
            platform, Self.setAndRedeploy,
            [(.terminal("Push to web and redeploy production?"), .line("y"))])
        #expect(all.end == .exited(0), "\(all.screen)")
        #expect(all.screen.ranges(of: "[y/N]").count == 1, "\(all.screen)")
        #expect(try platform.current() != before)
    }

    @Test("USE-B0: --dry-run of set --push --redeploy shows all three steps")
    func dryRunOfThreeSteps() throws {
        let platform = try SandboxHome()
        let writes = try platform.writes {
            let text = done(try platform.runner(Self.setAndRedeploy + ["--dry-run"]).run()).output
            #expect(text.contains("Would set KEY in web."))
            #expect(text.contains("Would push it to web on Vercel."))
            #expect(text.contains("Would redeploy production of web"))
            let report = try json(
                platform.runner(Self.setAndRedeploy + ["--dry-run", "--json"]).run())
            #expect(report["push"] == true && report["redeploy"] == true)
        }
        #expect(writes == [])
    }

    @Test("USE-B1: status shows an open rotation first and advises no redeploy")
    func openRotationInStatus() throws {
        let home = try RotationHome()
        _ = try failedReport(
            home.rotate(
                "--check", "test \"$(cat)\" = '\(RotationHome.old)'", "--on-failure", "keep"), 11,
            "needs_attention")
        let text = done(try home.platform.run("status")).output
        let first = text.split(separator: "\n").first ?? ""
        #expect(first.contains("KEY") && first.contains("--resume") && first.contains("--abort"))
        let report = try json(home.platform.run("status", "--json"))
        #expect(report["openRotations"]?.elements.first?["key"] == "KEY")
        #expect(
            report["remedies"]?.elements.allSatisfy {
                $0["command"]?.text?.contains("redeploy") != true
            } == true)
        #expect(try json(home.proceed("--abort"))["outcome"] == "rolled_back")
        let after = try json(home.platform.run("status", "--json"))
        #expect(after["openRotations"] == .array([]))
        #expect(done(try home.platform.run("status")).output.hasPrefix("Vault"))
    }

    @Test("USE-A2: a Vercel project links to one vault project, and a link is not replaced unasked")
    func oneOwner() throws {
        let platform = try SandboxHome()
        done(try platform.run("link", "web"))
        done(try platform.run("set", "API_KEY", "-p", "api", input: .text("value")))
        func tied() throws -> String? {
            try json(platform.run("list", "--json"))["project"]?.text
        }
        for options in [[], ["--force"]] {
            failed(
                try platform.runner(["link", "web", "--as", "api"] + options).run(), 5,
                "is already linked to the vault project web", "zg-env link web", "-p web",
                "zg-env project rename web")
            failed(try platform.runner(["link", "--as", "api"] + options + ["--yes"]).run(), 5)
            #expect(try tied() == "web")
        }
        // Renaming keeps the link, also from another directory.
        done(try platform.run("project", "rename", "web", "site"))
        try platform.home.directory.makeDirectory("work/more")
        var elsewhere = platform.runner(["link", "web", "--json"])
        elsewhere.workingDirectory = platform.home.directory.path("work/more")
        #expect(try json(elsewhere.run())["project"] == "site")
        #expect(try tied() == "site")
        // A first push does not link a second project by its name either.
        done(try platform.run("set", "KEY", "-p", "web", "--yes", input: .text("value")))
        let writes = try platform.writes {
            failed(
                try platform.run("push", "-p", "web", "--yes"), 5,
                "linked to the vault project site")
        }
        #expect(writes == [])
        let list = try json(platform.run("project", "list", "--refresh", "--json"))
        let web = list["projects"]?.elements.first { $0["name"] == "web" }
        #expect(web?["local"] == "site" && web?["locals"] == ["site"])
    }

    @Test("USE-B7: harden shows what it did before it offers to redeploy")
    func outcomeBeforeQuestion() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value", "-t", "production")
        try platform.pushed()
        let result = try terminal(
            platform, ["harden", "-p", "web"],
            [
                (.terminal("Make these variables sensitive on Vercel?"), .line("y")),
                (.terminal("Redeploy production now?"), .line("n")),
            ])
        #expect(result.end == .exited(0), "\(result.screen)")
        let screen = String(decoding: result.terminal, as: UTF8.self)
        let outcome = try #require(screen.range(of: "sensitive  KEY"))
        let question = try #require(screen.range(of: "Redeploy production now?"))
        #expect(outcome.lowerBound < question.lowerBound)
        #expect(screen.ranges(of: "sensitive  KEY").count == 1)
    }

    @Test(
        "USE-B14: suggestions for an unknown command include subcommands",
        arguments: [
            (["cancel"], "\"deployment cancel\""),
            (["project", "xyzzy"], "Use one of: create, list"),
            (["rollbck"], "\"rollback\""), (["lst"], "\"list\""), (["join"], "\"postal join\""),
        ])
    func suggestions(words: [String], hint: String) throws {
        let result = try CommandHome.initialised().run(words)
        failed(result, 2, hint)
    }

    @Test("USE-B14: a near miss of a fixed target is a typo, in reading too")
    func nearlyATarget() throws {
        let home = try CommandHome.initialised()
        try home.store(["KEY": "v"])
        for (name, meant) in [
            ("prd", "production"), ("prod", "production"), ("dve", "development"),
            ("prew", "preview"),
        ] {
            failed(try home.run(["list", "-p", "web", "-t", name]), 2, "Did you mean \(meant)?")
        }
        // A digit or another word makes it a name of its own.
        for name in ["dev2", "prod-eu", "qa", "staging"] {
            done(
                try home.run(
                    ["set", "K_\(name.count)", "-p", "web", "-t", name], input: .text("v")))
        }
    }

    @Test("USE-B15: a new name close to an existing one needs a confirmation")
    func slips() throws {
        let home = try CommandHome.initialised()
        for key in ["API_KEY", "DATABASE_URL"] {
            done(try home.run(["set", key, "-p", "web", "-t", "qa-test"], input: .text("v")))
        }
        let before = try home.vaultBytes()
        for (arguments, meant) in [
            (["set", "API_KYE", "-p", "web"], "API_KEY"),
            (["set", "DATABSE_URL", "-p", "web"], "DATABASE_URL"),
            (["set", "API_KEY", "-p", "wbe"], "web"),
            (["set", "NEW", "-p", "web", "-t", "qa-tets"], "qa-test"),
        ] {
            failed(
                try home.run(arguments, input: .text("v")), 2, "Did you mean \(meant)?", "--yes")
        }
        let file = try home.directory.write("KEY=1\n", to: "one.env")
        failed(try home.run(["import", file, "-p", "wbe"]), 2, "Did you mean web?")
        failed(
            try home.run(["copy", "API_KEY", "-p", "web", "--to-project", "wbe"]), 2,
            "Did you mean web?")
        #expect(try home.vaultBytes() == before)

        let asked = try home.terminalRunner(
            ["set", "API_KYE", "-p", "web", "--generate", "hex:8"],
            script: [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (.terminal("Create API_KYE anyway?"), .line("n")),
            ]
        ).run()
        #expect(asked.end == .exited(1), "\(asked.screen)\(asked.error)")
        #expect(try home.vaultBytes() == before)
        let made = try home.terminalRunner(
            ["set", "API_KYE", "-p", "web", "--generate", "hex:8"],
            script: [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (.terminal("Create API_KYE anyway?"), .line("y")),
            ]
        ).run()
        #expect(made.end == .exited(0), "\(made.screen)\(made.error)")
        // Confirmed with --yes, and names that are not close enough.
        for arguments in [
            ["set", "DATABSE_URL", "-p", "web", "--yes"], ["set", "API_KEY", "-p", "wbe", "--yes"],
            ["set", "API_KEY_1", "-p", "web"], ["set", "API_KEY_2", "-p", "web"],
            ["set", "DB_A", "-p", "web"], ["set", "DB_B", "-p", "web"],
            ["set", "DATABASE_URI_OLD", "-p", "web"],
        ] {
            done(try home.run(arguments, input: .text("v")))
        }
    }

    @Test("USE-B4: an export for a shell replaces its variables, except those named by --except")
    func exportOverTheShell() throws {
        let home = try CommandHome.initialised()
        try home.store(["A": "vault", "B": "vault"])
        let export = done(
            try home.run([
                "export", "-p", "web", "-t", "preview", "--format", "shell", "--except", "B",
            ])
        ).output
        let shell = ProgramRunner(
            path: "/bin/sh", ["-c", "eval \"$1\"; echo $A $B", "sh", export],
            environment: ["A": "shell", "B": "shell"])
        #expect(try shell.run().output == "vault shell\n")
    }

    @Test("USE-B16: the help of notify set lists the events once")
    func eventsOnce() throws {
        let text = done(try CommandHome.initialised().run(["notify", "set", "--help"])).output
        #expect(text.ranges(of: "canceled").count == 1, "\(text)")
    }
}

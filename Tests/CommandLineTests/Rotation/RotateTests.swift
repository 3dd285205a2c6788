import Glibc
internal import JSON
import Sandbox
import TestSupport
import Testing

/// A rotation from beginning to end, and each way in which it can fail.
@Suite("Rotating")
struct RotateTests {
    private static let (old, new) = (RotationHome.old, RotationHome.new)

    @Test func `a value is replaced, installed, pushed, deployed, checked and revoked`()
        throws
    {
        let home = try RotationHome()
        let check =
            home.recorder("check")
            + "; echo \"$ZG_ENV_KEY $ZG_ENV_PROJECT $ZG_ENV_DEPLOYMENT_ID $ZG_ENV_DEPLOYMENT_URL\" >>\(home.path("names"))"
        let report = try json(
            home.rotate(
                "--apply", home.recorder("apply"), "--check", check, "--revoke",
                home.recorder("revoke")))
        #expect(report["outcome"] == "done")
        #expect(report["key"] == "KEY")
        #expect(report["revoked"] == true)
        #expect(report.project?["project"] == "web")
        #expect(report.project?["state"] == "live")
        #expect(report.project?["proof"] == "deployment")
        let id = try #require(report.project?["deployment"]?.text)
        #expect(try home.platform.current() == id)
        #expect(home.platform.server.builtVariables(deployment: id)?["KEY"] == Self.new)
        try home.expect(Self.new)
        #expect(home.read("apply") == "apply \(Self.new) \(Self.old)\n")
        #expect(home.read("check") == "check \(Self.new) \(Self.old)\n")
        #expect(home.read("revoke") == "revoke \(Self.old) \(Self.new)\n")
        #expect(home.read("names").hasPrefix("KEY web \(id) https://"))
        // It stays in the history, and the vault knows that it is live.
        let status = try json(home.platform.run("rotate", "--status", "--json"))
        let past = try #require(status["rotations"]?.elements.first)
        #expect(past["open"] == false)
        #expect(past.project?["proof"] == "deployment")
        let list = try json(home.platform.run("list", "KEY", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.first?["live"] == true)
        #expect(list["variables"]?.elements.first?["sync"] == "synced")
        #expect(list["variables"]?.elements.first?["version"] == 2)
    }

    @Test func `without a redeploy it ends after the read-back and says that it is not live`()
        throws
    {
        let home = try RotationHome()
        let report = try json(home.rotate(redeploys: false))
        #expect(report["outcome"] == "done")
        #expect(report.project?["proof"] == "none")
        #expect(report.project?["deployment"] == .null)
        #expect(report["warnings"]?.elements.first?["code"] == "not-live")
        try home.expect(Self.new, served: Self.old)
    }

    @Test(arguments: ["fail", "ignored", "blocked"])
    func `a failed build restores the old value, without a redeploy`(mode: String) throws {
        let home = try RotationHome()
        let before = try home.platform.current()
        home.platform.server.setBuild(try #require(BuildMode(mode)))
        let creations = try home.platform.writes {
            let (report, message) = try failedReport(
                home.rotate("--apply", home.recorder("apply"), "--revoke", home.recorder("revoke")),
                10, "rolled_back")
            #expect(report["outcome"] == "rolled_back")
            #expect(report.project?["state"] == "rolled_back")
            #expect(message.contains("The old value was restored"))
        }.filter { $0 == "POST /v13/deployments" }
        #expect(creations.count == 1)
        try home.expect(Self.old)
        #expect(try home.platform.current() == before)
        #expect(
            home.read("apply") == "apply \(Self.new) \(Self.old)\nundo \(Self.old) \(Self.new)\n")
        #expect(home.read("revoke") == "")
    }

    @Test func `a deployment that keeps the old variables is rebuilt, or the rotation fails`()
        throws
    {
        let home = try RotationHome()
        home.platform.server.setBuild(.keepsOldEnvironment)
        let (report, message) = try failedReport(home.rotate(), 10, "rolled_back")
        #expect(report["outcome"] == "rolled_back")
        #expect(message.contains("was built with the old value"))
        try home.expect(Self.old)
        let actions = home.platform.server.requests.filter {
            $0.method == "POST" && $0.path.hasPrefix("/v13/deployments")
        }.suffix(2).map { $0.body?["meta"]?["action"]?.string }
        #expect(actions == ["redeploy", "promote"])
    }

    @Test func `a value that is built but not live is reverted`() throws {
        for mode in ["alias-error", "staged"] {
            let home = try RotationHome()
            home.platform.server.setBuild(try #require(BuildMode(mode)))
            let (report, message) = try failedReport(home.rotate(), 10, "rolled_back")
            #expect(report.project?["state"] == "rolled_back", "\(mode)")
            #expect(message.contains("not live"), "\(mode) \(message)")
            try home.expect(Self.old)
        }
    }

    @Test(
        "USE-B11: a value that production kept is live after a reverted rotation",
        arguments: ["encrypted", "sensitive"])
    func staysLive(type: String) throws {
        let home = try RotationHome(type: type)
        home.platform.server.setBuild(.fail)
        _ = try failedReport(home.rotate(), 10, "rolled_back")
        try home.expect(Self.old)
        let platform = home.platform
        func isLive(_ arguments: String...) throws -> JSONDocument? {
            let list = try json(
                platform.runner(["list", "-p", "web", "--json"] + arguments).run())
            return list["variables"]?.elements.first?["live"]
        }
        #expect(try isLive() == true)
        #expect(try isLive("--refresh") == true)
        #expect(!done(try platform.run("status", "-p", "web")).output.contains("redeploy"))
        // A build made while the variable had the other value is not live.
        try platform.set("KEY", Self.new, "-t", "production", "--type", type)
        done(try platform.run("push", "-p", "web", "--yes"))
        home.platform.server.setBuild(.ok)
        done(try platform.run("redeploy", "-p", "web", "--wait", "--yes"))
        #expect(try isLive() == true)
        try platform.set("KEY", Self.old, "-t", "production", "--type", type)
        done(try platform.run("push", "-p", "web", "--yes"))
        #expect(try isLive() == false)
    }

    @Test func `delayed domains are waited for`() throws {
        let home = try RotationHome()
        home.platform.server.setBuild(.aliasLate(seconds: 2))
        #expect(try json(home.rotate())["outcome"] == "done")
        try home.expect(Self.new)
    }

    @Test func `a check that fails once live has the old value rebuilt and verified`() throws {
        let home = try RotationHome()
        let check =
            "\(home.recorder("check")); test \"$(tail -1 \(home.path("check")) | cut -d' ' -f2)\" = '\(Self.old)'"
        let (report, message) = try failedReport(
            home.rotate("--check", check, "--apply", home.recorder("apply")), 10, "rolled_back")
        #expect(message.contains("--check failed with exit code 1"))
        #expect(report.project?["proof"] == "deployment")
        try home.expect(Self.old)
        #expect(try home.platform.current() == report.project?["deployment"]?.text)
        #expect(
            home.read("check") == "check \(Self.new) \(Self.old)\ncheck \(Self.old) \(Self.new)\n")
        #expect(home.read("apply").split(separator: "\n").last == "undo \(Self.old) \(Self.new)")
    }

    @Test func `a check that fails with the old value too does not make a revert incomplete`()
        throws
    {
        let home = try RotationHome()
        let (report, message) = try failedReport(
            home.rotate("--check", home.recorder("check") + "; exit 7"), 10, "rolled_back")
        #expect(
            message.contains("--check failed with exit code 7 in web. The old value was restored."))
        #expect(message.contains("The check fails with the old value too, in web."), "\(message)")
        #expect(report.project?["state"] == "rolled_back")
        #expect(home.read("check").split(separator: "\n").count == 2)
        try home.expect(Self.old)
        // What --apply has restored is proved only by the check.
        let (open, text) = try failedReport(
            home.rotate("--check", "exit 7", "--apply", "true"), 11, "needs_attention")
        #expect(text.contains("web has the old value, but the check fails with it too"), "\(text)")
        #expect(open["open"] == true)
        done(try home.proceed("KEY", "--close"))
        try home.expect(Self.old)
    }

    @Test func `a rollback does not choose the deployment that a rotation rejected`() throws {
        let home = try RotationHome()
        let before = try #require(try home.platform.current())
        #expect(try home.rotate("--check", "test \"$(cat)\" = '\(Self.old)'").status == 10)
        let rejected = try home.platform.deployments()[1]
        #expect(
            home.platform.server.builtVariables(deployment: rejected)?["KEY"] == Self.new)
        let plan = try json(
            home.platform.run("rollback", "-p", "web", "--dry-run", "--json"))
        #expect(plan["id"] == .string(before))
        // By name, it can still be chosen.
        let named = try json(
            home.platform.run("rollback", rejected, "-p", "web", "--dry-run", "--json"))
        #expect(named["id"] == .string(rejected))
    }

    @Test func `one target of several gets a record of its own with the new value`()
        throws
    {
        let home = try RotationHome(targets: "production,preview,development")
        let report = try json(home.rotate("-t", "production"))
        #expect(report["outcome"] == "done")
        #expect(
            home.platform.records("KEY") == [
                "preview,development=\(Self.old)", "production=\(Self.new)",
            ])
        #expect(try home.served() == Self.new)
        #expect(try home.revealed() == Self.new)
        #expect(try home.platform.home.revealed("KEY", "-t", "preview") == Array(Self.old.utf8))
        try home.platform.pushed().expectNothing()
        // Two values now: without a target it is ambiguous.
        try failedAsJSON(home.rotate(), 2, "usage")
        // A failed rotation leaves the values of both as they were.
        let failing = try RotationHome(targets: "production,preview")
        failing.platform.server.setBuild(.fail)
        try failedAsJSON(failing.rotate("-t", "qa"), 4, "not_found")
        _ = try failedReport(failing.rotate("-t", "production"), 10, "rolled_back")
        #expect(
            failing.platform.records("KEY") == ["preview=\(Self.old)", "production=\(Self.old)"])
        try failing.platform.pushed().expectNothing()
    }

    @Test func `--check-url proves the value by its status`() throws {
        let home = try RotationHome(type: "sensitive")
        let url = home.platform.url
        let report = try json(
            home.rotate("--check-url", "\(url)/v2/user", "--check-status", "403"))
        #expect(report.project?["proof"] == "check")
        let other = try RotationHome()
        // It is requested several times, with the new value and with the old one.
        var failing = other.runner(["--check-url", "\(url)/v2/user"])
        failing.timeLimit = .seconds(90)
        let (failed, message) = try failedReport(failing.run(), 10, "rolled_back")
        #expect(message.contains("expected status 200 but got status 403"))
        #expect(message.contains("fails with the old value too"), "\(message)")
        #expect(failed["outcome"] == "rolled_back")
        #expect(other.stored() == [Self.old])
    }

    @Test func `no value is in arguments or environments during a rotation`() throws {
        let home = try RotationHome()
        // The pattern does not match itself.
        let look =
            "cat >/dev/null; for p in $$ $PPID; do cat /proc/$p/cmdline /proc/$p/environ; done 2>/dev/null"
            + " | tr '\\0' '\\n' >\(home.path("seen"))"
        #expect(
            try json(home.rotate("--apply", look, "--check", look))["outcome"] == "done")
        let seen = home.read("seen")
        #expect(seen.contains("ZG_ENV_STEP=check"))
        #expect(seen.contains("rotate"))
        #expect(!seen.contains(Self.new) && !seen.contains(Self.old))
        let environment = try home.platform.home.run(["log", "--json"])
        #expect(!environment.output.contains(Self.new))
        #expect(environment.output.contains("rotate"))
    }

    @Test func `a value that cannot be obtained leaves the records unchanged`() throws {
        let home = try RotationHome(targets: "production,preview")
        let writes = try home.platform.writes {
            for (arguments, input, status, code) in [
                (["--from-command", "exit 3"], "", 1, "failed"),
                (["--from-command", "true"], "", 2, "usage"),
                (["--from-command", "printf '\\377'"], "", 2, "usage"),
                ([], "", 2, "usage"), ([], Self.old, 2, "usage"),
            ] as [([String], String, Int32, String)] {
                let result = try home.platform.runner(
                    ["rotate", "KEY", "-p", "web", "-t", "production", "--yes", "--json"]
                        + arguments, input: .text(input)
                ).run()
                try failedAsJSON(result, status, code)
            }
        }
        #expect(writes == [])
        #expect(home.platform.records("KEY") == ["production,preview=\(Self.old)"])
        let list = try json(home.platform.run("list", "KEY", "-p", "web", "--json"))["variables"]
        #expect(list?.elements.count == 1)
        #expect(list?.elements.first?["targets"] == ["production", "preview"])
        #expect(list?.elements.first?["version"] == 1)
    }

    @Test func `a command has no terminal, and fails at once if it wants one`() throws {
        for option in ["--apply", "--check"] {
            let home = try RotationHome()
            var runner = home.platform.home.terminalRunner([
                "rotate", "KEY", "-p", "web", "--generate", "hex:16", "--yes", "--redeploy",
                "--timeout", "60s", option,
                "test \"$(cat)\" = '\(Self.old)' || read answer </dev/tty",
            ])
            runner.environment["ZG_ENV_API_URL"] = home.platform.url
            runner.script = [(.terminal("Passphrase"), .line(CommandHome.passphrase))]
            let result = try runner.run()
            #expect(result.end == .exited(10), "\(result.error)")
            #expect(result.duration < .seconds(30), "\(result.duration)")
            #expect(result.error.contains("/dev/tty"), "\(result.error)")
            try home.expect(Self.old)
        }
    }

    @Test func `what still has a revoked value is named, before and after`() throws {
        let home = try RotationHome(targets: "production,preview,development")
        let arguments = ["--check", "true", "--revoke", "true"]
        let plan = try home.runner(arguments + ["--dry-run"]).run()
        func warning(_ result: ProgramResult) throws -> String? {
            try json(result)["warnings"]?.elements.first { $0["code"] == "revoked-elsewhere" }?[
                "message"]?.text
        }
        #expect(try warning(plan)?.contains("preview") == true, "\(plan.output)")
        let text = try home.platform.runner(
            ["rotate", "KEY", "-p", "web", "--generate", "hex:16", "--redeploy", "--dry-run"]
                + arguments
        ).run()
        #expect(text.output.contains("the deployments of web for preview"), "\(text.output)")
        let ended = try #require(try warning(home.runner(arguments).run()))
        #expect(ended.contains("web for preview") && ended.contains("redeploy ID"), "\(ended)")
        #expect(!ended.contains("development"))
        // A single target leaves nothing behind.
        let single = try RotationHome()
        #expect(try warning(single.runner(arguments).run()) == nil)
        // A build does not fix a record that keeps the value.
        let parted = try RotationHome(targets: "production,preview")
        done(
            try parted.platform.run(
                "set", "COPY", "-p", "api", "-t", "preview", input: .text(Self.old)))
        let here = ["-t", "production"] + arguments
        let beforehand = try parted.platform.runner(
            ["rotate", "KEY", "-p", "web", "--generate", "hex:16", "--redeploy", "--dry-run"] + here
        ).run().output
        for name in ["KEY in web for preview", "COPY in api for preview"] {
            #expect(beforehand.contains("leave \(name) with the revoked value"), "\(beforehand)")
        }
        for result in try [parted.runner(here + ["--dry-run"]).run(), parted.runner(here).run()] {
            let codes = try json(result)["warnings"]?.elements
            let text = codes?.first { $0["code"] == "revoked-copies" }?["message"]?.text ?? ""
            #expect(text.contains("KEY in web for preview"), "\(result.output)")
            #expect(text.contains("COPY in api for preview") && !text.contains(Self.old))
            #expect(codes?.contains { $0["code"] == "revoked-elsewhere" } == false)
        }
        // Of the previews one is rebuilt.
        let previews = try RotationHome(targets: "preview")
        let other = try #require(try warning(previews.runner(arguments).run()))
        #expect(other.contains("web for other previews"), "\(other)")
    }

    @Test("SYNC-A7: the plan warns when a revocation relies on --check alone")
    func checkAlone() throws {
        let home = try RotationHome(type: "sensitive")
        let arguments = ["--check", "true", "--revoke", "true"]
        func codes(_ result: ProgramResult) throws -> [String] {
            try json(result)["warnings"]?.elements.compactMap { $0["code"]?.text } ?? []
        }
        let text = try home.platform.runner(
            ["rotate", "KEY", "-p", "web", "--generate", "hex:16", "--redeploy", "--dry-run"]
                + arguments
        ).run().output
        #expect(text.contains("rely on --check alone") && text.contains("ZG_ENV_DEPLOYMENT_URL"))
        #expect(try codes(home.runner(arguments + ["--dry-run"]).run()) == ["check-alone"])
        // With --check-url, or without a revocation, nothing relies on it alone.
        let url = ["--check-url", "\(home.platform.url)/v2/user", "--check-status", "403"]
        #expect(try codes(home.runner(arguments + url + ["--dry-run"]).run()) == [])
        #expect(try codes(home.runner(["--check", "true", "--dry-run"]).run()) == [])
        #expect(try codes(home.runner(arguments).run()) == ["check-alone"])
        var plain = home.platform.runner(
            ["rotate", "KEY", "-p", "web", "--generate", "hex:16", "--redeploy", "--yes"]
                + arguments)
        plain.timeLimit = .seconds(60)
        #expect(done(try plain.run()).error.contains("warning: Vercel does not show"))
        // A readable variable is verified on its deployment.
        let readable = try RotationHome()
        #expect(try codes(readable.runner(arguments + ["--dry-run"]).run()) == [])
    }

    @Test func `an interrupt leaves it open, and it can be resumed`() throws {
        let home = try RotationHome(buildSeconds: 4)
        let runner = home.platform.signalled(
            home.runner(), by: 2, at: "POST /v13/deployments")
        #expect(try runner.run().end == .signalled(SIGINT))
        #expect(try json(home.proceed("--resume"))["outcome"] == "done")
        try home.expect(Self.new)
        #expect(try home.platform.deployments().count == 4)
    }

    @Test func `an outage during the build is reported once and waited out`() throws {
        let home = try RotationHome()
        try home.platform.setFaults("GET /v13/deployments/* reset x10")
        let result = done(
            try home.platform.runner(
                ["rotate", "KEY", "-p", "web", "--yes", "--redeploy"],
                input: .text(RotationHome.new)
            ).run())
        for text in [
            "Vercel has been unreachable since 2", ". Waiting until 2",
            "Vercel is reachable again.",
        ] {
            #expect(result.error.ranges(of: text).count == 1, "\(result.error)")
        }
        try home.expect(RotationHome.new)
    }

    @Test(arguments: ["sensitive", "encrypted", "plain"])
    func `VAL-F1 a rotation keeps type and comment, of its targets and of the others`(
        type: String
    ) throws {
        let home = try RotationHome(type: type, targets: "production,preview")
        done(
            try home.platform.run(
                "set", "KEY", "-p", "web", "--comment", "billing", input: .text(Self.old)))
        done(try home.platform.run("push", "-p", "web", "--yes"))
        let rotated = try home.rotate("-t", "production", redeploys: false)
        #expect(rotated.status == 0, "\(rotated.error)")
        let list = try json(home.platform.run("list", "KEY", "-p", "web", "--json"))
        let rows = list["variables"]?.elements ?? []
        #expect(rows.map { $0["targets"] } == [["preview"], ["production"]])
        #expect(rows.map { $0["version"] } == [1, 2])
        #expect(rows.allSatisfy { $0["type"]?.text == type && $0["comment"] == "billing" })
        let stored = home.platform.stored.filter { $0.key == "KEY" }
        #expect(stored.allSatisfy { $0.type == type && $0.comment == "billing" })
        #expect(Set(stored.map(\.value)) == [Self.old, Self.new])
    }
}

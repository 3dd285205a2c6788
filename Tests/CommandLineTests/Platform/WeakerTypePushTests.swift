import JSON
import Sandbox
import TestSupport
import Testing

/// VAL-F1 on Vercel: what was sensitive stays sensitive, or the user was asked.
@Suite("Weaker types on Vercel")
struct WeakerTypePushTests {
    private func types(_ platform: SandboxHome, _ key: String = "KEY") -> [String] {
        platform.stored.filter { $0.key == key }.map {
            "\($0.targets.joined(separator: ",")) \($0.type)"
        }.sorted()
    }

    @Test func `VAL-F1 a new value for one target of a hardened variable stays sensitive`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old")
        try platform.pushed()
        done(try platform.run("harden", "KEY", "-p", "web", "--yes"))
        for (number, options) in [["set", "KEY"], ["import", "-"]].enumerated() {
            let value = "new \(number)"
            done(
                try platform.runner(
                    options + ["-p", "web", "-t", "production", "--push", "--yes"],
                    input: .text(number == 0 ? value : "KEY=\(value)")
                ).run())
            #expect(
                types(platform)
                    == ["development encrypted", "preview sensitive", "production sensitive"])
            #expect(platform.records("KEY").contains("production=\(value)"))
        }
        try platform.pushed().expectNothing()
    }

    @Test func `VAL-F1 a weaker type is sent only after a question that --yes does not answer`()
        throws
    {
        let platform = try SandboxHome()
        try platform.set("KEY", "old", "--type", "sensitive")
        try platform.set("FREE", "1")
        try platform.pushed()
        try platform.set("KEY", "new", "-t", "production", "--type", "encrypted")
        try platform.set("FREE", "2")
        let before = platform.stored
        let message = try failedAsJSON(platform.push(), 2, "usage")
        #expect(
            message.contains("KEY (production): becomes readable on Vercel")
                && message.contains("Nothing was sent")
                && message.contains("zg-env push KEY -p web --allow-weaker"), "\(message)")
        // The same with `set --push`; the vault has the value.
        let stored = try platform.runner(
            ["set", "KEY", "-p", "web", "-t", "production", "--push", "--yes"],
            input: .text("newer")
        ).run()
        #expect(stored.status == 2 && stored.error.contains("The change is in the vault"))
        #expect(platform.stored == before)
        let plan = try platform.run("push", "-p", "web", "--dry-run")
        #expect(
            plan.output.contains(
                "create KEY for production, which becomes readable on Vercel; its type changes from sensitive to encrypted"
            ), "\(plan.output)")
        let dry = try json(platform.run("push", "-p", "web", "--dry-run", "--json"))
        #expect(dry.keys("weakened") == ["KEY"])

        // At a terminal it is a question of its own, also with --yes.
        for (arguments, answers) in [(["--yes"], ["n\n"]), ([], ["y\n", "n\n"])] {
            var script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = []
            if answers.count == 2 { script.append((.terminal("Push to web?"), .line("y"))) }
            script.append((.terminal("Send them?"), .line("n")))
            var runner = platform.home.terminalRunner(
                ["push", "-p", "web"] + arguments, script: script)
            runner.environment["ZG_ENV_API_URL"] = platform.url
            runner.environment["ZG_ENV_PASSPHRASE_FILE"] = platform.home.passphrasePath
            let result = try runner.run()
            #expect(result.status == 1, "\(result.screen)")
            #expect(platform.stored == before)
        }
        try platform.pushed("--allow-weaker")
        #expect(types(platform) == ["preview sensitive", "production encrypted"])
        try platform.pushed().expectNothing()
    }

    @Test func `VAL-F1 removed and set again with a weaker type is asked about`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old", "--type", "sensitive")
        try platform.pushed()
        done(try platform.run("rm", "KEY", "-p", "web", "--yes", "--push"))
        // By itself it gets its old type back.
        try platform.set("KEY", "new")
        try platform.pushed()
        #expect(types(platform) == ["production,preview sensitive"])
        done(try platform.run("rm", "KEY", "-p", "web", "--yes", "--push"))
        try platform.set("KEY", "new", "--type", "plain")
        #expect(
            try failedAsJSON(platform.push(), 2, "usage").contains("becomes readable on Vercel"))
        try platform.pushed("--allow-weaker")
        try platform.set("KEY", "newer")
        try platform.pushed()
    }

    @Test func `VAL-F1 --force keeps the stricter type of Vercel`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old", "-t", "production,preview")
        try platform.pushed()
        try platform.teammate.send(
            "PATCH", "/v9/projects/web/env/\(try platform.id("KEY"))",
            ["type": "sensitive", "value": "theirs"])
        try platform.set("KEY", "mine")
        _ = try failedReport(platform.push(), 5, "conflict")
        try platform.pushed("--force")
        #expect(types(platform) == ["production,preview sensitive"])
        #expect(platform.records("KEY") == ["production,preview=mine"])
        let list = try json(platform.run("list", "KEY", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.first?["type"] == "sensitive")
        try platform.pushed().expectNothing()

        // An unseen one in its place as well.
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            [
                "key": "OTHER", "value": "theirs", "type": "sensitive", "target": ["production"],
            ])
        try platform.set("OTHER", "mine", "-t", "production")
        try platform.pushed("--force")
        #expect(types(platform, "OTHER") == ["production sensitive"])

        // Only on request it becomes readable: deleted, and created again.
        try platform.set("KEY", "open", "--type", "encrypted")
        try platform.pushed("--force", "--allow-weaker")
        #expect(types(platform) == ["production,preview encrypted"])
    }

    @Test func `VAL-F2 the plan names an empty value`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old")
        try platform.pushed()
        done(
            try platform.runner(
                ["set", "KEY", "-p", "web", "--allow-empty"], input: .text("")
            ).run())
        let plan = try platform.run("push", "-p", "web", "--dry-run")
        #expect(
            plan.output
                == "Would update KEY for production, preview, development with an empty value\n",
            "\(plan.output)")
    }

    @Test func `VAL-F15 a reserved name is left out, and the rest is sent`() throws {
        let platform = try SandboxHome()
        try platform.set("TZ", "UTC")
        try platform.set("GOOD", "1")
        let dry = try platform.run("push", "-p", "web", "--dry-run")
        #expect(dry.status == 1)
        #expect(dry.output.contains("create GOOD"), "\(dry.output)")
        #expect(dry.output.contains("TZ") && dry.output.contains("Vercel reserves this name"))
        let (report, message) = try failedReport(platform.push(), 1, "failed")
        #expect(report.keys("created") == ["GOOD"])
        #expect(report.keys("failed") == ["TZ"])
        #expect(
            message.contains("1 variable was not sent. TZ: left out: Vercel reserves this name")
                && message.contains("The other changes were applied")
                && message.contains("zg-env rm TZ -p web"), "\(message)")
        #expect(platform.records("GOOD") == ["production,preview,development=1"])
        #expect(platform.records("TZ") == [])
        // It stays so, and the printed ways lead out.
        _ = try failedReport(platform.push(), 1, "failed")
        try platform.pushed("GOOD").expectNothing()
        done(try platform.run("rm", "TZ", "-p", "web", "--yes"))
        try platform.pushed().expectNothing()
    }

    @Test func `VAL-F12 what is left out keeps its place on Vercel`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.set("KEY", "op://vault/item/field", "--type", "encrypted")
        // The deletion and the creation are left out together.
        let (report, message) = try failedReport(
            platform.push("--force", "--allow-weaker"), 1, "failed")
        #expect(report.keys("failed") == ["KEY"])
        #expect(message.contains("zg-env push KEY --force sends it as it is"), "\(message)")
        #expect(platform.records("KEY") == ["production=old"])
        done(try platform.run("rm", "KEY", "-p", "web", "--yes"))
        #expect(try platform.pushed().keys("deleted") == ["KEY"])
        #expect(platform.records("KEY") == [])
        // Named with --force it is sent as it is.
        try platform.set("REF", "op://vault/item/field")
        _ = try failedReport(platform.push(), 1, "failed")
        try platform.pushed("REF", "--force")
        #expect(
            platform.records("REF") == ["production,preview,development=op://vault/item/field"])
    }

    @Test func `VAL-F6 --push of an equal value sends what was never sent`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        let pushed = try platform.runner(
            ["import", "-", "-p", "web", "-t", "production", "--push", "--yes"],
            input: .text("KEY=value\n")
        ).run()
        done(pushed)
        #expect(platform.records("KEY") == ["production,preview,development=value"])
    }

    @Test func `VAL-F1 what is gone from Vercel comes back as strict as it was`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.teammate.send("DELETE", "/v9/projects/web/env/\(try platform.id("KEY"))")
        try platform.set("KEY", "new", "--type", "encrypted")
        _ = try failedReport(platform.push(), 5, "conflict")
        try platform.pushed("--force")
        #expect(types(platform) == ["production sensitive"])
    }

    @Test func `VAL-F1 a pull says that a type is weaker on Vercel`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.teammate.send("DELETE", "/v9/projects/web/env/\(try platform.id("KEY"))")
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "KEY", "value": "dash", "type": "encrypted", "target": ["production"]])
        let pulled = try json(platform.run("pull", "-p", "web", "--yes", "--json"))
        #expect(
            pulled["warnings"]?.elements.map { $0["code"]?.text } == ["weaker-type"], "\(pulled)")
    }

    @Test func `VAL-F1 a name that was sensitive is so after a rename`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "secret", "-t", "production", "--type", "sensitive")
        try platform.set("OTHER", "open", "-t", "production")
        try platform.pushed()
        done(try platform.run("rm", "KEY", "-p", "web", "--yes", "--push"))
        done(try platform.run("rename", "OTHER", "KEY", "-p", "web"))
        try platform.pushed()
        try platform.set("KEY", "secret 2")
        try platform.pushed()
        #expect(types(platform) == ["production sensitive"])
    }

    @Test func `VAL-F1 harden for one target leaves nothing readable that Vercel hides`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value", "--type", "sensitive")
        try platform.pushed()
        try platform.set("KEY", "other", "--type", "encrypted")
        done(try platform.run("harden", "KEY", "-p", "web", "-t", "preview", "--yes"))
        #expect(types(platform) == ["production,preview sensitive"])
        #expect(platform.records("KEY") == ["production,preview=other"])
    }
}

internal import JSON
import Sandbox
import TestSupport
import Testing

/// `--push` of `set` and `rm`.
@Suite("set --push and rm --push")
struct PushAfterwardsTests {
    @Test func `they need the passphrase, though the keyring opens the names`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let platform = try SandboxHome(keyring: keyring)
        try platform.set("KEY", "there")
        let before = try platform.home.vaultBytes()
        for command in [["set", "KEY"], ["rm", "KEY"]] {
            let runner = platform.runner(
                command + ["-p", "web", "--push", "--yes"], input: .text("new"), unlocked: false)
            failed(try runner.run(), 3)
        }
        #expect(try platform.home.vaultBytes() == before)
    }

    @Test func `one variable is set and sent, and no other`() throws {
        let platform = try SandboxHome()
        try platform.set("OTHER", "not sent")
        let set = try json(
            platform.run(
                "set", "KEY", "-p", "web", "--push", "--yes", "--json", "--raw",
                input: .text("one\ntwo")))
        #expect(set["key"] == "KEY")
        #expect(set["push"]?.keys("created") == ["KEY"])
        #expect(platform.records("KEY") == ["production,preview,development=one\ntwo"])
        #expect(platform.records("OTHER") == [])
        let text = done(
            try platform.run(
                "set", "KEY", "-p", "web", "--push", "--yes", input: .text("three")))
        #expect(text.output == "updated   KEY (production, preview, development)\n")
        #expect(platform.records("KEY") == ["production,preview,development=three"])

        // Removing a target narrows the record that had it, and no other.
        done(
            try platform.run(
                "set", "KEY", "-p", "web", "-t", "production", "--push", "--yes",
                input: .text("live")))
        #expect(
            platform.records("KEY") == ["preview,development=three", "production=live"])
        // Another record of the key with an unpushed value stays as it is.
        done(
            try platform.run(
                "set", "KEY", "-p", "web", "-t", "preview,development", input: .text("later")))
        done(
            try platform.run(
                "set", "KEY", "-p", "web", "-t", "production", "--push", "--yes",
                input: .text("live 2")))
        #expect(
            platform.records("KEY") == ["preview,development=three", "production=live 2"])
        done(try platform.run("push", "-p", "web", "--yes"))
        #expect(
            platform.records("KEY") == ["preview,development=later", "production=live 2"])

        done(
            try platform.run(
                "rm", "KEY", "-p", "web", "-t", "development", "--push", "--yes"))
        #expect(platform.records("KEY") == ["preview=later", "production=live 2"])
        let removed = try json(
            platform.run(
                "rm", "KEY", "-p", "web", "--all", "--push", "--yes", "--json"))
        #expect(removed["push"]?.keys("deleted") == ["KEY", "KEY"])
        #expect(platform.records("KEY") == [])
        #expect(platform.records("OTHER") == ["production,preview,development=not sent"])
        try platform.pushed().expectNothing()
    }

    @Test("SYNC-A8: a record that only lost targets and is not on Vercel is reported as not sent")
    func narrowedOnly() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "one")
        let result = done(
            try platform.run(
                "set", "KEY", "-p", "web", "-t", "production", "--push", "--yes",
                input: .text("live")))
        #expect(platform.records("KEY") == ["production=live"])
        #expect(
            result.error.contains(
                "Not pushed, and different on Vercel: KEY (preview, development). Push with: zg-env push KEY -p web"
            ), "\(result.error)")
        done(try platform.run("push", "KEY", "-p", "web", "--yes"))
        let again = done(
            try platform.run(
                "set", "KEY", "-p", "web", "-t", "production", "--push", "--yes",
                input: .text("live 2")))
        #expect(!again.error.contains("Not pushed"), "\(again.error)")
    }

    @Test func `they ask what push asks, and change nothing where no one can be asked`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "one")
        try platform.pushed()
        let before = try platform.home.vaultBytes()
        for command in [["set", "KEY"], ["import", "-"], ["restore-version", "KEY", "1"]] {
            failed(
                try platform.runner(
                    command + ["-p", "web", "--push"], input: .text("KEY=two")
                ).run(), 2,
                "--push changes Vercel", "--yes")
        }
        #expect(try platform.home.vaultBytes() == before)
        for (answer, value) in [("n", "one"), ("y", "two")] {
            var runner = platform.runner(
                ["set", "KEY", "-p", "web", "--push"], input: .text("two"))
            runner.terminal = .init()
            runner.script = [(.terminal("Push to web? [y/N]"), .line(answer))]
            let result = try runner.run()
            #expect(result.end == .exited(answer == "y" ? 0 : 1), "\(result.error)")
            #expect(result.error.contains("update KEY"), "\(result.error)")
            if answer == "n" {
                #expect(
                    result.error.contains(
                        "Canceled. The change is in the vault; Vercel was not updated."),
                    "\(result.error)")
            }
            #expect(platform.records("KEY") == ["production,preview,development=\(value)"])
        }
        // `rm` asks once, for both.
        var runner = platform.runner(["rm", "KEY", "-p", "web", "--push"])
        runner.terminal = .init()
        runner.script = [(.terminal("Remove it, also on Vercel? [y/N]"), .line("y"))]
        done(try runner.run())
        #expect(platform.records("KEY") == [])
    }

    @Test func `restore-version sends the restored value, and makes it live`() throws {
        let platform = try SandboxHome()
        for value in ["one", "two"] { try platform.set("KEY", value) }
        try platform.pushed()
        let planned = done(
            try platform.run("restore-version", "KEY", "1", "-p", "web", "--push", "--dry-run"))
        #expect(planned.output == "Would push it to web on Vercel.\n")
        let restored = try json(
            platform.run(
                "restore-version", "KEY", "1", "-p", "web", "--push", "--redeploy", "--yes",
                "--json"))
        #expect(restored["restored"] == 1 && restored["push"]?.keys("updated") == ["KEY"])
        #expect(restored["deployment"]?["current"] == true)
        #expect(platform.records("KEY") == ["production,preview,development=one"])
    }

    @Test func `a sensitive variable is sent too, and reported as not verified`() throws {
        let platform = try SandboxHome()
        let set = try json(
            platform.run(
                "set", "KEY", "-p", "web", "--type", "sensitive", "--push", "--yes", "--json",
                input: .text("s")))
        #expect(set["push"]?.keys("unverified") == ["KEY"])
        #expect(platform.records("KEY") == ["production,preview=s"])
    }

    @Test func `production is redeployed and live in one step`() throws {
        let platform = try SandboxHome()
        let set = try json(
            platform.run(
                "set", "KEY", "-p", "web", "--push", "--redeploy", "--yes", "--json",
                input: .text("v")))
        #expect(set["deployment"]?["current"] == true)
        let id = try #require(set["deployment"]?["id"]?.text)
        #expect(platform.server.builtVariables(deployment: id)?["KEY"] == "v")
        let list = try json(platform.run("list", "KEY", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.first?["live"] == true)

        platform.server.setBuild(.fail)
        let broken = try platform.run(
            "set", "KEY", "-p", "web", "--push", "--redeploy", "--yes", "--json", input: .text("w"))
        #expect(broken.status == 9)
        #expect(try JSONDocument(broken.standardOutput)["deployment"]?["state"] == "ERROR")
        #expect(platform.records("KEY") == ["production,preview,development=w"])
        failed(
            try platform.run("set", "KEY", "-p", "web", "--redeploy", input: .text("x")), 2,
            "--push")
        #expect(try platform.home.revealed("KEY") == Array("w".utf8))
    }

    @Test func `push itself redeploys, and asks and plans both at once`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "v")
        let plan = done(try platform.run("push", "-p", "web", "--redeploy", "--dry-run"))
        #expect(
            plan.output.contains("Would create KEY") && plan.output.contains("Would redeploy dpl_"),
            "\(plan.output)")
        let refused = try platform.run("push", "-p", "web", "--redeploy")
        #expect(refused.status == 2 && platform.records("KEY") == [], "\(refused.error)")
        let pushed = try platform.pushed("--redeploy")
        #expect(pushed.keys("created") == ["KEY"] && pushed["deployment"]?["current"] == true)
        #expect(try json(platform.run("status", "--json"))["remedies"] == [])
        platform.server.setBuild(.fail)
        try platform.set("KEY", "w")
        let broken = try platform.push("--redeploy")
        #expect(broken.status == 9)
        #expect(try JSONDocument(broken.standardOutput).keys("updated") == ["KEY"])
        // Without a deployment to rebuild, nothing is sent.
        done(try platform.run("set", "KEY", "-p", "bare", input: .text("v")))
        let writes = try platform.writes {
            failed(try platform.run("push", "-p", "bare", "--redeploy", "--yes"), 4, "redeploy")
        }
        #expect(writes == [])
    }

    @Test func `what cannot be pushed stays in the vault, with an error`() throws {
        let platform = try SandboxHome()
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "KEY", "value": "theirs", "type": "encrypted", "target": ["production"]])
        let conflict = try platform.run(
            "set", "KEY", "-p", "web", "--push", "--yes", "--json", input: .text("mine"))
        let (report, _) = try failedReport(conflict, 5, "conflict")
        #expect(report["push"]?.keys("conflicts") == ["KEY"])
        #expect(report["version"] == 1)
        #expect(platform.records("KEY") == ["production=theirs"])
        #expect(try platform.home.revealed("KEY") == Array("mine".utf8))

        for (fault, status) in [("429:600", 7), ("challenge", 6)] as [(String, Int32)] {
            try platform.setFaults("GET * \(fault)")
            let result = try platform.run(
                "set", "FREE", "-p", "web", "--push", "--yes", input: .text(fault))
            #expect(result.status == status)
            #expect(result.error.contains("The change is in the vault"))
            #expect(try platform.home.revealed("FREE") == Array(fault.utf8))
        }
        platform.server.setFaults([])
        #expect(platform.records("FREE") == [])
        let offline = try platform.run(
            "set", "FREE", "-p", "web", "--push", "--yes", "--offline", input: .text("off"))
        #expect(offline.status == 7)
        #expect(try platform.home.revealed("FREE") == Array("off".utf8))
        done(try platform.run("push", "FREE", "-p", "web", "--yes"))
        #expect(platform.records("FREE") == ["production,preview,development=off"])
    }

    @Test func `--dry-run sends and stores nothing`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "v")
        try platform.pushed()
        let writes = try platform.writes {
            done(
                try platform.run(
                    "set", "KEY", "-p", "web", "--push", "--dry-run", input: .text("w")))
            done(try platform.run("rm", "KEY", "-p", "web", "--push", "--dry-run"))
            #expect(try platform.run("rm", "KEY", "-p", "web", "--push").status == 2)
        }
        #expect(writes == [])
        #expect(platform.records("KEY") == ["production,preview,development=v"])
        #expect(try platform.home.revealed("KEY") == Array("v".utf8))
    }
}

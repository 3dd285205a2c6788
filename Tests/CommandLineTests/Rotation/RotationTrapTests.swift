import Foundation
import JSON
import Sandbox
import TestSupport
import Testing

/// Obstacles besides a failed build: unreadable values, limits, other people, and another rotation.
@Suite("Rotations with obstacles")
struct RotationTrapTests {
    private static let (old, new) = (RotationHome.old, RotationHome.new)

    @Test func `a sensitive variable is proved by a check or not at all, as the plan says`()
        throws
    {
        let home = try RotationHome(type: "sensitive")
        let plain = try json(home.rotate())
        #expect(plain["outcome"] == "done")
        #expect(plain.project?["proof"] == "none")
        #expect(plain["warnings"]?.elements.first?["code"] == "not-proved")
        try home.expect(Self.new)

        let checked = try RotationHome(type: "sensitive")
        let report = try json(checked.rotate("--check", "test \"$(cat)\" = '\(Self.new)'"))
        #expect(report.project?["proof"] == "check")

        // Without any proof the old value must not be revoked.
        let revoking = try RotationHome(type: "sensitive")
        let writes = try revoking.platform.writes {
            try failedAsJSON(revoking.rotate("--revoke", revoking.recorder("revoke")), 2, "usage")
        }
        #expect(writes == [])
        #expect(revoking.read("revoke") == "")
        try revoking.expect(Self.old)
    }

    @Test
    func `an old value that only Vercel has is saved first, and can be restored`()
        throws
    {
        let home = try RotationHome()
        func make(_ type: JSONValue, _ value: JSONValue) throws {
            try home.platform.teammate.send(
                "POST", "/v10/projects/web/env",
                ["key": "TOKEN", "value": value, "type": type, "target": ["production"]])
        }
        try make("sensitive", "unseen")
        done(try home.platform.run("pull", "-p", "web", "--yes"))
        let failing = [
            "rotate", "TOKEN", "-p", "web", "--generate", "hex:16", "--redeploy", "--yes", "--json",
            "--check", "test \"$(cat)\" = 'shown there'",
        ]
        // Nobody can read it, so there is nothing to revert to.
        let writes = try home.platform.writes {
            try failedAsJSON(home.platform.runner(failing).run(), 4, "not_found")
        }
        #expect(writes == [])
        // Another readable one in its place.
        try home.platform.teammate.send(
            "DELETE", "/v9/projects/web/env/\(home.platform.id("TOKEN"))")
        try make("encrypted", "shown there")
        let (report, _) = try failedReport(
            home.platform.runner(failing).run(), 10, "rolled_back")
        #expect(report.project?["state"] == "rolled_back")
        #expect(home.platform.records("TOKEN") == ["production=shown there"])
        #expect(
            try home.platform.home.revealed("TOKEN", "-t", "production")
                == Array("shown there".utf8))
    }

    @Test func `VER-policy a variable that the team may make sensitive is rotated with a warning`()
        throws
    {
        let platform = try SandboxHome(
            seed: """
                {"teams": [{"slug": "acme", "sensitiveEnvironmentVariablePolicy": "on"}],
                 "projects": [{"name": "web", "team": "acme", "deployments": [{"target": "production"}],
                   "env": [{"key": "KEY", "value": "old", "target": ["production"]}]}]}
                """)
        done(try platform.run("pull", "-p", "web", "--team", "acme", "--yes"))
        let arguments = [
            "rotate", "KEY", "-p", "web", "--redeploy", "--check", "true", "--yes", "--json",
        ]
        // Vercel's answer decides, not the policy: here it makes the variable sensitive, and that is
        // found.
        let result = try platform.runner(arguments, input: .text("new")).run()
        let (_, message) = try failedReport(result, 11, "needs_attention")
        #expect(
            message.contains("Vercel stored it as sensitive instead of encrypted"), "\(message)")
        let warnings = try JSONDocument(result.standardOutput)["warnings"]?.elements ?? []
        #expect(
            warnings.contains { $0["message"]?.text?.contains("zg-env harden KEY -p web") == true })
        done(try platform.run("rotate", "KEY", "--close", "--yes"))
        done(try platform.run("harden", "KEY", "-p", "web", "--yes"))
        let report = try json(platform.runner(arguments, input: .text("new")).run())
        #expect(report["outcome"] == "done" && report.project?["proof"] == "check")
        #expect(platform.records("KEY") == ["production=new"])
    }

    @Test func `an unseen change to sensitive is reported, with what Vercel may have`() throws {
        let home = try RotationHome()
        try home.platform.setFaults("PATCH */env* forces-sensitive")
        let (_, message) = try failedReport(home.rotate(), 11, "needs_attention")
        #expect(
            message.contains("Vercel stored it as sensitive instead of encrypted"), "\(message)")
        #expect(message.contains("web may still have the new value"), "\(message)")
        home.platform.server.setFaults([])
        // The next step from the message works.
        #expect(try home.proceed("--abort").status == 11)
        done(try home.platform.run("rotate", "KEY", "--close", "--yes"))
        done(
            try home.platform.run(
                "set", "KEY", "-p", "web", "-t", "production", "--type", "sensitive", "--push",
                "--yes", input: .text(Self.old)))
        #expect(home.platform.records("KEY") == ["production=\(Self.old)"])
    }

    @Test func `a rate limit in the middle is waited out`() throws {
        let home = try RotationHome()
        try home.platform.setFaults("PATCH * 429:1 x1", "POST /v13/deployments* 429:1 x1")
        #expect(try json(home.rotate())["outcome"] == "done")
        try home.expect(Self.new)
    }

    @Test func `a lost answer leads to no second deployment`() throws {
        let home = try RotationHome()
        let before = try home.platform.deployments().count
        try home.platform.setFaults("POST /v13/deployments* lost-answer x1")
        #expect(try json(home.rotate())["outcome"] == "done")
        #expect(try home.platform.deployments().count == before + 1)
        try home.expect(Self.new)
    }

    @Test func `a second rotation of the same key names the open one`() throws {
        let home = try RotationHome()
        let stopped = try failedReport(
            home.rotate("--check", "test \"$(cat)\" = '\(Self.old)'", "--on-failure", "keep"), 11,
            "needs_attention")
        #expect(stopped.report["outcome"] == "needs_attention")
        #expect(stopped.report["open"] == true)
        #expect(stopped.message.contains("web is live with the new value"))
        try home.expect(Self.new)
        let result = try home.rotate()
        try failedAsJSON(result, 5, "conflict")
        #expect(result.error.contains("--resume") && result.error.contains("--abort"))
        // Another key is not blocked.
        done(try home.platform.run("set", "OTHER", "-p", "web", input: .text("1")))
        done(try home.platform.run("push", "-p", "web", "--yes"))
        done(
            try home.platform.run(
                "rotate", "OTHER", "-p", "web", "--generate", "hex:16", "--yes"))
        #expect(try json(home.proceed("--abort"))["outcome"] == "rolled_back")
        try home.expect(Self.old)
        try failedAsJSON(home.proceed("--resume"), 4, "not_found")
    }

    @Test func `a variable out of sync beforehand is not rotated`() throws {
        let home = try RotationHome()
        let id = try home.platform.id("KEY")
        try home.platform.teammate.send(
            "PATCH", "/v9/projects/web/env/\(id)", ["value": "theirs"])
        let writes = try home.platform.writes {
            try failedAsJSON(home.rotate("--apply", home.recorder("apply")), 5, "conflict")
        }
        #expect(writes == [])
        #expect(home.read("apply") == "")
        #expect(home.stored() == ["theirs"])
        #expect(try home.revealed() == Self.old)
    }

    @Test func `a value that somebody else sets meanwhile is not overwritten`() throws {
        let home = try RotationHome()
        let id = try home.platform.id("KEY")
        // While the new value is being installed, before it is pushed.
        let script = try home.platform.home.directory.write(
            """
            import json, urllib.request
            request = urllib.request.Request(
                "\(home.platform.url)/v9/projects/web/env/\(id)", method="PATCH",
                data=json.dumps({"value": "theirs"}).encode(),
                headers={"Authorization": "Bearer \(home.platform.token)"})
            urllib.request.urlopen(request).read()
            """, to: "teammate.py")
        let (early, earlyMessage) = try failedReport(
            home.rotate("--apply", "test $ZG_ENV_STEP = undo || python3 \(script)"), 10,
            "rolled_back")
        #expect(early["outcome"] == "rolled_back" && early["open"] == false)
        #expect(earlyMessage.contains("Nothing was sent to web"), "\(earlyMessage)")
        #expect(home.stored() == ["theirs"])
        #expect(try home.served() == Self.old)

        // While the new value is being checked, after it went live.
        let later = try RotationHome()
        let laterID = try later.platform.id("KEY")
        let laterScript = try later.platform.home.directory.write(
            """
            import json, urllib.request
            request = urllib.request.Request(
                "\(later.platform.url)/v9/projects/web/env/\(laterID)", method="PATCH",
                data=json.dumps({"value": "theirs"}).encode(),
                headers={"Authorization": "Bearer \(later.platform.token)"})
            urllib.request.urlopen(request).read()
            """, to: "teammate.py")
        let (late, lateMessage) = try failedReport(
            later.rotate("--check", "python3 \(laterScript); false"), 11, "needs_attention")
        #expect(late.project?["state"] == "needs_attention")
        #expect(lateMessage.contains("still live with the new value"), "\(lateMessage)")
        #expect(lateMessage.contains("set to a different value on Vercel"), "\(lateMessage)")
        #expect(later.stored() == ["theirs"])
        #expect(try later.served() == Self.new)
    }

    @Test func `a failed build with the old value makes the previous deployment live`() throws {
        let home = try RotationHome()
        let before = try #require(try home.platform.current())
        // The new value is built; from its check on every build fails.
        let script = try home.platform.home.directory.write(
            """
            import json, urllib.request
            request = urllib.request.Request(
                "\(home.platform.url)/_sandbox/faults", method="PUT",
                data=json.dumps({"faults": [], "build": "fail"}).encode(),
                headers={"Authorization": "Bearer \(home.platform.token)"})
            urllib.request.urlopen(request).read()
            """, to: "break.py")
        let check = "test \"$(cat)\" = '\(Self.old)' || { python3 \(script); exit 1; }"
        let (report, _) = try failedReport(home.rotate("--check", check), 10, "rolled_back")
        #expect(report.project?["state"] == "rolled_back")
        #expect(report.project?["deployment"] == .string(before))
        #expect(try home.platform.current() == before)
        try home.expect(Self.old)
    }

    @Test func `a project that was rolled back does not go live on its own`() throws {
        let home = try RotationHome()
        let all = try home.platform.deployments()
        try home.platform.teammate.send("POST", "/v1/projects/web/rollback/\(all[1])", [:])
        home.platform.server.advanceClock(bySeconds: 60)
        #expect(try home.platform.current() == all[1])
        let (report, message) = try failedReport(home.rotate(), 10, "rolled_back")
        #expect(report.project?["state"] == "rolled_back")
        #expect(message.contains("staged"))
        #expect(try home.platform.current() == all[1])
        #expect(home.stored() == [Self.old])
    }

    @Test func `a failed revocation leaves the new value live, and can be retried`() throws {
        let home = try RotationHome()
        let once = "test -e \(home.path("tried")) || { touch \(home.path("tried")); exit 3; }"
        let (report, message) = try failedReport(
            home.rotate("--revoke", "\(once); \(home.recorder("revoke"))"), 11, "needs_attention")
        #expect(report["revoked"] == false)
        #expect(message.contains("--revoke failed with exit code 3"))
        try home.expect(Self.new)
        // It may have been partly done, and nothing would make the old value valid again.
        try failedAsJSON(home.proceed("--abort"), 5, "conflict")
        let resumed = try json(home.proceed("--resume"))
        #expect(resumed["outcome"] == "done")
        #expect(resumed["revoked"] == true)
        #expect(home.read("revoke") == "revoke \(Self.old) \(Self.new)\n")
    }

    @Test func `a command that does not read stdin works, and one that hangs is stopped`() throws {
        let home = try RotationHome()
        #expect(try json(home.rotate("--apply", "exec true"))["outcome"] == "done")
        let slow = try RotationHome()
        let start = ContinuousClock.now
        let (_, message) = try failedReport(
            slow.rotate(
                "--apply", "test $ZG_ENV_STEP = undo || sleep 60", "--timeout", "2s"), 10,
            "rolled_back")
        #expect(message.contains("took longer than 2 s"))
        #expect(ContinuousClock.now - start < .seconds(25))
        try slow.expect(Self.old)
    }

    @Test func `invalid combinations of options are refused before any work`() throws {
        let home = try RotationHome()
        let requests = try home.platform.requests {
            for arguments in [
                ["--check", "true"], ["--revoke", "true"], ["--check-url", "https://example.com/"],
            ] {
                try failedAsJSON(home.runner(arguments, redeploys: false).run(), 2, "usage")
            }
            try failedAsJSON(home.rotate("--check-url", "http://example.com/"), 2, "usage")
            try failedAsJSON(
                home.platform.run("rotate", "--yes", "--json", "-p", "web"), 2, "usage")
            try failedAsJSON(
                home.platform.run("rotate", "NONE", "--yes", "--json", "-p", "web"), 4, "not_found")
        }
        #expect(requests == [])
        try failedAsJSON(
            home.platform.runner(
                ["rotate", "KEY", "-p", "web", "--yes", "--json"], input: .text(Self.old)
            ).run(), 2, "usage")
        try home.expect(Self.old)
        // Nothing happens without a yes; the plan names every command.
        try failedAsJSON(
            home.platform.runner(
                ["rotate", "KEY", "-p", "web", "--json"], input: .text(Self.new)
            ).run(), 2, "usage")
        let dry = try home.platform.run(
            "rotate", "KEY", "-p", "web", "--dry-run", "--redeploy", "--apply", "teach-it",
            "--generate", "hex:16")
        #expect(dry.end == .exited(0))
        #expect(dry.output.contains("teach-it"))
        try home.expect(Self.old)
    }
}

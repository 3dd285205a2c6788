import Foundation
import Glibc
internal import JSON
import Sandbox
import TestSupport
import Testing

/// Projects that keep production deployments staged, and deployments that never get their domains.
@Suite("Rotating with staged deployments")
struct RotationStagedTests {
    private static let (old, new) = (RotationHome.old, RotationHome.new)

    private static func staged(buildSeconds: Double = 0.2) throws -> RotationHome {
        let home = try RotationHome(buildSeconds: buildSeconds)
        home.platform.server.setBuild(.staged)
        return home
    }

    @Test(
        "SYNC-A7: without --promote a staged build is reverted, and the message names the option"
    )
    func withoutPromotion() throws {
        let home = try Self.staged()
        let (report, message) = try failedReport(home.rotate(), 10, "rolled_back")
        #expect(report.project?["state"] == "rolled_back")
        #expect(message.contains("--redeploy --promote"), "\(message)")
        try home.expect(Self.old)
        let (_, kept) = try failedReport(
            home.rotate("--on-failure", "keep"), 11, "needs_attention")
        #expect(kept.contains("--promote"), "\(kept)")
        try failedAsJSON(home.runner(["--promote"], redeploys: false).run(), 2, "usage")
    }

    @Test("SYNC-A7: --promote promotes the new deployment and continues")
    func promoted() throws {
        let home = try Self.staged()
        let plan = try home.platform.runner([
            "rotate", "KEY", "-p", "web", "--generate", "hex:16", "--redeploy", "--promote",
            "--dry-run",
        ]).run()
        #expect(
            plan.output.contains("promote the new deployment if it is staged"), "\(plan.output)")
        var ids: [String] = []
        let writes = try home.platform.writes {
            let report = try json(
                home.rotate(
                    "--promote", "--check", home.recorder("check"), "--revoke",
                    home.recorder("revoke")))
            #expect(report["outcome"] == "done" && report["revoked"] == true)
            #expect(report.project?["proof"] == "deployment")
            ids = [try #require(report.project?["deployment"]?.text)]
        }
        #expect(writes.count { $0 == "POST /v13/deployments" } == 1)
        #expect(writes.count { $0.contains("/promote/\(ids[0])") } == 1)
        #expect(try home.platform.current() == ids[0])
        try home.expect(Self.new)
        #expect(home.read("check") == "check \(Self.new) \(Self.old)\n")
        // From a plan's file too; and nothing is promoted where nothing is staged.
        let file = try home.platform.home.directory.write(
            """
            {"rotations": [{"key": "KEY", "project": "web", "generate": "hex:16",
              "redeploy": true, "promote": true}]}
            """, to: "plan.json")
        done(try home.proceed("--plan", file))
        home.platform.server.setBuild(.ok)
        let plain = try home.platform.writes {
            let report = try json(home.rotate("--promote"))
            #expect(report["outcome"] == "done")
        }
        #expect(!plain.contains { $0.contains("/promote/") })
    }

    @Test("SYNC-A7: a project that was rolled back is rotated with --promote")
    func afterRollback() throws {
        let home = try RotationHome()
        let all = try home.platform.deployments()
        try home.platform.teammate.send("POST", "/v1/projects/web/rollback/\(all[1])", [:])
        home.platform.server.advanceClock(bySeconds: 60)
        #expect(try home.platform.current() == all[1])
        #expect(try json(home.rotate("--promote"))["outcome"] == "done")
        try home.expect(Self.new)
    }

    @Test("USE-B10: the plan says that the build will be staged, before it builds")
    func plannedWhereStaged() throws {
        let home = try RotationHome()
        let all = try home.platform.deployments()
        func warnings(_ arguments: String...) throws -> [JSONDocument?] {
            let report = try json(home.runner(arguments + ["--dry-run"]).run())
            return report["warnings"]?.elements.map { $0["code"] } ?? []
        }
        #expect(try warnings() == [])
        try home.platform.teammate.send("POST", "/v1/projects/web/rollback/\(all[1])", [:])
        home.platform.server.advanceClock(bySeconds: 60)
        #expect(try warnings() == ["staged"])
        #expect(try warnings("--promote") == [])
        let text = done(
            try home.platform.run(
                "rotate", "KEY", "-p", "web", "--redeploy", "--generate", "hex:16", "--dry-run"))
        #expect(text.output.contains("Without --promote"), "\(text.output)")
    }

    @Test("SYNC-A7: a promoted deployment is reverted by a promotion, too")
    func promotedAndBack() throws {
        let home = try Self.staged()
        let (report, _) = try failedReport(
            home.rotate("--promote", "--check", "test \"$(cat)\" = '\(Self.old)'"), 10,
            "rolled_back")
        #expect(report.project?["proof"] == "deployment")
        #expect(try home.platform.current() == report.project?["deployment"]?.text)
        try home.expect(Self.old)
    }

    @Test(
        "SYNC-A7: a rotation killed during its promotion continues with it",
        arguments: [true, false])
    func killedWhilePromoting(isResumed: Bool) throws {
        let home = try Self.staged(buildSeconds: 2)
        let runner = home.platform.signalled(
            home.runner(["--promote"]), by: SIGKILL, at: "POST /v10/projects/")
        #expect(try runner.run().end == .signalled(SIGKILL))
        let writes = try home.platform.writes {
            let end = try json(home.proceed(isResumed ? "--resume" : "--abort"))
            #expect(end["outcome"] == (isResumed ? "done" : "rolled_back"))
        }
        if isResumed { #expect(!writes.contains { $0.contains("/promote/") }, "\(writes)") }
        try home.expect(isResumed ? Self.new : Self.old)
    }

    @Test("SYNC-A7: a deployment that never gets its domains is given up within --timeout")
    func neverAliased() throws {
        let home = try RotationHome()
        let before = try home.platform.current()
        home.platform.server.setBuild(.aliasLate(seconds: 80_000))
        var result: ProgramResult?
        let requests = try home.platform.requests {
            var runner = home.platform.runner(
                ["rotate", "KEY", "-p", "web", "--yes", "--redeploy", "--timeout", "4s"],
                input: .text(Self.new))
            runner.timeLimit = .seconds(110)
            result = try runner.run()
        }
        let end = try #require(result)
        #expect(end.end == .exited(10), "\(end.error)")
        #expect(end.error.contains("did not go live within 4 s"), "\(end.error)")
        // The time for the new deployment, plus that for the one with the old value.
        #expect(end.duration < .seconds(30), "\(end.duration)")
        let polls = requests.count { $0.hasPrefix("GET /v13/deployments/") }
        #expect(polls < 20, "\(polls)")
        #expect(try home.platform.current() == before)
        try home.expect(Self.old)
    }

    @Test("SYNC-A7: --abort while waiting for the domains says how long it waits at most")
    func abortedBeforeDomains() throws {
        let home = try RotationHome()
        home.platform.server.setBuild(.aliasLate(seconds: 80_000))
        var runner = home.runner(["--timeout", "25s"])
        runner.timeLimit = .seconds(110)
        let killed = home.platform.signalled(runner, by: SIGKILL) { requests in
            requests.count { $0.path.hasPrefix("/v13/deployments/dpl_") } > 3
        }
        #expect(try killed.run().end == .signalled(SIGKILL))
        home.platform.server.setBuild(.ok)
        var abort = home.platform.runner(["rotate", "--abort", "--yes"])
        abort.timeLimit = .seconds(110)
        let result = done(try abort.run())
        #expect(
            result.error.contains(/waiting up to \d+ ?s for dpl_\w+ to finish/), "\(result.error)")
        #expect(result.duration < .seconds(60), "\(result.duration)")
        try home.expect(Self.old)
    }
}

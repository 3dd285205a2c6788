import Foundation
import Glibc
import Sandbox
import TestSupport
import Testing

/// Signals in the middle of a request, and a platform that is not there.
@Suite("Interruptions and a dead platform")
struct InterruptionTests {
    /// The runner, sent a signal once the platform has seen a request.
    private func interrupted(
        _ platform: PlatformHome, _ runner: ProgramRunner, by number: Int32, at request: String
    ) -> ProgramRunner {
        var runner = runner
        let server = platform.server
        let before = server.requests.count
        runner.script = [
            (
                .now,
                .call { process, _ in
                    Thread.detachNewThread {
                        for _ in 0..<1_000 {
                            let seen = server.requests.dropFirst(before)
                            if seen.contains(where: { "\($0.method) \($0.path)".hasPrefix(request) }
                            ) {
                                kill(process, number)
                                return
                            }
                            usleep(5_000)
                        }
                    }
                }
            )
        ]
        return runner
    }

    @Test(
        arguments: [
            ("GET /v9/projects/", "GET /v9/projects/*", SIGINT, 130),
            ("GET /v10/", "GET /v10/*", SIGINT, 130),
            ("POST ", "POST *", SIGINT, 130), ("POST ", "POST *", SIGTERM, 143),
            ("PATCH ", "PATCH *", SIGINT, 130), ("DELETE ", "DELETE *", SIGINT, 130),
            ("GET /v1/", "GET /v1/*", SIGINT, 130),
        ] as [(String, String, Int32, Int32)])
    func `an interrupted push leaves the vault whole, and the next one finishes`(
        request: String, pattern: String, number: Int32, status: Int32
    ) throws {
        let platform = try PlatformHome()
        done(
            try platform.run(
                "import", "-", "-p", "web", input: .text("CHANGED=0\nGONE=0\n")))
        try platform.pushed()
        done(
            try platform.run(
                "import", "-", "-p", "web", input: .text("CHANGED=1\nA=1\nB=2\n")))
        done(try platform.run("rm", "GONE", "-p", "web", "--yes"))
        try platform.setFaults("\(pattern) slow:6")
        let push = interrupted(
            platform, platform.runner(["push", "-p", "web", "--yes"]), by: number, at: request)
        let result = try push.run()
        #expect(result.end == .exited(status), "\(result.end) \(result.error)")
        #expect(result.duration < .seconds(5), "\(result.duration)")
        platform.server.setFaults([])
        #expect(try platform.home.revealed("A") == Array("1".utf8))
        try platform.pushed()
        try platform.pushed().expectNothing()
        let all = "production,preview,development="
        #expect(platform.records("CHANGED") == [all + "1"])
        #expect(platform.records("A") == [all + "1"])
        #expect(platform.records("B") == [all + "2"])
        #expect(platform.records("GONE") == [])
    }

    @Test func `an interrupted redeployment is left alone`() throws {
        let platform = try PlatformHome(buildSeconds: 30)
        let runner = interrupted(
            platform, platform.runner(["redeploy", "-p", "web", "--yes", "--wait"]), by: SIGINT,
            at: "GET /v13/")
        let result = try runner.run()
        #expect(result.end == .exited(130), "\(result.end) \(result.error)")
        #expect(result.output == "")
        platform.server.advanceClock(bySeconds: 60)
        #expect(try platform.current() == platform.deployments().first)
        done(try platform.run("status", "--offline"))
    }

    @Test func `a platform that is not there is told within two seconds`() throws {
        let platform = try PlatformHome()
        try platform.set("KEY", "value")
        platform.server.stop()
        let before = try platform.home.vaultBytes()
        let commands = [
            ["push", "-p", "web", "--yes", "--json"], ["redeploy", "-p", "web", "--yes", "--json"],
            ["project", "list", "--json"], ["link", "web", "--json"],
        ]
        let results = try Together.run(commands.map { platform.runner($0) })
        for (command, result) in zip(commands, results) {
            let message = try failedAsJSON(result, 7, "unavailable")
            #expect(message.contains("cannot connect") || message.contains("Cannot connect"))
            #expect(result.duration < .seconds(4), "\(command): \(result.duration)")
        }
        let login = try platform.run("login", "--name", "n", input: .text(platform.token))
        failed(login, 7)
        #expect(try platform.home.vaultBytes() == before)
        done(try platform.run("status"))
        done(try platform.run("list", "-p", "web"))
    }
}

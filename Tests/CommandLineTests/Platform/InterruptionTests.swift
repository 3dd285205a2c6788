import Foundation
import Glibc
import Sandbox
import TestSupport
import Testing

/// Signals during a request, and an unreachable Vercel.
@Suite("Interruptions and outages")
struct InterruptionTests {
    @Test(
        arguments: [
            ("GET /v9/projects/", "GET /v9/projects/*", SIGINT),
            ("GET /v10/", "GET /v10/*", SIGINT),
            ("POST ", "POST *", SIGINT), ("POST ", "POST *", SIGTERM),
            ("PATCH ", "PATCH *", SIGINT), ("DELETE ", "DELETE *", SIGINT),
            ("GET /v1/", "GET /v1/*", SIGINT),
        ] as [(String, String, Int32)])
    func `an interrupted push leaves the vault intact, and the next one finishes`(
        request: String, pattern: String, number: Int32
    ) throws {
        let platform = try SandboxHome()
        done(
            try platform.run(
                "import", "-", "-p", "web", input: .text("CHANGED=0\nGONE=0\n")))
        try platform.pushed()
        done(
            try platform.run(
                "import", "-", "-p", "web", input: .text("CHANGED=1\nA=1\nB=2\n")))
        done(try platform.run("rm", "GONE", "-p", "web", "--yes"))
        try platform.setFaults("\(pattern) slow:40")
        let push = platform.signalled(
            platform.runner(["push", "-p", "web", "--yes"]), by: number, at: request)
        let result = try push.run()
        #expect(result.end == .received(number), "\(result.end) \(result.error)")
        #expect(result.duration < .seconds(30), "\(result.duration)")
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

    @Test func `an interrupted redeploy leaves its deployment alone`() throws {
        let platform = try SandboxHome(buildSeconds: 30)
        let runner = platform.signalled(
            platform.runner(["redeploy", "-p", "web", "--yes", "--wait"]), by: SIGINT,
            at: "GET /v13/")
        let result = try runner.run()
        #expect(result.end == .signalled(SIGINT), "\(result.end) \(result.error)")
        #expect(result.output == "")
        platform.server.advanceClock(bySeconds: 60)
        #expect(try platform.current() == platform.deployments().first)
        done(try platform.run("status", "--offline"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `push --json ended by a signal prints one object`(number: Int32) throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "value")
        for (pattern, request) in [("POST *", "POST "), ("GET /v10/*", "GET /v10/")] {
            try platform.setFaults("\(pattern) slow:40")
            let result = try platform.signalled(
                platform.runner(["push", "-p", "web", "--yes", "--json"]), by: number, at: request
            ).run()
            #expect(result.end == .received(number), "\(result.end) \(result.error)")
            #expect(try JSONDocument(result.standardError)["error"]?["code"] == "interrupted")
            #expect(result.duration < .seconds(30), "\(result.duration)")
        }
        platform.server.setFaults([])
        try platform.pushed()
        #expect(platform.records("KEY") == ["production,preview,development=value"])
    }

    @Test func `an unreachable Vercel is reported at once`() throws {
        let platform = try SandboxHome()
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
            #expect(result.duration < .seconds(20), "\(command): \(result.duration)")
        }
        let login = try platform.run("login", "--name", "n", input: .text(platform.token))
        failed(login, 7)
        #expect(try platform.home.vaultBytes() == before)
        done(try platform.run("status"))
        done(try platform.run("list", "-p", "web"))
    }
}

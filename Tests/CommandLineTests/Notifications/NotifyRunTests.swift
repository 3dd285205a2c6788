import Foundation
import JSON
import Sandbox
import TestSupport
import Testing

/// `notify run` against the sandbox, a real bus and a real notification server.
@Suite("notify run")
struct NotifyRunTests {
    private static let run = [
        "notify", "run", "--json", "--every", "5s", "--every-building", "5s",
    ]

    /// A sandbox with notifications for its project `web`.
    private static func platform(
        on events: String, _ more: String...,
        configure: (inout SandboxConfiguration) -> Void = { _ in }
    ) throws -> SandboxHome {
        let platform = try SandboxHome(buildSeconds: 0.2, configure: configure)
        try platform.set("KEY", "value")
        done(try platform.runner(["notify", "set", "web", "--on", events] + more).run())
        return platform
    }

    /// Waits until `notify run` has requested deployments that often, counted from `before`.
    private static func waitForLists(_ platform: SandboxHome, _ count: Int, since before: Int) {
        platform.server.waits(after: before) { requests in
            requests.count { $0.path.hasPrefix("/v6/deployments?") } >= count
        }
    }

    private static func events(_ result: ProgramResult) throws -> [JSONDocument] {
        try result.output.split(separator: "\n").map { try JSONDocument(Array($0.utf8)) }
    }

    @Test func `a notification arrives within one interval of the change`() throws {
        let desktop = try NotificationServer()
        let platform = try Self.platform(on: "started,ready,failed,canceled")
        var runner = platform.runner(Self.run, environment: desktop.environment)
        let before = platform.server.requests.count
        let source = try #require(try platform.deployments().first)
        var madeAt = ContinuousClock.now
        var toldAfter: Duration?
        runner.script = [
            (
                .now,
                .call { [teammate = platform.teammate] _, _ in
                    Self.waitForLists(platform, 1, since: before)
                    // Seen by Vercel and answered a moment later, plus slack for a slow machine.
                    usleep(1_500_000)
                    madeAt = .now
                    _ = try? teammate.send(
                        "POST", "/v13/deployments?forceNew=1",
                        ["name": "web", "deploymentId": .string(source), "target": "production"])
                }
            ),
            (.output("\"event\":\"ready\""), .call { _, _ in toldAfter = .now - madeAt }),
            (.now, .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(result.end == .exited(143), "\(result.error)")
        let time = try #require(toldAfter)
        #expect(time < .seconds(5), "\(time)")
        let events = try Self.events(result)
        #expect(events.map { $0["event"]?.text } == ["started", "ready"])
        let ready = try #require(events.last)
        #expect(ready["project"] == "web" && ready["late"] == false)
        #expect(ready["deployment"]?["target"] == "production")
        #expect(ready["deployment"]?["state"] == "READY")
        let shown = desktop.wait(for: 1)
        #expect(shown.count == 1)
        #expect(shown.first?.title == "web: ready (production)")
        #expect(shown.first?.actions.contains("default") == true)
        #expect(shown.first?.hints["x-kde-origin-name"] == "web")
        // The next run does not report it again.
        let start = platform.server.requests.count
        runner.script = [
            (.now, .call { _, _ in Self.waitForLists(platform, 2, since: start) }),
            (.now, .signal(SIGTERM)),
        ]
        #expect(try runner.run().output == "")
        #expect(desktop.shown.count == 1)
    }

    @Test func `what happened while it was not running is reported once, briefly`() throws {
        let desktop = try NotificationServer()
        let platform = try Self.platform(on: "ready,failed")
        let source = try #require(try platform.deployments().first)
        for place in 0..<7 {
            if place == 4 { platform.server.setBuild(.fail) }
            try platform.teammate.send(
                "POST", "/v13/deployments?forceNew=1",
                ["name": "web", "deploymentId": .string(source)])
            usleep(50_000)
        }
        usleep(500_000)
        var runner = platform.runner(
            ["notify", "run", "--every", "5s"], environment: desktop.environment)
        let before = platform.server.requests.count
        runner.script = [
            (.output("zg-env was not watching"), .call { _, _ in }),
            (.now, .call { _, _ in Self.waitForLists(platform, 2, since: before) }),
            (.now, .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(result.output.split(separator: "\n").count == 1, "\(result.output)")
        let shown = desktop.wait(for: 1)
        #expect(shown.map(\.title) == ["7 deployments of web finished"])
        #expect(shown.first?.body.hasPrefix("4 ready, 3 failed") == true)
        #expect(shown.first?.hints["urgency"] == "2")
    }

    @Test func `only selected events are reported, and a new selection counts at once`() throws {
        let platform = try Self.platform(on: "ready", "--production-only")
        let source = try #require(try platform.deployments().first)
        func deploy(_ target: JSONValue?) throws {
            var body: [String: JSONValue] = ["name": "web", "deploymentId": .string(source)]
            body["target"] = target
            try platform.teammate.send(
                "POST", "/v13/deployments?forceNew=1",
                .members(body))
        }
        var runner = platform.runner(Self.run + ["--no-desktop"])
        let before = platform.server.requests.count
        runner.script = [
            (
                .now,
                .call { _, _ in
                    Self.waitForLists(platform, 1, since: before)
                    try? deploy(nil)
                    usleep(400_000)
                    try? deploy("production")
                }
            ),
            (.output("\"event\":\"ready\""), .call { _, _ in }),
            (
                .now,
                .call { _, _ in
                    _ = try? platform.run("notify", "set", "web", "--on", "started")
                    try? deploy(nil)
                }
            ),
            (.output("\"event\":\"started\""), .call { _, _ in }),
            (.now, .signal(SIGINT)),
        ]
        let result = try runner.run()
        #expect(result.end == .signalled(SIGINT), "\(result.error)")
        let events = try Self.events(result)
        #expect(events.map { $0["event"]?.text } == ["ready", "started"])
        #expect(events.map { $0["deployment"]?["target"]?.text } == ["production", "preview"])
    }

    @Test func `one request serves all selected projects of an account with two hundred`()
        throws
    {
        let names = (0..<200).map { "p\($0)" }
        let seed = """
            {"projects": [\(names.map { #"{"name": "\#($0)", "deployments": [{}]}"# }
                .joined(separator: ","))]}
            """
        let platform = try SandboxHome(seed: seed, buildSeconds: 0.2) {
            $0.requestsPerMinute = 60
        }
        // The unit tests select all two hundred; here each selection is a command.
        for name in ["p0", "p99", "p199"] {
            try platform.home.store(["KEY": "value"], in: name)
            done(try platform.run("notify", "set", name, "--on", "failed"))
        }
        var runner = platform.runner(Self.run + ["--no-desktop"])
        let before = platform.server.requests.count
        runner.script = [
            (.now, .call { _, _ in Self.waitForLists(platform, 3, since: before) }),
            (.now, .signal(SIGTERM)),
        ]
        #expect(try runner.run().end == .exited(143))
        let requests = platform.server.requests.dropFirst(before).map(\.path)
        #expect(requests.count == 3, "\(requests)")
        #expect(
            requests.allSatisfy { $0.hasPrefix("/v6/deployments?") && !$0.contains("projectId") })
    }

    @Test func `an outage is survived and reported once`() throws {
        let platform = try Self.platform(on: "ready")
        let source = try #require(try platform.deployments().first)
        try platform.setFaults("GET */deployments 500 x2")
        var runner = platform.runner([
            "notify", "run", "--no-desktop", "--every", "5s", "--every-building", "5s",
        ])
        runner.script = [
            (.error("Retrying."), .call { _, _ in }),
            (
                .error("Vercel is reachable again."),
                .call { _, _ in
                    _ = try? platform.teammate.send(
                        "POST", "/v13/deployments?forceNew=1",
                        ["name": "web", "deploymentId": .string(source)])
                }
            ),
            (.output("web: ready"), .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(result.end == .exited(143), "\(result.error)")
        #expect(result.error.ranges(of: "Retrying.").count == 1)
    }

    @Test func `only one runs for each vault`() throws {
        let platform = try Self.platform(on: "ready")
        var first = platform.runner(Self.run + ["--no-desktop"])
        let before = platform.server.requests.count
        var second: ProgramResult?
        first.script = [
            (
                .now,
                .call { _, _ in
                    Self.waitForLists(platform, 1, since: before)
                    second = try? platform.runner(["notify", "run", "--no-desktop"]).run()
                }
            ),
            (.now, .signal(SIGTERM)),
        ]
        #expect(try first.run().end == .exited(143))
        let refused = try #require(second)
        #expect(refused.end == .exited(5))
        #expect(refused.error.contains("already running for this vault"))
    }

    @Test func `it continues after rekey and keeps the selection`() throws {
        let platform = try Self.platform(on: "ready")
        let source = try #require(try platform.deployments().first)
        var runner = platform.runner(Self.run + ["--no-desktop"])
        let before = platform.server.requests.count
        runner.script = [
            (
                .now,
                .call { _, _ in
                    Self.waitForLists(platform, 1, since: before)
                    _ = try? platform.run("rekey", "--yes")
                    _ = try? platform.teammate.send(
                        "POST", "/v13/deployments?forceNew=1",
                        ["name": "web", "deploymentId": .string(source)])
                }
            ),
            (.output("\"event\":\"ready\""), .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(result.end == .exited(143), "\(result.error)\(result.output)")
        let choices = try json(platform.run("notify", "show", "--json"))["choices"]?.elements
        #expect(choices?.count == 1)
    }

    @Test func `without a bus it prints a hint and sends no request`() throws {
        let platform = try Self.platform(on: "ready")
        let requests = try platform.requests {
            let result = try platform.runner(Self.run).run()
            #expect(result.end == .exited(7))
            #expect(result.error.contains("session bus") && result.error.contains("--no-desktop"))
        }
        #expect(requests.isEmpty)
    }
}

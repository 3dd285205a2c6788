import Foundation
internal import JSON
import PostalProtocol
import Sandbox
import TestSupport
import Testing

/// `notify run` and `list` with a vault that is a device of the test's relay.
@Suite("notify run with a relay", .timeLimit(.minutes(5)))
struct PostalRunTests {
    /// A sandbox with notifications for its project `web`, and a relay that was joined.
    final class Place {
        let platform: SandboxHome
        let relay: FakeRelay
        let account: String
        let projectID: String

        init(on events: String = "ready,failed") throws {
            platform = try SandboxHome(buildSeconds: 0.2)
            relay = try FakeRelay()
            let caller = platform.teammate
            account = try #require(
                try caller.send("GET", "/v2/user")["user"]?["id"]?.string)
            projectID = try #require(try caller.send("GET", "/v9/projects/web")["id"]?.string)
            try platform.set("KEY", "value")
            done(try platform.runner(["push", "-p", "web", "--yes"]).run())
            done(try platform.runner(["notify", "set", "web", "--on", events]).run())
            done(
                try platform.runner(
                    ["postal", "join", relay.url], input: .text(relay.invite(account))
                ).run())
        }

        func event(
            _ id: String, _ type: PostalEventType, deployment: String? = nil,
            variable: String? = nil, project: String? = nil, account: String? = nil
        ) -> PostalEvent {
            PostalEvent(
                id: id, type: type, createdAt: Int64(Date().timeIntervalSince1970 * 1_000),
                account: account ?? self.account,
                project: .init(id: project ?? projectID, name: "web"),
                deployment: deployment.map { .init(id: $0) },
                variable: variable.map { .init(id: $0, key: "KEY") })
        }

        /// Creates a deployment and waits until it is ready.
        @discardableResult
        func deploy(target: String? = nil) throws -> String {
            let caller = platform.teammate
            let source = try #require(try platform.deployments().first)
            let made = try caller.send(
                "POST", "/v13/deployments?forceNew=1",
                target == "production"
                    ? ["name": "web", "deploymentId": .string(source), "target": "production"]
                    : ["name": "web", "deploymentId": .string(source)])
            usleep(600_000)
            return try #require(made["id"]?.string)
        }

        func runner(_ more: String..., json: Bool = true) -> ProgramRunner {
            platform.runner(
                ["notify", "run", "--no-desktop"] + (json ? ["--json"] : []) + more)
        }

        /// The sync state of `KEY` of `web` in `list`, without a request.
        func state(_ key: String = "KEY") throws -> String? {
            let shown = try json(
                platform.run("list", "-p", "web", "--json", "--offline"))
            return shown["variables"]?.elements.first { $0["key"] == .string(key) }?["sync"]?.text
        }

        func waitForState(_ wanted: String) throws -> String? {
            for _ in 0..<100 {
                let found = try state()
                if found == wanted { return found }
                usleep(100_000)
            }
            return try state()
        }

        /// The number of requests for deployments by `notify run`.
        func lists(since before: Int = 0) -> Int {
            platform.server.requests.dropFirst(before).count {
                $0.path.hasPrefix("/v6/deployments?") && $0.path.contains("since=")
            }
        }
    }

    private static func events(_ result: ProgramResult) throws -> [JSONDocument] {
        try result.output.split(separator: "\n").map { try JSONDocument(Array($0.utf8)) }
    }

    @Test func `an event is reported at once, once, and if selected here`() throws {
        let place = try Place()
        var runner = place.runner("--every", "1h", "--every-building", "1h")
        var (sentAt, toldAfter) = (ContinuousClock.now, Duration.zero)
        var lists = 0
        runner.script = [
            (
                .now,
                .call { _, _ in
                    place.relay.waitForStream()
                    usleep(1_500_000)
                    lists = place.lists()
                    guard let id = try? place.deploy() else { return }
                    sentAt = .now
                    place.relay.emit(
                        place.event("evt_1", .deploymentReady, deployment: id), times: 3)
                }
            ),
            (.output("\"event\":\"ready\""), .call { _, _ in toldAfter = .now - sentAt }),
            (
                .now,
                .call { _, _ in
                    place.relay.waitForAcknowledgement()
                    lists = place.lists() - lists
                    // Events of another project, another account, or none cause no request.
                    place.relay.emit(place.event("evt_2", .deploymentReady, project: "prj_other"))
                    place.relay.emit(raw: "id: NUMBER\nevent: sealed\ndata: AAAA\n\n")
                    place.relay.emit(raw: "event: later\ndata: x\n\n: word\n\n")
                    place.relay.emit(place.event("evt_1", .deploymentReady))
                    place.relay.waitForAcknowledgement()
                    usleep(500_000)
                }
            ), (.now, .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(result.end == .exited(143), "\(result.error)")
        let events = try Self.events(result)
        #expect(events.map { $0["event"]?.text } == ["ready"], "\(result.output)\(result.error)")
        #expect(events.first?["late"] == false)
        #expect(toldAfter < .seconds(30), "\(toldAfter)")
        print("from the event to the message: \(toldAfter)")
        #expect(lists == 1)
        #expect(place.relay.device?.acknowledged == place.relay.newest)
    }

    @Test func `list knows that it is behind, and a push from here does not cause that`() throws {
        let place = try Place()
        let id = try place.platform.id("KEY")
        #expect(try place.state() == "synced")
        var runner = place.runner("--every", "1h")
        var (own, other, gone): (String?, String?, String?)
        runner.script = [
            (
                .now,
                .call { _, _ in
                    place.relay.waitForStream()
                    usleep(1_000_000)
                    // What this machine pushed comes back as an event.
                    let vault = try? place.platform.home.vaultBytes()
                    place.relay.emit(place.event("own", .variableUpdated, variable: id))
                    place.relay.waitForAcknowledgement()
                    usleep(1_000_000)
                    own = try? place.state()
                    // Nothing was new, so nothing was written.
                    if (try? place.platform.home.vaultBytes()) != vault { own = "written" }
                    _ = try? place.platform.teammate.send(
                        "PATCH", "/v9/projects/web/env/\(id)", ["value": "another"])
                    place.relay.emit(place.event("other", .variableUpdated, variable: id))
                    other = try? place.waitForState("behind")
                    _ = try? place.platform.runner(["pull", "-p", "web", "--yes"]).run()
                    place.relay.emit(place.event("pulled", .variableUpdated, variable: id))
                    _ = try? place.platform.teammate.send(
                        "DELETE", "/v9/projects/web/env/\(id)")
                    place.relay.emit(place.event("gone", .variableDeleted, variable: id))
                    gone = try? place.waitForState("behind")
                }
            ), (.now, .signal(SIGTERM)),
        ]
        let before = place.platform.server.requests.count
        let result = try runner.run()
        #expect(result.end == .exited(143), "\(result.error)")
        #expect(own == "synced" && other == "behind" && gone == "behind")
        // One request for each, and no list of deployments because of them.
        #expect(place.lists(since: before) == 1)
    }

    @Test func `while the relay is down it polls, and reports nothing twice`() throws {
        let place = try Place()
        place.relay.setDown(true)
        var runner = place.runner("--every", "5s", "--every-building", "5s", json: false)
        runner.script = [
            (
                .error("busy"),
                .call { _, _ in
                    usleep(1_500_000)
                    _ = try? place.deploy()
                }
            ),
            (
                .output("web: ready"),
                .call { _, _ in
                    // The relay delivers it again.
                    place.relay.emit(place.event("evt_1", .deploymentReady))
                    place.relay.setDown(false)
                    place.relay.waitForStream()
                    place.relay.waitForAcknowledgement()
                    usleep(2_000_000)
                    place.relay.setDown(true)
                    usleep(3_000_000)
                }
            ), (.now, .signal(SIGKILL)),
        ]
        let result = try runner.run()
        #expect(result.output.split(separator: "\n").count == 1, "\(result.output)")
        #expect(result.error.contains("is connected again"), "\(result.error)")
        // Killed and restarted, with everything delivered again.
        place.relay.setDown(false)
        let connections = place.relay.device?.connections ?? 0
        runner.script = [
            (
                .now,
                .call { _, _ in
                    place.relay.waitForStream(connections + 1)
                    place.relay.emit(place.event("evt_1", .deploymentReady))
                    usleep(3_000_000)
                }
            ), (.now, .signal(SIGTERM)),
        ]
        let again = try runner.run()
        #expect(again.end == .exited(143) && again.output == "", "\(again.output)")
    }

    @Test
    func `killed at any moment it reports everything, and repeats at most one event`()
        throws
    {
        let place = try Place()
        var told: [String] = []
        var made: [String] = []
        for round in 0..<6 {
            var runner = place.runner("--every", "1h", "--every-building", "1h")
            let connections = place.relay.device?.connections ?? 0
            runner.script = [
                (
                    .now,
                    .call { _, _ in
                        place.relay.waitForStream(connections + 1)
                        if let id = try? place.deploy() {
                            made.append(id)
                            place.relay.emit(
                                place.event("evt_\(round)", .deploymentReady, deployment: id))
                        }
                        usleep(UInt32.random(in: 0..<900_000))
                    }
                ), (.now, .signal(SIGKILL)),
            ]
            told += try Self.events(try runner.run()).compactMap {
                $0["deployment"]?["id"]?.text
            }
        }
        var runner = place.runner("--every", "1h")
        runner.script = [(.now, .call { _, _ in usleep(4_000_000) }), (.now, .signal(SIGTERM))]
        told += try Self.events(try runner.run()).compactMap { $0["deployment"]?["id"]?.text }
        #expect(Set(told) == Set(made))
        // A message that was printed when the process was killed may come again.
        #expect(told.count <= made.count + 1, "\(told)")
    }

    @Test func `an event drops the cached responses it concerns, and no others`() throws {
        let place = try Place()
        func kept(_ words: String...) throws -> Bool {
            try place.platform.runner(words + ["--offline", "--json"]).run().end == .exited(0)
        }
        let list = ["deployment", "list", "-p", "web"]
        done(try place.platform.runner(list).run())
        done(try place.platform.runner(["project", "list"]).run())
        #expect(try kept("deployment", "list", "-p", "web") && kept("project", "list"))
        var runner = place.runner("--every", "1h")
        var states: [Bool?] = []
        runner.script = [
            (
                .now,
                .call { _, _ in
                    place.relay.waitForStream()
                    place.relay.emit(place.event("1", .variableUpdated, variable: "env_1"))
                    place.relay.emit(place.event("2", .deploymentReady, project: "prj_other"))
                    place.relay.waitForAcknowledgement()
                    states.append(try? kept("deployment", "list", "-p", "web"))
                    place.relay.emit(place.event("3", .deploymentReady))
                    place.relay.waitForAcknowledgement()
                    states.append(try? kept("deployment", "list", "-p", "web"))
                }
            ), (.now, .signal(SIGTERM)),
        ]
        #expect(try runner.run().end == .exited(143))
        #expect(states == [true, false])
    }

    @Test func `a lost or removed event is reported, and Vercel is asked instead`() throws {
        let place = try Place()
        var runner = place.runner("--every", "1h", "--every-building", "1h", json: false)
        runner.script = [
            (
                .now,
                .call { _, _ in
                    place.relay.waitForStream()
                    usleep(1_500_000)
                    _ = try? place.deploy()
                    place.relay.emit(raw: "event: missed\nid: NUMBER\ndata: {\"count\":4}\n\n")
                }
            ),
            (.output("web: ready"), .call { _, _ in place.relay.removeDevices() }),
            (.error("no longer lists this device"), .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(result.end == .exited(143), "\(result.error)")
        #expect(result.output.split(separator: "\n").count == 1)
    }

    @Test func `joining and leaving take effect at once while it runs`() throws {
        let place = try Place()
        done(try place.platform.run("postal", "leave", "--yes"))
        var runner = place.runner("--every", "1h", "--every-building", "1h")
        let code = place.relay.invite(place.account)
        var connections: [Int?] = []
        runner.script = [
            (
                .now,
                .call { _, _ in
                    usleep(2_000_000)
                    _ = try? place.platform.runner(
                        ["postal", "join", place.relay.url], input: .text(code)
                    ).run()
                    place.relay.waitForStream()
                    connections.append(place.relay.device?.connections)
                    if let id = try? place.deploy() {
                        place.relay.emit(place.event("evt", .deploymentReady, deployment: id))
                    }
                }
            ),
            (
                .output("\"event\":\"ready\""),
                .call { _, _ in
                    let left = try? place.platform.run("postal", "leave", "--yes")
                    connections.append(left?.status == 0 ? 0 : nil)
                    usleep(3_000_000)
                }
            ), (.now, .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(result.end == .exited(143), "\(result.error)")
        #expect(connections == [1, 0] && place.relay.devices.isEmpty)
        #expect(!result.error.contains("no longer lists"), "\(result.error)")
    }
}

import Foundation
import JSON
import Sandbox
import TestSupport
import Testing

/// `watch --json` against the sandbox.
@Suite("watch --json")
struct WatchEventsTests {
    private static let watch = ["watch", "--json", "--every", "5s", "--every-building", "5s"]

    private static func events(_ result: ProgramResult) throws -> [JSONDocument] {
        try result.output.split(separator: "\n").map { try JSONDocument(Array($0.utf8)) }
    }

    private static func deploy(_ platform: SandboxHome, _ target: JSONValue? = nil) throws {
        let source = try #require(try platform.deployments().first)
        var body: [String: JSONValue] = ["name": "web", "deploymentId": .string(source)]
        body["target"] = target
        try platform.teammate.send("POST", "/v13/deployments?forceNew=1", .members(body))
    }

    @Test func `the current state comes first, then the events`() throws {
        let platform = try SandboxHome(buildSeconds: 0.2)
        try platform.set("KEY", "value")
        var runner = platform.runner(Self.watch)
        runner.script = [
            (.output("\"kept\":false"), .call { _, _ in try? Self.deploy(platform, "production") }),
            (.output("\"event\":\"ready\""), .call { _, _ in }),
            (.output("\"event\":\"live\""), .call { _, _ in platform.server.setBuild(.fail) }),
            (.now, .call { _, _ in try? Self.deploy(platform) }),
            (.output("\"event\":\"failed\""), .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(result.end == .exited(143), "\(result.error)")
        let events = try Self.events(result)
        #expect(
            events.compactMap { $0["event"]?.text }.filter { $0 != "started" } == [
                "snapshot", "ready", "live", "failed",
            ], "\(result.output)")
        let first = try #require(events.first)
        #expect(first["kept"] == false && first["asOf"]?.text != nil)
        let web = try #require(first["projects"]?.elements.first { $0["project"] == "web" })
        #expect(web["notLiveYet"] == ["KEY"])
        #expect(web["deployments"]?.elements.count == 2)
        #expect(web["deployments"]?.elements.first?["current"] == true)
        let ready = try #require(events.first { $0["event"] == "ready" })
        let live = try #require(events.first { $0["event"] == "live" })
        #expect(ready["project"] == "web" && ready["late"] == false)
        #expect(ready["deployment"]?["state"] == "READY")
        #expect(ready["deployment"]?["target"] == "production")
        #expect(live["deployment"]?["id"] == ready["deployment"]?["id"])
        #expect(live["deployment"]?["current"] == true)
        #expect(events.last?["deployment"]?["target"] == "preview")
        #expect(!result.output.contains("value"))
    }

    @Test func `cached data comes without a request, and --offline shows nothing else`() throws {
        let platform = try SandboxHome()
        var runner = platform.runner(Self.watch)
        runner.script = [
            (.output("\"kept\":false"), .call { _, _ in }), (.now, .signal(SIGINT)),
        ]
        #expect(try runner.run().end == .signalled(SIGINT))
        let before = platform.server.requests.count
        let offline = done(try platform.run("watch", "--json", "--offline"))
        #expect(platform.server.requests.count == before)
        let kept = try Self.events(offline)
        #expect(kept.map { $0["event"]?.text } == ["snapshot"])
        #expect(kept[0]["kept"] == true)
        #expect(
            kept[0]["projects"]?.elements.compactMap { $0["project"]?.text }.sorted()
                == ["bare", "web"])
        // On disk, the names of projects, branches and commits are always encrypted.
        let cache = platform.home.directory.path("cache")
        var fileCount = 0
        for case let name as String in FileManager.default.enumerator(atPath: cache) ?? .init() {
            guard let bytes = FileManager.default.contents(atPath: "\(cache)/\(name)") else {
                continue
            }
            fileCount += 1
            #expect(!String(decoding: bytes, as: UTF8.self).contains("feature"))
        }
        #expect(fileCount > 0)
    }

    @Test func `an outage is reported once, and its end too`() throws {
        let platform = try SandboxHome()
        try platform.setFaults("GET */deployments 500 x2")
        var runner = platform.runner(Self.watch)
        runner.script = [
            (.output("\"event\":\"unavailable\""), .call { _, _ in }),
            (.output("\"event\":\"available\""), .call { _, _ in }),
            (.output("\"event\":\"snapshot\""), .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(
            try Self.events(result).map { $0["event"]?.text } == [
                "unavailable", "available", "snapshot",
            ])
    }

    @Test func `only the given projects are shown`() throws {
        let platform = try SandboxHome()
        var runner = platform.runner(Self.watch + ["-p", "bare", "--project", "web"])
        runner.script = [
            (.output("\"kept\":false"), .call { _, _ in }), (.now, .signal(SIGTERM)),
        ]
        let events = try Self.events(try runner.run())
        #expect(
            events.first?["projects"]?.elements.compactMap { $0["project"]?.text }.sorted()
                == ["bare", "web"])
        let result = try platform.run("watch", "--json", "-p", "web", "-p", "wbe")
        #expect(result.end == .exited(4))
        #expect(try JSONDocument(result.standardError)["error"]?["code"] == "not_found")
        #expect(result.error.contains("wbe"))
    }

    @Test func `two hundred projects take one request a turn, and one for their list`() throws {
        let names = (0..<200).map { "p\($0)" }
        let projects = names.map { #"{"name": "\#($0)", "deployments": [{}]}"# }
        let platform = try SandboxHome(
            seed: #"{"projects": [\#(projects.joined(separator: ","))]}"#)
        var runner = platform.runner(Self.watch)
        let before = platform.server.requests.count
        func lists() -> [String] {
            platform.server.requests.dropFirst(before).map(\.path)
        }
        runner.script = [
            (.output("\"kept\":false"), .call { _, _ in }),
            (
                .now,
                .call { _, _ in
                    for _ in 0..<3_000
                    where lists().count(where: { $0.hasPrefix("/v6/deployments?") }) < 3 {
                        usleep(10_000)
                    }
                }
            ),
            (.now, .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(result.end == .exited(143))
        let events = try Self.events(result)
        #expect(events.first?["projects"]?.elements.count == 200)
        let requests = lists()
        #expect(requests.count(where: { $0.hasPrefix("/v6/deployments?") }) == 3)
        #expect(requests.count(where: { $0.hasPrefix("/v10/projects?") }) <= 3, "\(requests)")
        #expect(requests.count <= 6, "\(requests)")
    }

    @Test func `a refused token ends it and clears what it was shown`() throws {
        let platform = try SandboxHome()
        var runner = platform.runner(Self.watch)
        runner.script = [
            (.output("\"kept\":false"), .call { _, _ in }), (.now, .signal(SIGTERM)),
        ]
        _ = try runner.run()
        try platform.setFaults("* * 403")
        let result = try platform.run("watch", "--json")
        #expect(result.end == .exited(6), "\(result.error)")
        #expect(
            try platform.run("watch", "--json", "--offline").output.contains("\"web\"") == false)
    }

    @Test func `a token in the environment needs no vault`() throws {
        let platform = try SandboxHome(hasVault: false, isLoggedIn: false)
        var runner = platform.runner(Self.watch, environment: ["VERCEL_TOKEN": platform.token])
        runner.script = [
            (.output("\"kept\":false"), .call { _, _ in }), (.now, .signal(SIGTERM)),
        ]
        let result = try runner.run()
        #expect(result.end == .exited(143), "\(result.error)")
        #expect(result.output.contains("\"web\"") && !result.output.contains(platform.token))
    }

    @Test func `a closed output ends it`() throws {
        let platform = try SandboxHome()
        var runner = platform.home.wrapped("/bin/sh") { program in
            ["-c", "{ \(program) watch --json --every 5s; echo $? >../code; } | head -n 1"]
        }
        runner.environment = platform.runner([]).environment
        runner.script = [
            (
                .output("snapshot"),
                .call { _, _ in
                    usleep(200_000)
                    try? Self.deploy(platform)
                }
            )
        ]
        _ = try runner.run()
        #expect(try platform.home.directory.read("code") == Array("141\n".utf8))
    }
}

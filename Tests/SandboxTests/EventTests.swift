internal import JSON
import Sandbox
import Testing

@Suite struct `Events` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture { $0.buildSeconds = 10 } }

    @Test func `of a finished build are an array of both shapes`() throws {
        let id = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 10)
        let answer = try sandbox.client.get("/v3/now/deployments/\(id)/events?builds=1&limit=-1")
        #expect(answer.headers["content-type"]?.hasPrefix("application/json") == true)
        let events = try #require(answer.json.array)
        let nested = events.filter { $0["payload"] != nil }
        let flat = events.filter { $0["payload"] == nil }
        #expect(nested.contains { $0["type"] == "stdout" && $0["payload"]?["text"]?.string != nil })
        #expect(
            nested.contains { $0["type"] == "delimiter" && $0["payload"]?["info"]?["step"] != nil })
        #expect(
            flat.map { $0["info"]?["readyState"] } == [
                "QUEUED", "INITIALIZING", "BUILDING", "READY",
            ])
        #expect(events.allSatisfy { $0["created"]?.integer != nil })
        let ids = events.compactMap { ($0["payload"]?["id"] ?? $0["id"])?.string }
        #expect(Set(ids).count == events.count)
        #expect(ids == ids.sorted())
        let backward = try sandbox.client.get("/v3/deployments/\(id)/events?direction=backward")
        #expect(backward.json.array == events.reversed())
        #expect(
            try sandbox.client.get("/v2/deployments/\(id)/events?limit=2").json.array?.count == 2)
        let quiet = try sandbox.client.get("/v3/deployments/\(id)/events?delimiter=0")
        #expect(quiet.json.array?.contains { $0["type"] == "delimiter" } == false)
        let last = try #require(events.last?["date"]?.integer)
        let since = try sandbox.client.get("/v3/deployments/\(id)/events?since=\(last)")
        #expect(since.json.array?.last == events.last)
        #expect((1..<events.count).contains(since.json.array?.count ?? 0))
        #expect(try sandbox.client.get("/v3/deployments/dpl_x/events").status == 404)
    }

    @Test func `as lines end with the aliases`() throws {
        let id = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 10)
        for query in ["follow=1&limit=-1", "format=lines"] {
            let answer = try sandbox.client.get("/v3/deployments/\(id)/events?\(query)")
            #expect(answer.headers["content-type"] == "application/stream+json")
            #expect(answer.ending == .whole)
            let last = try #require(answer.lines.last)
            #expect(last["type"] == "alias-assigned")
            #expect(last["alias"]?.array?.contains("web.vercel.app") == true)
            #expect(!answer.lines.contains(.null))
        }
    }

    @Test func `are followed until the build ends`() throws {
        let id = try sandbox.redeploy()
        let server = sandbox.server
        let stepper = Worker {
            for step in 0..<11 {
                // Once long enough that the server must send something in between.
                pause(milliseconds: step == 1 ? 1_000 : 40)
                server.advanceClock(bySeconds: 1)
            }
        }
        let answer = try sandbox.client.get("/v3/deployments/\(id)/events?follow=1")
        stepper.join()
        #expect(answer.ending == .whole)
        #expect(answer.headers["transfer-encoding"] == "chunked")
        let states = answer.lines.compactMap { $0["info"]?["readyState"]?.string }
        #expect(states == ["QUEUED", "INITIALIZING", "BUILDING", "READY"])
        let keepAlives = answer.lines.filter { $0 == [:] }
        #expect(!keepAlives.isEmpty)
        #expect(answer.lines.last?["type"] == "alias-assigned")
    }

    @Test func `are cut off by a fault and continue where they were`() throws {
        let id = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 5)
        try sandbox.setFaults("GET /v*/deployments/*/events truncate x1")
        let path = "/v3/deployments/\(id)/events?follow=1"
        let cut = try sandbox.client.get(path)
        #expect(cut.ending == .cut)
        let seen = cut.lines.filter { $0 != [:] }
        #expect(!seen.isEmpty)
        sandbox.server.advanceClock(bySeconds: 5)
        let latest = seen.compactMap { ($0["payload"]?["date"] ?? $0["date"])?.integer }.max()
        let rest = try sandbox.client.get("\(path)&since=\(latest ?? 0)")
        #expect(rest.ending == .whole)
        let all = try sandbox.client.get(path).lines
        #expect(Set((seen + rest.lines).map(\.encoded)) == Set(all.map(\.encoded)))
    }

    @Test func `do not delay the end of the sandbox`() throws {
        let id = try sandbox.redeploy()
        let client = sandbox.client
        let follower = Worker { _ = try? client.get("/v3/deployments/\(id)/events?follow=1") }
        pause(milliseconds: 100)
        sandbox.server.stop()
        follower.join()
    }

    @Test func `at run time are lines, and none for failed builds`() throws {
        let project = "/v1/projects/web/deployments"
        let live = try #require(try sandbox.current())
        let answer = try sandbox.client.get("\(project)/\(live)/runtime-logs?format=lines")
        #expect(answer.headers["content-type"] == "application/stream+json")
        #expect(answer.lines.map { $0["level"] } == ["info", "warning", "error"])
        sandbox.server.setBuild(.fail)
        let failed = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 10)
        #expect(try sandbox.client.get("\(project)/\(failed)/runtime-logs").body.isEmpty)
    }
}

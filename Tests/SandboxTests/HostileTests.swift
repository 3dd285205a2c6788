import Foundation
import JSON
import Sandbox
import Testing
import Threads

@Suite struct `Hostile requests` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture() }

    private static let writes: [(String, String)] = [
        ("POST", "/v10/projects/web/env"), ("DELETE", "/v1/projects/web/env"),
        ("POST", "/v11/projects"), ("PATCH", "/v9/projects/web"), ("POST", "/v13/deployments"),
        ("POST", "/v1/webhooks"), ("POST", "/v3/user/tokens"), ("POST", "/v1/env?slug=acme"),
        ("PATCH", "/v1/env?slug=acme"), ("DELETE", "/v1/env?slug=acme"),
        ("POST", "/v9/projects/web/custom-environments"), ("PUT", "/_sandbox/faults"),
        ("POST", "/_sandbox/clock"), ("POST", "/_sandbox/acts"), ("PUT", "/_sandbox/settings"),
        ("PATCH", "/v2/teams/acme"),
    ]

    @Test(arguments: writes)
    func `with bodies that are not JSON objects are 400`(method: String, path: String) throws {
        let bodies: [[UInt8]] = [
            Array("{".utf8), Array("{\"a\":}".utf8), Array("nonsense".utf8), [0xFF, 0xFE, 0x00],
            Array(String(repeating: "[", count: 100_000).utf8),
            Array(String(repeating: "{\"a\":", count: 100_000).utf8), Array("5".utf8),
            Array("null".utf8), Array("\"x\"".utf8), Array("[[]]".utf8), Array("[5]".utf8),
        ]
        for body in bodies {
            let answer = try sandbox.client.send(method, path, bytes: body)
            #expect(answer.status == 400)
            #expect(answer.code == "bad_request")
        }
    }

    @Test(arguments: writes)
    func `with members of wrong types are 400`(method: String, path: String) throws {
        let names = [
            "key", "value", "type", "target", "gitBranch", "comment", "ids", "name", "deploymentId",
            "gitSource", "meta", "url", "events", "projectIds", "evs", "updates", "slug",
            "expiresAt", "faults", "build", "act", "by", "rateLimit", "advanceSeconds",
            "customEnvironmentIds", "framework",
        ]
        for value in [.number(1e308), [[:]], ["a": [[]]], true] as [JSONValue] {
            let body = JSONValue.members(
                Dictionary(uniqueKeysWithValues: names.map { ($0, value) }))
            let answer = try sandbox.client.send(method, path, body)
            #expect((400..<500).contains(answer.status))
        }
        #expect(try sandbox.client.get("/v2/user").status == 200)
    }

    @Test func `with bodies over the limit are 413`() throws {
        let edge = [UInt8](repeating: 0x20, count: 10 * 1024 * 1024)
        #expect(try sandbox.client.send("POST", "/v11/projects", bytes: edge).status == 400)
        let over = try sandbox.client.send("POST", "/v11/projects", bytes: edge + [0x20])
        #expect(over.status == 413)
        #expect(over.code == "request_entity_too_large")
        let control = try sandbox.client.send("PUT", "/_sandbox/faults", bytes: edge + [0x20])
        #expect(control.status == 413)
    }

    @Test(arguments: [
        "/v2/%", "/v2/%zz", "/v2/user%00", "/v2/%ff%fe", "/v2/user?x=%", "/v9/projects/%C3%28",
    ])
    func `with paths that are not UTF-8 are 400`(path: String) throws {
        #expect(try sandbox.client.get(path).status == 400)
    }

    @Test(arguments: [
        "limit=99999999999999999999", "limit=-1", "limit=1e400", "limit=nan", "until=-9e18",
        "until=9223372036854775807", "since=9223372036854775807", "from=9223372036854775807",
        "from=1e18", "limit=",
    ])
    func `with extreme numbers are answered`(query: String) throws {
        for path in ["/v6/deployments", "/v10/projects", "/v2/teams", "/v5/user/tokens"] {
            let answer = try sandbox.client.get("\(path)?\(query)")
            #expect([200, 400].contains(answer.status))
        }
        let live = try #require(try sandbox.current())
        let events = try sandbox.client.get("/v3/deployments/\(live)/events?\(query)")
        #expect([200, 400].contains(events.status))
    }

    @Test(arguments: [
        "\r\n\r\n", "GET\r\n\r\n", "GET /v2/user HTTP/9.9\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
        "GET /v2/user HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
        "POST /v2/user HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
    func `that are not HTTP do no harm`(text: String) throws {
        var bytes = Array(text.utf8)
        bytes += Array("GET / HTTP/1.0\r\nConnection: close\r\n\r\n".utf8)
        let answer = try sandbox.client.exchange(bytes)
        #expect(answer.status != 200)
        #expect(try sandbox.client.get("/v2/user").status == 200)
    }

    @Test func `that change at random never crash the sandbox`() throws {
        var state: UInt64 = 42
        let next = {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33)
        }
        let good = JSONValue.array([
            .members(sandbox.item("FUZZ", target: ["preview"])), .members(sandbox.item("OTHER")),
        ]).encoded
        var statuses: Set<Int> = []
        for _ in 0..<400 {
            var body = good
            for _ in 0...(next() % 4) { body[next() % body.count] = UInt8(next() % 256) }
            let answer = try sandbox.client.send("POST", "/v10/projects/web/env", bytes: body)
            statuses.insert(answer.status)
        }
        #expect(statuses.isSubset(of: [201, 400]))
        #expect(statuses.contains(400))
    }
}

@Suite struct `Requests at the same time` {
    @Test func `are all served without a loss`() throws {
        let sandbox = try SandboxFixture()
        let client = sandbox.client
        let good = Monitor(0)
        let items = (0..<8).map { worker in
            (0..<10).map { JSONValue.members(sandbox.item("K\(worker)_\($0)")) }
        }
        let workers = items.map { items in
            Worker {
                for item in items {
                    let made = try? client.send("POST", "/v10/projects/web/env", item)
                    let listed = try? client.get("/v10/projects/web/env")
                    if made?.status == 201, listed?.status == 200 { good.look { $0 += 1 } }
                }
            }
        }
        for worker in workers { worker.join() }
        #expect(good.look { $0 } == 80)
        let stored = sandbox.server.storedVariables(project: "web") ?? []
        #expect(stored.count == 84)
        #expect(Set(stored.map(\.id)).count == 84)
        #expect(Set(stored.map(\.updatedAt)).count == 84)
    }

    @Test func `for one name have exactly one winner`() throws {
        let sandbox = try SandboxFixture()
        let client = sandbox.client
        let item = JSONValue.members(sandbox.item("RACE"))
        let wins = Monitor(0)
        let workers = (0..<8).map { _ in
            Worker {
                let made = try? client.send("POST", "/v10/projects/web/env", item)
                if made?.status == 201 { wins.look { $0 += 1 } }
            }
        }
        for worker in workers { worker.join() }
        #expect(wins.look { $0 } == 1)
    }
}

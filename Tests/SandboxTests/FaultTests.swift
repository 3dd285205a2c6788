import JSON
import Sandbox
import Testing

@Suite struct `Faults` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture() }

    private var keys: [String] {
        sandbox.server.storedVariables(project: "web")?.map(\.key) ?? []
    }

    @Test func `occur as often as they say`() throws {
        try sandbox.setFaults("GET /v2/user 503 x2")
        let statuses = try (0..<3).map { _ in try sandbox.client.get("/v2/user").status }
        #expect(statuses == [503, 503, 200])
        try sandbox.setFaults("* * 500")
        #expect(try sandbox.client.get("/v2/teams").code == "internal_server_error")
        #expect(try sandbox.client.get("/v2/teams").status == 500)
    }

    @Test func `of too many requests include a retry time`() throws {
        try sandbox.setFaults("GET /v2/user 429:7 x1", "GET /v2/user 429")
        let first = try sandbox.client.get("/v2/user")
        #expect(first.status == 429)
        #expect(first.headers["retry-after"] == "7")
        #expect(first.headers["x-ratelimit-remaining"] == "0")
        #expect(first.code == "rate_limited")
        let limit = first.json["error"]?["limit"]
        #expect(limit?["remaining"] == 0)
        #expect(limit?["resetMs"]?.integer == testStart + 7000)
        #expect(limit?["reset"]?.integer == testStart / 1000 + 7)
        let second = try sandbox.client.get("/v2/user")
        #expect(second.status == 429)
        #expect(second.headers["retry-after"] == nil)
    }

    @Test(arguments: [400, 401, 402, 403, 404, 409, 410, 418, 500, 502, 503])
    func `of a status have the API's body`(status: Int) throws {
        try sandbox.setFaults("POST * \(status) x1")
        let answer = try sandbox.create("A")
        #expect(answer.status == status)
        #expect(answer.code?.isEmpty == false)
        #expect(!keys.contains("A"))
    }

    @Test func `that reset the connection do nothing`() throws {
        try sandbox.setFaults("POST /v10/projects/*/env reset x1")
        let answer = try sandbox.create("A")
        #expect(answer.ending == .reset)
        #expect(!keys.contains("A"))
        #expect(try sandbox.create("A").status == 201)
    }

    @Test func `that lose the response do what was requested`() throws {
        try sandbox.setFaults("POST * lost-answer x1")
        let answer = try sandbox.create("A")
        #expect(answer.ending == .silent)
        #expect(keys.contains("A"))
        #expect(try sandbox.create("A").code == "ENV_CONFLICT")
    }

    @Test func `that cut the response do what was requested`() throws {
        try sandbox.setFaults("POST * truncate x1")
        let answer = try sandbox.create("A")
        #expect(answer.status == 201)
        #expect(answer.ending == .cut)
        #expect(answer.json == .null)
        #expect(!answer.body.isEmpty)
        #expect(keys.contains("A"))
    }

    @Test func `that are slow respond late`() throws {
        try sandbox.setFaults("GET /v2/user slow:0.3 x1")
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try sandbox.client.get("/v2/user").status == 200)
        #expect(clock.now - start >= .milliseconds(300))
    }

    @Test func `that are slow do not delay other requests or the end`() throws {
        try sandbox.setFaults("GET /v2/teams slow:30")
        let client = sandbox.client
        let server = sandbox.server
        let clock = ContinuousClock()
        let start = clock.now
        let waiting = Worker { _ = try? client.get("/v2/teams") }
        #expect(try client.get("/v2/user").status == 200)
        server.stop()
        waiting.join()
        #expect(clock.now - start < .seconds(25))
    }

    @Test func `that require more authentication name it`() throws {
        try sandbox.setFaults("GET * challenge x1", "GET * saml x1")
        let challenge = try sandbox.client.get("/v10/projects/web/env")
        #expect(challenge.status == 403)
        #expect(challenge.code == "challenge_required")
        #expect(
            challenge.headers["www-authenticate"]?.contains("insufficient_user_authentication")
                == true)
        let saml = try sandbox.client.get("/v2/user")
        #expect(saml.json["error"]?["saml"] == true)
        #expect(saml.status == 403)
    }

    @Test func `that respond with a page or a redirect are not JSON`() throws {
        try sandbox.setFaults("GET * html x1", "GET * redirect:http://127.0.0.1:1/x x1")
        let page = try sandbox.client.get("/v2/user")
        #expect(page.headers["content-type"]?.hasPrefix("text/html") == true)
        #expect(page.text.hasPrefix("<!DOCTYPE html>"))
        #expect(page.json == .null)
        let other = try sandbox.client.get("/v2/user")
        #expect(other.status == 307)
        #expect(other.headers["location"] == "http://127.0.0.1:1/x")
    }

    @Test func `that put escapes into texts spare the members clients need, unless told otherwise`()
        throws
    {
        let escapes = "\u{1B}]0;PWN\u{7}\u{1B}[31m\u{202E}\u{9B}32m"
        let before = try sandbox.client.get("/v9/projects/web").json
        try sandbox.setFaults(
            "GET * escapes x1", "GET * escapes:all x1", "GET * escapes:418 x1",
            "GET * says:400:a=%20:b x1")
        let texts = try sandbox.client.get("/v9/projects/web").json
        #expect(texts["id"] == before["id"])
        #expect(texts["name"] == .string("web" + escapes))
        let all = try sandbox.client.get("/v9/projects/web").json
        #expect(all["id"]?.string == (before["id"]?.string ?? "") + escapes)
        let refused = try sandbox.client.get("/v9/projects/web")
        #expect(refused.status == 418)
        #expect(refused.json["error"]?["code"] == .string("bad_request" + escapes))
        let said = try sandbox.client.get("/v9/projects/web")
        #expect(said.status == 400 && said.json["error"]?["message"] == "a=%20:b")
        // The requested change is made.
        try sandbox.setFaults("POST * escapes x1")
        #expect(try sandbox.create("PLAIN", "secret").status == 201)
        #expect(sandbox.stored("PLAIN")?.value == "secret")
    }

    @Test func `of writes store something else without saying so`() throws {
        try sandbox.setFaults("POST * stores-empty x1", "POST * drops-target x1")
        let empty = try sandbox.create("EMPTY", "secret")
        #expect(empty.status == 201)
        #expect(sandbox.stored("EMPTY")?.value == "")
        let dropped = try sandbox.create("DROP", target: ["production", "preview"])
        #expect(dropped.json["created"]?["target"] == ["production", "preview"])
        #expect(sandbox.stored("DROP")?.targets == ["production"])
        #expect(try sandbox.listed("DROP").first?["target"] == ["production"])
        let id = try #require(sandbox.stored("DROP")?.id)
        try sandbox.setFaults("PATCH * stores-empty x1")
        let patched = try sandbox.client.send(
            "PATCH", "/v9/projects/web/env/\(id)", ["value": "new"])
        #expect(patched.status == 200)
        #expect(sandbox.stored("DROP")?.value == "")
    }

    @Test func `of writes make records sensitive`() throws {
        try sandbox.setFaults("POST * forces-sensitive x1")
        #expect(try sandbox.create("S").status == 201)
        #expect(sandbox.stored("S")?.type == "sensitive")
        #expect(try sandbox.listed("S").first?["value"] == "")
    }

    @Test func `of writes reject one item of a batch`() throws {
        try sandbox.setFaults("POST * rejects-one")
        let items: JSONValue = [.members(sandbox.item("A")), .members(sandbox.item("B"))]
        let answer = try sandbox.client.send("POST", "/v10/projects/web/env", items)
        #expect(answer.status == 201)
        #expect(answer.json["created"]?.array?.map { $0["key"] } == ["A"])
        #expect(answer.json["failed"]?[0]?["error"]?["envVarKey"] == "B")
        #expect(!keys.contains("B"))
        let single = try sandbox.create("C")
        #expect(single.status == 400)
        #expect(single.code == "UNKNOWN_ERROR")
    }

    @Test func `of lists return plain values when asked to`() throws {
        try sandbox.setFaults("GET /projects/*/env decrypts-lists")
        let value = { (query: String) in
            try sandbox.listed("SEED_DEBUG", query: query).first?["value"]
        }
        #expect(try value("?decrypt=true") == "seed:*")
        #expect(try value("") != "seed:*")
        #expect(try sandbox.listed("SEED_API_KEY", query: "?decrypt=true").first?["value"] == nil)
    }

    @Test func `are set, shown and forgotten over HTTP`() throws {
        let client = sandbox.client
        let set = try client.send(
            "PUT", "/_sandbox/faults", ["faults": ["GET /v2/user 418 x3"], "build": "fail"])
        #expect(set.status == 200)
        #expect(try sandbox.client.get("/v2/user").status == 418)
        let shown = try client.get("/_sandbox/faults").json
        #expect(shown["faults"]?[0]?["fault"] == "GET /v2/user 418 x3")
        #expect(shown["faults"]?[0]?["remaining"] == 2)
        #expect(shown["build"] == "fail")
        for body in [["faults": ["nonsense"]], ["faults": "x"], ["other": 1], []] as [JSONValue] {
            #expect(try client.send("PUT", "/_sandbox/faults", body).status == 400)
        }
        #expect(try client.get("/_sandbox/faults").json == shown)
        try sandbox.create("GONE")
        #expect(try client.send("POST", "/_sandbox/reset").status == 200)
        #expect(try client.get("/_sandbox/faults").json == ["faults": [], "build": "ok"])
        #expect(!keys.contains("GONE"))
        #expect(try client.get("/_sandbox/requests").json["requests"] == [])
        #expect(try sandbox.client.get("/v2/user").status == 200)
    }
}

@Suite struct `The control addresses` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture() }

    @Test func `show requests without values`() throws {
        try sandbox.create("SHOWN", "marker-value", more: ["comment": "marker-comment"])
        _ = try sandbox.client.send("POST", "/v3/user/tokens", ["name": "t"])
        let answer = try sandbox.client.get("/_sandbox/requests")
        #expect(!answer.text.contains("marker"))
        #expect(!answer.text.contains(sandbox.client.token ?? "?"))
        let first = answer.json["requests"]?[0]
        #expect(first?["method"] == "POST")
        #expect(first?["path"] == "/v10/projects/web/env")
        #expect(first?["status"] == 201)
        #expect(first?["body"]?["key"] == "SHOWN")
        #expect(first?["body"]?["value"] == "***")
        #expect(sandbox.server.requests.first?.body?["value"] == "***")
    }

    @Test func `show stored values to a client with the token`() throws {
        let path = "/_sandbox/env?project=web"
        let envs = try sandbox.client.get(path).json["envs"]?.array ?? []
        let key = envs.first { $0["key"] == "SEED_API_KEY" }
        #expect(key?["value"] == "seed-api-key-4f8a")
        var client = sandbox.client
        client.token = nil
        #expect(try client.get(path).status == 403)
        #expect(try sandbox.client.get("/_sandbox/env?project=x").status == 404)
        #expect(try sandbox.client.get("/_sandbox/env?project=api").status == 200)
        #expect(try sandbox.client.get("/_sandbox/env?project=api&slug=acme").status == 200)
        #expect(try sandbox.client.get("/_sandbox/env?project=web&slug=acme").status == 404)
        #expect(try sandbox.client.get("/_sandbox/nothing").status == 404)
    }

    @Test func `step the clock`() throws {
        let id = try sandbox.redeploy()
        let answer = try sandbox.client.send(
            "POST", "/_sandbox/clock", ["advanceSeconds": .number(2.5)])
        // Every change advances the clock by a millisecond.
        #expect(answer.json["now"]?.integer == testStart + 2501)
        #expect(try sandbox.deployment(id)["readyState"] == "READY")
        for value in [-1, "x", nil, .number(1e300)] as [JSONValue] {
            let bad = try sandbox.client.send(
                "POST", "/_sandbox/clock", ["advanceSeconds": value])
            #expect(bad.status == 400)
        }
    }
}

@Suite struct `The rate limit` {
    @Test func `limit a token's requests per minute`() throws {
        let sandbox = try SandboxFixture { $0.requestsPerMinute = 3 }
        for left in [2, 1, 0] {
            let answer = try sandbox.client.get("/v2/user")
            #expect(answer.status == 200)
            #expect(answer.headers["x-ratelimit-limit"] == "3")
            #expect(answer.headers["x-ratelimit-remaining"] == String(left))
            #expect(answer.headers["x-ratelimit-reset"] == String(testStart / 1000 + 60))
        }
        sandbox.server.advanceClock(bySeconds: 20)
        let over = try sandbox.client.get("/v2/user")
        #expect(over.status == 429)
        #expect(over.headers["retry-after"] == "40")
        #expect(over.json["error"]?["limit"]?["total"] == 3)
        var other = sandbox.client
        other.token = "other"
        #expect(try other.get("/v2/user").status == 403)
        sandbox.server.advanceClock(bySeconds: 40)
        #expect(try sandbox.client.get("/v2/user").status == 200)
    }
}

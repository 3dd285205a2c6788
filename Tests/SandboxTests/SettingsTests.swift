import Glibc
import JSON
import Sandbox
import Testing

@Suite struct `Settings` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture { $0.buildSeconds = 10 } }

    @discardableResult
    private func set(_ members: JSONValue) throws -> TestClient.Answer {
        return try sandbox.client.send("PUT", "/_sandbox/settings", members)
    }

    @Test func `are shown, changed together, and reset`() throws {
        let before = try sandbox.client.get("/_sandbox/settings").json
        #expect(before["latencySeconds"]?.number == 0)
        #expect(before["rateLimit"] == .null)
        #expect(before["maximumVariables"] == 1000)
        let id = try #require(try sandbox.client.get("/v9/projects/web").json["id"]?.string)
        #expect(before["projects"]?[id]?["autoAssignCustomDomains"] == true)
        for body in [
            ["maximumVariables": 5, "latencySeconds": -1], ["maximumVariables": 5, "other": 1],
            ["maximumVariables": 5, "projects": ["none": [:]]],
            ["maximumVariables": 5, "teams": ["none": [:]]], ["maximumVariables": -1],
            ["maximumVariables": 5, "projects": ["web": ["autoAssignCustomDomains": 1]]],
            [
                "maximumVariables": 5,
                "teams": ["acme": ["sensitiveEnvironmentVariablePolicy": "x"]],
            ],
            ["clockOffsetSeconds": "x"], ["dateOffsetSeconds": .number(1e300)],
            ["rateLimit": ["requests": 0]], ["rateLimit": ["requests": 1, "seconds": 0]],
            ["rateLimit": 5],
        ] as [JSONValue] {
            #expect([400, 404].contains(try set(body).status))
        }
        #expect(try sandbox.client.get("/_sandbox/settings").json == before)
        #expect(try set(["maximumVariables": 5]).json["maximumVariables"] == 5)
        _ = try sandbox.client.send("POST", "/_sandbox/reset")
        #expect(try sandbox.client.get("/_sandbox/settings").json == before)
    }

    @Test func `of latency delay every answer of the API`() throws {
        try set(["latencySeconds": .number(0.2)])
        try sandbox.setFaults("GET /v2/teams 503 x1")
        let clock = ContinuousClock()
        for path in ["/v2/user", "/v2/teams", "/v10/projects/web/env"] {
            let elapsed = try clock.measure { _ = try sandbox.client.get(path) }
            #expect(elapsed >= .milliseconds(200))
        }
        try sandbox.server.set(["latencySeconds": 0])
        #expect(try clock.measure { _ = try sandbox.client.get("/v2/user") } < .milliseconds(200))
        let error = #expect(throws: SandboxError.self) { try sandbox.server.set(["x": 0]) }
        #expect(error?.code == .settingsInvalid)
    }

    @Test(arguments: [-864_000, -18_000, -30, 0, 30, 18_000, 34_560_000] as [Int64])
    func `of the clock apply to records and dates`(offset: Int64) throws {
        try sandbox.create("BEFORE")
        try set(["clockOffsetSeconds": .integer(offset)])
        let now = testStart + offset * 1000
        let made = try sandbox.create("A")
        let time = try #require(made.json["created"]?["updatedAt"]?.integer)
        #expect((now...now + 2).contains(time))
        #expect(made.headers["date"] == httpDate(now))
        #expect(try sandbox.client.get("/_sandbox/clock").headers["date"] == httpDate(now))
        let next = try sandbox.create("B")
        #expect(try #require(next.json["created"]?["updatedAt"]?.integer) > time)
        let id = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 10)
        #expect(try sandbox.current() == id)
        try set(["dateOffsetSeconds": 5])
        let user = try sandbox.client.get("/v2/user")
        #expect(user.headers["date"] == httpDate(now + 15_000))
    }

    @Test func `of a start apply to the initial records`() throws {
        let sandbox = try SandboxFixture { configuration in
            configuration.clockOffsetSeconds = -1000
            configuration.dateOffsetSeconds = 2000
        }
        let user = try sandbox.client.get("/v2/user")
        #expect(user.headers["date"] == httpDate(testStart + 1_000_000))
        let created = try #require(user.json["user"]?["createdAt"]?.integer)
        #expect(created == testStart - 1_000_000 - 90 * 86_400_000)
    }

    @Test func `of the limit count in any span of time`() throws {
        try set(["rateLimit": ["requests": 2, "seconds": 10]])
        let statuses = try (0..<3).map { _ in try sandbox.client.get("/v2/user").status }
        #expect(statuses == [200, 200, 429])
        sandbox.server.advanceClock(bySeconds: 3)
        #expect(try sandbox.client.get("/v2/user").headers["retry-after"] == "7")
        sandbox.server.advanceClock(bySeconds: 7)
        #expect(try sandbox.client.get("/v2/user").status == 200)
        try set(["clockOffsetSeconds": -100])
        #expect(try sandbox.client.get("/v2/user").status == 200)
        try set(["rateLimit": "vercel"])
        #expect(try sandbox.client.get("/_sandbox/settings").json["rateLimit"] == "vercel")
        try set(["rateLimit": nil])
        for _ in 0..<3 { #expect(try sandbox.client.get("/v2/user").status == 200) }
    }

    @Test func `of the maximum number of variables still allow changes`() throws {
        try set(["maximumVariables": 4])
        #expect(try sandbox.create("FOURTH").status == 201)
        let fifth = try sandbox.create("FIFTH")
        #expect(fifth.status == 400)
        #expect(fifth.code == "MAX_ENVS_EXCEEDED")
        try set(["maximumVariables": 2])
        #expect(try sandbox.create("FOURTH", "new", query: "?upsert=true").status == 201)
        let id = try #require(sandbox.stored("FOURTH")).id
        let path = "/v9/projects/web/env/\(id)"
        #expect(try sandbox.client.send("PATCH", path, ["value": "newer"]).status == 200)
    }

    @Test(arguments: [true, false])
    func `of a policy make variables sensitive and refuse development in combination`(
        isTeams: Bool
    ) throws {
        let policy: JSONValue = ["sensitiveEnvironmentVariablePolicy": "on"]
        let (name, query) = isTeams ? ("api", "?slug=acme") : ("web", "")
        let send = { (key: String, type: String, target: JSONValue) in
            try sandbox.client.send(
                "POST", "/v10/projects/\(name)/env\(query)",
                ["key": .string(key), "value": "v", "type": .string(type), "target": target])
        }
        #expect(try send("BEFORE", "encrypted", ["production"]).status == 201)
        try set(isTeams ? ["teams": ["acme": policy]] : ["projects": ["web": policy]])
        let made = try send("A", "encrypted", ["production", "preview"])
        #expect(made.json["created"]?["type"] == "sensitive")
        for (type, target) in [
            ("encrypted", ["production", "preview", "development"]), ("plain", ["production"]),
        ] as [(String, JSONValue)] {
            let refused = try send("B", type, target)
            #expect(refused.status == 400)
            #expect(refused.code == "BAD_REQUEST")
        }
        #expect(try send("B", "encrypted", ["development"]).json["created"]?["type"] == "encrypted")
        if isTeams {
            let team = try sandbox.client.send(
                "PATCH", "/v2/teams/acme", ["sensitiveEnvironmentVariablePolicy": "off"])
            #expect(team.json["sensitiveEnvironmentVariablePolicy"] == "off")
            #expect(try sandbox.client.send("PATCH", "/v2/teams/none", [:]).status == 404)
        } else {
            try set(["projects": ["web": ["sensitiveEnvironmentVariablePolicy": nil]]])
        }
        #expect(try send("C", "encrypted", ["production"]).json["created"]?["type"] == "encrypted")
    }

    @Test func `of a project keep its production builds staged until they are promoted`() throws {
        let live = try #require(try sandbox.current())
        let answer = try sandbox.client.send(
            "PATCH", "/v9/projects/web", ["autoAssignCustomDomains": false])
        #expect(answer.json["autoAssignCustomDomains"] == false)
        var staged: [String] = []
        for _ in 0..<2 {
            let id = try sandbox.redeploy()
            sandbox.server.advanceClock(bySeconds: 10)
            let deployment = try sandbox.deployment(id)
            #expect(deployment["readyState"] == "READY")
            #expect(deployment["readySubstate"] == "STAGED")
            let hosts = deployment["alias"]?.array ?? []
            #expect(!hosts.contains("web.vercel.app"))
            #expect(try sandbox.current() == staged.last ?? live)
            let path = "/v10/projects/web/promote/\(id)"
            #expect(try sandbox.client.send("POST", path, [:]).status == 201)
            sandbox.server.advanceClock(bySeconds: 5)
            #expect(try sandbox.current() == id)
            #expect(try sandbox.deployment(id)["alias"]?.array?.contains("web.vercel.app") == true)
            staged.append(id)
        }
        try set(["projects": ["web": ["autoAssignCustomDomains": true]]])
        let next = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 10)
        #expect(try sandbox.current() == next)
    }

    @Test func `of a seed are those of its projects`() throws {
        let sandbox = try SandboxFixture { configuration in
            configuration.seed = try Seed(
                json: Array(
                    """
                    {"projects":[{"name":"web","autoAssignCustomDomains":false,
                     "sensitiveEnvironmentVariablePolicy":"on",
                     "deployments":[{"target":"production"}]}]}
                    """.utf8))
        }
        #expect(try sandbox.current() != nil)
        #expect(
            try sandbox.client.get("/v9/projects/web").json["autoAssignCustomDomains"] == false)
        #expect(try sandbox.create("A").json["created"]?["type"] == "sensitive")
    }

    @Test func `of builds may leave out the aliases for ever`() throws {
        let live = try #require(try sandbox.current())
        sandbox.server.setBuild(.aliasNever)
        let id = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 86_400)
        let deployment = try sandbox.deployment(id)
        #expect(deployment["readyState"] == "READY")
        #expect(deployment["aliasAssigned"] == false)
        #expect(deployment["aliasError"] == .null)
        #expect(deployment["alias"] == [])
        #expect(try sandbox.current() == live)
        let promotion = try sandbox.client.send("POST", "/v10/projects/web/promote/\(id)", [:])
        #expect(promotion.status == 201)
        sandbox.server.advanceClock(bySeconds: 86_400)
        let project = try sandbox.client.get("/v9/projects/web").json
        #expect(project["lastAliasRequest"]?["jobStatus"] == "in-progress")
        #expect(try sandbox.current() == live)
    }
}

/// An HTTP date, formatted by the C library and not by the sandbox.
private func httpDate(_ milliseconds: Int64) -> String {
    var time = time_t(milliseconds / 1000)
    var parts = unsafe tm()
    unsafe gmtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 64)
    let count = unsafe strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

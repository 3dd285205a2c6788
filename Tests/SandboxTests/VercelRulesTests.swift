import JSON
import Sandbox
import Testing

/// What Vercel's documentation of 2026 says about tokens, webhooks, limits and rates.
@Suite("Vercel's rules of 2026")
struct VercelRulesTests {
    private static let seed = """
        {"teams": [{"slug": "acme"}, {"slug": "shut", "limitedBy": ["scope", "mfa"]}],
         "projects": [{"name": "web", "deployments": [{"target": "production"}]},
                      {"name": "api", "team": "acme", "deployments": [{"target": "production"}],
                       "env": [{"key": "A", "value": "v", "target": ["production"]}]},
                      {"name": "closed", "team": "shut"}],
         "tokens": [{"token": "only-api", "team": "acme", "project": "api"},
                    {"token": "only-web", "project": "web"}]}
        """

    private func sandbox() throws -> SandboxFixture {
        try SandboxFixture { $0.seed = try Seed(json: Array(Self.seed.utf8)) }
    }

    @Test("VER-T1: a token of a project uses that project without naming a team")
    func projectToken() throws {
        let sandbox = try sandbox()
        var client = sandbox.client
        client.token = "only-api"
        let project = try client.get("/v9/projects/api").json
        let id = try #require(project["id"]?.string)
        let team = try #require(project["accountId"]?.string)
        #expect(try client.get("/v9/projects/\(id)?teamId=\(team)").status == 200)
        let list = try client.get("/v10/projects/\(id)/env").json["envs"]?.array
        #expect(list?.count == 1)
        let made = try client.send(
            "POST", "/v10/projects/api/env",
            ["key": "B", "value": "v", "type": "encrypted", "target": ["preview"]])
        #expect(made.status == 201)
        #expect(try client.get("/v3/env/pull/api/production").status == 200)
        let deployments = try client.get("/v6/deployments?projectId=\(id)").json["deployments"]
        let deployment = try #require(deployments?[0]?["uid"]?.string)
        #expect(try client.get("/v3/env/pull/\(deployment)").status == 200)
        let redeploy = try client.send(
            "POST", "/v13/deployments?forceNew=1",
            ["name": "api", "deploymentId": .string(deployment), "target": "production"])
        #expect(redeploy.status == 200)
    }

    @Test(
        "VER-T1: a token of a project is denied everything else",
        arguments: [
            ("GET", "/v2/user"), ("GET", "/v2/teams"), ("GET", "/v2/teams/acme"),
            ("GET", "/v9/projects/api"), ("GET", "/v10/projects/api/env"),
            ("GET", "/v9/projects/web?slug=acme"), ("POST", "/v11/projects"),
            ("GET", "/v3/env/pull/api/production"), ("GET", "/v1/webhooks"), ("GET", "/v1/env"),
            ("GET", "/v5/user/tokens"), ("GET", "/v5/user/tokens/current"),
        ])
    func deniedElsewhere(method: String, path: String) throws {
        let sandbox = try sandbox()
        var client = sandbox.client
        client.token = "only-web"
        let answer = try client.send(method, path)
        #expect(answer.status == 403)
        // It is a valid token.
        #expect(answer.json["error"]?["invalidToken"] == nil)
    }

    @Test("VER-R2: a team with sign-on rules that shut the token out is limited")
    func limitedTeam() throws {
        let sandbox = try sandbox()
        let client = sandbox.client
        let teams = try client.get("/v2/teams").json["teams"]?.array
        let shut = try #require(teams?.first { $0["slug"] == "shut" })
        #expect(shut["limited"] == true && shut["limitedBy"] == ["scope", "mfa"])
        #expect(shut["sensitiveEnvironmentVariablePolicy"] == nil)
        #expect(teams?.first { $0["slug"] == "acme" }?["limited"] == nil)
        #expect(try client.get("/v2/teams/shut").json == shut)
        #expect(try client.get("/v9/projects/closed?slug=shut").code == "team_unauthorized")
    }

    @Test("VER-W1: webhooks know the events of today, and a team has at most 20 of them")
    func eventsAndNumber() throws {
        let sandbox = try sandbox()
        let client = sandbox.client
        func create(_ event: String) throws -> TestClient.Answer {
            try client.send(
                "POST", "/v1/webhooks",
                ["url": "https://example.com/x", "events": [.string(event)]])
        }
        #expect(try create("budget.reset").code == "invalid_event")
        for event in ["project.renamed", "flag.segment.updated", "thread.resolved", "deployment"] {
            #expect(try create(event).status == 200, "\(event)")
        }
        for _ in 4..<20 { #expect(try create("deployment.error").status == 200) }
        let full = try create("deployment.error")
        #expect(
            full.status == 400 && full.json["error"]?["message"]?.string?.contains("20") == true)
        // Those of a team are counted by themselves.
        let other = try client.send(
            "POST", "/v1/webhooks?slug=acme",
            ["url": "https://example.com/x", "events": ["deployment.error"]])
        #expect(other.status == 200)
    }

    @Test("VER-W2: messages about variables, projects and rollbacks have Vercel's members")
    func payloads() throws {
        let receiver = try Receiver()
        defer { receiver.stop() }
        let sandbox = try SandboxFixture { configuration in
            configuration.seed = try Seed(json: Array(Self.seed.utf8))
            configuration.webhook = .init(url: receiver.url, secret: "s")
        }
        let client = sandbox.client
        let id = try #require(try client.get("/v9/projects/web").json["id"])
        let user = try #require(try client.get("/v2/user").json["user"]?["id"])
        let first = try #require(try sandbox.current())
        for key in ["A", "B", "C"] { #expect(try sandbox.create(key).status == 201) }
        let ids = try #require(sandbox.server.storedVariables(project: "web")).map(\.id)
        #expect(try client.send("DELETE", "/v9/projects/web/env/\(ids[0])").status == 200)
        let rest: JSONValue = ["ids": .array(ids.dropFirst().map { .string($0) })]
        #expect(try client.send("DELETE", "/v1/projects/web/env", rest).status == 200)
        let second = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 60)
        let back = try client.send("POST", "/v1/projects/web/rollback/\(first)", [:])
        #expect(back.status == 201)
        sandbox.server.advanceClock(bySeconds: 60)
        #expect(try client.send("PATCH", "/v9/projects/web", ["name": "site"]).status == 200)
        #expect(eventually { receiver.messages.last?.type == "project.renamed" })
        func payloads(_ type: String) -> [[String: JSONValue]] {
            receiver.messages.filter { $0.type == type }.compactMap { $0.json["payload"]?.object }
        }
        let common: [String: JSONValue] = ["team": .null, "user": ["id": user], "projectId": id]
        func variable(_ id: JSONValue) -> [String: JSONValue] {
            common.merging(["envVarId": id]) { $1 }
        }
        #expect(payloads("project.env-variable.created") == ids.map { variable(.string($0)) })
        #expect(
            payloads("project.env-variable.deleted") == [
                variable(.string(ids[0])), variable(.null), variable(.null),
            ])
        #expect(
            payloads("deployment.rollback") == [
                [
                    "team": .null, "user": ["id": user], "project": ["id": id],
                    "fromDeploymentId": .string(second), "toDeploymentId": .string(first),
                ]
            ])
        #expect(
            payloads("project.renamed") == [
                [
                    "team": .null, "user": ["id": user], "project": ["id": id, "name": "site"],
                    "previousName": "web",
                ]
            ])
    }

    @Test("VER-W3: a webhook of chosen projects receives no events of projects themselves")
    func projectEvents() throws {
        let receiver = try Receiver()
        defer { receiver.stop() }
        let sandbox = try sandbox()
        let id = try sandbox.client.get("/v9/projects/web").json["id"] ?? .null
        let events: JSONValue = ["project.env-variable.created", "deployment.created"]
        for (path, projects) in [("own", [id]), ("all", nil)] as [(String, JSONValue?)] {
            var body: [String: JSONValue] = [
                "url": .string(receiver.url + "&\(path)"), "events": events,
            ]
            body["projectIds"] = projects
            #expect(try sandbox.client.send("POST", "/v1/webhooks", .members(body)).status == 200)
        }
        try sandbox.create("A")
        _ = try sandbox.redeploy()
        #expect(eventually { receiver.messages.count == 3 })
        let types = receiver.messages.map(\.type)
        #expect(types.filter { $0 == "project.env-variable.created" }.count == 1)
        #expect(types.filter { $0 == "deployment.created" }.count == 2)
    }

    @Test("VER-L1: the limit on variables counts each environment by itself")
    func variablesPerEnvironment() throws {
        let sandbox = try SandboxFixture {
            $0.seed = try Seed(json: Array(Self.seed.utf8))
            $0.maximumVariables = 2
        }
        for key in ["A", "B"] {
            #expect(try sandbox.create(key, target: ["production"]).status == 201)
            #expect(try sandbox.create(key, target: ["preview"]).status == 201)
        }
        let more = try sandbox.create("C", target: ["development", "preview"])
        #expect(more.code == "MAX_ENVS_EXCEEDED")
        #expect(more.json["error"]?["message"]?.string?.contains("preview has 2") == true)
        #expect(try sandbox.create("C", target: ["development"]).status == 201)
        // A change that adds an environment counts too; any other does not.
        let id = try #require(sandbox.stored("C")).id
        let path = "/v9/projects/web/env/\(id)"
        let wider = try sandbox.client.send(
            "PATCH", path, ["target": ["development", "production"]])
        #expect(wider.code == "MAX_ENVS_EXCEEDED")
        #expect(try sandbox.client.send("PATCH", path, ["value": "new"]).status == 200)
    }

    @Test("VER-L2: rates count by endpoint and owner")
    func rates() throws {
        let sandbox = try SandboxFixture {
            $0.seed = try Seed(json: Array(Self.seed.utf8))
            $0.rateLimit = .perEndpoint
        }
        func limits(_ method: String, _ path: String) throws -> [String?] {
            let headers = try sandbox.client.send(method, path).headers
            return [headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]
        }
        #expect(try limits("GET", "/v10/projects/web/env") == ["500", "499"])
        #expect(try limits("GET", "/v10/projects/web/env") == ["500", "498"])
        #expect(try limits("GET", "/v10/projects/api/env?slug=acme") == ["500", "499"])
        #expect(try limits("GET", "/v3/env/pull/web/production") == ["500", "499"])
        #expect(try limits("POST", "/v10/projects/web/env") == ["120", "119"])
        #expect(try limits("PATCH", "/v9/projects/web/env/x") == ["120", "119"])
        #expect(try limits("DELETE", "/v9/projects/web/env/x") == ["60", "59"])
        #expect(try limits("DELETE", "/v1/projects/web/env") == ["60", "59"])
        #expect(try limits("GET", "/v6/deployments") == ["1000", "999"])
        #expect(try limits("GET", "/v13/deployments/dpl_x") == ["500", "499"])
        #expect(try limits("GET", "/v2/teams") == ["600", "599"])
        #expect(try limits("GET", "/v2/user") == ["500", "499"])
        #expect(try limits("GET", "/v9/projects/web") == [nil, nil])
        for _ in 0..<59 { _ = try sandbox.client.send("DELETE", "/v9/projects/web/env/x") }
        let refused = try sandbox.client.send("DELETE", "/v9/projects/web/env/x")
        #expect(refused.status == 429)
        #expect(try sandbox.client.send("DELETE", "/v1/projects/web/env").status == 400)
        sandbox.server.advanceClock(bySeconds: 60)
        #expect(try sandbox.client.send("DELETE", "/v9/projects/web/env/x").status == 404)
    }

    @Test("VER-B2: control URLs need the token, and refuse pages of other sites")
    func controlURLs() throws {
        let sandbox = try sandbox()
        var client = sandbox.client
        let paths = [
            ("GET", "faults"), ("GET", "requests"), ("GET", "settings"), ("POST", "reset"),
            ("POST", "acts"), ("GET", "clock"), ("GET", "webhooks"), ("GET", "env?project=web"),
        ]
        for (method, path) in paths {
            client.token = sandbox.client.token
            func status(_ headers: [String: String]) throws -> Int {
                try client.send(
                    method, "/_sandbox/\(path)", ["act": "x"], headers: headers
                ).status
            }
            for origin in ["https://evil.example", "http://evil.example:80", "null"] {
                #expect(try status(["Origin": origin]) == 403, "\(path) \(origin)")
            }
            #expect(try status(["Origin": "http://127.0.0.1:\(client.port)"]) != 403, "\(path)")
            for token in [nil, "wrong"] {
                client.token = token
                #expect(try status([:]) == 403, "\(path)")
            }
        }
        for (host, status) in [
            ("evil.example", 403), ("127.0.0.1.evil.example", 403), ("localhost:1", 200),
            ("127.0.0.1", 200),
        ] {
            let head =
                "GET /_sandbox/clock HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
                + "Authorization: Bearer \(sandbox.client.token ?? "")\r\n\r\n"
            #expect(try sandbox.client.exchange(Array(head.utf8)).status == status, "\(host)")
        }
    }
}

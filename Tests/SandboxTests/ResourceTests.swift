import JSON
import Sandbox
import Testing

@Suite struct `Custom environments` {
    let sandbox: SandboxFixture
    let path = "/v9/projects/web/custom-environments"

    init() throws { sandbox = try SandboxFixture { $0.buildSeconds = 10 } }

    private func make(_ slug: String) throws -> TestClient.Answer {
        try sandbox.client.send("POST", path, ["slug": .string(slug)])
    }

    @Test func `are created, changed and removed with their variables`() throws {
        #expect(try sandbox.client.get(path).json["environments"] == [])
        let made = try make("qa")
        #expect(made.status == 201)
        let id = try #require(made.json["id"]?.string)
        #expect(id.hasPrefix("env_"))
        for slug in ["qa", "production", "Q A", ""] { #expect(try make(slug).status >= 400) }
        #expect(try sandbox.client.get("\(path)/qa").json["id"]?.string == id)
        let changed = try sandbox.client.send(
            "PATCH", "\(path)/\(id)",
            ["description": "d", "branchMatcher": ["type": "startsWith", "pattern": "qa/"]])
        #expect(changed.json["branchMatcher"]?["pattern"] == "qa/")
        #expect(
            try sandbox.client.get("\(path)?gitBranch=qa/1").json["environments"]?.array?.count == 1
        )
        #expect(try sandbox.client.get("\(path)?gitBranch=x").json["environments"] == [])
        try sandbox.create("ALONE", more: ["target": nil, "customEnvironmentIds": [.string(id)]])
        try sandbox.create("BOTH", more: ["customEnvironmentIds": [.string(id)]])
        #expect(try sandbox.listed("ALONE").first?["target"] == nil)
        #expect(try sandbox.listed("ALONE", query: "?target=qa").count == 1)
        #expect(try sandbox.listed("BOTH", query: "?customEnvironmentSlug=qa").count == 1)
        let clash = try sandbox.create(
            "ALONE", more: ["target": ["preview"], "customEnvironmentIds": [.string(id)]])
        #expect(clash.code == "ENV_CONFLICT")
        #expect(try sandbox.client.send("DELETE", "\(path)/qa").status == 200)
        #expect(sandbox.stored("ALONE") == nil)
        #expect(sandbox.stored("BOTH")?.customEnvironmentIds == [])
        #expect(try sandbox.client.get("\(path)/qa").status == 404)
    }

    @Test func `are deployed to with their own variables`() throws {
        let id = try #require(try make("qa").json["id"]?.string)
        try sandbox.create("Q", "qa", more: ["target": nil, "customEnvironmentIds": [.string(id)]])
        let deployed = try sandbox.redeploy(
            target: .null, more: ["customEnvironmentSlugOrId": "qa"])
        let named = try sandbox.redeploy(target: "qa")
        for deployment in [deployed, named] {
            #expect(sandbox.server.builtVariables(deployment: deployment) == ["Q": "qa"])
            #expect(try sandbox.deployment(deployment)["customEnvironment"]?["slug"] == "qa")
        }
        #expect(try sandbox.client.get("/v3/env/pull/web/qa").json["buildEnv"] == ["Q": "qa"])
        #expect(
            try sandbox.client.get("/v6/deployments?target=qa").json["deployments"]?.array?.count
                == 2)
        let record = try #require(sandbox.stored("Q")?.id)
        let removed = try sandbox.client.send(
            "DELETE", "/v9/projects/web/env/\(record)?customEnvironmentId=\(id)")
        #expect(removed.status == 200)
        #expect(sandbox.stored("Q") == nil)
    }
}

@Suite struct `Pulling` {
    @Test func `returns an environment's variables`() throws {
        let sandbox = try SandboxFixture()
        try sandbox.create("P", "general", target: ["preview"])
        try sandbox.create("P", "branch", target: ["preview"], more: ["gitBranch": "feature/x"])
        let pull = { (path: String) in
            try sandbox.client.get("/v3/env/pull/\(path)?source=vercel-cli:env:pull").json
        }
        let production = try pull("web/production")
        #expect(production["env"]?["SEED_API_KEY"] == "")
        #expect(production["env"]?["SEED_SITE_NAME"] == "Seed Site")
        #expect(production["env"]?["SEED_DEBUG"] == nil)
        #expect(production["buildEnv"] == production["env"])
        #expect(try pull("web/preview")["env"]?["P"] == "general")
        #expect(try pull("web/preview/other")["env"]?["P"] == "general")
        #expect(try pull("web/preview/feature%2Fx")["env"]?["P"] == "branch")
        #expect(try pull("web/preview/feature/x")["env"]?["P"] == "branch")
        for path in ["web/moon", "nothing/production", "dpl_x", ""] {
            #expect(try sandbox.client.get("/v3/env/pull/\(path)").status == 404)
        }
    }

    @Test func `adds the system's variables where they are exposed`() throws {
        let sandbox = try SandboxFixture()
        _ = try sandbox.client.send("PATCH", "/v9/projects/web", ["autoExposeSystemEnvs": true])
        let env = try sandbox.client.get("/v3/env/pull/web/preview").json["env"]
        #expect(env?["VERCEL_ENV"] == "preview")
        #expect(env?["VERCEL_OIDC_TOKEN"] != nil)
    }
}

@Suite struct `Shared variables` {
    let sandbox: SandboxFixture
    let project: String

    init() throws {
        sandbox = try SandboxFixture()
        let json = try sandbox.client.get("/v9/projects/api?slug=acme").json
        project = try #require(json["id"]?.string)
    }

    private func send(_ method: String, _ body: JSONValue) throws -> TestClient.Answer {
        try sandbox.client.send(method, "/v1/env?slug=acme", body)
    }

    private func create(_ key: String, _ more: [String: JSONValue] = [:]) throws
        -> TestClient.Answer
    {
        let body: [String: JSONValue] = [
            "evs": [["key": .string(key), "value": "shared value"]], "type": "encrypted",
            "target": ["production"], "projectId": [.string(project)],
        ]
        return try send("POST", .members(body.merging(more) { $1 }))
    }

    @Test func `are created, read, changed and removed`() throws {
        let made = try create("SHARED")
        #expect(made.status == 201)
        let id = try #require(made.json["created"]?[0]?["id"]?.string)
        let list = try sandbox.client.get("/v1/env?slug=acme&projectId=\(project)")
        #expect(list.json["data"]?.array?.count == 1)
        #expect(!list.text.contains("shared value"))
        let one = try sandbox.client.get("/v1/env/\(id)?slug=acme").json
        #expect(one["value"] == "shared value")
        #expect(one["decrypted"] == true)
        let pulled = try sandbox.client.get("/v3/env/pull/api/production?slug=acme")
        #expect(pulled.json["env"]?["SHARED"] == "shared value")
        #expect(try create("SHARED").status == 409)
        #expect(try create("SHARED").code == "existing_key_and_target")
        let changed = try send(
            "PATCH", ["updates": .members([id: ["value": "new"], "env_x": ["value": "x"]])])
        #expect(changed.status == 200)
        #expect(changed.json["updated"]?[0]?["id"]?.string == id)
        #expect(changed.json["failed"]?[0]?["error"]?["envVarId"] == "env_x")
        #expect(try sandbox.client.get("/v1/env/\(id)?slug=acme").json["value"] == "new")
        let unlinked = try sandbox.client.send("PATCH", "/v1/env/\(id)/unlink/\(project)?slug=acme")
        #expect(unlinked.json["id"]?.string == id)
        #expect(try sandbox.client.get("/v1/env?slug=acme&projectId=\(project)").json["data"] == [])
        let removed = try send("DELETE", ["ids": [.string(id), "env_x"]])
        #expect(removed.json["deleted"] == [.string(id)])
        #expect(removed.json["failed"]?[0]?["error"]?["code"] == "ID_NOT_FOUND")
    }

    @Test func `that are sensitive are never read`() throws {
        let made = try create("S", ["type": "sensitive"])
        let id = try #require(made.json["created"]?[0]?["id"]?.string)
        #expect(made.json["created"]?[0]?["value"] == nil)
        #expect(try sandbox.client.get("/v1/env/\(id)?slug=acme").json["value"] == nil)
        let changed = try send("PATCH", ["updates": .members([id: ["type": "encrypted"]])])
        #expect(changed.status == 400)
    }

    @Test(
        arguments: [
            ["evs": []], ["evs": [["key": "K"]]], ["target": nil], ["type": "plain"],
            ["projectId": ["prj_unknown"]], ["type": "sensitive", "target": ["development"]],
            ["evs": .array(.init(repeating: ["key": "K", "value": "v"], count: 51))],
        ] as [[String: JSONValue]])
    func `that break a rule are refused`(more: [String: JSONValue]) throws {
        #expect((400..<500).contains(try create("BAD", more).status))
        #expect(try sandbox.client.get("/v1/env?slug=acme").json["data"] == [])
    }

    @Test func `belong to teams and come at most fifty at a time`() throws {
        #expect(try sandbox.client.get("/v1/env").json["data"] == [])
        let personal = try sandbox.client.send(
            "POST", "/v1/env",
            ["evs": [["key": "K", "value": "v"]], "type": "encrypted", "target": ["preview"]])
        #expect(personal.status == 403)
        for number in 0..<55 { #expect(try create("K\(number)").status == 201) }
        let first = try sandbox.client.get("/v1/env?slug=acme&limit=100").json
        #expect(first["data"]?.array?.count == 50)
        let next = try #require(first["pagination"]?["next"]?.integer)
        let second = try sandbox.client.get("/v1/env?slug=acme&until=\(next)").json
        #expect(second["data"]?.array?.count == 5)
        #expect(second["pagination"]?["next"] == .null)
    }

    @Test func `are affected by faults like others`() throws {
        try sandbox.setFaults("POST * stores-empty x1", "POST * rejects-one x1")
        let id = try #require(try create("E").json["created"]?[0]?["id"]?.string)
        #expect(try sandbox.client.get("/v1/env/\(id)?slug=acme").json["value"] == "")
        let evs: JSONValue = [["key": "A", "value": "v"], ["key": "B", "value": "v"]]
        let batch = try create("", ["evs": evs])
        #expect(batch.json["created"]?.array?.count == 1)
        #expect(batch.json["failed"]?[0]?["error"]?["envVarKey"] == "B")
    }
}

@Suite struct `Tokens` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture() }

    @Test func `are created, shown without their secret, used and removed`() throws {
        let made = try sandbox.client.send("POST", "/v3/user/tokens", ["name": "ci"])
        let secret = try #require(made.json["bearerToken"]?.string)
        let id = try #require(made.json["token"]?["id"]?.string)
        let list = try sandbox.client.get("/v5/user/tokens")
        #expect(list.json["tokens"]?.array?.count == 2)
        #expect(!list.text.contains(secret))
        #expect(try sandbox.client.get("/v5/user/tokens/\(id)").json["token"]?["name"] == "ci")
        var other = sandbox.client
        other.token = secret
        #expect(try other.get("/v5/user/tokens/current").json["token"]?["id"]?.string == id)
        let gone = try other.send("DELETE", "/v3/user/tokens/current")
        #expect(gone.json == ["tokenId": .string(id)])
        #expect(try other.get("/v2/user").json["error"]?["invalidToken"] == true)
        #expect(try sandbox.client.get("/v5/user/tokens/\(id)").status == 404)
    }

    @Test func `expire with the clock`() throws {
        let made = try sandbox.client.send(
            "POST", "/v3/user/tokens", ["name": "t", "expiresAt": .integer(testStart + 60_000)])
        var other = sandbox.client
        other.token = made.json["bearerToken"]?.string
        #expect(try other.get("/v2/user").status == 200)
        sandbox.server.advanceClock(bySeconds: 60)
        #expect(try other.get("/v2/user").json["error"]?["invalidToken"] == true)
    }

    @Test func `of a team or a project grant access to nothing else`() throws {
        let made = try sandbox.client.send("POST", "/v3/user/tokens?slug=acme", ["name": "team"])
        var team = sandbox.client
        team.token = made.json["bearerToken"]?.string
        #expect(try team.get("/v9/projects/api").status == 200)
        #expect(try team.get("/v9/projects/web").status == 404)
        _ = try sandbox.client.send("POST", "/v11/projects", ["name": "other"])
        let id = try sandbox.client.get("/v9/projects/other").json["id"] ?? .null
        let narrow = try sandbox.client.send(
            "POST", "/v3/user/tokens", ["name": "one", "projectId": id])
        var one = sandbox.client
        one.token = narrow.json["bearerToken"]?.string
        #expect(try one.get("/v10/projects").json["projects"]?.array?.count == 1)
        #expect(try one.get("/v9/projects/web").status == 403)
        #expect(try one.get("/v6/deployments").json["deployments"] == [])
    }

    @Test(
        arguments: [
            [:], ["name": ""], ["name": 5], ["name": "x", "expiresAt": 1], ["name": "x", "y": 1],
            ["name": "x", "projectId": "prj_unknown"],
        ] as [JSONValue])
    func `that are impossible are refused`(body: JSONValue) throws {
        let answer = try sandbox.client.send("POST", "/v3/user/tokens", body)
        #expect((400..<500).contains(answer.status))
    }

    @Test func `and users of the seed can be leaked, limited and sessions`() throws {
        let sandbox = try SandboxFixture { configuration in
            configuration.seed = try Seed(
                json: Array(
                    """
                    {"token":"opaque-token","user":{"username":"limi","limited":true},
                     "tokens":[{"name":"old","token":"vca_session","type":"oauth2-token",
                                "leakedAt":5}]}
                    """.utf8))
        }
        #expect(sandbox.client.token == "opaque-token")
        let user = try sandbox.client.get("/v2/user").json["user"]
        #expect(user?["limited"] == true)
        #expect(user?["createdAt"] == nil)
        var session = sandbox.client
        session.token = "vca_session"
        #expect(try session.get("/v5/user/tokens/current").json["token"]?["leakedAt"] == 5)
        #expect(try session.send("POST", "/v3/user/tokens", ["name": "x"]).status == 403)
    }
}

import JSON
import Sandbox
import Testing

@Suite struct `Variables` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture() }

    @Test func `are listed without encrypted or sensitive values`() throws {
        let answer = try sandbox.client.get("/v10/projects/web/env?decrypt=true")
        let envs = answer.json["envs"]?.array ?? []
        #expect(envs.count == 4)
        #expect(!answer.text.contains("postgres://"))
        #expect(!answer.text.contains("seed-api-key"))
        let url = try #require(try sandbox.listed("SEED_DATABASE_URL").first)
        let shown = try #require(url["value"]?.string)
        #expect(shown.hasPrefix("eyJ"))
        #expect(url["decrypted"] == false)
        #expect(try sandbox.listed("SEED_API_KEY").first?["value"] == "")
        #expect(try sandbox.listed("SEED_SITE_NAME").first?["value"] == "Seed Site")
    }

    @Test func `are readable one by one unless sensitive`() throws {
        for (key, value) in [
            (
                "SEED_DATABASE_URL",
                JSONValue?.some(
                    .string(
                        "postgres://seed:p%40ss@db.example.com:5432/web?sslmode=require"))
            ),
            ("SEED_SITE_NAME", "Seed Site"), ("SEED_API_KEY", nil),
        ] {
            let id = try #require(try sandbox.listed(key).first?["id"]?.string)
            for version in ["v1", "v9", "v10"] {
                let record = try sandbox.client.get("/\(version)/projects/web/env/\(id)").json
                #expect(record["value"] == value)
                #expect(record["decrypted"] == .bool(value != nil))
                #expect(record["key"]?.string == key)
            }
        }
        #expect(try sandbox.client.get("/v1/projects/web/env/nothing").code == "not_found")
    }

    @Test func `are filtered by environment and branch`() throws {
        try sandbox.create("B", target: ["preview"], more: ["gitBranch": "feature"])
        try sandbox.create("B", target: ["preview"])
        let keys = { (query: String) in
            try sandbox.client.get("/v10/projects/web/env?\(query)").json["envs"]?.array?
                .compactMap { $0["key"]?.string } ?? []
        }
        #expect(
            try keys("target=development") == ["SEED_DATABASE_URL", "SEED_SITE_NAME", "SEED_DEBUG"])
        #expect(try keys("target=preview&gitBranch=feature").filter { $0 == "B" }.count == 2)
        #expect(try keys("gitBranch=other").filter { $0 == "B" }.count == 1)
        #expect(try sandbox.client.get("/v10/projects/web/env?target=moon").status == 400)
        #expect(try sandbox.client.get("/v10/projects/web/env?customEnvironmentId=x").status == 404)
    }

    @Test func `are created alone and in batches`() throws {
        let one = try sandbox.create("ONE", "first")
        #expect(one.status == 201)
        #expect(one.json["created"]?["key"] == "ONE")
        #expect(one.json["created"]?["value"] != "first")
        #expect(one.json["failed"] == [])
        let items: JSONValue = [
            .members(sandbox.item("TWO")), .members(sandbox.item("ONE")),
            .members(sandbox.item("TZ")), .members(sandbox.item("THREE")),
            .members(sandbox.item("TWO", "again")),
        ]
        let batch = try sandbox.client.send("POST", "/v10/projects/web/env", items)
        #expect(batch.status == 201)
        #expect(batch.json["created"]?.array?.map { $0["key"] } == ["TWO", "THREE"])
        let failed = batch.json["failed"]?.array ?? []
        #expect(
            failed.map { $0["error"]?["code"] } == [
                "ENV_CONFLICT", "RESERVED_ENV_VARIABLE", "ENV_CONFLICT",
            ])
        #expect(failed[0]["error"]?["envVarKey"] == "ONE")
        #expect(failed[0]["error"]?["target"] == ["production"])
        let single = try sandbox.client.send(
            "POST", "/v10/projects/web/env", [.members(sandbox.item("LIST"))])
        #expect(single.json["created"]?.array?.count == 1)
        let bad = try sandbox.client.send(
            "POST", "/v10/projects/web/env",
            [.members(sandbox.item("ONE")), .members(sandbox.item("TZ"))])
        #expect(bad.status == 400)
        #expect(bad.code == "ENV_CONFLICT")
        #expect(bad.json["failed"]?.array?.count == 2)
        #expect(sandbox.stored("TWO")?.value == "value")
    }

    @Test(arguments: [
        ("KEY", "production", JSONValue.null, "KEY", "production", JSONValue.null, false),
        ("KEY", "production", .null, "KEY", "preview", .null, true),
        ("KEY", "production,preview", .null, "KEY", "preview,development", .null, false),
        ("KEY", "preview", .null, "KEY", "preview", "feature", true),
        ("KEY", "preview", "feature", "KEY", "preview", "feature", false),
        ("KEY", "preview", "feature", "KEY", "preview", "other", true),
        ("KEY", "production", .null, "KEY2", "production", .null, true),
        ("KEY", "production", .null, "key", "production", .null, true),
    ])
    func `conflict by key, shared environment and equal branch`(
        first: String, target: String, branch: JSONValue, second: String, other: String,
        otherBranch: JSONValue, isAllowed: Bool
    ) throws {
        let words = { (text: String) in text.split(separator: ",").map(String.init) }
        try sandbox.create(first, target: words(target), more: ["gitBranch": branch])
        let answer = try sandbox.create(
            second, target: words(other), more: ["gitBranch": otherBranch])
        #expect(answer.status == (isAllowed ? 201 : 400))
        guard !isAllowed else { return }
        #expect(answer.code == "ENV_CONFLICT")
        #expect(answer.json["error"]?["envVarKey"]?.string == second)
        #expect((answer.json["error"]?["gitBranch"] ?? .null) == otherBranch)
    }

    @Test func `are changed by an upsert of exactly their environments only`() throws {
        let first = try sandbox.create("UP", "1", target: ["production", "preview"])
        let id = try #require(first.json["created"]?["id"]?.string)
        let again = try sandbox.create(
            "UP", "2", target: ["preview", "production"], query: "?upsert=true")
        #expect(again.status == 201)
        #expect(again.json["created"]?["id"]?.string == id)
        #expect(sandbox.stored("UP")?.value == "2")
        for target in [["production"], ["production", "preview", "development"]] {
            let partial = try sandbox.create("UP", "3", target: target, query: "?upsert=true")
            #expect(partial.status == 400)
            #expect(partial.code == "ENV_CONFLICT")
        }
        #expect(sandbox.stored("UP")?.value == "2")
        let new = try sandbox.create("NEW", target: ["preview"], query: "?upsert=true")
        #expect(new.status == 201)
    }

    @Test(arguments: [
        ("1A", "KEY_INVALID_CHARACTERS"), ("A-B", "KEY_INVALID_CHARACTERS"),
        ("_A", "KEY_INVALID_CHARACTERS"), ("Ä", "KEY_INVALID_CHARACTERS"),
        ("", "KEY_INVALID_LENGTH"), (String(repeating: "A", count: 257), "KEY_INVALID_LENGTH"),
        ("AWS_SECRET_KEY", "RESERVED_ENV_VARIABLE"), ("NOW_REGION", "RESERVED_ENV_VARIABLE"),
    ])
    func `have keys of letters, digits and underscores that are not reserved`(
        key: String, code: String
    ) throws {
        let answer = try sandbox.create(key)
        #expect(answer.status == 400)
        #expect(answer.code == code)
        #expect(sandbox.stored(key) == nil)
    }

    @Test func `may have the allowed AWS names`() throws {
        for key in ["AWS_ACCESS_KEY_ID", "AWS_REGION", "a", "A_1"] {
            #expect(try sandbox.create(key).status == 201)
        }
    }

    @Test(
        arguments: [
            ["type": "sensitive", "target": ["development"]],
            ["type": "sensitive", "target": ["production", "development"]],
            ["gitBranch": "feature", "target": ["production"]],
            ["gitBranch": "feature", "target": ["production", "preview"]],
            ["gitBranch": "main", "target": ["preview"]], ["target": []],
            ["gitBranch": .string(String(repeating: "b", count: 251)), "target": ["preview"]],
            ["comment": .string(String(repeating: "c", count: 501))],
            ["customEnvironmentIds": ["env_unknown"]], ["type": "secret"], ["type": 5],
            ["value": 5], ["value": nil], ["key": nil], ["target": "production"],
            ["target": ["moon"]], ["target": ["preview", "preview"]],
            ["value": .string(String(repeating: "v", count: 65537))],
        ] as [[String: JSONValue]])
    func `that break a rule are refused`(more: [String: JSONValue]) throws {
        let answer = try sandbox.create("RULE", more: more)
        #expect(answer.status == 400)
        #expect(answer.code != nil)
        #expect(sandbox.stored("RULE") == nil)
    }

    @Test func `that just meet the rules are stored`() throws {
        let more: [String: JSONValue] = [
            "comment": .string(String(repeating: "c", count: 500)),
            "gitBranch": .string(String(repeating: "b", count: 250)),
        ]
        #expect(try sandbox.create("EDGE", target: ["preview"], more: more).status == 201)
        #expect(try sandbox.create("EMPTY", "").status == 201)
        #expect(try sandbox.listed("EDGE").first?["comment"] == more["comment"])
    }

    @Test func `of one deployment have 64 KB together`() throws {
        let long = String(repeating: "v", count: 60_000)
        #expect(try sandbox.create("LONG", long, target: ["production"]).status == 201)
        let more = try sandbox.create("MORE", String(long.prefix(6000)), target: ["production"])
        #expect(more.status == 400)
        #expect(more.json["error"]?["message"]?.string?.contains("64 KB") == true)
        #expect(
            try sandbox.create("MORE", String(long.prefix(6000)), target: ["preview"]).status == 201
        )
    }

    @Test func `are edited with their whole list of environments`() throws {
        let made = try sandbox.create("EDIT", "1", target: ["production", "preview"])
        let id = try #require(made.json["created"]?["id"]?.string)
        let path = "/v9/projects/web/env/\(id)"
        let before = try #require(sandbox.stored("EDIT")?.updatedAt)
        let edited = try sandbox.client.send("PATCH", path, ["target": ["preview"]])
        #expect(edited.status == 200)
        #expect(edited.json["target"] == ["preview"])
        #expect(sandbox.stored("EDIT")?.value == "1")
        let after = try #require(sandbox.stored("EDIT")?.updatedAt)
        #expect(after > before)
        #expect(try sandbox.client.send("PATCH", path, ["value": "1"]).status == 200)
        #expect(try #require(sandbox.stored("EDIT")?.updatedAt) > after)
        #expect(try sandbox.client.send("PATCH", path, ["gitBranch": "feature"]).status == 200)
        #expect(sandbox.stored("EDIT")?.gitBranch == "feature")
        #expect(try sandbox.client.send("PATCH", path, ["gitBranch": nil]).status == 200)
        #expect(sandbox.stored("EDIT")?.gitBranch == nil)
        #expect(try sandbox.client.send("PATCH", path, ["key": "EDIT2"]).status == 200)
        #expect(sandbox.stored("EDIT2")?.id == id)
        try sandbox.create("EDIT2", target: ["production"])
        let clash = try sandbox.client.send(
            "PATCH", path, ["target": ["production", "preview"]])
        #expect(clash.code == "ENV_CONFLICT")
        #expect(try sandbox.client.send("PATCH", path, ["unknown": 1]).status == 400)
        #expect(try sandbox.client.send("PATCH", path + "x", ["value": "1"]).status == 404)
    }

    @Test func `that are sensitive stay so`() throws {
        let made = try sandbox.create("S", type: "sensitive")
        let path = "/v9/projects/web/env/\(made.json["created"]?["id"]?.string ?? "")"
        for body in [
            ["type": "encrypted"], ["key": "OTHER"], ["target": ["development"]],
        ] as [JSONValue] {
            #expect(try sandbox.client.send("PATCH", path, body).status == 400)
        }
        #expect(try sandbox.client.send("PATCH", path, ["value": "new"]).status == 200)
        #expect(sandbox.stored("S")?.value == "new")
        #expect(try sandbox.create("S", query: "?upsert=true").status == 400)
        let open = try sandbox.create("O", "secret")
        let other = "/v9/projects/web/env/\(open.json["created"]?["id"]?.string ?? "")"
        #expect(try sandbox.client.send("PATCH", other, ["type": "sensitive"]).status == 200)
        #expect(try sandbox.client.get(other).json["value"] == nil)
    }

    @Test func `are deleted one by one and together`() throws {
        for key in ["A", "B", "C"] { try sandbox.create(key) }
        let ids = try ["A", "B", "C"].map { key in
            try #require(try sandbox.listed(key).first?["id"]?.string)
        }
        let one = try sandbox.client.send("DELETE", "/v9/projects/web/env/\(ids[0])")
        #expect(one.status == 200)
        #expect(one.json["key"] == "A")
        #expect(try sandbox.client.send("DELETE", "/v9/projects/web/env/\(ids[0])").status == 404)
        let many = try sandbox.client.send(
            "DELETE", "/v1/projects/web/env", ["ids": [.string(ids[1]), .string(ids[2]), "x"]])
        #expect(many.json["deleted"] == 2)
        #expect(many.json["ids"]?.array?.count == 2)
        for body in [["ids": []], ["ids": ["gone"]], [:]] as [JSONValue] {
            #expect(
                (400..<500).contains(
                    try sandbox.client.send("DELETE", "/v1/projects/web/env", body).status))
        }
        #expect(sandbox.server.storedVariables(project: "web")?.count == 4)
    }

    @Test func `follow a team's policy on sensitive variables`() throws {
        let sandbox = try SandboxFixture { configuration in
            configuration.seed = try Seed(
                json: Array(
                    """
                    {"teams":[{"slug":"strict","sensitiveEnvironmentVariablePolicy":"on"}],
                     "projects":[{"name":"safe","team":"strict"}]}
                    """.utf8))
        }
        let send = { (target: JSONValue) in
            try sandbox.client.send(
                "POST", "/v10/projects/safe/env?slug=strict",
                ["key": "K", "value": "v", "type": "encrypted", "target": target])
        }
        #expect(try send(["production", "development"]).status == 400)
        #expect(try send(["production"]).json["created"]?["type"] == "sensitive")
        #expect(try send(["development"]).json["created"]?["type"] == "encrypted")
    }
}

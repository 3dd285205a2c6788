import JSON
import Sandbox
import Testing

@Suite struct `Answers that lie` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture() }

    private func path(_ key: String) throws -> String {
        "/v9/projects/web/env/" + (try #require(sandbox.stored(key)).id)
    }

    private func patch(_ key: String, _ body: JSONValue) throws -> TestClient.Answer {
        try sandbox.client.send("PATCH", path(key), body)
    }

    @Test func `claim that a change was stored which was not`() throws {
        try sandbox.create("A", "old")
        let before = try #require(sandbox.stored("A"))
        try sandbox.setFaults("PATCH * stores-nothing x1")
        let answer = try patch("A", ["value": "new", "comment": "c"])
        #expect(answer.status == 200)
        #expect(answer.json["comment"] == "c")
        #expect(try #require(answer.json["updatedAt"]?.integer) > before.updatedAt)
        #expect(sandbox.stored("A") == before)
        #expect(try sandbox.listed("A").first?["updatedAt"]?.integer == before.updatedAt)
        #expect(try patch("A", ["value": "new"]).status == 200)
        #expect(sandbox.stored("A")?.value == "new")
    }

    @Test func `show the record as it was before`() throws {
        try sandbox.create("A", "old", type: "plain")
        let before = try #require(try sandbox.listed("A").first)
        try sandbox.setFaults("* /projects/*/env* returns-old-record")
        #expect(try patch("A", ["value": "new"]).json == before)
        let upsert = try sandbox.create("A", "new", type: "plain", query: "?upsert=true")
        #expect(upsert.status == 201)
        #expect(upsert.json["created"] == before)
        #expect(sandbox.stored("A")?.value == "old")
    }

    @Test func `claim a creation or a deletion that did not happen`() throws {
        try sandbox.create("KEPT")
        try sandbox.setFaults("* /projects/*/env* stores-nothing")
        let made = try sandbox.create("NEW")
        #expect(made.status == 201)
        #expect(made.json["created"]?["key"] == "NEW")
        #expect(sandbox.stored("NEW") == nil)
        let gone = try sandbox.client.send("DELETE", path("KEPT"))
        #expect(gone.status == 200)
        #expect(gone.json["key"] == "KEPT")
        let id = JSONValue.string(try #require(sandbox.stored("KEPT")).id)
        let many = try sandbox.client.send("DELETE", "/v1/projects/web/env", ["ids": [id]])
        #expect(many.json == ["deleted": 1, "ids": [id]])
        #expect(sandbox.stored("KEPT") != nil)
        try sandbox.setFaults()
        let next = try sandbox.create("NEXT")
        #expect(next.json["created"]?["id"] != made.json["created"]?["id"])
    }

    @Test func `occur at the counted request`() throws {
        try sandbox.create("A", "0")
        try sandbox.setFaults("PATCH * stores-nothing @3 x1", "PATCH * 503 @2 x1")
        var seen: [String?] = []
        for number in 1...4 {
            _ = try patch("A", ["value": .string(String(number))])
            seen.append(sandbox.stored("A")?.value)
        }
        #expect(seen == ["1", "1", "1", "4"])
    }

    @Test func `hide readable values`() throws {
        let path = try path("SEED_SITE_NAME")
        try sandbox.setFaults("GET * hides-values")
        let one = try sandbox.client.get(path).json
        #expect(one["decrypted"] == true)
        #expect(one["value"] == nil)
        let pulled = try sandbox.client.get("/v3/env/pull/web/production").json
        #expect(pulled == ["env": [:], "buildEnv": [:]])
        try sandbox.setFaults()
        #expect(try sandbox.client.get(path).json["value"] == "Seed Site")
    }

    @Test(arguments: [
        ("ongoing", "ongoing update"),
        (
            "ongoing:Another env update of this project is ongoing",
            "Another env update of this project is ongoing"
        ), ("ongoing:Busy%2C%20100%25", "Busy, 100%"),
    ])
    func `defer a change in any wording`(fault: String, sentence: String) throws {
        try sandbox.setFaults("* /projects/*/env* \(fault) x2")
        let answer = try sandbox.create("A")
        #expect(answer.status == 400)
        #expect(answer.code == "bad_request")
        #expect(answer.json["error"]?["message"]?.string?.contains(sentence) == true)
        #expect(sandbox.stored("A") == nil)
        #expect(try patch("SEED_DEBUG", ["value": "new"]).status == 400)
        #expect(try sandbox.create("A").status == 201)
    }

    private func batch(_ keys: String...) throws -> TestClient.Answer {
        try sandbox.client.send(
            "POST", "/v10/projects/web/env", .array(keys.map { .members(sandbox.item($0)) }))
    }

    @Test(arguments: [false, true])
    func `do not reveal what a batch has stored`(keepsAll: Bool) throws {
        let more = keepsAll ? ",keeps=all" : ""
        for shape in ["some", "one", "all", "empty"] {
            try sandbox.setFaults("POST * silent-batch:\(shape)\(more),status=200 x1")
            let keys = ["A", "B", "C"].map { shape.uppercased() + "_" + $0 }
            let answer = try batch(keys[0], keys[1], keys[2])
            #expect(answer.status == 200)
            let created = answer.json["created"]
            switch shape {
            case "some": #expect(created?.array?.map { $0["key"]?.string } == [keys[0], keys[1]])
            case "one": #expect(created?["key"]?.string == keys[0])
            case "all": #expect(created?.array?.map { $0["key"]?.string } == keys)
            default: #expect(answer.json == [:])
            }
            #expect(answer.json["failed"] == (shape == "empty" ? nil : []))
            let kept = keys.filter { sandbox.stored($0) != nil }
            #expect(kept == (keepsAll ? keys : [keys[0], keys[1]]))
        }
    }

    @Test func `do not reveal what became of refused items`() throws {
        try sandbox.setFaults("POST * silent-batch:all,keeps=all x1", "POST * silent-batch x1")
        let answer = try batch("A", "SEED_DEBUG", "TZ")
        #expect(answer.status == 201)
        #expect(answer.json["failed"] == [])
        #expect(answer.json["created"]?.array?.count == 2)
        let single = try sandbox.create("ALONE")
        #expect(single.json == ["created": [], "failed": []])
        #expect(sandbox.stored("ALONE") == nil)
    }

    @Test func `of deletions leave one out`() throws {
        for key in ["A", "B", "C"] { try sandbox.create(key) }
        let ids = try ["A", "B", "C"].map { JSONValue.string(try #require(sandbox.stored($0)).id) }
        try sandbox.setFaults("DELETE * rejects-one")
        let many = try sandbox.client.send(
            "DELETE", "/v1/projects/web/env", ["ids": .array(ids + ["missing"])])
        #expect(many.json == ["deleted": 2, "ids": .array(Array(ids[..<2]))])
        #expect(["A", "B", "C"].map { sandbox.stored($0) != nil } == [false, false, true])
        let last = try sandbox.client.send("DELETE", "/v1/projects/web/env", ["ids": [ids[2]]])
        #expect(last.code == "UNKNOWN_ERROR")
        #expect(try sandbox.client.send("DELETE", path("C")).code == "UNKNOWN_ERROR")
        #expect(sandbox.stored("C") != nil)
        try sandbox.setFaults()
        let everything = (0..<1000).map { JSONValue.string("id\($0)") }
        for (list, status) in [
            (everything + [ids[2]], 400), (everything.dropLast() + [ids[2]], 200),
        ] {
            let answer = try sandbox.client.send(
                "DELETE", "/v1/projects/web/env", ["ids": .array(list)])
            #expect(answer.status == status)
        }
        #expect(sandbox.stored("C") == nil)
    }
}

@Suite struct `Upserts` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture() }

    private func upsert(_ items: [[String: JSONValue]]) throws -> TestClient.Answer {
        try sandbox.client.send(
            "POST", "/v10/projects/web/env?upsert=true", .array(items.map { JSONValue.members($0) })
        )
    }

    @Test func `of a list change, create and refuse items one by one`() throws {
        try sandbox.create("SAME", "old", target: ["preview", "production"])
        try sandbox.create("WIDE", "old", target: ["preview", "production"])
        try sandbox.create("BRANCH", "old", target: ["preview"], more: ["gitBranch": "feature"])
        let id = sandbox.stored("SAME")?.id
        let answer = try upsert([
            sandbox.item("SAME", "new", target: ["production", "preview"]),
            sandbox.item("WIDE", "new", target: ["production"]),
            sandbox.item("BRANCH", "general", target: ["preview"]),
            sandbox.item("FRESH", "new"),
        ])
        #expect(answer.status == 201)
        let created = answer.json["created"]?.array ?? []
        #expect(created.map { $0["key"] } == ["SAME", "BRANCH", "FRESH"])
        #expect(created.first?["id"]?.string == id)
        let failed = answer.json["failed"]?.array ?? []
        #expect(failed.map { $0["error"]?["code"] } == ["ENV_CONFLICT"])
        #expect(failed.first?["error"]?["envVarKey"] == "WIDE")
        #expect(sandbox.stored("SAME")?.value == "new")
        #expect(sandbox.stored("WIDE")?.value == "old")
        let branches = sandbox.server.storedVariables(project: "web")?.filter {
            $0.key == "BRANCH"
        }
        #expect(branches?.map(\.value) == ["old", "general"])
    }

    @Test func `of a thousand keep all and advance each time`() throws {
        let items = (0..<900).map { sandbox.item("K\($0)", "old") }
        #expect(try upsert(items).json["created"]?.array?.count == 900)
        let before = try #require(sandbox.stored("K899"))
        let again = try upsert((0..<900).map { sandbox.item("K\($0)", "new") })
        #expect(again.json["created"]?.array?.count == 900)
        #expect(again.json["failed"] == [])
        let after = try #require(sandbox.stored("K899"))
        #expect(after.id == before.id)
        #expect(after.value == "new")
        #expect(after.updatedAt > before.updatedAt)
    }
}

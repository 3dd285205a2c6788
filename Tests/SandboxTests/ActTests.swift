import Foundation
import JSON
import Sandbox
import Testing

@Suite struct `Acts of others` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture() }

    @discardableResult
    private func act(_ members: [String: JSONValue]) throws -> TestClient.Answer {
        return try sandbox.client.send("POST", "/_sandbox/acts", .members(members))
    }

    private func record(_ key: String) throws -> StoredVariable {
        try #require(sandbox.stored(key))
    }

    @Test func `change a value, a note or nothing, as any user`() throws {
        try sandbox.create("A", "mine", type: "sensitive", more: ["comment": "old"])
        let (own, other) = sandbox.server.userIds
        let first = try record("A")
        #expect(first.createdBy == own)
        #expect(first.updatedBy == nil)
        let set = try act(["act": "set", "key": "A", "value": "theirs", "project": "web"])
        #expect(set.status == 200)
        #expect(set.json["updatedBy"]?.string == other)
        #expect(!set.text.contains("theirs"))
        let second = try record("A")
        #expect(second.value == "theirs")
        #expect(second.updatedBy == other)
        #expect(second.updatedAt > first.updatedAt)
        try act(["act": "touch", "key": "A", "by": "self"])
        let third = try record("A")
        #expect(third.value == "theirs")
        #expect(third.updatedBy == own)
        #expect(third.updatedAt > second.updatedAt)
        try act(["act": "set", "key": "A", "comment": "new", "by": .string(try #require(other))])
        #expect(try record("A").comment == "new")
        #expect(try record("A").value == "theirs")
        #expect(try record("A").updatedBy == other)
        try act(["act": "touch", "id": .string(first.id), "by": "nobody"])
        #expect(try record("A").updatedBy == other)
        let shown = try #require(try sandbox.listed("A").first)
        #expect(shown["updatedAt"]?.integer == (try record("A").updatedAt))
    }

    @Test func `create and remove, and change scope and name`() throws {
        let made = try act(["act": "create", "key": "NEW", "value": "v", "by": "colleague"])
        #expect(made.status == 200)
        #expect(try record("NEW").targets == ["production", "preview", "development"])
        #expect(try record("NEW").createdBy == sandbox.server.userIds.other)
        try act([
            "act": "set", "key": "NEW", "newKey": "NEWER", "newTargets": ["preview"],
            "type": "sensitive",
        ])
        #expect(try record("NEWER").targets == ["preview"])
        #expect(try record("NEWER").type == "sensitive")
        try act([
            "act": "create", "key": "NEWER", "value": "v2", "type": "sensitive",
            "targets": ["production"], "comment": "c",
        ])
        #expect(try act(["act": "remove", "key": "NEWER"]).status == 400)
        #expect(
            try act(["act": "remove", "key": "NEWER", "targets": ["preview"]]).status == 200)
        #expect(try record("NEWER").targets == ["production"])
        #expect(try act(["act": "remove", "key": "NEWER"]).status == 200)
        #expect(sandbox.stored("NEWER") == nil)
    }

    @Test(
        arguments: [
            ["act": "set", "key": "NONE", "value": "v"], ["act": "touch", "key": "NONE"],
            ["act": "touch", "key": "SEED_DEBUG", "by": "stranger"],
            ["act": "create", "key": "SEED_DEBUG", "value": "v", "targets": ["development"]],
            ["act": "set", "key": "SEED_API_KEY", "type": "plain"],
            ["act": "set", "key": "SEED_DEBUG", "newTargets": ["moon"]],
            ["act": "create", "key": "1", "value": "v"], ["act": "dance"], [:],
            ["act": "create", "key": "A", "value": "v", "project": "none"],
            ["act": "move-project", "team": "none"], ["act": "touch"],
            ["act": "set", "key": "SEED_DEBUG", "value": 5],
            ["act": "set", "key": "SEED_DEBUG", "value": "v", "more": 1],
        ] as [[String: JSONValue]])
    func `that are impossible change nothing`(members: [String: JSONValue]) throws {
        let before = sandbox.server.storedVariables(project: "web")
        let answer = try act(members)
        #expect([400, 404].contains(answer.status))
        #expect(answer.code != nil)
        #expect(sandbox.server.storedVariables(project: "web") == before)
    }

    @Test func `move a project, remove it, and recreate it`() throws {
        try sandbox.create("A")
        let id = try #require(try sandbox.client.get("/v9/projects/web").json["id"]?.string)
        let live = try #require(try sandbox.current())
        let team = try sandbox.teamId()
        #expect(try act(["act": "move-project", "project": "web", "team": "acme"]).status == 200)
        for path in ["/v9/projects/web", "/v9/projects/\(id)", "/v10/projects/\(id)/env"] {
            #expect(try sandbox.client.get(path).status == 404)
            #expect(try sandbox.client.get("\(path)?teamId=\(team)").status == 200)
        }
        #expect(try sandbox.client.get("/v13/deployments/\(live)?teamId=\(team)").status == 200)
        #expect(try sandbox.client.get("/v13/deployments/\(live)").status == 404)
        try act(["act": "move-project", "project": .string(id), "team": "personal"])
        #expect(try sandbox.client.get("/v10/projects/web/env").json["envs"]?.array?.count == 5)
        let made = try act(["act": "recreate-project", "project": "web"])
        #expect(made.json["name"] == "web")
        #expect(made.json["id"]?.string != id)
        #expect(try sandbox.client.get("/v9/projects/\(id)").status == 404)
        #expect(try sandbox.client.get("/v9/projects/web").json["id"] == made.json["id"])
        #expect(try sandbox.client.get("/v10/projects/web/env").json["envs"] == [])
        #expect(try act(["act": "remove-project", "project": "web"]).status == 200)
        #expect(try sandbox.client.get("/v9/projects/web").status == 404)
    }

    @Test func `happen before or after the counted request, once`() throws {
        try sandbox.create("A", "one")
        let path = "/v9/projects/web/env/\(try record("A").id)"
        try sandbox.setFaults(
            "PATCH /projects/*/env/* before:set,key=A,value=theirs,comment=two words @2",
            "GET /projects/web/env then:remove,key=A @2")
        _ = try sandbox.client.send("PATCH", path, ["type": "plain"])
        #expect(try record("A").comment == nil)
        let second = try sandbox.client.send("PATCH", path, ["targets": 1])
        #expect(second.status == 400)
        #expect(try record("A").value == "theirs")
        #expect(try record("A").comment == "two words")
        let times = try (0..<2).map { _ in
            let answer = try sandbox.client.send("PATCH", path, ["value": "mine"])
            return try #require(answer.json["updatedAt"]?.integer)
        }
        #expect(times[0] < times[1])
        #expect(try record("A").value == "mine")
        #expect(try sandbox.listed("A").count == 1)
        #expect(try sandbox.listed("A").count == 1)
        #expect(try sandbox.listed("A").isEmpty)
        let log = sandbox.server.requests.map(\.status)
        #expect(log == [201, 200, 400, 200, 200, 200, 200, 200])
    }

    @Test func `happen beside a fault, and are counted separately`() throws {
        try sandbox.create("A", "one")
        let path = "/v9/projects/web/env/\(try record("A").id)"
        try sandbox.setFaults(
            "PATCH * 429:1 x1", "PATCH * then:touch,key=A,by=self x2", "PATCH * stores-nothing x1")
        let before = try record("A")
        #expect(try sandbox.client.send("PATCH", path, ["value": "two"]).status == 429)
        let touched = try record("A")
        #expect(touched.updatedAt > before.updatedAt)
        #expect(try sandbox.client.send("PATCH", path, ["value": "two"]).status == 200)
        #expect(try record("A").value == "one")
        #expect(try record("A").updatedAt > touched.updatedAt)
        let shown = try sandbox.client.get("/_sandbox/faults").json["faults"]?.array
        #expect(shown?.map { $0["remaining"] } == [0, 0, 0])
    }

    @Test func `that are impossible at a request fail it every time, with a message`() throws {
        try sandbox.setFaults("GET /v2/user before:set,key=NONE,value=v x1")
        for _ in 0..<2 {
            let answer = try sandbox.client.get("/v2/user")
            #expect(answer.status == 501)
            #expect(answer.code == "sandbox_fault")
        }
        try sandbox.setFaults("GET /v2/user echoes-value:NONE")
        #expect(try sandbox.client.get("/v2/user").status == 501)
    }

    @Test func `are shown without their values`() throws {
        try sandbox.create("A", "one")
        try sandbox.setFaults("GET /v2/user before:set,key=A,value=marker,comment=marker @1 x3")
        _ = try sandbox.client.get("/v2/user")
        let shown = try sandbox.client.get("/_sandbox/faults")
        #expect(!shown.text.contains("marker"))
        #expect(
            shown.json["faults"]?[0]?["fault"]
                == "GET /v2/user before:set,comment=***,key=A,value=*** @1 x3")
        #expect(!(try sandbox.client.get("/_sandbox/requests").text.contains("marker")))
    }

    @Test func `are done by the server itself, and sent to webhooks`() throws {
        let hook = try sandbox.client.send(
            "POST", "/v1/webhooks",
            [
                "url": "http://127.0.0.1:9/",
                "events": ["project.env-variable.updated", "project.env-variable.created"],
            ])
        #expect(hook.status == 200)
        try sandbox.server.perform(
            try #require(Act("set,key=SEED_DEBUG,value=by%20hand,by=self")))
        #expect(try record("SEED_DEBUG").value == "by hand")
        let error = #expect(throws: SandboxError.self) {
            try sandbox.server.perform(try #require(Act("remove,key=NONE")))
        }
        #expect(error?.code == .actImpossible)
        _ = try sandbox.create("SEED_DEBUG", "x", target: ["development"], query: "?upsert=1")
        let told = try sandbox.client.get("/_sandbox/webhooks").json["messages"]?.array
        #expect(
            told?.map { $0["type"] } == [
                "project.env-variable.updated", "project.env-variable.updated",
            ])
    }
}

@Suite struct `Refusals that repeat a value` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture() }

    @Test(arguments: [
        ("", "va/l ue+1"), (",as=base64", "dmEvbCB1ZSsx"), (",as=percent", "va%2Fl%20ue%2B1"),
        (",as=hex", "76612f6c2075652b31"), (",as=upper", "VA/L UE+1"),
    ])
    func `write it in any form`(form: String, shown: String) throws {
        try sandbox.create("OTHER", "va/l ue+1", type: "sensitive")
        try sandbox.setFaults("* /projects/* echoes-value:OTHER\(form)")
        let answer = try sandbox.create("A")
        #expect(answer.status == 400)
        #expect(answer.json["error"]?["message"]?.string?.contains(shown) == true)
        #expect(sandbox.stored("A") == nil)
        #expect(try sandbox.client.get("/v10/projects/web/env").status == 400)
    }

    @Test func `put it where they should`() throws {
        try sandbox.create("OTHER", "hidden-value")
        try sandbox.setFaults("POST * echoes-value:OTHER,in=code,status=403 x1")
        let coded = try sandbox.create("A")
        #expect(coded.status == 403)
        #expect(coded.code == "hidden-value")
        try sandbox.setFaults("* * echoes-value:OTHER,in=failed,code=MAX_ENVS_EXCEEDED")
        let batch = try sandbox.client.send(
            "POST", "/v10/projects/web/env",
            [.members(sandbox.item("A")), .members(sandbox.item("B"))])
        #expect(batch.status == 201)
        let failed = batch.json["failed"]?[0]?["error"]
        #expect(failed?["envVarKey"] == "B")
        #expect(failed?["code"] == "MAX_ENVS_EXCEEDED")
        #expect(failed?["message"]?.string?.contains("hidden-value") == true)
        #expect(sandbox.stored("A") != nil)
        let id = try #require(sandbox.stored("A")).id
        let changed = try sandbox.client.send("PATCH", "/v9/projects/web/env/\(id)", ["value": "x"])
        #expect(changed.code == "MAX_ENVS_EXCEEDED")
    }
}

@Suite struct `Team members` {
    @Test func `use names that identify authors`() throws {
        let sandbox = try SandboxFixture { configuration in
            configuration.seed = try Seed(
                json: Array(
                    """
                    {"teams":[{"slug":"acme"},{"slug":"foreign","role":null}],
                     "users":[{"username":"ann","name":"Ann"},{"username":"bob"}],
                     "projects":[{"name":"web"},{"name":"api","team":"acme"}]}
                    """.utf8))
        }
        let made = try sandbox.client.send(
            "POST", "/_sandbox/acts",
            ["act": "create", "project": "api", "key": "A", "value": "v", "by": "bob"])
        let team = try sandbox.teamId()
        let members = try sandbox.client.get("/v3/teams/\(team)/members?limit=2").json
        #expect(members["members"]?.array?.map { $0["username"] } == ["bob", "ann"])
        #expect(members["pagination"]?["hasNext"] == true)
        let author = members["members"]?.array?.first { $0["uid"] == made.json["createdBy"] }
        #expect(author?["username"] == "bob")
        let next = try #require(members["pagination"]?["next"]?.integer)
        let rest = try sandbox.client.get("/v3/teams/\(team)/members?limit=2&until=\(next)").json
        #expect(rest["members"]?.array?.map { $0["role"] } == ["OWNER"])
        #expect(rest["members"]?[0]?["uid"]?.string == sandbox.server.userIds.own)
        #expect(rest["pagination"]?["hasNext"] == false)
        #expect(try sandbox.client.get("/v2/teams/foreign/members").status == 403)
        #expect(try sandbox.client.get("/v2/teams/none/members").status == 404)
    }
}

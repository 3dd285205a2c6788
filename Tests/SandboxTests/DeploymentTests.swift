import JSON
import Sandbox
import Testing

@Suite struct `Deployments` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture { $0.buildSeconds = 100 } }

    private func state(_ id: String) throws -> String? {
        try sandbox.deployment(id)["readyState"]?.string
    }

    @Test func `proceed with the clock until they are current`() throws {
        let before = try sandbox.current()
        let id = try sandbox.redeploy()
        #expect(id.hasPrefix("dpl_"))
        var seen: [String?] = [try state(id)]
        for seconds in [9.0, 1, 14, 1, 74] {
            sandbox.server.advanceClock(bySeconds: seconds)
            seen.append(try state(id))
        }
        #expect(
            seen == ["QUEUED", "QUEUED", "INITIALIZING", "INITIALIZING", "BUILDING", "BUILDING"])
        let building = try sandbox.deployment(id)
        #expect(building["aliasAssigned"] == false)
        #expect(building["alias"] == [])
        #expect(try sandbox.current() == before)
        sandbox.server.advanceClock(bySeconds: 1)
        let ready = try sandbox.deployment(id)
        #expect(ready["readyState"] == "READY")
        #expect(ready["status"] == "READY")
        #expect(ready["readySubstate"] == "PROMOTED")
        #expect(ready["aliasAssigned"] == true)
        #expect(ready["alias"]?.array?.contains("web.vercel.app") == true)
        #expect(try sandbox.current() == id)
        #expect(try sandbox.client.get("/v13/deployments/web.vercel.app").json["id"]?.string == id)
        let aliases = try sandbox.client.get("/v2/deployments/\(id)/aliases").json["aliases"]
        #expect(aliases?.array?.count == 2)
        let unknown = try sandbox.client.get("/v2/deployments/dpl_x/aliases")
        #expect(unknown.code == "deployment_not_found")
    }

    @Test func `are built with the variables at their creation`() throws {
        try sandbox.create("ROTATED", "old", target: ["production", "preview"])
        let first = try sandbox.redeploy()
        let record = try #require(try sandbox.listed("ROTATED").first?["id"]?.string)
        _ = try sandbox.client.send(
            "PATCH", "/v9/projects/web/env/\(record)", ["value": "new"])
        sandbox.server.advanceClock(bySeconds: 100)
        let second = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 100)
        #expect(sandbox.server.builtVariables(deployment: first)?["ROTATED"] == "old")
        #expect(sandbox.server.builtVariables(deployment: second)?["ROTATED"] == "new")
        let pulled = try sandbox.client.get("/v3/env/pull/\(second)").json
        #expect(pulled["buildEnv"]?["ROTATED"] == "new")
        #expect(pulled["buildEnv"]?["SEED_API_KEY"] == "")
        #expect(pulled["env"] == [:])
        #expect(try sandbox.deployment(second)["env"]?.array?.contains("ROTATED") == true)
        #expect(try !sandbox.client.get("/v13/deployments/\(second)").text.contains("postgres"))
    }

    @Test func `take over the source's settings`() throws {
        let source = try sandbox.deployment(try sandbox.newestDeployment())
        let id = try sandbox.redeploy(
            query: "forceNew=1&withCache=1", more: ["meta": ["action": "redeploy"]])
        let copy = try sandbox.deployment(id)
        #expect(copy["gitSource"] == source["gitSource"])
        #expect(copy["meta"]?["originalDeploymentId"] == source["id"])
        #expect(copy["meta"]?["action"] == "redeploy")
        #expect(copy["meta"]?["githubCommitSha"] == source["meta"]?["githubCommitSha"])
        #expect(copy["source"] == "redeploy")
        let latest = try sandbox.redeploy(more: ["withLatestCommit": true])
        #expect(try sandbox.deployment(latest)["gitSource"]?["sha"] != source["gitSource"]?["sha"])
        #expect(try sandbox.deployment(latest)["gitSource"]?["ref"] == source["gitSource"]?["ref"])
    }

    @Test(arguments: [
        ("forceNew=1", "skipping build cache"), ("forceNew=1&withCache=1", "Restored build cache"),
        ("x=1", "Restored build cache"),
    ])
    func `report in their log whether they used the cache`(query: String, text: String) throws {
        let id = try sandbox.redeploy(query: query)
        sandbox.server.advanceClock(bySeconds: 100)
        #expect(try sandbox.client.get("/v3/deployments/\(id)/events").text.contains(text))
    }

    @Test func `of previews leave production alone`() throws {
        let before = try sandbox.current()
        try sandbox.create("P", "general", target: ["preview"])
        try sandbox.create("P", "branch", target: ["preview"], more: ["gitBranch": "feature"])
        let general = try sandbox.redeploy(target: .null)
        let branch = try sandbox.client.send(
            "POST", "/v13/deployments",
            [
                "name": "web",
                "gitSource": ["type": "github", "ref": "feature", "repoId": 100000],
            ])
        let id = try #require(branch.json["id"]?.string)
        sandbox.server.advanceClock(bySeconds: 100)
        #expect(try sandbox.current() == before)
        #expect(try sandbox.deployment(general)["target"] == .null)
        #expect(try sandbox.deployment(general)["aliasAssigned"] == true)
        #expect(sandbox.server.builtVariables(deployment: general)?["P"] == "general")
        #expect(sandbox.server.builtVariables(deployment: id)?["P"] == "branch")
        #expect(sandbox.server.builtVariables(deployment: id)?["SEED_DEBUG"] == nil)
    }

    @Test func `are listed with filters and in pages`() throws {
        for _ in 0..<3 { _ = try sandbox.redeploy() }
        let preview = try sandbox.redeploy(target: .null)
        let ids = { (query: String) in
            try sandbox.client.get("/v6/deployments?\(query)").json["deployments"]?.array?
                .compactMap { $0["uid"]?.string } ?? []
        }
        #expect(try ids("projectId=web").count == 5)
        #expect(try ids("projectId=web&target=preview") == [preview])
        #expect(try ids("app=web&target=production&state=QUEUED,BUILDING").count == 3)
        #expect(try ids("state=READY").count == 1)
        #expect(try ids("branch=nothing").isEmpty)
        #expect(try ids("projectIds=nothing").isEmpty)
        #expect(try ids("meta-githubCommitRef=main").count == 5)
        #expect(try sandbox.client.get("/v6/deployments?limit=x").status == 400)
        var paged: [String] = []
        var query = "limit=2"
        for _ in 0..<4 {
            let page = try sandbox.client.get("/v6/deployments?\(query)").json
            paged += page["deployments"]?.array?.compactMap { $0["uid"]?.string } ?? []
            guard let next = page["pagination"]?["next"]?.integer else { break }
            query = "limit=2&until=\(next)"
        }
        #expect(paged == (try ids("limit=100")))
        sandbox.server.advanceClock(bySeconds: 100)
        let candidates = try ids("rollbackCandidate=true")
        #expect(candidates.count == 1 + 2)
    }

    @Test func `can be canceled while they build, and deleted`() throws {
        let id = try sandbox.redeploy()
        let canceled = try sandbox.client.send("PATCH", "/v12/deployments/\(id)/cancel")
        #expect(canceled.status == 200)
        #expect(canceled.json["readyState"] == "CANCELED")
        #expect(canceled.json["canceledAt"]?.integer != nil)
        sandbox.server.advanceClock(bySeconds: 200)
        #expect(try state(id) == "CANCELED")
        let again = try sandbox.client.send("PATCH", "/v12/deployments/\(id)/cancel")
        #expect(again.status == 400)
        let gone = try sandbox.client.send("DELETE", "/v13/deployments/\(id)")
        #expect(gone.json == ["uid": .string(id), "state": "DELETED"])
        #expect(try sandbox.client.get("/v13/deployments/\(id)").status == 404)
        let bad = try sandbox.client.get("/v13/deployments/nonsense")
        #expect(bad.status == 400)
        #expect(bad.json["error"]?["message"]?.string?.contains("`id`") == true)
    }

    @Test(
        arguments: [
            [:], ["name": "web"], ["name": "nothing", "files": []],
            ["name": "web", "deploymentId": "dpl_unknown"],
            ["name": "web", "files": [], "target": "moon"],
            ["name": "web", "files": [], "more": 1], ["name": 5],
            ["name": "web", "gitSource": ["type": "svn", "ref": "main"]],
            ["name": "web", "files": [], "meta": ["a": 1]],
        ] as [JSONValue])
    func `that are impossible are refused`(body: JSONValue) throws {
        let answer = try sandbox.client.send("POST", "/v13/deployments", body)
        #expect((400..<500).contains(answer.status))
        #expect(answer.code != nil)
        #expect(try sandbox.client.get("/v6/deployments").json["deployments"]?.array?.count == 1)
    }

    @Test func `start by a deploy hook without a token`() throws {
        let hooks = try sandbox.client.get("/v9/projects/web").json["link"]?["deployHooks"]
        let url = try #require(hooks?[0]?["url"]?.string)
        let path = "/" + url.split(separator: "/").dropFirst(2).joined(separator: "/")
        var client = sandbox.client
        client.token = nil
        let answer = try client.send("POST", path + "?buildCache=false")
        #expect(answer.status == 201)
        let id = try #require(answer.json["job"]?["id"]?.string)
        sandbox.server.advanceClock(bySeconds: 100)
        #expect(try sandbox.current() == id)
        #expect(try sandbox.deployment(id)["meta"]?["deployHookName"] == "default")
        #expect(try client.send("POST", path + "x").status == 404)
    }

    @Test func `that finish after a later one do not replace it`() throws {
        let slow = try sandbox.redeploy()
        sandbox.server.setBuild(.aliasLate(seconds: 0))
        sandbox.server.advanceClock(bySeconds: 50)
        let later = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 50)
        #expect(try sandbox.current() == slow)
        sandbox.server.advanceClock(bySeconds: 50)
        #expect(try sandbox.current() == later)
    }
}

@Suite struct `Builds` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture { $0.buildSeconds = 10 } }

    private func built(_ mode: String) throws -> (id: String, record: JSONValue) {
        let answer = try sandbox.client.send(
            "PUT", "/_sandbox/faults", ["build": .string(mode)])
        #expect(answer.status == 200)
        let id = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 10)
        return (id, try sandbox.deployment(id))
    }

    @Test func `that succeed become current`() throws {
        let (id, record) = try built("ok")
        #expect(record["readyState"] == "READY")
        #expect(try sandbox.current() == id)
    }

    @Test(arguments: [
        ("fail", "ERROR"), ("ignored", "CANCELED"), ("blocked", "BLOCKED"),
    ])
    func `that end otherwise leave production unchanged`(mode: String, state: String) throws {
        let before = try sandbox.current()
        let (id, record) = try built(mode)
        #expect(record["readyState"]?.string == state)
        #expect(record["aliasAssigned"] == false)
        #expect((record["errorMessage"] != nil) == (mode != "ignored"))
        #expect((record["canceledAt"] != nil) == (mode == "ignored"))
        #expect(try sandbox.current() == before)
        let list = try sandbox.client.get("/v6/deployments?state=\(state)").json
        #expect(list["deployments"]?[0]?["uid"]?.string == id)
        let log = try sandbox.client.get("/v3/deployments/\(id)/events").text
        #expect(log.contains("\"readyState\":\"\(state)\""))
    }

    @Test func `that keep the old variables are ready with them`() throws {
        try sandbox.create("K", "new")
        let (id, record) = try built("keeps-old-env")
        #expect(record["readyState"] == "READY")
        #expect(try sandbox.current() == id)
        #expect(sandbox.server.builtVariables(deployment: id)?["K"] == nil)
        #expect(try sandbox.client.get("/v3/env/pull/\(id)").json["buildEnv"]?["K"] == nil)
        #expect(sandbox.stored("K")?.value == "new")
    }

    @Test func `with late aliases are ready before they are current`() throws {
        let before = try sandbox.current()
        let (id, record) = try built("alias-late:5")
        #expect(record["readyState"] == "READY")
        #expect(record["aliasAssigned"] == false)
        #expect(try sandbox.current() == before)
        sandbox.server.advanceClock(bySeconds: 4.9)
        #expect(try sandbox.deployment(id)["aliasAssigned"] == false)
        sandbox.server.advanceClock(bySeconds: 0.1)
        #expect(try sandbox.deployment(id)["aliasAssigned"] == true)
        #expect(try sandbox.current() == id)
    }

    @Test func `with failing aliases never become current`() throws {
        let before = try sandbox.current()
        let (id, record) = try built("alias-error")
        #expect(record["readyState"] == "READY")
        #expect(record["aliasError"]?["code"] == "alias_failed")
        #expect(record["readySubstate"] == "STAGED")
        sandbox.server.advanceClock(bySeconds: 1000)
        #expect(try sandbox.deployment(id)["aliasAssigned"] == false)
        #expect(try sandbox.current() == before)
    }

    @Test func `that are staged wait for a promotion`() throws {
        let before = try sandbox.current()
        let (id, record) = try built("staged")
        #expect(record["readyState"] == "READY")
        #expect(record["readySubstate"] == "STAGED")
        #expect(record["aliasAssigned"] == true)
        #expect(record["alias"]?.array?.contains("web.vercel.app") == false)
        #expect(try sandbox.current() == before)
        let promoted = try sandbox.client.send("POST", "/v10/projects/web/promote/\(id)", [:])
        #expect(promoted.status == 201)
        sandbox.server.advanceClock(bySeconds: 10)
        #expect(try sandbox.current() == id)
    }

    @Test func `of unknown modes are refused`() throws {
        let answer = try sandbox.client.send("PUT", "/_sandbox/faults", ["build": "explode"])
        #expect(answer.status == 400)
    }
}

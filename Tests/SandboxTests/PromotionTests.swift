import JSON
import Sandbox
import Testing

@Suite struct `Promotions and rollbacks` {
    let sandbox: SandboxFixture
    let first: String
    let second: String

    init() throws {
        sandbox = try SandboxFixture { $0.buildSeconds = 10 }
        first = try #require(try sandbox.current())
        second = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 10)
        #expect(try sandbox.current() == second)
    }

    private func request() throws -> JSONValue? {
        try sandbox.client.get("/v9/projects/web?rollbackInfo=true").json["lastAliasRequest"]
    }

    private func start(_ kind: String, _ id: String) throws -> TestClient.Answer {
        try sandbox.client.send("POST", "/v9/projects/web/\(kind)/\(id)", [:])
    }

    @Test(arguments: ["promote", "rollback"])
    func `proceed with the clock`(kind: String) throws {
        #expect(try request() == .null)
        let started = try start(kind, first)
        #expect(started.status == 201)
        #expect(started.body.isEmpty)
        let pending = try #require(try request())
        #expect(pending["jobStatus"] == "pending")
        #expect(pending["fromDeploymentId"]?.string == second)
        #expect(pending["toDeploymentId"]?.string == first)
        #expect(pending["type"]?.string == kind)
        let running = try start(kind, first)
        #expect(running.status == 409)
        sandbox.server.advanceClock(bySeconds: 1)
        #expect(try request()?["jobStatus"] == "in-progress")
        #expect(try sandbox.current() == second)
        let path = "/v1/projects/web/\(kind)/aliases"
        #expect(try sandbox.client.get(path).json["aliases"]?[0]?["status"] == "in-progress")
        sandbox.server.advanceClock(bySeconds: 3)
        #expect(try request()?["jobStatus"] == "succeeded")
        #expect(try sandbox.current() == first)
        #expect(try sandbox.client.get(path).json["aliases"]?[0]?["status"] == "completed")
        #expect(try sandbox.client.get("\(path)?failedOnly=true").json["aliases"] == [])
        let again = try start(kind, first)
        #expect(again.status == 409)
    }

    @Test func `decide whether builds become current automatically`() throws {
        _ = try start("rollback", first)
        sandbox.server.advanceClock(bySeconds: 4)
        let held = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 10)
        #expect(try sandbox.current() == first)
        #expect(try sandbox.deployment(held)["readySubstate"] == "STAGED")
        _ = try start("promote", held)
        sandbox.server.advanceClock(bySeconds: 4)
        #expect(try sandbox.current() == held)
        let next = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 10)
        #expect(try sandbox.current() == next)
    }

    @Test func `that fail change nothing and name the aliases`() throws {
        sandbox.server.setBuild(.aliasError)
        #expect(try start("promote", first).status == 201)
        sandbox.server.advanceClock(bySeconds: 4)
        #expect(try request()?["jobStatus"] == "failed")
        #expect(try sandbox.current() == second)
        let failed = try sandbox.client.get("/v9/projects/web/promote/aliases?failedOnly=true")
        #expect(failed.json["aliases"]?[0]?["status"] == "failed")
    }

    @Test func `of ineligible deployments are refused`() throws {
        let preview = try sandbox.redeploy(target: .null)
        let building = try sandbox.redeploy()
        #expect(try start("promote", preview).status == 422)
        #expect(try start("promote", building).status == 422)
        sandbox.server.advanceClock(bySeconds: 10)
        #expect(try start("promote", preview).status == 422)
        sandbox.server.setBuild(.staged)
        let staged = try sandbox.redeploy()
        sandbox.server.advanceClock(bySeconds: 10)
        #expect(try start("rollback", staged).status == 422)
        #expect(try start("promote", "dpl_unknown").status == 404)
        let described = try sandbox.client.send(
            "PATCH", "/v1/projects/web/rollback/\(first)/update-description", [:])
        #expect(described.status == 200)
    }

    @Test func `queue behind a rolling release`() throws {
        let sandbox = try SandboxFixture { configuration in
            configuration.seed = try Seed(
                json: Array(
                    """
                    {"projects":[{"name":"web","rollingRelease":true,
                     "deployments":[{"target":"production"},{"target":"production"}]}]}
                    """.utf8))
        }
        let all = try sandbox.client.get("/v6/deployments").json["deployments"]
        let older = try #require(all?[1]?["uid"]?.string)
        let answer = try sandbox.client.send("POST", "/v10/projects/web/promote/\(older)", [:])
        #expect(answer.status == 202)
        let project = try sandbox.client.get("/v9/projects/web").json
        #expect(project["rollingRelease"]?["target"] == "production")
    }
}

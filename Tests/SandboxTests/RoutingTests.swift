internal import JSON
import Sandbox
import Testing

@Suite struct `Requests` {
    let sandbox: SandboxFixture

    init() throws { sandbox = try SandboxFixture() }

    @Test(arguments: [
        "/v2/user", "/v99/user", "/user", "/now/user", "/v3/now/user", "/v10/projects/web",
        "/projects/web", "/v1/projects/web/env", "/v13/now/deployments", "/v6/deployments",
    ])
    func `reach their resource in any version`(path: String) throws {
        #expect(try sandbox.client.get(path).status == 200)
    }

    @Test func `of unknown paths are 404 and of other methods 405`() throws {
        for path in ["/", "/v2", "/v2/nothing", "/vx/user", "/v2/user/x/y", "//"] {
            let answer = try sandbox.client.get(path)
            #expect(answer.status == 404)
            #expect(answer.code == "not_found")
        }
        let answer = try sandbox.client.send("DELETE", "/v2/user")
        #expect(answer.status == 405)
        #expect(answer.code == "method_unknown")
    }

    @Test(arguments: [
        "/v2/user", "/v2/teams", "/v10/projects", "/v9/projects/web", "/v10/projects/web/env",
        "/v6/deployments", "/v13/deployments/dpl_x", "/v3/deployments/dpl_x/events",
        "/v1/webhooks", "/v5/user/tokens", "/v1/env", "/v3/env/pull/web/production",
        "/v9/projects/web/custom-environments", "/nothing",
    ])
    func `without a valid token are 403`(path: String) throws {
        var client = sandbox.client
        client.token = nil
        let missing = try client.get(path)
        #expect(missing.status == 403)
        #expect(missing.code == "forbidden")
        #expect(missing.json["error"]?["missingToken"] == true)
        client.token = "wrong"
        let wrong = try client.get(path)
        #expect(wrong.status == 403)
        #expect(wrong.json["error"]?["message"] == "Not authorized")
        #expect(wrong.json["error"]?["invalidToken"] == true)
        client.token = nil
        let basic = try client.send("GET", path, headers: ["Authorization": "Basic eDp5"])
        #expect(basic.json["error"]?["missingToken"] == true)
    }

    @Test func `stay within their scope`() throws {
        let client = sandbox.client
        let team = try sandbox.teamId()
        #expect(try client.get("/v9/projects/api").status == 404)
        #expect(try client.get("/v9/projects/api?teamId=\(team)").status == 200)
        #expect(try client.get("/v9/projects/api?slug=acme").status == 200)
        #expect(try client.get("/v9/projects/web?slug=acme").status == 404)
        for query in ["teamId=team_foreign", "slug=foreign"] {
            let answer = try client.get("/v9/projects/api?\(query)")
            #expect(answer.status == 403)
            #expect(answer.code == "team_unauthorized")
        }
        let api = try client.get("/v6/deployments?slug=acme").json["deployments"]?[0]?["uid"]
        let id = try #require(api?.string)
        #expect(try client.get("/v13/deployments/\(id)").status == 404)
        #expect(try client.get("/v13/deployments/\(id)?slug=acme").status == 200)
        #expect(try client.get("/v9/projects/web?userId=x&teamId=").status == 200)
    }

    @Test func `show the user, the teams and the projects`() throws {
        let client = sandbox.client
        let user = try client.get("/v2/user").json["user"]
        #expect(user?["username"] == "dev")
        #expect(user?["defaultTeamId"] == .null)
        let team = try sandbox.teamId()
        #expect(team.hasPrefix("team_"))
        #expect(try client.get("/v2/teams/acme").json["id"]?.string == team)
        #expect(try client.get("/v2/teams/\(team)").json["slug"] == "acme")
        #expect(try client.get("/v2/teams/nobody").status == 404)
        let projects = try client.get("/v10/projects").json["projects"]?.array
        #expect(projects?.map { $0["name"] } == ["web"])
        let id = try #require(projects?[0]["id"]?.string)
        #expect(id.hasPrefix("prj_"))
        let project = try client.get("/v9/projects/\(id)").json
        #expect(project["name"] == "web")
        #expect(project["targets"]?["production"]?["readyState"] == "READY")
        #expect(project["targets"]?["production"]?["readySubstate"] == "PROMOTED")
        let live = try client.get("/projects/web/production-deployment").json["deployment"]
        #expect(live?["id"] == project["targets"]?["production"]?["id"])
        let host = try #require(live?["url"]?.string)
        #expect(try client.get("/v13/deployments/\(host)").json["id"] == live?["id"])
        #expect(try client.get("/v13/deployments/web.vercel.app").json["id"] == live?["id"])
    }

    @Test func `create, change and remove projects`() throws {
        let client = sandbox.client
        let made = try client.send("POST", "/v11/projects", ["name": "docs"])
        #expect(made.status == 200)
        #expect(made.json["targets"]?["production"] == .null)
        #expect(try client.get("/projects/docs/production-deployment").status == 404)
        #expect(try client.send("POST", "/v11/projects", ["name": "docs"]).status == 409)
        #expect(try client.send("POST", "/v11/projects", ["name": "No Way"]).status == 400)
        #expect(try client.send("PATCH", "/v9/projects/docs", ["name": "web"]).status == 409)
        #expect(try client.send("PATCH", "/v9/projects/docs", ["name": "help"]).status == 200)
        #expect(try client.get("/v9/projects/docs").status == 404)
        #expect(try client.send("DELETE", "/v9/projects/help").status == 204)
        #expect(try client.get("/v9/projects/help").status == 404)
    }

    @Test func `page through projects with numbers and with texts`() throws {
        let client = sandbox.client
        for number in 0..<5 {
            _ = try client.send("POST", "/v11/projects", ["name": .string("p\(number)")])
        }
        for fault in [nil, "GET /v10/projects string-cursor"] {
            try sandbox.server.setFaults(fault.map { [try #require(Fault($0))] } ?? [])
            var names: [String] = []
            var cursor = ""
            for _ in 0..<6 {
                let page = try client.get("/v10/projects?limit=2\(cursor)").json
                names += page["projects"]?.array?.compactMap { $0["name"]?.string } ?? []
                let next = page["pagination"]?["next"]
                guard let next, next != .null else { break }
                #expect((next.string != nil) == (fault != nil))
                cursor = "&from=" + (next.string ?? String(next.integer ?? 0))
            }
            #expect(names == ["p4", "p3", "p2", "p1", "p0", "web"])
        }
    }
}

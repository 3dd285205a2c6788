internal import JSON
import Sandbox
import TestSupport
import Testing

/// `deployment show`, and the ways to name a deployment.
@Suite("deployment show")
struct DeploymentShowTests {
    @Test func `a deployment has an id, host name, alias and dashboard URLs`() throws {
        let platform = try SandboxHome(hasVault: false, isLoggedIn: false)
        let token = ["VERCEL_TOKEN": platform.token]
        let id = try platform.deployments()[0]
        let seen = try platform.teammate.send("GET", "/v13/deployments/\(id)")
        let host = try #require(seen["url"]?.string)
        let page = try #require(seen["inspectorUrl"]?.string)
        #expect(page.hasPrefix("https://vercel.com/"))
        for name in [
            id, host, "https://\(host)", "http://\(host)/path/?x=1#y", "web.vercel.app",
            "https://web.vercel.app", page, page + "/logs",
        ] {
            let shown = try json(
                platform.run("deployment", "show", name, "--json", environment: token))
            #expect(shown["id"] == .string(id), "\(name)")
            #expect(shown["current"] == true)
        }
        for name in ["dpl_none", "nothing.vercel.app", "https://", "..", "a b"] {
            let result = try platform.run("deployment", "show", name, environment: token)
            #expect([2, 4].contains(result.status), "\(name): \(result.error)")
        }
        // A team's deployment needs no --team.
        let team = try platform.teammate.send("GET", "/v2/teams")["teams"]?.array?.first?["id"]
        let teamID = try #require(team?.string)
        let list = try platform.teammate.send("GET", "/v6/deployments?teamId=\(teamID)")
        let other = try #require(list["deployments"]?.array?.first?["uid"]?.string)
        let shown = try json(
            platform.run("deployment", "show", other, "--json", environment: token))
        #expect(shown["id"] == .string(other) && shown["project"] == "api")
        failed(
            try platform.run("deployment", "show", other, "--team", "other", environment: token), 6)
    }

    @Test func `a dashboard URL of another team or project is refused`() throws {
        let platform = try SandboxHome()
        let id = try platform.deployments()[0]
        let page = try #require(
            try platform.teammate.send("GET", "/v13/deployments/\(id)")["inspectorUrl"]?.string)
        let parts = page.split(separator: "/").map(String.init)
        let (team, short) = (parts[2], parts[4])
        #expect(parts[3] == "web")
        let writes = try platform.writes {
            for wrong in [
                "https://vercel.com/\(team)/api/\(short)", "vercel.com/other/web/\(short)",
                "https://www.vercel.com/a/b/\(short)/logs?x=1",
            ] {
                for command in [["deployment", "show"], ["redeploy"], ["deployment", "delete"]] {
                    let text = try failedAsJSON(
                        platform.runner(command + [wrong, "--yes", "--json"]).run(), 5, "conflict")
                    #expect(text.contains(id) && text.contains("\(team)/web"), "\(text)")
                }
            }
        }
        #expect(writes == [])
        for right in [page, page.uppercased().replacing("HTTPS://VERCEL.COM", with: "vercel.com")] {
            let name = right.replacing(short.uppercased(), with: short)
            done(try platform.run("deployment", "show", name))
        }
    }

    @Test func `a contradicting --project is reported`() throws {
        let platform = try SandboxHome()
        let id = try platform.deployments()[0]
        try platform.set("KEY", "value")
        done(try platform.run("link", "web"))
        let team = try platform.teammate.send("GET", "/v2/teams")["teams"]?.array?.first?["id"]
        let list = try platform.teammate.send(
            "GET", "/v6/deployments?teamId=\(try #require(team?.string))")
        let other = try #require(list["deployments"]?.array?.first?["uid"]?.string)
        // The environment does not contradict an id; an option does.
        let shown = try json(platform.run("deployment", "show", other, "--json"))
        #expect(shown["project"] == "api")
        #expect(shown["warnings"]?.elements.map { $0["code"] } == ["other-project"])
        let around = try json(
            platform.run(
                "deployment", "show", id, "--json", environment: ["ZG_ENV_PROJECT": "bare"]))
        #expect(around["warnings"]?.elements.map { $0["code"] } == ["other-project"])
        let writes = try platform.writes {
            for name in ["web", "bare", "none"] {
                let text = try failedAsJSON(
                    platform.run("redeploy", other, "-p", name, "--yes", "--json"), 5, "conflict")
                #expect(text.contains("api") && text.contains(name))
            }
        }
        #expect(writes == [])
        let own = try json(platform.run("deployment", "show", id, "-p", "web", "--json"))
        #expect(own["warnings"] == nil)
    }

    @Test func `it shows the possible actions, and why others are not possible`() throws {
        let platform = try SandboxHome(
            seed: """
                {"projects": [{"name": "web", "deployments": [
                  {"target": "production"}, {"target": "production", "state": "STAGED"},
                  {"target": "production", "state": "ERROR"},
                  {"target": "production", "state": "BLOCKED"}, {"target": "preview"},
                  {"target": "production"}]}]}
                """, buildSeconds: 60)
        let made = try platform.teammate.send(
            "POST", "/v13/deployments?forceNew=1",
            ["deploymentId": .string(try platform.deployments()[0]), "name": "web"])
        let building = try #require(made["id"]?.string)
        let ids = try platform.deployments().filter { $0 != building }
        func possible(_ id: String) throws -> [String: Bool] {
            let shown = try json(platform.run("deployment", "show", id, "--json"))
            let actions = shown["actions"]?.elements ?? []
            for action in actions {
                #expect(action.names == ["action", "possible", "does", "reason", "instead"])
                #expect((action["reason"] == .null) == (action["possible"] == true))
                #expect((action["does"] == .null) == (action["possible"] == false))
            }
            return Dictionary(
                uniqueKeysWithValues: actions.map {
                    ($0["action"]?.text ?? "", $0["possible"] == true)
                })
        }
        func rules(_ promote: Bool, _ rollback: Bool, _ cancel: Bool, _ delete: Bool)
            -> [String: Bool]
        {
            [
                "promote": promote, "rollback": rollback, "redeploy": true, "cancel": cancel,
                "delete": delete,
            ]
        }
        #expect(try possible(building) == rules(false, false, true, false))
        #expect(try possible(ids[0]) == rules(false, false, false, false))  // live
        #expect(try possible(ids[1]) == rules(true, false, false, true))  // preview
        #expect(try possible(ids[2]) == rules(false, false, false, true))  // BLOCKED
        #expect(try possible(ids[3]) == rules(false, false, false, true))  // ERROR
        #expect(try possible(ids[4]) == rules(true, false, false, true))  // staged
        #expect(try possible(ids[5]) == rules(true, true, false, true))  // served before
        let text = done(try platform.run("deployment", "show", ids[3])).output
        #expect(text.contains("npm run build") && text.contains("zg-env redeploy \(ids[3])"))
        #expect(text.contains("not possible: the deployment ended in state ERROR"))
        let live = done(try platform.run("deployment", "show", ids[0])).output
        #expect(live.contains("READY, live") && live.contains("web.vercel.app"))
    }
}

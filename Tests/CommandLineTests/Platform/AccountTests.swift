import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// Several accounts and teams, and reports about their tokens.
@Suite("Accounts and teams")
struct AccountTests {
    /// Two teams and more tokens: one that expires, one that leaked.
    private static func seed(endsIn days: Int = 400) -> String {
        let end = (Int(Date().timeIntervalSince1970) + days * 86_400) * 1000
        return """
            {"token": "marker-token-9f3c2a71d0",
             "teams": [{"slug": "acme", "name": "Acme"}, {"slug": "globex", "name": "Globex"},
                       {"slug": "foreign", "role": null}],
             "projects": [{"name": "web", "deployments": [{"target": "production"}]},
                          {"name": "api", "team": "acme"}, {"name": "api", "team": "globex"}],
             "tokens": [{"name": "ending", "token": "marker-ending-77aa01bc", "expiresAt": \(end)},
                        {"name": "leaked", "token": "marker-leaked-00ff55ee",
                         "leakedAt": 1700000000000}]}
            """
    }

    private func accounts(_ result: ProgramResult) throws -> [JSONDocument] {
        try json(result)["accounts"]?.elements ?? []
    }

    @Test func `account use sets the default account and team`() throws {
        let platform = try SandboxHome(seed: Self.seed(), isLoggedIn: false)
        #expect(try accounts(platform.run("account", "list", "--json")).isEmpty)
        done(try platform.run("login", "--name", "one", input: .text(platform.token)))
        done(try platform.run("login", "--name", "two", input: .text("marker-ending-77aa01bc")))
        #expect(try json(platform.run("status", "--json"))["account"] == "one")
        let used = try json(platform.run("account", "use", "two", "--team", "acme", "--json"))
        #expect(used["account"] == "two" && used["team"] == "acme")
        let list = try accounts(platform.run("account", "list", "--json"))
        #expect(list.map { $0["name"] } == ["one", "two"])
        #expect(list.map { $0["default"] } == [false, true])
        #expect(list.map { $0["team"] } == [.null, "acme"])
        func projects(_ options: String...) throws -> [JSONDocument?] {
            let result = try platform.runner(["project", "list", "--json"] + options).run()
            return try json(result)["projects"]?.elements.map { $0["name"] } ?? []
        }
        #expect(try projects() == ["api"])
        #expect(try projects("--team", "globex") == ["api"])
        #expect(try projects("--account", "one") == ["web"])
        done(try platform.run("account", "use", "two", "--personal"))
        #expect(try projects() == ["web"])
        // Without a team option the account keeps its own.
        done(try platform.run("account", "use", "one", "--team", "globex"))
        done(try platform.run("account", "use", "two"))
        done(try platform.run("account", "use", "one"))
        #expect(try projects() == ["api"])
        let text = try platform.run("account", "list")
        #expect(text.output.contains("one (default)") && text.output.contains("globex"))
    }

    @Test func `mistakes change nothing`() throws {
        let platform = try SandboxHome(seed: Self.seed())
        let before = try platform.home.vaultBytes()
        let near = try failedAsJSON(
            platform.run("account", "use", "devv", "--json"), 4, "not_found")
        #expect(near.contains("dev"))
        for (team, status) in [("nowhere", 4), ("foreign", 6)] as [(String, Int32)] {
            let result = try platform.run("account", "use", "dev", "--team", team, "--json")
            #expect([4, 6].contains(result.status), "\(team) \(status): \(result.error)")
        }
        failed(try platform.run("account", "use", "dev", "--team", "acme", "--personal"), 2)
        let dry = try json(
            platform.run("account", "use", "dev", "--team", "acme", "--dry-run", "--json"))
        #expect(dry["team"] == "acme" && dry["dryRun"] == true)
        failed(try platform.run("account", "list", "--refresh", "--offline"), 2)
        #expect(try platform.home.vaultBytes() == before)
    }

    @Test func `a token's expiry is stored and reported in time`() throws {
        let platform = try SandboxHome(seed: Self.seed(endsIn: 3), isLoggedIn: false)
        let login = try json(
            platform.run("login", "--json", input: .text("marker-ending-77aa01bc")))
        #expect(login["expiresAt"]?.text != nil)
        #expect(login["leakedAt"] == .null)
        let list = try accounts(platform.run("account", "list", "--json"))
        #expect(list.first?["expiresAt"] == login["expiresAt"])
        // No request was sent.
        #expect(list.first?["valid"] == .null)
        let listing = try json(platform.run("project", "list", "--json"))
        #expect(listing["warnings"]?.elements.map { $0["code"] } == ["token-ends"])
        platform.server.advanceClock(bySeconds: 4 * 86_400)
        let after = try accounts(platform.run("account", "list", "--refresh", "--json"))
        #expect(after.first?["valid"] == false)
        #expect(try platform.run("account", "list", "--refresh").output.contains("rejected"))
        try failedAsJSON(
            platform.run("project", "list", "--refresh", "--json"), 6, "unauthorized")
    }

    @Test func `a leaked token is reported by login and by a refresh`() throws {
        let platform = try SandboxHome(seed: Self.seed(), isLoggedIn: false)
        let login = try json(
            platform.run("login", "--json", input: .text("marker-leaked-00ff55ee")))
        #expect(login["warnings"]?.elements.map { $0["code"] } == ["leaked-token"])
        #expect(login["leakedAt"] == "2023-11-14T22:13:20Z")
        let list = try accounts(platform.run("account", "list", "--refresh", "--json"))
        #expect(list.first?["leakedAt"] == "2023-11-14T22:13:20Z")
        #expect(list.first?["valid"] == true)
        let text = try platform.run("account", "list", "--refresh")
        #expect(text.output.contains("reported as leaked"))
        #expect(!text.output.contains("marker-leaked"))
    }

    @Test func `a linked project keeps its account and team`() throws {
        let platform = try SandboxHome(seed: Self.seed())
        let other = try SandboxHome(hasVault: false, isLoggedIn: false)
        done(
            try platform.run("link", "api", "--team", "globex", "--as", "globex-api"))
        try platform.set("KEY", "value")
        done(try platform.run("push", "-p", "web", "--yes"))
        // Now another account is the default, even with another API URL.
        done(
            try platform.run(
                "login", "--name", "elsewhere", "--api-url", other.url, input: .text(other.token)))
        done(
            try platform.run(
                "account", "use", "elsewhere", environment: ["ZG_ENV_API_URL": ""]))
        func run(_ arguments: String...) throws -> ProgramResult {
            try platform.runner(arguments, environment: ["ZG_ENV_API_URL": ""]).run()
        }
        let seen = try other.requests {
            done(try run("push", "-p", "web", "--yes"))
            done(try run("list", "-p", "globex-api", "--refresh"))
            done(try run("list", "--all-projects", "--refresh"))
        }
        #expect(seen == [])
    }

    @Test func `a token in the environment needs no vault`() throws {
        let platform = try SandboxHome(seed: Self.seed(), hasVault: false, isLoggedIn: false)
        func run(_ arguments: [String], _ more: [String: String] = [:]) throws -> ProgramResult {
            try platform.runner(
                arguments, unlocked: false,
                environment: ["VERCEL_TOKEN": platform.token].merging(more) { $1 }
            ).run()
        }
        done(try run(["project", "list"]))
        done(try run(["redeploy", "-p", "web", "--yes", "--wait"]))
        let project = try #require(
            try platform.teammate.send("GET", "/v9/projects/web")["id"]?.string)
        let owner = try #require(
            try platform.teammate.send("GET", "/v9/projects/web")["accountId"]?.string)
        let ids = ["VERCEL_ORG_ID": owner, "VERCEL_PROJECT_ID": project]
        done(try run(["redeploy", "--yes"], ids))
        for name in ids.keys {
            failed(try run(["redeploy", "--yes"], ids.filter { $0.key == name }), 2)
        }
        failed(try run(["push", "-p", "web", "--yes"]), 4)
        #expect(!FileManager.default.fileExists(atPath: platform.home.vaultPath))
    }

    @Test("SEC-F8: VERCEL_TOKEN is not sent to a URL that only the vault names")
    func environmentTokenAndBinding() throws {
        let platform = try SandboxHome(seed: Self.seed())
        done(try platform.run("link", "web"))
        try platform.set("KEY", "value")
        let token = ["VERCEL_TOKEN": platform.token, "ZG_ENV_API_URL": ""]
        let seen = try platform.requests {
            for arguments in [
                ["push", "--yes"], ["pull", "--yes"], ["list", "--refresh"], ["harden", "--yes"],
                ["list", "--all-projects", "--refresh"], ["deployment", "list"],
                ["redeploy", "--yes"], ["set", "KEY2", "--push", "--yes"],
            ] {
                let text = try failedWithReport(
                    platform.runner(
                        arguments
                            + ["-p", "web", "--json"].filter {
                                !arguments.contains("--all-projects") || $0 == "--json"
                            }, input: .text("value"), environment: token
                    ).run(), 6)
                #expect(text.contains("VERCEL_TOKEN"), "\(arguments): \(text)")
                #expect(text.contains("--api-url \(platform.url)"), "\(arguments): \(text)")
            }
            // Nor does the response cache answer for that URL.
            let offline = try platform.run(
                "deployment", "list", "-p", "web", "--offline", environment: token)
            #expect(offline.status == 7, "\(offline.error)")
        }
        #expect(seen == [])
        // The user may name the URL; and a stored token is bound to its own.
        let named = token.merging(["ZG_ENV_API_URL": platform.url]) { $1 }
        done(try platform.run("push", "-p", "web", "--yes", environment: named))
        done(
            try platform.run(
                "push", "-p", "web", "--yes", "--api-url", platform.url, environment: token))
        done(
            try platform.run(
                "list", "-p", "web", "--refresh", "--account", "dev", environment: token))
    }

    /// Returns message and hint of a command that failed, with a report on stdout or none.
    private func failedWithReport(_ result: ProgramResult, _ status: Int32) throws -> String {
        #expect(result.status == status, "\(result.error)\(result.output)")
        let error = try JSONDocument(result.standardError)["error"]
        return (error?["message"]?.text ?? "") + " " + (error?["hint"]?.text ?? "")
    }

    @Test func `all projects are refreshed with one request each, and one for the list`() throws {
        let count = 30
        let env = (0..<10).map { #"{"key":"K\#($0)","value":"v","target":["production"]}"# }
            .joined(separator: ",")
        let projects = (0..<count).map { #"{"name":"p\#($0)","env":[\#(env)]}"# }
            .joined(separator: ",")
        let platform = try SandboxHome(
            seed: #"{"projects":[\#(projects)]}"#, isLoggedIn: false
        ) { $0.requestsPerMinute = 120 }
        done(try platform.run("login", input: .text(platform.token)))
        for place in 0..<count {
            done(try platform.run("link", "p\(place)", "--force"))
        }
        platform.server.advanceClock(bySeconds: 120)
        let requests = try platform.requests {
            done(try platform.run("list", "--all-projects", "--refresh"))
        }
        #expect(requests.count == count + 1, "\(requests)")
        #expect(platform.server.requests.allSatisfy { $0.status == 200 })
        // Somebody's change is visible.
        done(try platform.run("set", "NEW", "-p", "p7", input: .text("v")))
        done(try platform.run("push", "-p", "p7", "--yes"))
        let id = try #require(
            platform.server.storedVariables(project: "p7")?.first { $0.key == "NEW" }?.id)
        try platform.teammate.send("PATCH", "/v9/projects/p7/env/\(id)", ["value": "theirs"])
        let all = try json(platform.run("list", "--all-projects", "--refresh", "--json"))
        let listed = all["projects"]?.elements.first { $0["project"] == "p7" }
        #expect(listed?["variables"]?.elements.first?["sync"] == "behind")
        // A deleted project is reported, and the others are refreshed.
        try platform.teammate.send("DELETE", "/v9/projects/p3")
        let left = try json(platform.run("list", "--all-projects", "--refresh", "--json"))
        #expect(left["warnings"]?.elements.map { $0["code"] } == ["not-refreshed"])
    }
}

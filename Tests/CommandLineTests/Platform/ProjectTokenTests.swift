internal import JSON
import Sandbox
import TestSupport
import Testing

/// Tokens whose scope is one project: they cannot read their user or a team.
@Suite("Tokens of one project")
struct ProjectTokenTests {
    private static let seed = """
        {"teams": [{"slug": "acme", "name": "Acme"}, {"slug": "globex"}],
         "projects": [{"name": "web", "deployments": [{"target": "production"}]},
                      {"name": "api", "team": "acme", "deployments": [{"target": "production"}],
                       "env": [{"key": "SEED", "value": "seed", "target": ["production"]}]}],
         "tokens": [{"token": "marker-only-web-77aa01bc", "project": "web"},
                    {"token": "marker-only-api-00ff55ee", "team": "acme", "project": "api"}]}
        """
    private static let web = "marker-only-web-77aa01bc"
    private static let api = "marker-only-api-00ff55ee"

    private func platform() throws -> SandboxHome {
        try SandboxHome(seed: Self.seed, isLoggedIn: false)
    }

    /// The current value of a key of a project on Vercel.
    private func value(_ key: String, of project: String, _ platform: SandboxHome) -> String? {
        platform.server.storedVariables(project: project)?.first { $0.key == key }?.value
    }

    /// Uses every command that a project needs.
    private func use(
        _ project: String, _ platform: SandboxHome, environment: [String: String] = [:]
    ) throws {
        func run(_ arguments: String..., input: ProgramRunner.Input = .null) throws
            -> ProgramResult
        {
            try platform.runner(arguments, input: input, environment: environment).run()
        }
        done(try run("link", project))
        done(try run("pull", "--yes"))
        done(try run("set", "KEY", "-t", "production", "--raw", input: .text("first-value")))
        done(try run("push", "--yes"))
        #expect(value("KEY", of: project, platform) == "first-value")
        done(try run("redeploy", "--wait", "--yes"))
        let rotated = try run(
            "rotate", "KEY", "--redeploy", "--yes", "--json", input: .text("second-value"))
        #expect(try json(rotated)["outcome"] == "done")
        #expect(value("KEY", of: project, platform) == "second-value")
        let list = try run("list", "--refresh", "--json")
        done(list)
        #expect(
            try JSONDocument(list.standardOutput)["variables"]?.elements
                .contains { $0["key"] == "KEY" && $0["sync"] == "synced" } == true,
            "\(list.output)")
        try platform.home.directory.write("KEY=\n", to: "work/.env.schema")
        let check = try run("check", "--json", "-t", "production")
        #expect([0, 1].contains(check.status), "\(check.error)")
    }

    @Test(
        "VER-T2: login, link, pull, push, redeploy, rotate, list and check work",
        arguments: ["web", "api"])
    func everyCommand(project: String) throws {
        let platform = try platform()
        let token = project == "web" ? Self.web : Self.api
        let login = try json(platform.run("login", "--json", input: .text(token)))
        #expect(login["account"] == .string(project) && login["userId"] == .null)
        #expect(login["projectId"]?.text?.hasPrefix("prj_") == true)
        #expect(login["teams"] == [])
        try use(project, platform)
        let accounts = try json(platform.run("account", "list", "--refresh", "--json"))
        let account = try #require(accounts["accounts"]?.elements.first)
        #expect(account["valid"] == true && account["projectId"] == login["projectId"])
        #expect(done(try platform.run("account", "list")).output.contains("project \(project)"))
        // Only this project is pulled, and the others are not missed.
        let all = try json(platform.run("pull", "--all-projects", "--yes", "--json"))
        #expect(all["projects"]?.elements.count == 1)
    }

    @Test(
        "VER-T3: VERCEL_TOKEN works in CI, with a vault and without a login",
        arguments: ["web", "api"])
    func environmentToken(project: String) throws {
        let platform = try platform()
        let token = project == "web" ? Self.web : Self.api
        try use(project, platform, environment: ["VERCEL_TOKEN": token])
        #expect(try json(platform.run("account", "list", "--json"))["accounts"] == [])
    }

    @Test(
        "VER-T4: whatever status the user is denied with, the project is tried",
        arguments: ["401", "403", "404"])
    func anyStatus(status: String) throws {
        let platform = try platform()
        try platform.setFaults("GET /v2/user \(status)", "GET /v2/teams \(status)")
        let login = try json(
            platform.run("login", "-p", "api", "--json", input: .text(Self.api)))
        #expect(login["account"] == "api")
        try platform.setFaults(
            "GET /v2/user \(status)", "GET /v2/teams \(status)", "GET /v10/projects \(status)")
        // Without a list, the project must be named, or the directory linked.
        let message = try failedAsJSON(
            platform.run("login", "--name", "two", "--json", input: .text(Self.web)), 6,
            "unauthorized")
        #expect(message.contains("scope is one project") && message.contains("-p"), "\(message)")
        done(try platform.run("login", "--name", "two", "-p", "web", input: .text(Self.web)))
        done(try platform.run("link", "web", "--account", "two"))
        done(try platform.run("logout", "--account", "two"))
        done(try platform.run("login", "--name", "three", input: .text(Self.web)))
    }

    @Test("VER-T5: elsewhere the refusal says that the token is for one project")
    func refusedElsewhere() throws {
        let platform = try platform()
        done(try platform.run("login", "--name", "all", input: .text(platform.token)))
        done(try platform.run("pull", "-p", "web", "--yes"))
        done(try platform.run("logout"))
        done(try platform.run("login", "--name", "only", input: .text(Self.api)))
        for arguments in [
            ["link", "web"], ["pull", "-p", "web", "--yes"], ["push", "-p", "web", "--yes"],
            ["account", "use", "only", "--team", "globex"],
        ] {
            let message = try failedAsJSON(
                platform.runner(arguments + ["--json"]).run(), 6, "unauthorized")
            #expect(message.contains("only for the Vercel project api"), "\(arguments): \(message)")
        }
        let environment = ["VERCEL_TOKEN": Self.api]
        for arguments in [["link", "web"], ["pull", "-p", "web", "--yes"]] {
            let message = try failedAsJSON(
                platform.runner(arguments + ["--json"], environment: environment).run(), 6,
                "unauthorized")
            #expect(message.contains("its scope is another project"), "\(arguments): \(message)")
            #expect(!message.contains(Self.api))
        }
        // Another account that can is used by itself.
        done(try platform.run("login", "--name", "other", input: .text(platform.token)))
        done(try platform.run("pull", "-p", "web", "--yes"))
        done(try platform.run("logout", "--account", "other"))
        // Nothing of the project was called removed.
        let list = try json(platform.run("list", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.contains { $0["removed"] == true } == false)
    }

    @Test("VER-T6: group adopt --bind works for its project, and is denied for another one")
    func adoption() throws {
        let platform = try platform()
        let homes = try GroupHomes(git: false)
        homes.environment["ZG_ENV_API_URL"] = platform.url
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        done(try homes.run("bob", "login", input: .text(platform.token)))
        done(try homes.run("bob", "link", "api", "--as", "web", "--team", "acme"))
        try homes.settle("bob", "alice")
        let adopt = ["group", "adopt", "web", "--bind"]
        for token in [Self.web, Self.api] {
            done(try homes.run("alice", "login", "--name", "only", input: .text(token)))
            let result = try homes.run("alice", adopt + ["--yes"])
            if token == Self.api {
                done(result)
            } else {
                failed(result, 6, "only for the Vercel project web")
                done(try homes.run("alice", "logout", "--account", "only"))
            }
        }
        let bound = try homes.object("alice", ["status"])["platform"]?.elements.first
        #expect(bound?["project"] == "web")
        done(try homes.run("alice", "pull", "-p", "web", "--yes"))
        done(try homes.run("alice", "push", "-p", "web", "--yes"))
        #expect(value("A", of: "api", platform) == "one")
        // In CI the token is in the environment.
        try homes.admit("carol", by: "alice")
        homes.environment["VERCEL_TOKEN"] = Self.web
        failed(try homes.run("carol", adopt + ["--yes"]), 6, "its scope is another project")
        homes.environment["VERCEL_TOKEN"] = Self.api
        let plan = done(try homes.run("carol", adopt + ["--dry-run"])).output
        #expect(plan.contains("Would link web to the Vercel project api (prj_"), "\(plan)")
        #expect(plan.contains(", team team_"), "\(plan)")
        done(try homes.run("carol", adopt + ["--yes"]))
    }
}

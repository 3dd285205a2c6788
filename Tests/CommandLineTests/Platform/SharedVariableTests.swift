import Sandbox
import TestSupport
import Testing

@testable import EnvOperations

/// Shared (team) variables beside a project's own.
@Suite("Shared variables in list")
struct SharedVariableTests {
    private static let seed = """
        {"teams": [{"slug": "acme"}],
         "projects": [{"name": "api", "team": "acme"}, {"name": "web"},
                      {"name": "other", "team": "acme"}],
         "sharedEnv": [
           {"key": "SHARED_URL", "value": "shared-value-1", "team": "acme", "projects": ["api"],
            "target": ["production"], "comment": "for all"},
           {"key": "SHARED_KEY", "value": "shared-value-2", "team": "acme",
            "projects": ["api", "other"], "type": "sensitive", "target": ["production", "preview"]},
           {"key": "ELSEWHERE", "value": "x", "team": "acme", "projects": ["other"]}]}
        """

    private func linked() throws -> SandboxHome {
        let platform = try SandboxHome(seed: Self.seed)
        done(try platform.run("link", "api", "--team", "acme"))
        done(try platform.run("set", "OWN", "-p", "api", input: .text("value")))
        return platform
    }

    private func keys(_ platform: SandboxHome, _ options: String...) throws -> [String] {
        let list = try json(platform.runner(["list", "-p", "api", "--json"] + options).run())
        return list["variables"]?.elements.compactMap { $0["key"]?.text } ?? []
    }

    @Test func `they come with a refresh, and from the cache from then on`() throws {
        let platform = try linked()
        #expect(try keys(platform) == ["OWN"])
        let refreshed = try json(platform.run("list", "-p", "api", "--json", "--refresh"))
        #expect(isTime(refreshed["sharedAsOf"]))
        var (plain, named): ([String], [String]) = ([], [])
        let requests = try platform.requests {
            plain = try keys(platform)
            named = try keys(platform, "--team", "acme")
        }
        #expect(requests == [])
        #expect(plain == ["OWN", "SHARED_KEY", "SHARED_URL"] && named == plain)
        let shared = refreshed["variables"]?.elements.first { $0["key"] == "SHARED_URL" }
        #expect(
            shared?.names == [
                "key", "type", "targets", "customEnvironments", "branch", "comment", "version",
                "createdAt", "updatedAt", "sync", "live", "removed", "shared",
            ])
        #expect(shared?["shared"] == true && shared?["sync"] == .null && shared?["live"] == .null)
        #expect(shared?["targets"] == ["production"] && shared?["comment"] == "for all")
        #expect(isTime(shared?["updatedAt"]) && shared?["version"] == .null)
        let text = done(try platform.run("list", "-p", "api")).output
        #expect(text.contains("SHARED_KEY") && text.contains("shared"))
        // They are read-only here: other commands do not find them.
        failed(try platform.run("show", "SHARED_URL", "-p", "api"), 4)
        #expect(try json(platform.run("status", "--json"))["variables"] == 1)
    }

    private static let remark = "Shared by the team on Vercel, but not in this vault: "

    @Test("SYNC-C: export names the team's shared variables that the vault lacks")
    func exportNamesThem() throws {
        let platform = try linked()
        let export = ["export", "-p", "api", "--format", "json", "-t"]
        // They are unknown before the first refresh.
        #expect(done(try platform.runner(export + ["production"]).run()).error == "")
        done(try platform.run("list", "-p", "api", "--refresh"))
        let requests = try platform.requests {
            let production = done(try platform.runner(export + ["production"]).run()).error
            #expect(
                production == "warning: " + Self.remark
                    + "SHARED_KEY, SHARED_URL. To create a variable for this project, run: "
                    + "zg-env set SHARED_KEY -p api -t production\n")
            let preview = done(try platform.runner(export + ["preview"]).run()).error
            #expect(preview.contains(Self.remark + "SHARED_KEY. "), "\(preview)")
            #expect(done(try platform.runner(export + ["development"]).run()).error == "")
        }
        #expect(requests == [])
        // A variable of the project's own is not missing.
        for key in ["SHARED_KEY", "SHARED_URL"] {
            done(try platform.run("set", key, "-p", "api", input: .text("own")))
        }
        #expect(done(try platform.runner(export + ["production"]).run()).error == "")
    }

    @Test("SYNC-C: run says so on a terminal in one line, and nowhere else")
    func runNamesThem() throws {
        let platform = try linked()
        done(try platform.run("list", "-p", "api", "--refresh"))
        let run = ["run", "-p", "api", "-t", "production"]
        let program = ["--", "sh", "-c", "echo ran"]
        let environment = ["ZG_ENV_API_URL": platform.url]
        func shown(_ options: String...) throws -> String {
            var runner = platform.home.runner(run + options + program, environment: environment)
            runner.terminal = .init()
            runner.error = .terminal
            return done(try runner.run()).screen
        }
        let screen = try shown()
        #expect(screen.contains("Shared by the team on Vercel"), "\(screen)")
        #expect(screen.contains("SHARED_KEY, SHARED_URL"), "\(screen)")
        #expect(!(try shown("--quiet").contains("Shared")))
        #expect(!(try shown("--only", "OWN").contains("Shared")))
        let piped = done(try platform.runner(run + program).run())
        #expect(piped.output == "ran\n" && piped.error == "")
    }

    @Test("SYNC-C: pull names them as skipped")
    func pullNamesThem() throws {
        let platform = try linked()
        let report = try json(platform.run("pull", "-p", "api", "--yes", "--json"))
        #expect(report.keys("skipped") == ["SHARED_KEY", "SHARED_URL"])
        #expect(
            report.reasons("skipped").allSatisfy {
                $0.hasPrefix("it is a shared variable of the team")
            })
        #expect(report["skipped"]?.elements.first?["targets"] == ["production", "preview"])
        let text = done(try platform.run("pull", "SHARED_URL", "-p", "api", "--yes")).output
        #expect(
            text.contains("skipped    SHARED_URL (production): it is a shared variable"), "\(text)")
        #expect(!text.contains("SHARED_KEY"))
        let preview = try json(
            platform.run("pull", "-p", "api", "-t", "preview", "--yes", "--json"))
        #expect(preview.keys("skipped") == ["SHARED_KEY"])
        #expect(try json(platform.run("pull", "-p", "web", "--json")).keys("skipped") == [])
    }

    @Test func `options of list filter them too`() throws {
        let platform = try linked()
        done(try platform.run("list", "-p", "api", "--refresh"))
        #expect(try keys(platform, "SHARED_*") == ["SHARED_KEY", "SHARED_URL"])
        #expect(try keys(platform, "-t", "preview") == ["OWN", "SHARED_KEY"])
        #expect(try keys(platform, "-t", "development") == ["OWN"])
        #expect(try keys(platform, "--stale", "1d") == ["SHARED_KEY", "SHARED_URL"])
        #expect(try keys(platform, "--deleted") == [])
        let all = try json(platform.run("list", "--all-projects", "--json"))
        #expect(all["projects"]?.elements.first?["variables"]?.elements.count == 3)
    }

    @Test func `a pull reads them, with one list for all projects of the team`() throws {
        let pulled = try linked()
        done(try pulled.run("pull", "-p", "api"))
        #expect(try keys(pulled) == ["OWN", "SHARED_KEY", "SHARED_URL"])
        let platform = try linked()
        done(try platform.run("link", "other", "--team", "acme", "--force"))
        done(try platform.run("pull", "-p", "web"))
        let requests = try platform.requests {
            done(try platform.run("list", "--all-projects", "--refresh"))
        }
        #expect(requests.filter { $0 == "GET /v1/env" }.count == 1, "\(requests)")
        #expect(try keys(platform) == ["OWN", "SHARED_KEY", "SHARED_URL"])
        let all = try json(platform.run("list", "--all-projects", "--json"))
        let other = all["projects"]?.elements.first { $0["project"] == "other" }
        #expect(
            Set(other?["variables"]?.elements.compactMap { $0["key"]?.text } ?? [])
                == ["ELSEWHERE", "SHARED_KEY"])
        // The list fails: reported once, and nothing stops.
        try platform.setFaults("GET /v1/env 403")
        let list = try json(platform.run("list", "--all-projects", "--refresh", "--json"))
        #expect(list["warnings"]?.elements.map { $0["code"] } == ["shared-not-refreshed"])
    }

    @Test func `a failure to read them is reported and stops nothing`() throws {
        let platform = try linked()
        try platform.setFaults("GET /v1/env 403")
        let list = try json(platform.run("list", "-p", "api", "--json", "--refresh"))
        #expect(list["warnings"]?.elements.map { $0["code"] } == ["shared-not-refreshed"])
        #expect(list["sharedAsOf"] == .null)
        #expect(list["variables"]?.elements.count == 1)
    }

    @Test func `a personal project reads none`() throws {
        let platform = try linked()
        done(try platform.run("set", "OWN", "-p", "web", input: .text("value")))
        let requests = try platform.requests {
            done(try platform.run("list", "-p", "web", "--refresh"))
        }
        #expect(!requests.contains("GET /v1/env"))
    }
}

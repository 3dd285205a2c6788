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

    private func linked() throws -> PlatformHome {
        let platform = try PlatformHome(seed: Self.seed)
        done(try platform.run("link", "api", "--team", "acme"))
        done(try platform.run("set", "OWN", "-p", "api", input: .text("value")))
        return platform
    }

    private func keys(_ platform: PlatformHome, _ options: String...) throws -> [String] {
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
        // They are read-only here: no command finds one.
        failed(try platform.run("show", "SHARED_URL", "-p", "api"), 4)
        #expect(try json(platform.run("status", "--json"))["variables"] == 1)
    }

    @Test func `options of the listing choose among them too`() throws {
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

    @Test func `a pull brings them, and one list those of all projects of the team`() throws {
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
        // It cannot be had: told once, and nothing stops.
        try platform.setFaults("GET /v1/env 403")
        let list = try json(platform.run("list", "--all-projects", "--refresh", "--json"))
        #expect(list["warnings"]?.elements.map { $0["code"] } == ["shared-not-refreshed"])
    }

    @Test func `that they cannot be had is told, and stops nothing`() throws {
        let platform = try linked()
        try platform.setFaults("GET /v1/env 403")
        let list = try json(platform.run("list", "-p", "api", "--json", "--refresh"))
        #expect(list["warnings"]?.elements.map { $0["code"] } == ["shared-not-refreshed"])
        #expect(list["sharedAsOf"] == .null)
        #expect(list["variables"]?.elements.count == 1)
    }

    @Test func `a project of one's own asks for none`() throws {
        let platform = try linked()
        done(try platform.run("set", "OWN", "-p", "web", input: .text("value")))
        let requests = try platform.requests {
            done(try platform.run("list", "-p", "web", "--refresh"))
        }
        #expect(!requests.contains("GET /v1/env"))
    }
}

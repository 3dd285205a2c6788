import Foundation
import Sandbox
import TestSupport
import Testing

@testable import EnvOperations

/// `project list` and `deployment list` with cached responses.
@Suite("Lists from the cache")
struct CachedListTests {
    @Test func `a fresh response is shown without a request, an old one is refreshed`() throws {
        let platform = try SandboxHome()
        var list = JSONDocument.null
        #expect(
            try platform.requests { list = try json(platform.run("project", "list", "--json")) }
                == ["GET /v10/projects"])
        #expect(isTime(list["asOf"]) && list["warnings"] == nil)
        let second = try platform.requests {
            #expect(try json(platform.run("project", "list", "--json")) == list)
            done(try platform.run("project", "list"))
        }
        #expect(second == [])
        #expect(
            try platform.requests { done(try platform.run("project", "list", "--refresh")) }
                == ["GET /v10/projects"])
        try CacheProbe(platform.home).age(bySeconds: 30)
        #expect(try platform.requests { done(try platform.run("project", "list")) } == [])
        try CacheProbe(platform.home).age(bySeconds: 31)
        #expect(
            try platform.requests { done(try platform.run("project", "list")) }
                == ["GET /v10/projects"])
    }

    @Test func `a failing Vercel leaves the old response, marked with its age`() throws {
        let platform = try SandboxHome()
        let before = try json(platform.run("project", "list", "--json"))
        for fault in ["500", "reset", "truncate", "html", "429:600", "slow:40"] {
            let probe = try CacheProbe(platform.home)
            try probe.age(bySeconds: 3_600)
            try platform.setFaults("GET * \(fault)")
            let result = try platform.run("project", "list", "--json")
            let list = try json(result)
            #expect(list["projects"] == before["projects"], "\(fault)")
            #expect(list["asOf"] != before["asOf"])
            #expect(list["warnings"]?.elements.map { $0["code"] } == ["stale-answer"], "\(fault)")
            #expect(
                list["warnings"]?.elements.first?["message"]?.text?.contains(" h ago") == true)
            #expect(result.duration < .seconds(30), "\(fault): \(result.duration)")
            let text = done(try platform.run("project", "list"))
            #expect(text.error.contains("warning: Showing cached data from"))
            if ["500", "429:600"].contains(fault) {
                try failedAsJSON(
                    platform.run("project", "list", "--refresh", "--json"), 7, "unavailable")
            }
            platform.server.setFaults([])
            // From here on the outage is reported with the response's age.
            try probe.age(bySeconds: 60)
            done(try platform.run("project", "list"))
            #expect(probe.subjects() == [.projects])
        }
    }

    @Test func `a refused token is reported, whatever is cached`() throws {
        let platform = try SandboxHome()
        done(try platform.run("project", "list"))
        try CacheProbe(platform.home).age(bySeconds: 61)
        for fault in ["401", "403"] {
            try platform.setFaults("GET * \(fault)")
            try failedAsJSON(platform.run("project", "list", "--json"), 6, "unauthorized")
        }
    }

    @Test(arguments: ["401", "403"])
    func `once a token was refused, nothing cached for it is shown`(fault: String) throws {
        let platform = try SandboxHome()
        done(try platform.run("project", "list"))
        done(try platform.run("link", "web"))
        done(try platform.run("deployment", "list", "-p", "web"))
        try platform.setFaults("* * \(fault)")
        // Fresh responses do not hide the refusal.
        failed(try platform.run("push", "-p", "web", "--yes"), 6)
        #expect(try CacheProbe(platform.home).subjects() == [])
        try failedAsJSON(platform.run("project", "list", "--json"), 6, "unauthorized")
        try failedAsJSON(
            platform.run("deployment", "list", "-p", "web", "--json"), 6, "unauthorized")
        platform.server.setFaults([])
        done(try platform.run("project", "list"))
    }

    @Test func `another default account, or none, sees nothing of the cache`() throws {
        let platform = try SandboxHome(
            seed: """
                {"token": "token-of-one-0000", "teams": [{"slug": "acme"}],
                 "projects": [{"name": "web"}, {"name": "api", "team": "acme"}],
                 "tokens": [{"name": "second", "token": "token-of-two-0000"}]}
                """)
        done(try platform.run("login", "--name", "second", input: .text("token-of-two-0000\n")))
        let first = try #require(
            json(platform.run("account", "list", "--json"))["accounts"]?.elements
                .compactMap { $0["name"]?.text }.first { $0 != "second" })
        done(try platform.run("account", "use", first))
        done(try platform.run("project", "list"))
        func asks(_ options: String...) throws -> Bool {
            try platform.requests {
                done(try platform.runner(["project", "list"] + options).run())
            } == ["GET /v10/projects"]
        }
        #expect(try !asks())
        done(try platform.run("account", "use", "second"))
        #expect(try asks())
        done(try platform.run("account", "use", first, "--team", "acme"))
        #expect(try asks())
        done(try platform.run("logout", "--account", first))
        #expect(try !asks("--account", "second"))
        done(try platform.run("logout", "--all"))
        failed(try platform.run("project", "list"), 6)
        #expect(try CacheProbe(platform.home).subjects() == [])
    }

    @Test func `--offline answers from the cache, whatever its age, or not at all`() throws {
        let platform = try SandboxHome()
        let requests = try platform.requests {
            try failedAsJSON(
                platform.run("project", "list", "--offline", "--json"), 7, "unavailable")
        }
        #expect(requests == [])
        done(try platform.run("project", "list"))
        let probe = try CacheProbe(platform.home)
        let later = try platform.requests {
            let fresh = done(try platform.run("project", "list", "--offline"))
            #expect(fresh.error == "")
            try probe.age(bySeconds: 29 * 86_400)
            let old = try json(
                platform.run("project", "list", "--json", environment: ["ZG_ENV_OFFLINE": "1"]))
            #expect(old["warnings"]?.elements.first?["code"] == "stale-answer")
            try probe.age(bySeconds: 86_400)
            try failedAsJSON(
                platform.run("project", "list", "--offline", "--json"), 7, "unavailable")
        }
        #expect(later == [])
        failed(try platform.run("project", "list", "--offline", "--refresh"), 2)
    }

    @Test func `another account, team, token or origin never sees it`() throws {
        let platform = try SandboxHome(
            seed: """
                {"teams": [{"slug": "acme"}], "token": "token-of-one-0000",
                 "projects": [{"name": "web"}, {"name": "api", "team": "acme"}],
                 "tokens": [{"name": "second", "token": "token-of-two-0000"}]}
                """)
        done(
            try platform.run(
                "login", "--name", "second", input: .text("token-of-two-0000\n")))
        done(try platform.run("project", "list"))
        let others: [([String], [String: String])] = [
            (["--account", "second"], [:]), (["--team", "acme"], [:]),
            ([], ["VERCEL_TOKEN": "token-of-one-0000"]),
            ([], ["VERCEL_TOKEN": "token-of-two-0000"]),
        ]
        for (options, environment) in others {
            let runner = platform.runner(
                ["project", "list", "--offline", "--json"] + options, environment: environment)
            try failedAsJSON(runner.run(), 7, "unavailable")
        }
        // Each has its own response.
        for (options, environment) in others {
            done(
                try platform.runner(["project", "list"] + options, environment: environment).run())
        }
        #expect(try CacheProbe(platform.home).answers().count == 5)
        let team = try json(
            platform.run("project", "list", "--offline", "--json", "--team", "acme"))
        #expect(team["projects"]?.elements.map { $0["name"] } == ["api"])
        let own = try json(platform.run("project", "list", "--offline", "--json"))
        #expect(own["projects"]?.elements.map { $0["name"] } == ["web"])
        // A new login is another account: its token may have fewer permissions.
        done(try platform.run("login", input: .text("token-of-one-0000\n")))
        try failedAsJSON(
            platform.run("project", "list", "--offline", "--json"), 7, "unavailable")
        // An unknown token in the environment sees no cached response.
        try failedAsJSON(
            platform.run(
                "project", "list", "--json", environment: ["VERCEL_TOKEN": "unknown-token-00"]),
            6, "unauthorized")
    }

    @Test func `logout drops the account's cached responses, and unreadable ones`() throws {
        let platform = try SandboxHome(
            seed: """
                {"token": "token-of-one-0000", "projects": [{"name": "web"}],
                 "tokens": [{"name": "second", "token": "token-of-two-0000"}]}
                """)
        done(try platform.run("login", "--name", "second", input: .text("token-of-two-0000\n")))
        done(try platform.run("project", "list"))
        done(try platform.run("project", "list", "--account", "second"))
        let probe = try CacheProbe(platform.home)
        #expect(probe.answers().count == 2)
        let damaged = String(repeating: "0", count: 32) + ".answers"
        try platform.home.directory.write("damaged", to: "cache/zg-env/\(damaged)")
        done(try platform.run("logout", "--dry-run"))
        #expect(probe.tables.count == 2)
        done(try platform.run("logout"))
        #expect(probe.answers().count == 1)
        done(try platform.run("project", "list", "--offline"))
        done(try platform.run("logout", "--all"))
        #expect(probe.answers() == [])
        // An unreadable file goes too, whatever its name.
        done(try platform.run("login", input: .text("token-of-one-0000\n")))
        done(try platform.run("project", "list"))
        let own = try #require(probe.tables.first)
        try platform.home.directory.write("damaged", to: "cache/zg-env/\(own)")
        done(try platform.run("logout"))
        #expect(probe.tables == [])
    }

    @Test func `a redeploy drops its project's responses and no others`() throws {
        let platform = try SandboxHome()
        for project in ["web", "bare"] {
            done(
                try platform.run("set", "KEY", "-p", project, input: .text("value")))
            done(try platform.run("deployment", "list", "-p", project))
            done(try platform.run("deployment", "list", "-p", project, "--limit", "1"))
        }
        done(try platform.run("project", "list"))
        let probe = try CacheProbe(platform.home)
        #expect(probe.answers().count == 5)
        let made = try json(platform.run("redeploy", "-p", "web", "--yes", "--json", "--wait"))
        let projects = probe.subjects().compactMap { subject in
            switch subject {
            case .deployments(let project, _): project
            case .sighting: nil
            default: "\(subject)"
            }
        }
        // Two lists of the other project, and what the redeploy saw of its own.
        #expect(Dictionary(grouping: projects) { $0 }.values.map(\.count).sorted() == [1, 2])
        let list = try json(platform.run("deployment", "list", "-p", "web", "--json"))
        #expect(list["deployments"]?.elements.first?["id"] == made["id"])
        #expect(list["deployments"]?.elements.first?["current"] == true)
    }

    @Test func `damaged and foreign files are discarded, and every list still works`() throws {
        let platform = try SandboxHome()
        let other = try SandboxHome()
        let before = try json(platform.run("project", "list", "--json"))
        done(try other.run("project", "list"))
        let probe = try CacheProbe(platform.home)
        let name = try #require(probe.tables.first)
        let foreign = try CacheProbe(other.home)
        let files: [[UInt8]] = [
            [], Array(probe.file(name).dropLast(100)), Array(repeating: 0, count: 9_000),
            foreign.file(try #require(foreign.tables.first)),
        ]
        for bytes in files {
            try platform.home.directory.write(bytes, to: "cache/zg-env/\(name)")
            let result = try platform.run("project", "list", "--json")
            let list = try json(result)
            #expect(list["projects"] == before["projects"] && list["warnings"] == nil)
            #expect(probe.answers().count == 1)
        }
    }

    @Test func `an unwritable cache is not a failure, and --verbose reports it`() throws {
        let platform = try SandboxHome()
        try platform.home.directory.write("in the way", to: "cache/zg-env")
        let quiet = done(try platform.run("project", "list"))
        #expect(quiet.error == "")
        let told = done(try platform.run("project", "list", "--verbose"))
        #expect(
            told.error.contains("Cannot cache responses") && told.error.contains("/cache/zg-env"))
        let homeless = done(
            try platform.run(
                "project", "list", "--verbose",
                environment: ["XDG_CACHE_HOME": "relative", "HOME": ""]))
        #expect(homeless.error.contains("there is no home directory"))
    }

    @Test func `without a vault nothing is cached`() throws {
        let platform = try SandboxHome(hasVault: false, isLoggedIn: false)
        let token = ["VERCEL_TOKEN": platform.token]
        for _ in 1...2 {
            #expect(
                try platform.requests {
                    done(try platform.run("project", "list", environment: token))
                } == ["GET /v10/projects"])
        }
        let list = try json(
            platform.run("deployment", "list", "-p", "web", "--json", environment: token))
        #expect(list["deployments"]?.elements.count == 2)
        let cache = platform.home.directory.path("cache")
        #expect(try FileManager.default.contentsOfDirectory(atPath: cache) == [])
        #expect(
            try FileManager.default.contentsOfDirectory(
                atPath: platform.home.directory.path("data")) == [])
    }

    @Test func `concurrent commands leave complete responses and nothing else`() throws {
        let platform = try SandboxHome()
        done(try platform.run("set", "KEY", "-p", "web", input: .text("value")))
        done(try platform.run("deployment", "list", "-p", "web"))
        let commands = (0..<4).flatMap { _ in
            [
                ["project", "list", "--refresh"], ["project", "list"],
                ["deployment", "list", "-p", "web", "--refresh"],
            ]
        }
        for result in try Together.run(commands.map { platform.runner($0) }) { done(result) }
        let probe = try CacheProbe(platform.home)
        #expect(probe.answers().count == 2)
    }
}

import Glibc
internal import JSON
import Sandbox
import TestSupport
import Testing

/// Pull and push with the largest number of variables of a project.
@Suite("A thousand variables")
struct ManyVariablesTests {
    @Test func `they take few requests each way, and show progress on a terminal`() throws {
        let platform = try SandboxHome()
        // The seed is the thousandth.
        let lines = (0..<999).map { "KEY_\($0)=value \($0)\n" }.joined()
        done(try platform.run("import", "-", "-p", "web", input: .text(lines)))
        var shown = ""
        let pushing = try platform.requests {
            shown = try onTerminal(platform, ["push", "-p", "web", "--yes"])
        }
        #expect(platform.stored.count == 1_000)
        #expect(shown.contains("of 999"))
        // One creation for each hundred, as larger ones would time out; one request reads all
        // values back.
        #expect(pushing.filter { $0.hasPrefix("POST ") }.count == 10)
        #expect(pushing.filter { $0.hasPrefix("GET ") }.count <= 8, "\(pushing)")

        done(try platform.run("project", "remove", "web", "--yes"))
        // Work that is done at once shows no progress.
        try platform.setFaults("GET /v3/env/pull/** slow:1 x1")
        let pulling = try platform.requests {
            shown = try onTerminal(platform, ["pull", "-p", "web", "--yes"])
        }
        #expect(shown.contains("Read ") && shown.contains("of 1000 values"))
        #expect(pulling.allSatisfy { $0.hasPrefix("GET ") })
        #expect(pulling.count <= 6, "\(pulling)")
        #expect(try platform.home.revealed("KEY_998") == Array("value 998".utf8))
        #expect(try platform.home.revealed("SEED_ONLY") == Array("seed".utf8))
        #expect(try platform.states().count == 1_000)
        let quiet = try platform.requests { try platform.pulled().expectNothingPulled() }
        #expect(quiet.count <= 4, "\(quiet)")
        try platform.pushed().expectNothing()
    }

    @Test func `records to adopt or to look up are read together`() throws {
        let platform = try SandboxHome()
        let lines = (0..<40).map { "KEY_\($0)=value \($0)\n" }.joined()
        for number in 0..<40 {
            try platform.create(
                "KEY_\(number)", "value \(number)",
                ["target": ["production", "preview", "development"]])
        }
        done(try platform.run("import", "-", "-p", "web", input: .text(lines)))
        let adopting = try platform.requests {
            let report = try platform.pushed()
            #expect(report.keys("unchanged").count == 40)
        }
        #expect(adopting.filter { $0.hasPrefix("GET /v3/env/pull/") }.count == 1, "\(adopting)")
        #expect(!adopting.contains { $0.hasPrefix("GET /v1/projects/") }, "\(adopting)")

        // A push with an unknown outcome.
        let more = (0..<40).map { "MORE_\($0)=value \($0)\n" }.joined()
        done(try platform.run("import", "-", "-p", "web", input: .text(more)))
        try platform.setFaults("POST * slow:6")
        let push = platform.runner(["push", "-p", "web", "--yes"])
        let killed = try platform.signalled(push, by: SIGKILL, at: "POST ").run()
        #expect(killed.end == .signalled(SIGKILL))
        platform.server.setFaults([])
        #expect(platform.stored.count == 81)
        let lookingUp = try platform.requests {
            let report = try platform.pushed()
            #expect(report.keys("unchanged").count == 80)
        }
        #expect(lookingUp.filter { $0.hasPrefix("GET /v3/env/pull/") }.count == 1, "\(lookingUp)")
        #expect(!lookingUp.contains { $0.hasPrefix("GET /v1/projects/") }, "\(lookingUp)")
    }

    @Test func `without the route for whole targets, each value is read by itself`() throws {
        let platform = try SandboxHome()
        for number in 0..<20 { try platform.create("KEY_\(number)", "value \(number)") }
        try platform.setFaults("GET /v3/env/pull/** 404")
        var created: [String] = []
        let requests = try platform.requests { created = try platform.pulled().keys("created") }
        #expect(created.count == 21)
        #expect(requests.filter { $0.hasPrefix("GET /v1/projects/") }.count == 21)
        #expect(try platform.home.revealed("KEY_19") == Array("value 19".utf8))
    }

    @Test func `branches, environments and empty values are right among many`() throws {
        let platform = try SandboxHome()
        let qa = try platform.qa()
        for number in 0..<10 {
            try platform.create("KEY_\(number)", "general \(number)", ["target": ["preview"]])
            try platform.create(
                "KEY_\(number)", "branch \(number)",
                ["target": ["preview"], "gitBranch": "feature/x"])
            try platform.create(
                "KEY_\(number)", "qa \(number)", ["target": [], "customEnvironmentIds": [qa]])
        }
        try platform.create("EMPTY", "", ["target": ["preview"]])
        try platform.create("SECRET", "s", ["target": ["preview"]], type: "sensitive")
        let report = try platform.pulled()
        #expect(report.keys("created").count == 33 && report.keys("unreadable") == ["SECRET"])
        for number in [0, 9] {
            let key = "KEY_\(number)"
            #expect(
                try platform.home.revealed(key, "-b", "feature/x")
                    == Array("branch \(number)".utf8))
            #expect(
                try platform.home.revealed(key, "-t", "qa") == Array("qa \(number)".utf8))
            #expect(
                try platform.home.revealed(key, "-t", "preview")
                    == Array("general \(number)".utf8))
        }
        #expect(try platform.home.revealed("EMPTY") == [])
        try platform.pushed().expectNothing()
    }

    private func onTerminal(_ platform: SandboxHome, _ arguments: [String]) throws -> String {
        var runner = platform.home.terminalRunner(arguments, streams: true)
        runner.environment["ZG_ENV_API_URL"] = platform.url
        runner.environment["ZG_ENV_PASSPHRASE_FILE"] = platform.home.passphrasePath
        let result = try runner.run()
        #expect(result.end == .exited(0), "\(result.screen)")
        return String(decoding: result.terminal, as: UTF8.self)
    }
}

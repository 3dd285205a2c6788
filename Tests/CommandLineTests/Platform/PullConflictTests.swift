import Glibc
internal import JSON
import Sandbox
import TestSupport
import Testing

/// What a pull does if both sides changed, and if Vercel fails.
@Suite("Conflicts and failures of a pull")
struct PullConflictTests {
    @Test func `what changed on both sides is named, and the rest is pulled`() throws {
        let platform = try SandboxHome()
        for key in ["BOTH", "GONE", "REMOVED", "FREE"] { try platform.set(key, "old") }
        try platform.pushed()
        for key in ["BOTH", "GONE"] { try platform.set(key, "mine") }
        done(try platform.run("rm", "REMOVED", "-p", "web", "--yes"))
        for key in ["BOTH", "REMOVED", "FREE"] { try platform.change(key, ["value": "theirs"]) }
        try platform.delete("GONE")
        let (report, message) = try failedReport(platform.pull("--yes"), 5, "conflict")
        #expect(report.keys("conflicts") == ["BOTH", "GONE", "REMOVED"])
        #expect(report.reasons("conflicts").allSatisfy { $0.contains("on Vercel") })
        #expect(report.keys("updated") == ["FREE"] && report.keys("created") == ["SEED_ONLY"])
        #expect(report["deleted"] == [])
        #expect(message.contains("The other changes were pulled") && message.contains("--force"))
        let both = try #require(report["conflicts"]?.elements.first)
        #expect(both["vault"]?["version"] == 2 && both["vercel"]?["updatedAt"] != nil)
        let gone = try #require(report["conflicts"]?.elements.dropFirst().first)
        #expect(gone["vercel"] == .null)
        #expect(try platform.home.revealed("BOTH") == Array("mine".utf8))
        #expect(try platform.home.revealed("FREE") == Array("theirs".utf8))
        let text = try platform.run("pull", "-p", "web", "--yes")
        #expect(text.status == 5 && text.output.contains("conflict   BOTH"))
        #expect(text.error.contains("Nothing was changed"))
        let states = try platform.states()
        #expect(states["BOTH"] == "diverged" && states["FREE"] == "synced")

        // Resolved one way or the other, key by key.
        #expect(try platform.pushed("BOTH", "--force").keys("updated") == ["BOTH"])
        let taken = try platform.pulled("GONE", "REMOVED", "--force", "--yes")
        #expect(taken.keys("deleted") == ["GONE"] && taken.keys("updated") == ["REMOVED"])
        #expect(try platform.home.revealed("REMOVED") == Array("theirs".utf8))
        #expect(platform.records("BOTH") == ["production,preview,development=mine"])
        try platform.pulled("BOTH", "FREE", "GONE", "REMOVED").expectNothingPulled()
        try platform.pushed().expectNothing()
    }

    @Test func `the same change on both sides is not a conflict`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old")
        try platform.set("NEW", "equal")
        try platform.pushed("KEY")
        try platform.set("KEY", "new")
        try platform.change("KEY", ["value": "new"])
        try platform.create("NEW", "equal")
        let report = try platform.pulled()
        #expect(report.keys("unchanged") == ["KEY", "NEW"])
        #expect(try platform.states().values.allSatisfy { $0 == "synced" })
        try platform.pushed().expectNothing()
    }

    @Test func `an overlapping record of the vault is a conflict, in either order`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "mine", "-t", "production")
        try platform.create("KEY", "theirs")
        let (report, _) = try failedReport(platform.pull("--yes"), 5, "conflict")
        #expect(report.keys("conflicts") == ["KEY"])
        #expect(
            report.reasons("conflicts").first?.contains("another variable for production") == true)
        #expect(try platform.home.scopes(of: "KEY") == ["production"])
        try platform.pulled("--yes", "--force").expectMember("conflicts", [])
        #expect(
            try platform.home.scopes(of: "KEY") == ["production,preview,development"])
        #expect(try platform.home.revealed("KEY") == Array("theirs".utf8))
        #expect(try platform.home.revealed("KEY", "--version", "1") == Array("mine".utf8))
    }

    @Test func `changes made only here wait for a push`() throws {
        let platform = try SandboxHome()
        for key in ["CHANGED", "REMOVED"] { try platform.set(key, "old") }
        try platform.pushed()
        try platform.set("CHANGED", "new")
        try platform.set("LOCAL", "l")
        done(try platform.run("rm", "REMOVED", "-p", "web", "--yes"))
        let report = try platform.pulled()
        #expect(report.keys("created") == ["SEED_ONLY"])
        #expect(report.keys("ahead") == ["CHANGED", "LOCAL", "REMOVED"])
        let pushed = try platform.pushed()
        #expect(pushed.keys("updated") == ["CHANGED"] && pushed.keys("deleted") == ["REMOVED"])
        #expect(pushed.keys("created") == ["LOCAL"])
    }

    @Test func `--all-projects pulls each project by itself`() throws {
        let platform = try SandboxHome()
        done(try platform.run("pull", "-p", "web"))
        done(try platform.run("pull", "-p", "bare"))
        done(try platform.run("pull", "-p", "api", "--team", "acme"))
        try platform.create("NEW", "n")
        try platform.teammate.send(
            "POST", "/v10/projects/bare/env",
            ["key": "KEY", "value": "1", "type": "encrypted", "target": ["preview"]])
        try platform.home.store(["KEY": "other"], in: "local")
        let report = try json(platform.run("pull", "--all-projects", "--json"))
        let projects = report["projects"]?.elements ?? []
        #expect(projects.compactMap { $0["project"]?.text } == ["api", "bare", "web"])
        #expect(projects.map { $0.keys("created") } == [[], ["KEY"], ["NEW"]])

        // One with a conflict does not block the others.
        let bare = try platform.teammate.send("GET", "/v10/projects/bare/env")
        let id = try #require(bare["envs"]?.array?.first?["id"]?.string)
        try platform.home.store(["KEY": "mine"], in: "bare")
        platform.server.advanceClock(bySeconds: 1)
        try platform.teammate.send("PATCH", "/v9/projects/bare/env/\(id)", ["value": "2"])
        try platform.create("MORE", "m")
        let (mixed, message) = try failedReport(
            platform.run("pull", "--all-projects", "--json"), 5, "conflict")
        #expect(message.contains("bare"))
        let parts = mixed["projects"]?.elements ?? []
        #expect(parts.map { $0.keys("created") } == [[], [], ["MORE"]])
        #expect(parts.map { $0.keys("conflicts") } == [[], ["KEY"], []])
        let again = try platform.run("pull", "--all-projects")
        #expect(again.status == 5 && again.output.contains("conflict   KEY"))
        // Nor does one that Vercel does not list.
        try platform.setFaults("GET /v10/projects/*/env 404 x1")
        let listed = try JSONDocument(
            platform.run("pull", "--all-projects", "--json").standardOutput)["projects"]
        #expect(listed?.elements.compactMap { $0["error"]?["code"]?.text } == ["not_found"])
    }

    @Test(arguments: [
        ("GET /v10/projects/*/env 500", Int32(7), "unavailable"),
        ("GET /v1/projects/*/env/* 500", 7, "unavailable"),
        ("GET /v1/projects/*/env/* challenge", 6, "unauthorized"),
        ("GET /v10/projects/*/env truncate", 7, "unavailable"),
    ])
    func `a failing Vercel changes nothing`(fault: String, status: Int32, code: String) throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old")
        try platform.pushed()
        try platform.change("KEY", ["value": "new"])
        let before = try platform.home.vaultBytes()
        try platform.setFaults(fault)
        try failedAsJSON(platform.pull("--yes"), status, code)
        #expect(try platform.home.vaultBytes() == before)
        platform.server.setFaults([])
        #expect(try platform.pulled("--yes").keys("updated") == ["KEY"])
    }

    @Test func `transient failures are retried`() throws {
        let platform = try SandboxHome()
        for (number, fault) in ["429:1", "500", "reset", "html", "truncate"].enumerated() {
            try platform.create("KEY_\(number)", "v")
            try platform.setFaults(
                "GET /v10/projects/*/env \(fault) x1", "GET /v1/projects/*/env/* \(fault) x1")
            let created = try platform.pulled().keys("created")
            #expect(created.contains("KEY_\(number)"), "\(fault)")
        }
    }

    @Test func `a value that is not found removes nothing, unless the record is gone`() throws {
        let platform = try SandboxHome()
        try platform.create("KEY", "v")
        try platform.create("OTHER", "v")
        try platform.pulled().expectMember("conflicts", [])
        try platform.create("NEW", "n")
        let id = try platform.id("KEY")
        try platform.teammate.send("PATCH", "/v9/projects/web/env/\(id)", ["value": "changed"])
        for _ in 0..<2 {
            let before = try platform.home.vaultBytes()
            try platform.setFaults("GET /v1/projects/*/env/* 404 x1")
            let result = try platform.run("pull", "-p", "web", "--yes", "--json")
            let message = try failedAsJSON(result, 7, "unavailable")
            #expect(message.contains("does not return its value"), "\(message)")
            #expect(try platform.home.vaultBytes() == before)
        }
        #expect(try platform.home.revealed("KEY") == Array("v".utf8))
        // A record that is deleted after it was listed is gone.
        try platform.setFaults("GET /v10/projects/*/env slow:5 x1")
        let server = platform.server
        let teammate = platform.teammate
        var runner = platform.runner(["pull", "-p", "web", "--yes", "--json"])
        let seen = server.requests.count
        runner.script = [
            (
                .now,
                .call { _, _ in
                    server.waits(after: seen) { requests in
                        requests.contains {
                            $0.path.contains("/v10/") && $0.path.contains("/env")
                        }
                    }
                    _ = try? teammate.send("DELETE", "/v9/projects/web/env/\(id)")
                }
            )
        ]
        let report = try json(runner.run())
        #expect(report.keys("created") == ["NEW"])
        #expect(report.keys("deleted") == ["KEY"], "\(report)")
    }

    @Test func `--offline is refused at once`() throws {
        let platform = try SandboxHome()
        let requests = try platform.requests {
            try failedAsJSON(
                platform.run("pull", "-p", "web", "--offline", "--json"), 7, "unavailable")
            try failedAsJSON(
                platform.run("diff", "--remote", "-p", "web", "--offline", "--json"), 7,
                "unavailable")
        }
        #expect(requests == [])
    }
}

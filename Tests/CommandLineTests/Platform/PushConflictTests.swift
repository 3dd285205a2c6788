import JSON
import Sandbox
import TestSupport
import Testing

/// What a push does if Vercel is not as this vault last saw it.
@Suite("Conflicts of a push")
struct PushConflictTests {
    private func create(
        _ platform: SandboxHome, _ key: String, _ value: String, type: String = "encrypted",
        targets: [String] = ["production", "preview", "development"]
    ) throws {
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            [
                "key": .string(key), "value": .string(value), "type": .string(type),
                "target": .array(targets.map { .string($0) }),
            ])
    }

    private func change(
        _ platform: SandboxHome, _ key: String, _ changes: JSONValue
    ) throws {
        try platform.teammate.send(
            "PATCH", "/v9/projects/web/env/\(try platform.id(key))", changes)
    }

    @Test(arguments: [
        ("encrypted", "other", ["production", "preview", "development"]),
        ("plain", "mine", ["production", "preview", "development"]),
        ("sensitive", "mine", ["production", "preview"]),
    ])
    func `an unseen record is a conflict, and nothing is sent`(
        type: String, value: String, targets: [String]
    ) throws {
        let platform = try SandboxHome()
        try create(platform, "KEY", value, type: type, targets: targets)
        try platform.set("KEY", "mine")
        try platform.set("FREE", "1")
        let before = platform.stored
        let writes = try platform.writes {
            let (report, message) = try failedReport(platform.push(), 5, "conflict")
            #expect(report.keys("conflicts") == ["KEY"])
            #expect(report.reasons("conflicts").first?.contains("has no record of") == true)
            #expect(report.keys("created") == [])
            #expect(message.contains("KEY") && message.contains("Nothing was sent"))
            let text = try platform.run("push", "-p", "web", "--yes")
            #expect(text.status == 5)
            #expect(text.output.contains("conflict  KEY"))
        }
        #expect(writes == [])
        #expect(platform.stored == before)
        // Another key can be pushed.
        #expect(try platform.pushed("FREE").keys("created") == ["FREE"])
    }

    @Test func `--force replaces an unseen record of the same scope`() throws {
        let platform = try SandboxHome()
        try create(platform, "KEY", "theirs")
        try platform.set("KEY", "mine")
        #expect(try platform.pushed("--force").keys("updated") == ["KEY"])
        #expect(platform.records("KEY") == ["production,preview,development=mine"])
        try platform.pushed().expectNothing()
    }

    @Test func `an equal unseen record counts as pushed`() throws {
        let platform = try SandboxHome()
        try create(platform, "KEY", "same\nvalue")
        try platform.set("KEY", "same\nvalue")
        let writes = try platform.writes {
            let report = try platform.pushed()
            report.expectNothing()
            #expect(report.keys("unchanged") == ["KEY"])
        }
        #expect(writes == [])
        let list = try json(platform.run("list", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.first?["sync"] == "synced")
        try platform.set("KEY", "next")
        #expect(try platform.pushed().keys("updated") == ["KEY"])
        #expect(platform.records("KEY") == ["production,preview,development=next"])
    }

    @Test func `a record of the same value for fewer targets gets the others`() throws {
        let platform = try SandboxHome()
        try create(platform, "KEY", "mine", targets: ["production"])
        try platform.set("KEY", "mine")
        #expect(try platform.pushed().keys("updated") == ["KEY"])
        #expect(platform.records("KEY") == ["production,preview,development=mine"])
        try platform.pushed().expectNothing()
    }

    @Test func `a differing comment on an adopted record is updated`() throws {
        let platform = try SandboxHome()
        try create(platform, "KEY", "same")
        try platform.set("KEY", "same", "--comment", "note")
        #expect(try platform.pushed().keys("updated") == ["KEY"])
        try platform.pushed().expectNothing()
    }

    @Test func `a record changed on Vercel is a conflict until it is forced`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "first")
        try platform.pushed()
        try change(platform, "KEY", ["value": "theirs"])
        // Unchanged here: Vercel still does not have the vault's value.
        var writes = try platform.writes {
            let (report, _) = try failedReport(platform.push(), 5, "conflict")
            #expect(report.keys("conflicts") == ["KEY"])
            let text = try platform.run("push", "-p", "web", "--yes")
            #expect(text.status == 5 && text.output.hasPrefix("behind    KEY "), "\(text.output)")
            #expect(
                text.error.contains("To take Vercel's version, run: zg-env pull KEY -p web."),
                "\(text.error)")
        }
        #expect(writes == [])
        let behind = try json(platform.run("list", "-p", "web", "--json"))
        #expect(behind["variables"]?.elements.first?["sync"] == "behind")
        try platform.set("KEY", "mine")
        writes = try platform.writes {
            let (report, message) = try failedReport(platform.push(), 5, "conflict")
            #expect(report.keys("conflicts") == ["KEY"])
            #expect(report.reasons("conflicts").first?.contains("changed on Vercel") == true)
            #expect(message.contains("--force"))
        }
        #expect(writes == [])
        let diverged = try json(platform.run("list", "-p", "web", "--json"))
        #expect(diverged["variables"]?.elements.first?["sync"] == "diverged")
        #expect(try platform.pushed("--force").keys("updated") == ["KEY"])
        #expect(platform.records("KEY") == ["production,preview,development=mine"])
        try platform.pushed().expectNothing()
        // Also forced if only Vercel's side changed.
        try change(platform, "KEY", ["value": "theirs again"])
        #expect(try platform.pushed("--force").keys("updated") == ["KEY"])
        #expect(platform.records("KEY") == ["production,preview,development=mine"])
    }

    @Test func `the same change on both sides is not a conflict`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "first")
        try platform.pushed()
        try platform.set("KEY", "second")
        try change(platform, "KEY", ["value": "second"])
        let writes = try platform.writes {
            let report = try platform.pushed()
            report.expectNothing()
            #expect(report.keys("unchanged") == ["KEY"])
        }
        #expect(writes == [])
        let list = try json(platform.run("list", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.first?["sync"] == "synced")
    }

    @Test func `a comment changed on Vercel is not restored unseen`() throws {
        let platform = try SandboxHome()
        func comment() throws -> String? {
            try platform.teammate.send(
                "GET", "/v1/projects/web/env/\(try platform.id("KEY"))")["comment"]?.string
        }
        try platform.set("KEY", "v", "--comment", "ours")
        try platform.pushed()
        try change(platform, "KEY", ["comment": "theirs"])
        let writes = try platform.writes {
            try failedReport(platform.push(), 5, "conflict").report.expectOnlyConflict("KEY")
        }
        #expect(writes == [])
        #expect(try comment() == "theirs")
        #expect(try platform.pulled().keys("updated") == ["KEY"])
        try platform.pushed().expectNothing()
        #expect(try comment() == "theirs")
        // Changed only here, while Vercel's record was saved without a change.
        try platform.set("KEY", "v", "--comment", "ours again")
        try change(platform, "KEY", ["value": "v"])
        #expect(try platform.pushed().keys("updated") == ["KEY"])
        #expect(try comment() == "ours again")
        try platform.pushed().expectNothing()
    }

    @Test func `an adopted record brings its comment`() throws {
        let platform = try SandboxHome()
        try create(platform, "KEY", "same")
        try change(platform, "KEY", ["comment": "theirs"])
        try platform.set("KEY", "same")
        try platform.pushed().expectNothing()
        let shown = try json(platform.run("show", "KEY", "-p", "web", "--json"))
        #expect(shown["records"]?.elements.first?["comment"] == "theirs")
        try platform.pushed().expectNothing()
    }

    @Test func `a removed record that changed on Vercel is a conflict`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "first")
        try platform.pushed()
        try change(platform, "KEY", ["value": "theirs"])
        done(try platform.run("rm", "KEY", "-p", "web", "--yes"))
        try failedReport(platform.push(), 5, "conflict").report.expectOnlyConflict("KEY")
        #expect(platform.records("KEY") == ["production,preview,development=theirs"])
        #expect(try platform.pushed("--force").keys("deleted") == ["KEY"])
        #expect(platform.records("KEY") == [])
    }

    @Test func `a record deleted on Vercel is a conflict, or gone on both sides`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "first")
        try platform.set("BOTH", "x")
        try platform.pushed()
        for key in ["KEY", "BOTH"] {
            try platform.teammate.send("DELETE", "/v9/projects/web/env/\(try platform.id(key))")
        }
        done(try platform.run("rm", "BOTH", "-p", "web", "--yes"))
        let writes = try platform.writes {
            let (report, _) = try failedReport(platform.push(), 5, "conflict")
            report.expectOnlyConflict("KEY")
            #expect(report.reasons("conflicts").first?.contains("removed on Vercel") == true)
        }
        #expect(writes == [])
        #expect(try platform.pushed("--force").keys("created") == ["KEY"])
        #expect(platform.records("KEY") == ["production,preview,development=first"])
        try platform.pushed().expectNothing()
    }

    @Test func `a target is not taken from a record that stays`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "all")
        try platform.pushed()
        try platform.set("KEY", "live", "-t", "production")
        // Narrowing the other record belongs to the key.
        let plan = try json(
            platform.run("push", "-p", "web", "-t", "production", "--dry-run", "--json"))
        #expect(plan.keys("created") == ["KEY"])
        #expect(plan.keys("updated") == ["KEY"])
        try platform.pushed("-t", "production")
        #expect(
            platform.records("KEY") == ["preview,development=all", "production=live"])
    }

    @Test func `two concurrent pushes create no duplicates`() throws {
        let platform = try SandboxHome()
        let lines = (0..<20).map { "KEY_\($0)=value \($0)\n" }.joined()
        done(try platform.run("import", "-", "-p", "web", input: .text(lines)))
        try platform.setFaults("GET /v10/projects/*/env slow:0.3 x2")
        let results = try Together.run(
            (0..<2).map { _ in
                platform.runner(["push", "-p", "web", "--yes", "--json"])
            })
        for result in results {
            let report = try json(result)
            #expect((report.keys("created") + report.keys("unchanged")).count == 20)
        }
        let keys = platform.stored.map(\.key)
        #expect(Set(keys).count == keys.count && keys.count == 21)
        let after = try platform.pushed()
        after.expectNothing()
        #expect(after.keys("unchanged").count == 20)
        let list = try json(platform.run("list", "-p", "web", "--json"))
        #expect(list["variables"]?.elements.allSatisfy { $0["sync"] == "synced" } == true)
    }
}

extension JSONDocument {
    /// Expects the report of a push that one key stopped.
    func expectOnlyConflict(_ key: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(keys("conflicts") == [key], sourceLocation: sourceLocation)
        for list in ["created", "updated", "deleted", "failed"] {
            #expect(self[list] == [], sourceLocation: sourceLocation)
        }
    }
}

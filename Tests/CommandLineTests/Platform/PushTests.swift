internal import JSON
import Sandbox
import TestSupport
import Testing

/// What a push sends, and what it leaves alone.
@Suite("Push")
struct PushTests {
    @Test func `it creates, updates and deletes, and then has nothing to do`() throws {
        let platform = try SandboxHome()
        try platform.set("A", "1")
        try platform.set("B", "2", "-t", "production", "--type", "plain")
        let created = try platform.pushed()
        #expect(created.keys("created") == ["A", "B"])
        #expect(
            created["created"]?.elements.first?["targets"] == [
                "production", "preview", "development",
            ])
        #expect(created["created"]?.elements.first?["branch"] == .null)
        #expect(platform.stored.first { $0.key == "B" }?.type == "plain")
        try platform.pushed().expectNothing()
        #expect(try platform.pushed().keys("unchanged") == ["A", "B"])

        try platform.set("A", "3")
        done(try platform.run("rm", "B", "-p", "web", "--yes"))
        let changed = try platform.pushed()
        #expect(changed.keys("updated") == ["A"])
        #expect(changed.keys("deleted") == ["B"])
        #expect(platform.records("A") == ["production,preview,development=3"])
        #expect(platform.records("B") == [])
        #expect(platform.records("SEED_ONLY") == ["production=seed"])
        let last = try platform.pushed()
        last.expectNothing()
        #expect(last.keys("unchanged") == ["A"])
    }

    @Test func `it takes few requests: one creates a batch, and an empty push only reads`() throws {
        let platform = try SandboxHome()
        let lines = (0..<30).map { "KEY_\($0)=value \($0)\n" }.joined()
        done(try platform.run("import", "-", "-p", "web", input: .text(lines)))
        let first = try platform.requests { try platform.pushed() }
        #expect(first.filter { $0.hasPrefix("POST ") }.count == 1)
        // Read back together: one request returns every value of a target.
        #expect(first.filter { $0.hasPrefix("GET /v1/projects/") }.count == 0)
        #expect(first.filter { $0.hasPrefix("GET /v3/env/pull/") }.count == 1)
        #expect(first.count <= 10, "\(first)")
        let second = try platform.requests { try platform.pushed() }
        #expect(second.count <= 3, "\(second)")
        try platform.set("KEY_7", "new")
        let third = try platform.requests { try platform.pushed() }
        #expect(third.filter { $0.hasPrefix("PATCH ") }.count == 1)
        #expect(third.count <= 8, "\(third)")
    }

    @Test func `a target is dropped, or moves between records in an order without a gap`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "all")
        try platform.pushed()
        let id = try platform.id("KEY")
        done(try platform.run("rm", "KEY", "-p", "web", "-t", "development", "--yes"))
        #expect(try platform.pushed().keys("updated") == ["KEY"])
        #expect(platform.records("KEY") == ["production,preview=all"])

        // A new record takes production: the old one is narrowed first.
        try platform.set("KEY", "live", "-t", "production")
        let writes = try platform.writes {
            let report = try platform.pushed()
            #expect(report.keys("created") == ["KEY"])
            #expect(report.keys("updated") == ["KEY"])
        }
        #expect(writes.map { $0.split(separator: " ")[0] } == ["PATCH", "POST"])
        #expect(platform.records("KEY") == ["preview=all", "production=live"])
        #expect(platform.stored.contains { $0.id == id && $0.targets == ["preview"] })

        // An existing record takes a target from another.
        try platform.set("KEY", "both", "-t", "preview,production")
        try platform.pushed()
        // Records are kept: two with the same value stay two.
        #expect(platform.records("KEY") == ["preview=both", "production=both"])
        try platform.pushed().expectNothing()

        // Two records swap a target.
        try platform.set("KEY", "dev", "-t", "development")
        try platform.pushed()
        try platform.set("KEY", "dev", "-t", "development,preview")
        try platform.pushed()
        #expect(
            platform.records("KEY") == ["development=dev", "preview=dev", "production=both"])
        try platform.pushed().expectNothing()
    }

    @Test func `branches and custom environments have their own records`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "general", "-t", "preview")
        try platform.set("KEY", "branch", "-b", "feature")
        try platform.set("KEY", "qa", "-t", "qa")
        let report = try platform.pushed()
        #expect(report["created"]?.elements.map { $0["branch"] }.contains("feature") == true)
        #expect(
            platform.records("KEY") == ["preview=general", "preview@feature=branch", "qa=qa"])
        try platform.pushed().expectNothing()
        try platform.set("KEY", "other", "-b", "feature")
        try platform.set("KEY", "qb", "-t", "qa")
        try platform.pushed()
        #expect(platform.records("KEY") == ["preview=general", "preview@feature=other", "qa=qb"])
        done(try platform.run("rm", "KEY", "-p", "web", "-b", "feature", "--yes"))
        done(try platform.run("rm", "KEY", "-p", "web", "-t", "qa", "--yes"))
        #expect(try platform.pushed().keys("deleted") == ["KEY", "KEY"])
        #expect(platform.records("KEY") == ["preview=general"])

        try platform.set("KEY", "x", "-t", "nowhere")
        let message = try failedAsJSON(platform.push(), 2, "usage")
        #expect(message.contains("nowhere"))
    }

    @Test func `a sensitive value is sent and reported as not verified`() throws {
        let platform = try SandboxHome()
        try platform.set("SECRET", "s3cr3t", "--type", "sensitive")
        let report = try platform.pushed()
        #expect(report.keys("created") == ["SECRET"])
        #expect(report.keys("unverified") == ["SECRET"])
        #expect(report.reasons("unverified").first?.contains("cannot be read back") == true)
        #expect(platform.records("SECRET") == ["production,preview=s3cr3t"])
        try platform.pushed().expectNothing()
        try platform.set("SECRET", "other")
        #expect(try platform.pushed().keys("unverified") == ["SECRET"])
        #expect(platform.records("SECRET") == ["production,preview=other"])
        // Other changes are verified: Vercel shows them.
        done(
            try platform.run(
                "rm", "SECRET", "-p", "web", "-t", "preview", "--yes", environment: [:]))
        let narrowed = try platform.pushed()
        #expect(narrowed.keys("updated") == ["SECRET"])
        #expect(narrowed.keys("unverified") == [])
        #expect(platform.records("SECRET") == ["production=other"])
    }

    @Test func `comments and types change`() throws {
        let platform = try SandboxHome()
        func comment() throws -> String? {
            try platform.teammate.send(
                "GET", "/v1/projects/web/env/\(try platform.id("KEY"))")["comment"]?.string
        }
        try platform.set("KEY", "v", "-t", "production", "--comment", "first")
        try platform.pushed()
        #expect(try comment() == "first")
        try platform.set("KEY", "v", "--comment", "second", "--type", "plain")
        #expect(try platform.pushed().keys("updated") == ["KEY"])
        #expect(try comment() == "second")
        #expect(platform.stored.first { $0.key == "KEY" }?.type == "plain")
        try platform.set("KEY", "v", "--comment", "", "--type", "sensitive")
        #expect(try platform.pushed().keys("updated") == ["KEY"])
        #expect(try (comment() ?? "").isEmpty)
        #expect(platform.stored.first { $0.key == "KEY" }?.type == "sensitive")
        try platform.pushed().expectNothing()
        // Vercel never changes the type of a sensitive variable.
        try platform.set("KEY", "v", "--type", "encrypted")
        let (report, _) = try failedReport(platform.push(), 1, "failed")
        #expect(report.keys("failed") == ["KEY"])
        #expect(platform.stored.first { $0.key == "KEY" }?.type == "sensitive")
    }

    @Test func `keys and targets select what is pushed`() throws {
        let platform = try SandboxHome()
        for key in ["A", "B", "C"] { try platform.set(key, key) }
        try platform.set("P", "p", "-t", "production")
        try platform.set("D", "d", "-t", "development")
        try platform.set("Q", "q", "-t", "qa")
        #expect(try platform.pushed("A", "C").keys("created") == ["A", "C"])
        try failedAsJSON(platform.push("A", "NONE"), 4, "not_found")
        #expect(try platform.pushed("-t", "qa").keys("created") == ["Q"])
        #expect(try platform.pushed("-t", "development").keys("created") == ["B", "D"])
        #expect(platform.records("P") == [])
        #expect(try platform.pushed().keys("created") == ["P"])

        // A record that lost the target is part of the target's changes.
        done(try platform.run("rm", "A", "-p", "web", "-t", "production", "--yes"))
        #expect(try platform.pushed("-t", "production").keys("updated") == ["A"])
        #expect(platform.records("A") == ["preview,development=A"])
        done(try platform.run("rm", "Q", "-p", "web", "--yes"))
        #expect(try platform.pushed("-t", "qa").keys("deleted") == ["Q"])
    }

    @Test func `variables that only Vercel has stay, unless --prune is given`() throws {
        let platform = try SandboxHome()
        try platform.set("A", "1")
        try platform.pushed()
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "OTHER", "value": "x", "type": "encrypted", "target": ["preview"]])
        try platform.pushed().expectNothing()
        #expect(platform.records("OTHER") == ["preview=x"])
        let plan = try json(
            platform.run("push", "-p", "web", "--prune", "--dry-run", "--json"))
        #expect(Set(plan.keys("deleted")) == ["OTHER", "SEED_ONLY"])
        #expect(platform.records("OTHER") == ["preview=x"])
        #expect(try platform.pushed("--prune", "-t", "preview").keys("deleted") == ["OTHER"])
        #expect(try platform.pushed("--prune").keys("deleted") == ["SEED_ONLY"])
        #expect(platform.stored.map(\.key) == ["A"])
    }

    @Test func `a push needs the passphrase, even if it sends no value`() throws {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let platform = try SandboxHome(keyring: keyring)
        try platform.set("A", "1")
        try platform.set("B", "2")
        try platform.pushed()
        done(try platform.run("rm", "B", "-p", "web", "--yes"))
        done(try platform.run("rm", "A", "-p", "web", "-t", "development", "--yes"))
        let writes = try platform.writes {
            try failedAsJSON(
                platform.run("push", "-p", "web", "--yes", "--json", unlocked: false), 3, "locked")
        }
        #expect(writes == [])
        let report = try platform.pushed()
        #expect(report.keys("deleted") == ["B"])
        #expect(report.keys("updated") == ["A"])
        #expect(platform.records("A") == ["production,preview=1"])
    }
}

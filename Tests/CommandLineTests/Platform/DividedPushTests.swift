internal import JSON
import Sandbox
import TestSupport
import Testing

/// A variable of the vault that is several on Vercel, and records that change twice in one push.
@Suite("Pushes of divided records")
struct DividedPushTests {
    private let platform: SandboxHome

    init() throws { platform = try SandboxHome(seed: SandboxHome.bareSeed) }

    private func acts(_ texts: String...) throws {
        for text in texts { try platform.server.perform(try #require(Act(text), "\(text)")) }
    }

    /// Vercel has K, with one value, for production and for preview by itself.
    private func divided() throws {
        try platform.set("K", "one", "-t", "production,preview")
        try platform.pushed()
        try acts(
            "set,key=K,newTargets=production", "create,key=K,value=one,targets=preview")
    }

    @Test func `both get a new value, and the vault has a record for each`() throws {
        try divided()
        try platform.set("K", "two", "-t", "production,preview")
        #expect(try platform.pushed().keys("updated") == ["K", "K"])
        #expect(platform.records("K") == ["preview=two", "production=two"])
        #expect(try platform.syncs("K") == ["synced", "synced"])
        try platform.pushed().expectNothing()
    }

    @Test func `nothing to send divides them too, so that a removal is seen`() throws {
        try divided()
        try platform.pushed().expectNothing()
        #expect(try platform.syncs("K") == ["synced", "synced"])
        try acts("remove,key=K,targets=preview")
        try failedReport(platform.push(), 5, "conflict").report.expectOnlyConflict("K")
        #expect(platform.records("K") == ["production=one"])
    }

    @Test func `a selected target brings the others of its variable`() throws {
        try divided()
        try platform.set("K", "two", "-t", "production,preview")
        #expect(try platform.pushed("-t", "preview").keys("updated") == ["K", "K"])
        #expect(platform.records("K") == ["preview=two", "production=two"])
        try platform.pushed().expectNothing()
    }

    @Test func `a forced push beside them keeps a stricter type`() throws {
        try platform.set("S", "secret", "-t", "production")
        try divided()
        try acts("set,key=S,type=sensitive", "set,key=S,value=theirs")
        try platform.set("K", "two", "-t", "production,preview")
        let report = try platform.pushed("--force")
        #expect(report.keys("deleted") == [] && report.keys("weakened") == [])
        #expect(platform.stored.first { $0.key == "S" }?.type == "sensitive")
        #expect(platform.records("K") == ["preview=two", "production=two"])
    }

    @Test func `a record shrinks and grows in one push`() throws {
        try platform.set("K", "one", "-t", "preview,development")
        try platform.pushed()
        try platform.set("K", "two", "-t", "development")
        try platform.set("K", "three", "-t", "production,preview")
        try platform.pushed()
        #expect(platform.records("K") == ["development=two", "production,preview=three"])
        try platform.pushed().expectNothing()
    }

    @Test func `force takes what was added to a record back`() throws {
        try platform.set("K", "one", "-t", "production", "--comment", "old")
        try platform.pushed()
        let path = "/v9/projects/web/env/\(try platform.id("K"))"
        try platform.teammate.send(
            "PATCH", path, ["target": ["production", "preview"], "comment": "new"])
        #expect(try platform.push().status == 5)
        try platform.pushed("K", "--force")
        #expect(platform.records("K") == ["production=one"])
        try platform.pushed().expectNothing()
    }

    @Test func `a removed variable that has another name on Vercel is a conflict`() throws {
        try platform.set("K", "one", "-t", "production")
        try platform.pushed()
        try acts("set,key=K,newKey=OTHER")
        done(try platform.run("rm", "K", "-p", "web", "--yes"))
        try failedReport(platform.push(), 5, "conflict").report.expectOnlyConflict("K")
        #expect(platform.records("OTHER") == ["production=one"])
    }

    @Test func `a record that left its targets is behind, also while production is hidden`() throws
    {
        try platform.set("K", "one", "-t", "production,preview")
        try platform.pushed()
        try acts("set,key=K,newTargets=development", "hide-production")
        try failedReport(platform.push(), 5, "conflict").report.expectOnlyConflict("K")
    }
}

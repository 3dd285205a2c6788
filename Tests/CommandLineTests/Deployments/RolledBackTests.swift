import JSON
import Sandbox
import TestSupport
import Testing

/// Production that was rolled back, where new deployments do not go live by themselves.
@Suite("Production that is rolled back")
struct RolledBackTests {
    @Test func `after a failed build and a rollback, each command says where production is`() throws
    {
        let platform = try SandboxHome()
        try platform.set("KEY", "one", "-t", "production")
        try platform.pushed("--redeploy")
        platform.server.setBuild(.fail)
        try platform.set("KEY", "two", "-t", "production")
        #expect(try platform.push("--redeploy").status == 9)
        let broken = try platform.deployments()[0]
        platform.server.setBuild(.ok)
        let rollback = done(try platform.run("rollback", "-p", "web", "--yes"))
        #expect(rollback.error.contains("Production is rolled back"), "\(rollback.error)")
        let live = try #require(try platform.current())

        let pinned = "Production of web is rolled back to \(live);"
        let status = done(try platform.run("status")).output
        #expect(status.contains(pinned), "\(status)")
        #expect(
            status.contains(
                "zg-env redeploy -p web  (1 not live yet: then promote the new deployment)"),
            "\(status)")
        let list = done(try platform.run("deployment", "list", "-p", "web"))
        #expect(list.error.contains("Production is rolled back"), "\(list.error)")
        let set = try platform.run(
            "set", "KEY", "-p", "web", "-t", "production", "--push", "--redeploy", "--yes",
            input: .text("three"))
        #expect(set.status == 9)
        for text in [
            "\(broken) ended in state ERROR; the same source is built again.",
            "Production is rolled back to \(live), so the new deployment goes live only when",
            "is built but not live: production is rolled back",
        ] {
            #expect(set.error.contains(text), "\(set.error)")
        }

        let built = try platform.deployments()[0]
        let advice = done(try platform.run("status")).output
        #expect(advice.contains(pinned), "\(advice)")
        #expect(
            advice.contains("zg-env promote \(built)  (1 not live yet: already built)"), "\(advice)"
        )
        let remedies = try json(platform.run("status", "--json"))["remedies"]
        #expect(remedies?.elements.map { $0["command"]?.text } == ["zg-env promote \(built)"])
        let plan = done(try platform.run("redeploy", "-p", "web", "--dry-run")).output
        #expect(plan.contains("\(built) already has these changes"), "\(plan)")

        done(try platform.run("promote", built, "--yes"))
        #expect(try platform.current() == built)
        let after = done(try platform.run("status")).output
        #expect(!after.contains("Rolled back") && !after.contains("What to do"), "\(after)")
    }

    @Test func `somebody else's rollback is known after --refresh`() throws {
        let platform = try SandboxHome()
        let first = try #require(try platform.current())
        try platform.set("KEY", "one", "-t", "production")
        try platform.pushed("--redeploy")
        #expect(
            !done(try platform.run("status", "-p", "web", "--refresh")).output.contains("Rolled"))
        try platform.teammate.send("POST", "/v1/projects/web/rollback/\(first)")
        platform.server.advanceClock(bySeconds: 60)
        let status = done(try platform.run("status", "-p", "web", "--refresh")).output
        #expect(status.contains("Production of web is rolled back to \(first);"), "\(status)")
        // Its deployment was live before: making it live again is for its owner to decide.
        #expect(status.contains("zg-env redeploy -p web  (1 not live yet"), "\(status)")
        let created = done(try platform.run("redeploy", "-p", "web", "--yes"))
        #expect(created.error.contains("Once it is built, make it live with: zg-env promote dpl_"))
    }
}

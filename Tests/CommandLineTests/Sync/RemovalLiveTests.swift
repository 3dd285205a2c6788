internal import JSON
import Sandbox
import TestSupport
import Testing

/// Production keeps a removed variable until it is rebuilt.
@Suite("Sync: whether a removal is live")
struct RemovalLiveTests {
    /// A project whose production was built with `A` and `B`.
    private func built() throws -> SandboxHome {
        let platform = try SandboxHome()
        for key in ["A", "B"] { try platform.set(key, "value", "-t", "production,preview") }
        try platform.pushed()
        done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
        return platform
    }

    private func notLive(_ platform: SandboxHome) throws -> [String] {
        try json(platform.run("status", "--json")).keys("notLive")
    }

    private func row(_ platform: SandboxHome, _ key: String, _ options: String...) throws
        -> JSONDocument?
    {
        try json(platform.runner(["list", "-p", "web", "--json"] + options).run())["variables"]?
            .elements.first { $0["key"] == .string(key) }
    }

    @Test(
        "SYNC-A8: status, list, redeploy and push report a removal that is not live"
    )
    func aRemovalWaitsForADeployment() throws {
        let platform = try built()
        done(try platform.run("rm", "A", "-p", "web", "--yes"))
        // Not pushed yet: that is another list.
        #expect(try notLive(platform) == [])
        #expect(try row(platform, "A") == nil)
        let report = try platform.pushed()
        #expect(report.keys("deleted") == ["A"] && report.keys("notLive") == ["A"])
        let current = try #require(try platform.current())
        #expect(platform.server.builtVariables(deployment: current)?["A"] == "value")

        let status = try json(platform.run("status", "--json"))
        #expect(status.keys("notLive") == ["A"] && status.keys("notPushed") == [])
        #expect(status["notLive"]?.elements.first?["deleted"] == true)
        #expect(status["remedies"]?.elements.map { $0["command"] } == ["zg-env redeploy -p web"])
        let text = done(try platform.run("status")).output
        #expect(text.contains("Not live yet"), "\(text)")
        #expect(text.contains("A  production, preview  (removed)"), "\(text)")
        let removed = try #require(try row(platform, "A"))
        #expect(removed["removed"] == true && removed["live"] == false)
        #expect(removed["sync"] == "synced")
        let other = try #require(try row(platform, "B"))
        #expect(other["removed"] == false && other["live"] == true)
        #expect(try row(platform, "A", "--deleted")?["live"] == false)
        let list = done(try platform.run("list", "-p", "web")).output
        #expect(list.contains("removed") && list.contains("not yet"), "\(list)")
        // Another read, pull and push report nothing new.
        done(try platform.run("list", "-p", "web", "--refresh"))
        done(try platform.run("pull", "-p", "web", "--yes"))
        try platform.pushed()
        #expect(try notLive(platform) == ["A"])

        let plan = try json(platform.run("redeploy", "-p", "web", "--dry-run", "--json"))
        #expect(plan["removedVariables"] == ["A"] && plan["changedVariables"] == [])
        let words = done(try platform.run("redeploy", "-p", "web", "--dry-run")).output
        #expect(words.contains("  removes from production: A\n"), "\(words)")
        let made = try json(platform.run("redeploy", "-p", "web", "--yes", "--wait", "--json"))
        #expect(made["removedVariables"] == ["A"] && made["current"] == true)
        #expect(try notLive(platform) == [])
        #expect(try row(platform, "A") == nil)
        #expect(try row(platform, "A", "--deleted")?["live"] == .null)
        let live = try #require(try platform.current())
        #expect(platform.server.builtVariables(deployment: live)?["A"] == nil)
    }

    @Test("SYNC-A8: somebody else's removal is not live before a deployment after it")
    func aRemovalElsewhere() throws {
        let platform = try built()
        _ = try platform.teammate.send("DELETE", "/v9/projects/web/env/\(try platform.id("A"))")
        done(try platform.run("pull", "-p", "web", "--yes"))
        #expect(try notLive(platform) == ["A"])
        done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
        #expect(try notLive(platform) == [])
    }

    @Test("SYNC-A8: only a removal from production waits, and only with a live deployment")
    func whatWaitsForNothing() throws {
        let platform = try built()
        try platform.set("C", "value", "-t", "preview")
        try platform.pushed()
        done(try platform.run("rm", "C", "-p", "web", "--yes"))
        try platform.pushed()
        #expect(try notLive(platform) == [])
        // `bare` has no deployment.
        done(
            try platform.run(
                "set", "D", "-p", "bare", "--raw", "-t", "production", "--push",
                "--yes", input: .text("v")))
        done(try platform.run("rm", "D", "-p", "bare", "--yes", "--push"))
        #expect(try notLive(platform) == [])
    }

    @Test("SYNC-A8: a rollback to before a removal makes it not live again")
    func rollback() throws {
        let platform = try built()
        let before = try #require(try platform.current())
        done(try platform.run("rm", "A", "-p", "web", "--yes", "--push"))
        try built(platform)
        #expect(try notLive(platform) == [])
        done(try platform.run("deployment", "rollback", before, "-p", "web", "--yes"))
        #expect(try served(platform, "A") == "value")
        done(try platform.run("list", "-p", "web", "--refresh"))
        #expect(try notLive(platform) == ["A"])
        try platform.pushed().expectNothing()
        // It was set again, so its removal is no longer pending.
        try platform.set("A", "other", "-t", "production")
        try platform.pushed()
        let plan = try json(platform.run("redeploy", "-p", "web", "--dry-run", "--json"))
        #expect(plan["removedVariables"] == [] && plan["changedVariables"] == ["A"])
    }

    @Test("SYNC-A8: a lost variable is not live if the record in its place was never sent")
    func halfDone() throws {
        let platform = try built()
        try platform.set("A", "new", "-t", "production")
        try platform.setFaults("POST /projects/*/env 400 x9")
        _ = try platform.run("push", "-p", "web", "--yes")
        done(try platform.run("rm", "A", "-p", "web", "-t", "production", "--yes"))
        #expect(try served(platform, "A") == "value")
        #expect(platform.records("A") == ["preview=value"])
        #expect(try notLive(platform) == ["A"])
    }

    @Test("SYNC-A8: a variable that is set again after a removal is pushed as a new one")
    func setAgain() throws {
        let platform = try built()
        done(try platform.run("rm", "A", "-p", "web", "--yes", "--push"))
        let text = try platform.run("restore-version", "A", "-p", "web", "1")
        done(text)
        #expect(try row(platform, "A")?["sync"] == "local")
        #expect(try platform.pushed().keys("created") == ["A"])
        done(try platform.run("rm", "B", "-p", "web", "--yes", "--push"))
        try platform.set("B", "other", "-t", "production")
        #expect(try platform.pushed().keys("created") == ["B"])
        #expect(Set(try notLive(platform)) == ["A", "B"])
        done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
        #expect(try notLive(platform) == [])
    }

    /// The environment of the live deployment.
    private func served(_ platform: SandboxHome, _ key: String) throws -> String? {
        platform.server.builtVariables(deployment: try #require(try platform.current()))?[key]
    }

    /// A change that removes `A`, and nothing else, from production.
    @Test(
        "SYNC-A8: a variable that loses only production, or is pruned, waits for a deployment too",
        arguments: ["rm", "set", "pull", "prune"])
    func leavesProduction(way: String) throws {
        let platform = try built()
        switch way {
        case "rm":
            done(try platform.run("rm", "A", "-p", "web", "-t", "production", "--yes"))
            let report = try platform.pushed()
            #expect(report.keys("updated") == ["A"] && report.keys("notLive") == ["A"])
        case "set":
            done(
                try platform.run(
                    "rm", "A", "-p", "web", "-t", "production", "--yes", "--push"))
        case "pull":
            _ = try platform.teammate.send(
                "PATCH", "/v9/projects/web/env/\(try platform.id("A"))", ["target": ["preview"]])
            done(try platform.run("pull", "-p", "web", "--yes"))
        default:
            try platform.teammate.send(
                "POST", "/v10/projects/web/env",
                [
                    "key": "THEIRS", "value": "v", "type": "encrypted", "target": ["production"],
                ])
            try built(platform)
            #expect(try served(platform, "THEIRS") == "v")
            let report = try platform.pushed("--prune")
            #expect(report.keys("deleted").contains("THEIRS"))
            #expect(report.keys("notLive").contains("THEIRS"))
        }
        let key = way == "prune" ? "THEIRS" : "A"
        #expect(try served(platform, key) != nil)
        #expect(try notLive(platform).contains(key))
        let list = try json(platform.run("list", key, "-p", "web", "--json"))
        let removed = list["variables"]?.elements.first { $0["removed"] == true }
        #expect(removed?["live"] == false && removed?["targets"] == ["production"])
        #expect(removed?["sync"] == "synced")
        // Another read, pull and push report nothing new, and it has no history.
        done(try platform.run("list", "-p", "web", "--refresh"))
        done(try platform.run("pull", "-p", "web", "--yes"))
        try platform.pushed().expectNothing()
        #expect(try notLive(platform).contains(key))
        if way == "prune" { failed(try platform.run("history", key, "-p", "web"), 4) }
        let plan = try json(platform.run("redeploy", "-p", "web", "--dry-run", "--json"))
        #expect(plan["removedVariables"]?.elements.contains(.string(key)) == true)
        try built(platform)
        #expect(try served(platform, key) == nil)
        #expect(try notLive(platform) == [])
        let rest = try json(
            platform.run("list", key, "-p", "web", "--deleted", "--json"))
        #expect(rest["variables"]?.elements.count == 0)
        done(try platform.run("verify"))
    }

    private func built(_ platform: SandboxHome) throws {
        done(try platform.run("redeploy", "-p", "web", "--yes", "--wait"))
    }

    @Test(
        "SYNC-A8: a variable that returns to production, or has a record there, is not removed"
    )
    func returns() throws {
        let platform = try built()
        // Two records instead of one: production has its own.
        try platform.set("A", "other", "-t", "production")
        try platform.pushed()
        #expect(platform.records("A") == ["preview=value", "production=other"])
        #expect(try row(platform, "A")?["removed"] == false)
        try built(platform)
        #expect(try notLive(platform) == [])
        done(try platform.run("rm", "B", "-p", "web", "-t", "production", "--yes", "--push"))
        #expect(try notLive(platform) == ["B"])
        try platform.set("B", "value", "-t", "production,preview")
        try platform.pushed()
        let status = try json(platform.run("status", "--json"))
        #expect(status["notLive"]?.elements.map { $0["deleted"] } == [false])
        try built(platform)
        #expect(try notLive(platform) == [])
    }

    @Test("SYNC-A8: a removed version is no longer in history's pushed versions, and may be pruned")
    func historyOfARemoval() throws {
        let platform = try built()
        done(try platform.run("rm", "A", "-p", "web", "--yes", "--push"))
        let history = try json(platform.run("history", "A", "-p", "web", "--json"))
        let versions = history["versions"]?.elements
        #expect(versions?.map { $0["pushed"] } == [false])
        done(try platform.run("verify"))
    }
}

import Foundation
import TestSupport
import Testing

/// A change made with the index key alone is listed until somebody with the values confirms it. A
/// key file opens the index here, as the desktop keyring would.
@Suite("Unconfirmed changes")
struct ChangedWhileLockedTests {
    /// The environment of a run that opens only the index.
    private func locked(_ home: CommandHome) -> [String: String] {
        ["ZG_ENV_KEY_FILE": home.directory.path("key")]
    }

    private func addKeyFile(_ home: CommandHome) throws {
        done(try home.run(["slot", "add", "file", home.directory.path("key")]))
    }

    private func setLocked(_ key: String, _ value: String, _ home: CommandHome) throws {
        done(
            try home.run(
                ["set", key, "-p", "web", "--raw"], input: .text(value), unlocked: false,
                environment: locked(home)))
    }

    /// The result's changes as "A: version" and so on.
    private func listed(_ document: JSONDocument) -> [String] {
        (document["changedWhileLocked"]?.elements ?? []).map { change in
            "\(change["key"]?.text ?? ""): \((change["changes"]?.texts ?? []).joined(separator: ", "))"
        }
    }

    @Test func `status lists the changes, and verifies them while the values are open`() throws {
        let home = try CommandHome.filled()
        try addKeyFile(home)
        let whole = try json(home.run(["status", "--json"]))
        #expect(whole["changedWhileLocked"] == [])
        #expect(whole["changesChecked"] == true)
        #expect(!(try home.run(["status"]).output.contains("while the values were locked")))

        try setLocked("A", "third", home)
        try setLocked("NEW", "new", home)
        let environment = locked(home)
        done(
            try home.run(
                ["rm", "B", "-p", "web", "--yes"], unlocked: false, environment: environment))
        let open = try json(home.run(["status", "--json"]))
        #expect(listed(open) == ["A: version", "B: removed", "NEW: added"])
        #expect(open["changesChecked"] == true)
        let first = open["changedWhileLocked"]?.elements.first
        #expect(first?["project"] == "web")
        #expect(first?["targets"] == ["production", "preview", "development"])
        let unchecked = try json(
            home.run(["status", "--json"], unlocked: false, environment: environment))
        #expect(listed(unchecked) == listed(open))
        #expect(unchecked["changesChecked"] == false)
        let text = done(
            try home.run(["status"], unlocked: false, environment: environment)
        ).output
        #expect(text.contains("3 variables were changed while the values were locked"))
        #expect(text.contains("not verified"))
        #expect(text.contains("B  production, preview, development: removed"))
        let closed = try json(home.run(["status", "--json"], unlocked: false))
        #expect(closed["changedWhileLocked"] == .null)
    }

    @Test func `a long list is cut for people and complete for scripts`() throws {
        let home = try CommandHome.filled()
        try addKeyFile(home)
        let lines = (0..<30).map { "KEY_\($0)=value \($0)\n" }.joined()
        done(
            try home.run(
                ["import", "-", "-p", "web"], input: .text(lines), unlocked: false,
                environment: locked(home)))
        #expect(listed(try json(home.run(["status", "--json"]))).count == 30)
        let text = try home.run(["status"]).output
        #expect(text.contains("and 20 more"))
        #expect(text.split(separator: "\n").count { $0.contains(": added") } == 10)
    }

    @Test func `a write with the values open confirms its own change and nothing else`() throws {
        let home = try CommandHome.filled()
        try addKeyFile(home)
        try setLocked("A", "third", home)
        try home.store(["B": "changed", "C": "new"])
        #expect(listed(try json(home.run(["status", "--json"]))) == ["A: version"])
    }

    @Test func `an equal value set while locked is unconfirmed until accepted`() throws {
        let home = try CommandHome.filled()
        try addKeyFile(home)
        for _ in 0..<3 { try setLocked("A", "second", home) }
        try home.store(["B": "other"])
        #expect(listed(try json(home.run(["status", "--json"]))) == ["A: version"])
        done(try home.run(["export", "-p", "web", "--accept-changes"]))
        #expect(listed(try json(home.run(["status", "--json"]))) == [])
        let history = try json(home.run(["history", "A", "-p", "web", "--json"]))
        let versions = history["versions"] ?? history["records"]?.elements.first?["versions"]
        #expect(versions?.elements.map { $0["version"] } == [1, 5])
    }

    // MARK: - push

    /// A sandbox whose `web` has A as in this vault, and a key file for the index.
    private func pushedHome() throws -> SandboxHome {
        let platform = try SandboxHome()
        try addKeyFile(platform.home)
        try platform.set("A", "first")
        try platform.pushed()
        return platform
    }

    @Test
    func `SEC-F1: push sends no change made while locked until it is accepted`()
        throws
    {
        let platform = try pushedHome()
        let home = platform.home
        try setLocked("A", "changed", home)
        try setLocked("B", "not sent", home)
        let before = try home.vaultBytes()
        for options in [[], ["--yes"]] {
            let asked = try platform.runner(["push", "A", "-p", "web"] + options).run()
            #expect(asked.status == 2)
            #expect(asked.error.contains("1 variable was changed while the values were locked"))
            #expect(asked.error.contains("web: A: value changed by set"))
            #expect(!asked.error.contains("B:"))
        }
        let plan = try json(
            platform.run("push", "A", "-p", "web", "--dry-run", "--json"))
        #expect(listed(plan) == ["A: version"])
        #expect(try home.vaultBytes() == before)
        #expect(platform.records("A").allSatisfy { $0.hasSuffix("=first") })

        let sent = try platform.pushed("A", "--accept-changes")
        #expect(sent.keys("updated") == ["A"])
        #expect(listed(try json(home.run(["status", "--json"]))) == ["B: added"])
        // An empty plan asks nothing.
        done(try platform.run("push", "A", "-p", "web"))
    }

    @Test func `set --push and rm --push take the passphrase and ask nothing else`() throws {
        let platform = try pushedHome()
        let home = platform.home
        var environment = locked(home)
        environment["ZG_ENV_API_URL"] = platform.url
        let refused = try home.run(
            ["set", "A", "-p", "web", "--push", "--yes", "--raw"], input: .text("at hand"),
            unlocked: false,
            environment: environment)
        #expect(refused.status == 3, "\(refused.error)")
        environment["ZG_ENV_KEY_FILE"] = nil
        let set = try json(
            home.run(
                ["set", "A", "-p", "web", "--push", "--yes", "--json", "--raw"],
                input: .text("at hand"),
                environment: environment))
        #expect(set["push"]?.keys("updated") == ["A"])
        let removed = try json(
            home.run(
                ["rm", "A", "-p", "web", "--push", "--yes", "--json"], environment: environment))
        #expect(removed["push"]?.keys("deleted") == ["A"])
        #expect(listed(try json(home.run(["status", "--json"]))) == [])
    }

    @Test func `a removal made while locked is pushed only with the passphrase`() throws {
        let platform = try pushedHome()
        let home = platform.home
        var environment = locked(home)
        done(
            try home.run(
                ["rm", "A", "-p", "web", "--yes"], unlocked: false, environment: environment))
        environment["ZG_ENV_API_URL"] = platform.url
        let locked = try home.run(
            ["push", "-p", "web", "--yes"], unlocked: false, environment: environment)
        #expect(locked.status == 3, "\(locked.error)")
        let asked = try platform.run("push", "-p", "web", "--yes")
        #expect(asked.status == 2, "\(asked.error)")
        #expect(!platform.records("A").isEmpty)
        done(try platform.run("push", "-p", "web", "--yes", "--accept-changes"))
        #expect(platform.records("A") == [])
        #expect(listed(try json(home.run(["status", "--json"]))) == [])
    }
}

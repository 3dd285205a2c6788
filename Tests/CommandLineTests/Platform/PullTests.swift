import JSON
import Sandbox
import TestSupport
import Testing

/// What a pull changes, what it leaves alone, and when it asks.
@Suite("Pull")
struct PullTests {
    @Test func `a project on Vercel is created in the vault, with every record`() throws {
        let platform = try SandboxHome()
        try platform.create("PLAIN", "p", type: "plain")
        try platform.create("LINES", "a\nb=\"c\"\n", ["target": ["preview", "development"]])
        try platform.create("BRANCH", "b", ["target": ["preview"], "gitBranch": "feature"])
        try platform.create("QA", "q", ["target": [], "customEnvironmentIds": [try platform.qa()]])
        try platform.create("SECRET", "s", ["target": ["production"]], type: "sensitive")
        try platform.create("VERCEL_URL", "VERCEL_URL", type: "system")
        let report = try platform.pulled()
        #expect(
            report.keys("created") == ["BRANCH", "LINES", "PLAIN", "QA", "SECRET", "SEED_ONLY"])
        #expect(report["projectCreated"] == .bool(true))
        #expect(report.keys("unreadable") == ["SECRET"])
        #expect(report.keys("skipped") == ["VERCEL_URL"])
        #expect(report["compared"] == .bool(true))
        #expect(try platform.home.revealed("LINES", "-t", "preview") == Array("a\nb=\"c\"\n".utf8))
        #expect(try platform.home.revealed("BRANCH") == Array("b".utf8))
        #expect(try platform.home.revealed("QA") == Array("q".utf8))
        #expect(try platform.run("reveal", "SECRET", "-p", "web").status == 4)
        let states = try platform.states()
        #expect(states["SECRET"] == "unreadable")
        #expect(states.filter { $0.key != "SECRET" }.allSatisfy { $0.value == "synced" })
        // Then push and pull have nothing to do.
        try platform.pulled().expectNothingPulled()
        let writes = try platform.writes { try platform.pushed().expectNothing() }
        #expect(writes == [])
        // An unknown id does not create another project.
        try failedAsJSON(
            platform.run("pull", "-p", "prj-unknown", "--json"), 4, "not_found")
    }

    @Test func `changes, removals and new variables come in, and history stays`() throws {
        let platform = try SandboxHome()
        for key in ["CHANGED", "GONE", "NOTED", "SAME", "MOVED"] { try platform.set(key, "old") }
        try platform.pushed()
        try platform.change("CHANGED", ["value": "new"])
        try platform.change("NOTED", ["comment": "a note"])
        try platform.change("MOVED", ["target": ["production"]])
        try platform.delete("GONE")
        try platform.create("NEW", "n")
        let report = try platform.pulled("--yes")
        #expect(report.keys("created") == ["NEW", "SEED_ONLY"])
        #expect(report.keys("updated") == ["CHANGED", "MOVED", "NOTED"])
        #expect(report.keys("deleted") == ["GONE"])
        #expect(report.keys("unchanged") == ["SAME"])
        #expect(try platform.home.revealed("CHANGED") == Array("new".utf8))
        #expect(try platform.home.revealed("CHANGED", "--version", "1") == Array("old".utf8))
        done(try platform.run("restore-version", "GONE", "1", "-p", "web"))
        #expect(try platform.home.revealed("GONE") == Array("old".utf8))
        done(try platform.run("rm", "GONE", "-p", "web", "--yes"))
        let shown = try json(platform.run("show", "NOTED", "-p", "web", "--json"))
        #expect(shown["records"]?.elements.first?["comment"] == "a note")
        #expect(shown["records"]?.elements.first?["version"] == .integer(1))
        #expect(try platform.states().values.allSatisfy { $0 == "synced" })
        try platform.pulled().expectNothingPulled()
        try platform.pushed().expectNothing()
    }

    @Test func `it asks only before it replaces or removes a value of the vault`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old")
        try platform.pushed()
        // New records and comments lose nothing.
        try platform.change("KEY", ["comment": "n"])
        #expect(try platform.pulled().keys("created") == ["SEED_ONLY"])
        for change: JSONValue in [["value": "new"], ["target": ["production"]]] {
            try platform.change("KEY", change)
            let asked = try platform.run("pull", "-p", "web")
            #expect(asked.status == 2)
            #expect(asked.error.contains("confirmation"))
            try failedAsJSON(platform.run("pull", "-p", "web", "--json"), 2, "usage")
            let plan = try platform.pulled("--dry-run")
            #expect(plan.keys("updated") == ["KEY"] && plan["dryRun"] == .bool(true))
            #expect(try platform.home.revealed("KEY") == Array("old".utf8))
            try platform.change("KEY", ["value": "old"])
        }
        try platform.delete("KEY")
        #expect(try platform.run("pull", "-p", "web").status == 2)
        #expect(try platform.run("pull", "-p", "web", "--dry-run").status == 0)
        #expect(try platform.states()["KEY"] != nil)
        #expect(try platform.pulled("--yes").keys("deleted") == ["KEY"])
        #expect(try platform.states()["KEY"] == nil)
    }

    @Test func `on a terminal the plan is shown, and "no" changes nothing`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old")
        try platform.pushed()
        try platform.change("KEY", ["value": "new"])
        for (answer, status) in [("n", Int32(1)), ("y", 0)] {
            var runner = platform.home.terminalRunner(
                ["pull", "-p", "web"], script: [(.terminal("Pull web?"), .line(answer))])
            runner.environment["ZG_ENV_API_URL"] = platform.url
            runner.environment["ZG_ENV_PASSPHRASE_FILE"] = platform.home.passphrasePath
            let result = try runner.run()
            #expect(result.status == status, "\(result.error)")
            #expect(result.error.contains("update KEY for production, preview, development"))
            #expect(!result.error.contains("new"))
        }
        #expect(try platform.home.revealed("KEY") == Array("new".utf8))
    }

    @Test func `a sensitive value stays as it is in the vault`() throws {
        let platform = try SandboxHome()
        try platform.set("SECRET", "mine", "--type", "sensitive")
        try platform.set("HARDENED", "clear", "-t", "production")
        try platform.pushed()
        try platform.change("SECRET", ["value": "theirs"])
        try platform.change("HARDENED", ["type": "sensitive"])
        let report = try platform.pulled("--yes")
        #expect(Set(report.keys("unreadable")) == ["SECRET", "HARDENED"])
        #expect(report.reasons("unreadable").allSatisfy { $0.contains("stays out of sync") })
        #expect(try platform.home.revealed("SECRET") == Array("mine".utf8))
        #expect(try platform.home.revealed("HARDENED") == Array("clear".utf8))
        // The vault may have another value than Vercel: that is recorded until it is resolved.
        for _ in 0..<2 {
            #expect(try platform.states()["SECRET"] == "behind")
            #expect(try platform.states()["HARDENED"] == "behind")
            #expect(Set(try platform.pulled("--yes").keys("unreadable")) == ["SECRET", "HARDENED"])
        }
        let status = try json(platform.run("status", "-p", "web", "--json"))
        let command = status["behind"]?.elements.first { $0["key"]?.text == "SECRET" }?["command"]
        #expect(command?.text == "zg-env set SECRET -p web")
        let push = try failedReport(platform.push(), 5, "conflict").report
        #expect(Set(push.keys("conflicts")) == ["SECRET", "HARDENED"])
        #expect(platform.records("SECRET") == ["production,preview=theirs"])
        // A pull cannot resolve it: the value is never shown.
        let taken = try failedReport(platform.pull("HARDENED", "--force", "--yes"), 5, "conflict")
        #expect(taken.report.reasons("conflicts").allSatisfy { $0.contains("cannot be pulled") })
        #expect(try platform.states()["HARDENED"] == "behind")
        try platform.pushed("SECRET", "HARDENED", "--force")
        #expect(platform.records("SECRET") == ["production,preview=mine"])
        #expect(platform.records("HARDENED") == ["production=clear"])
        #expect(try platform.states()["SECRET"] == "synced")
        #expect(try platform.states()["HARDENED"] == "synced")
        try platform.pushed().expectNothing()
    }

    @Test func `a sensitive value that was changed on Vercel is not overwritten by a set either`()
        throws
    {
        let platform = try SandboxHome()
        try platform.set("SECRET", "mine", "--type", "sensitive")
        try platform.pushed()
        try platform.change("SECRET", ["value": "theirs"])
        try platform.pulled("--yes")
        try platform.set("SECRET", "newer", "--type", "sensitive")
        #expect(try platform.states()["SECRET"] == "diverged")
        #expect(try platform.run("push", "-p", "web", "--yes").status == 5)
        #expect(platform.records("SECRET") == ["production,preview=theirs"])
        // A pull without the key's name resolves nothing.
        #expect(try platform.run("pull", "-p", "web", "--force", "--yes").status == 5)
        #expect(try platform.states()["SECRET"] == "diverged")
        try platform.pushed("SECRET", "--force")
        #expect(platform.records("SECRET") == ["production,preview=newer"])
        #expect(try platform.states()["SECRET"] == "synced")
    }

    @Test func `an empty value is stored with a warning, a hidden one is not`()
        throws
    {
        let platform = try SandboxHome()
        try platform.set("KEY", "old")
        try platform.pushed()
        try platform.change("KEY", ["value": ""])
        try platform.create("EMPTY", "")
        try platform.create("SECRET", "s", ["target": ["production"]], type: "sensitive")
        let report = try platform.pulled("--yes")
        #expect(report.keys("updated") == ["KEY"])
        let warnings = report["warnings"]?.elements.compactMap { $0["message"]?.text } ?? []
        #expect(warnings.count == 2, "\(warnings)")
        #expect(try platform.home.revealed("KEY") == [])
        #expect(try platform.home.revealed("EMPTY") == [])
        #expect(try platform.run("reveal", "SECRET", "-p", "web").status == 4)
    }

    @Test func `a dry run works with values locked, and says that it did not compare them`()
        throws
    {
        let keyring = try PrivateKeyring()
        defer { withExtendedLifetime(keyring) {} }
        let platform = try SandboxHome(keyring: keyring)
        try platform.set("KEY", "old")
        try platform.set("NOTED", "n")
        try platform.pushed()
        try platform.change("KEY", ["value": "new"])
        try platform.change("NOTED", ["comment": "c"])
        try platform.create("NEW", "n")
        let before = try platform.home.vaultBytes()
        try failedAsJSON(
            platform.run("pull", "-p", "web", "--yes", "--json", unlocked: false), 3, "locked")
        let planned = try platform.run("pull", "-p", "web", "--dry-run", unlocked: false)
        done(planned)
        #expect(planned.error.contains("were not compared"))
        #expect(try platform.home.vaultBytes() == before)
        _ = try platform.pulled("--yes")
        #expect(try platform.home.revealed("KEY") == Array("new".utf8))
        #expect(try platform.home.revealed("NEW") == Array("n".utf8))
        #expect(try platform.states().values.allSatisfy { $0 == "synced" })
        // Values that cannot be compared do not count as equal.
        try platform.set("BOTH", "same")
        try platform.create("BOTH", "same")
        let (report, message) = try failedReport(
            platform.run("pull", "-p", "web", "--dry-run", "--json", unlocked: false), 5,
            "conflict")
        #expect(report.keys("conflicts") == ["BOTH"])
        #expect(message.contains("values are locked"))
        let adopted = try platform.pulled()
        #expect(adopted.keys("unchanged").contains("BOTH"))
        #expect(try platform.states()["BOTH"] == "synced")
    }

    @Test func `targets and keys select what is pulled`() throws {
        let platform = try SandboxHome()
        try platform.create("P", "p", ["target": ["production"]])
        try platform.create("D", "d", ["target": ["development"]])
        #expect(try platform.pulled("-t", "development").keys("created") == ["D"])
        #expect(try platform.pulled("P").keys("created") == ["P"])
        try failedAsJSON(platform.pull("NONE"), 4, "not_found")
        try failedAsJSON(platform.pull("-t", "nowhere"), 2, "usage")
        try failedAsJSON(platform.pull("-t", "prod"), 2, "usage")
        try failedAsJSON(platform.pull("P", "--all-projects"), 2, "usage")
        for command in ["pull", "list", "scan"] {
            failed(
                try platform.run(command, "-p", "web", "--all-projects"), 2,
                "--project and --all-projects cannot be used together.")
        }
        // An environment variable set for every command is not a contradiction.
        done(
            try platform.run(
                "pull", "--all-projects", "--dry-run", environment: ["ZG_ENV_PROJECT": "web"]))
        #expect(try platform.pulled().keys("created") == ["SEED_ONLY"])
    }

    @Test func `the audit log names what was pulled`() throws {
        let platform = try SandboxHome()
        try platform.pulled()
        let log = try json(platform.run("log", "--json"))
        let lines = log["entries"]?.elements.filter { $0["command"] == "pull" } ?? []
        #expect(lines.count == 1, "\(log)")
        #expect(lines.allSatisfy { $0["names"] == ["SEED_ONLY"] && $0["project"] == "web" })
    }
}

// MARK: Changes in the dashboard

extension SandboxHome {
    /// Creates a record of `web`, for all targets unless `more` says otherwise.
    func create(
        _ key: String, _ value: String, _ more: [String: JSONValue] = [:],
        type: String = "encrypted"
    ) throws {
        var members: [String: JSONValue] = [
            "key": .string(key), "value": .string(value), "type": .string(type),
            "target": ["production", "preview", "development"],
        ]
        members.merge(more) { $1 }
        try teammate.send("POST", "/v10/projects/web/env", .members(members))
    }

    /// Changes the only record of a key of `web`.
    func change(_ key: String, _ change: JSONValue) throws {
        // A change within one millisecond would have the same timestamp.
        server.advanceClock(bySeconds: 1)
        try teammate.send("PATCH", "/v9/projects/web/env/\(try id(key))", change)
    }

    /// Deletes the only record of a key of `web`.
    func delete(_ key: String) throws {
        try teammate.send("DELETE", "/v9/projects/web/env/\(try id(key))")
    }

    /// The custom environment's id.
    func qa() throws -> JSONValue {
        let list = try teammate.send("GET", "/v9/projects/web/custom-environments")
        return try #require(list["environments"]?.array?.first?["id"])
    }

    /// Runs `pull -p web --json` with more arguments.
    func pull(_ arguments: String...) throws -> ProgramResult {
        try runner(["pull", "-p", "web", "--json"] + arguments).run()
    }

    /// Returns the report of a successful pull.
    @discardableResult
    func pulled(
        _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSONDocument {
        try json(
            runner(["pull", "-p", "web", "--json"] + arguments).run(),
            sourceLocation: sourceLocation)
    }

    /// The sync state of each key of `web` in `list`.
    func states() throws -> [String: String] {
        let list = try json(run("list", "-p", "web", "--json"))
        return Dictionary(
            (list["variables"]?.elements ?? []).filter { $0["removed"] == false }.compactMap {
                variable in
                variable["key"]?.text.map { ($0, variable["sync"]?.text ?? "") }
            }, uniquingKeysWith: { $0 + "," + $1 })
    }
}

extension JSONDocument {
    /// Expects the report of a pull that changed nothing.
    func expectNothingPulled(sourceLocation: SourceLocation = #_sourceLocation) {
        for list in ["created", "updated", "deleted", "conflicts"] {
            #expect(self[list] == [], "\(self)", sourceLocation: sourceLocation)
        }
    }
}

import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// How what somebody knows is replaced by plans, and what `exposure` says without a group.
@Suite("Replacing what somebody knows")
struct ReplacingTests {
    /// A group whose project is on the sandbox; Bob was removed.
    private final class Team {
        let homes: GroupHomes
        let server: SandboxServer
        let url: String

        init() throws {
            homes = try GroupHomes(git: false)
            var configuration = SandboxConfiguration()
            configuration.seed = try Seed(json: Array(SandboxHome.bareSeed.utf8))
            server = try SandboxServer(configuration: configuration)
            let token: String
            (url, token) = try server.start()
            done(try run("login", input: .text(token + "\n")))
            for (key, value) in [("A", "first-secret"), ("B", "second-secret"), ("C", "third")] {
                try homes.set("alice", key, value, "-t", "production", "--type", "encrypted")
            }
            done(try run("push", "-p", "web", "--yes"))
            done(try run("redeploy", "-p", "web", "--wait", "--yes"))
            try homes.share("alice")
            try homes.admit("bob", by: "alice")
            try homes.admit("carol", by: "alice")
            done(try run("group", "remove", "bob", "--yes"))
            // What Carol writes afterwards shows that she knows of it.
            done(try homes.run("carol", "sync"))
            try homes.set("carol", "AFTERWARDS", "unknown-to-bob", "-t", "development")
            for name in ["carol", "alice"] { done(try homes.run(name, "sync")) }
        }

        deinit { server.stop() }

        func run(
            _ arguments: String..., input: ProgramRunner.Input = .null
        ) throws -> ProgramResult {
            try homes.home("alice").runner(
                arguments, input: input, environment: ["ZG_ENV_API_URL": url]
            ).run()
        }

        func write(_ text: String, to name: String) throws -> String {
            let path = homes.directory.path(name)
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            return path
        }
    }

    @Test func `a plan replaces only what is known, and what it lacks is named`() throws {
        let team = try Team()
        try team.homes.set("alice", "OTHER", "unknown-to-bob", "-t", "production")
        let plan = try team.write(
            """
            {"rotations": [
              {"key": "A", "project": "web", "generate": "hex:16", "redeploy": true},
              {"key": "OTHER", "project": "web", "fromCommand": "exit 1"}]}
            """, to: "plan.json")
        let rotated = try team.run(
            "rotate", "--plan", plan, "--exposed-to", "bob", "--yes", "--json")
        #expect(rotated.status == 1)
        let found = try JSONDocument(rotated.standardOutput)
        #expect(
            found["rotations"]?.elements.compactMap { $0["outcome"]?.text }.last == "not_exposed")
        #expect(found["missing"]?.elements.compactMap { $0["key"]?.text } == ["B", "C"])
        #expect(
            rotated.error.contains("The plan does not cover B in web, C in web."),
            "\(rotated.error)")
        // The skeleton has what is missing, and does nothing as it is.
        let new = team.homes.directory.path("new.json")
        let written = try json(
            team.run(
                "rotate", "--exposed-to", "bob", "--plan", plan, "--plan-skeleton", new, "--json"))
        #expect(written["rotations"] == 2)
        failed(
            try team.run(
                "rotate", "--exposed-to", "bob", "--plan", plan, "--plan-skeleton", new), 5)
        let skeleton = try String(contentsOfFile: new, encoding: .utf8)
        let before = try team.homes.value("alice", "B")
        let failing = try team.run("rotate", "--plan", new, "--exposed-to", "bob", "--yes")
        #expect(failing.status == 1, "\(failing.error)")
        #expect(try team.homes.value("alice", "B") == before)
        // Completed, it finishes.
        _ = try team.write(
            skeleton.replacingOccurrences(
                of: "echo 'write a recipe first' >&2; exit 1", with: "date +%N | tail -c 7"),
            to: "complete.json")
        let finished = try team.run(
            "rotate", "--plan", team.homes.directory.path("complete.json"), "--exposed-to", "bob",
            "--yes", "--json")
        #expect(finished.status == 0, "\(finished.error)\(finished.output)")
        let end = try JSONDocument(finished.standardOutput)
        #expect(end["exposure"]?["isSettled"] == true)
        // Who replaced what, when, and how that was proved.
        let report = team.homes.directory.path("report.md")
        done(try team.run("group", "exposure", "bob", "--report", report))
        let rows = try String(contentsOfFile: report, encoding: .utf8).split(separator: "\n")
            .filter { $0.hasPrefix("| ") && $0.contains("| web |") }
        #expect(rows.count == 3)
        for row in rows {
            #expect(
                row.contains(
                    /replaced, by a rotation, live \| 20[0-9T:-]+Z, rotation [0-9a-f]{8}, proof: deployment \|/
                ), "\(row)")
        }
        done(try team.run("verify", "--report", report, "--json"))
        let nothing = done(
            try team.run("rotate", "--exposed-to", "bob", "--plan-skeleton", new + "2"))
        #expect(nothing.output.contains("covers everything"))
        #expect(!FileManager.default.fileExists(atPath: new + "2"))
    }

    @Test func `the options need each other`() throws {
        let team = try Team()
        failed(try team.run("rotate", "A", "-p", "web", "--exposed-to", "bob"), 2, "--plan")
        failed(try team.run("rotate", "--plan-skeleton", "x"), 2, "--exposed-to")
        failed(try team.run("rotate", "--exposed-to", "eve", "--plan-skeleton", "x"), 4, "eve")
        failed(
            try team.homes.run("carol", "rotate", "--exposed-to", "bob", "--plan-skeleton", "x"), 6)
    }

    @Test func `what was not compared or not seen is not settled`() throws {
        let team = try Team()
        for key in ["A", "B", "C"] {
            try team.homes.set("alice", key, "replaced-\(key)", "-t", "production")
        }
        done(try team.run("push", "-p", "web", "--yes"))
        done(try team.run("redeploy", "-p", "web", "--wait", "--yes"))
        done(try team.homes.run("alice", "sync"))
        done(try team.run("group", "exposure", "bob"))
        let before = try team.homes.home("alice").vaultBytes()
        // Without a look at Vercel nothing is known of what is live.
        #expect(try team.run("group", "exposure", "bob", "--dry-run").status == 1)
        done(try team.run("exposure", "--since", "1d", "--dry-run"))
        #expect(try team.homes.home("alice").vaultBytes() == before)
        // A project that this vault no longer uses.
        done(try team.run("project", "remove", "web", "--yes"))
        let report = team.homes.directory.path("unused.md")
        let unused = try team.run("group", "exposure", "bob", "--report", report)
        #expect(unused.status == 1)
        #expect(unused.output.contains("zg-env group adopt web@acme"), "\(unused.output)")
        #expect(
            done(try team.run("verify", "--report", report)).output.contains("not everything"))
        let plan = try team.write(
            #"{"rotations": [{"key": "A", "project": "web", "generate": "hex:16"}]}"#,
            to: "plan.json")
        #expect(try team.run("rotate", "--plan", plan, "--exposed-to", "bob", "--yes").status == 1)
        failed(
            try team.run(
                "group", "exposure", "bob", "--accept-silent", "carol", "--reason",
                String(repeating: "r", count: 1_025)), 2, "1,024 bytes")
    }

    @Test func `what is live of a project that is linked elsewhere is not known`() throws {
        let homes = try GroupHomes(git: false)
        let platform = try SandboxHome()
        let place = ["ZG_ENV_API_URL": platform.url]
        try homes.set("alice", "A", "first-secret", "-t", "production")
        try homes.share("alice")
        try homes.admit("bob", by: "alice", "--role", "admin")
        let bob = try homes.home("bob")
        done(try bob.run(["login"], input: .text(platform.token + "\n"), environment: place))
        done(try bob.run(["push", "-p", "web", "--yes"], environment: place))
        done(try homes.run("bob", "sync"))
        done(try homes.run("alice", "sync"))
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        try homes.set("alice", "A", "second-secret", "-t", "production")
        done(try homes.run("alice", "sync"))
        let found = try homes.run("alice", "group", "exposure", "bob")
        #expect(found.status == 1)
        #expect(found.output.contains("it is not known which values are live"), "\(found.output)")
    }

    @Test func `rekey says that the keys of a group stay, and how to replace them`() throws {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "first-secret")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        let rekeyed = done(try homes.run("bob", "rekey", "--yes"))
        let member = try #require(
            homes.group("bob")["members"]?.elements.first { $0["isThisVault"] == true }?["member"]?
                .text)
        #expect(
            rekeyed.error.contains("zg-env group remove \(member.prefix(8))"), "\(rekeyed.error)")
        // As it says: afterwards the old keys open nothing new.
        done(try homes.run("alice", "group", "remove", String(member.prefix(8)), "--yes"))
        failed(try homes.run("bob", "sync"), 6)
        let invite = try homes.object("alice", ["group", "invite", "bob", "--yes"])
        let code = try #require(invite["code"]?.text)
        done(
            try homes.run(
                "bob", "group", "join", homes.place, "--group", "acme",
                input: .text(code + "\n")))
        done(try homes.run("alice", "sync", "--admit"))
        try homes.set("alice", "A", "second-secret")
        try homes.settle("alice", "bob")
        #expect(try homes.value("bob", "A") == "second-secret")
    }

    @Test func `sync warns of a value that somebody who left can read`() throws {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "first-secret")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.admit("carol", by: "alice")
        try homes.settle("alice", "bob", "carol")
        try homes.set("carol", "A", "second-secret")
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        try homes.withoutNewestEntry {
            try homes.deleteCopies("carol")
            done(try homes.run("carol", "sync"))
        }
        let synced = done(try homes.run("alice", "sync"))
        #expect(
            synced.error.contains(
                "web: bob, who left, can read the value of A that carol stored before they synced."),
            "\(synced.error)")
        #expect(!done(try homes.run("alice", "sync")).error.contains("who left"))
        // One that was stored afterwards is not known.
        done(try homes.run("carol", "sync"))
        try homes.set("carol", "A", "third-secret")
        done(try homes.run("carol", "sync"))
        #expect(!done(try homes.run("alice", "sync")).error.contains("who left"))
    }

    @Test func `without a group, all that was stored before a time is known`() throws {
        let home = try SandboxHome()
        func set(_ key: String, _ value: String, _ project: String = "web") throws {
            done(
                try home.home.run(
                    ["set", key, "-p", project, "-t", "production", "--raw"], input: .text(value)))
        }
        func exposure(_ arguments: String...) throws -> (JSONDocument, ProgramResult) {
            let result = try home.home.run(["exposure", "--json"] + arguments)
            return (try JSONDocument(result.standardOutput), result)
        }
        try set("A", "first-secret")
        try set("B", "second-secret")
        try set("LEVEL", "debug")
        var (found, result) = try exposure("--since", "0s")
        #expect(result.status == 1)
        #expect(found["variables"]?.elements.compactMap { $0["key"]?.text } == ["A", "B", "LEVEL"])
        #expect(result.error.contains("3 variables are left to replace."))
        (found, result) = try exposure("--since", "1h")
        #expect(result.status == 0 && found["variables"]?.elements.isEmpty == true)
        // A new value is a replacement, an old one again is not, nor is a copy elsewhere.
        let time = try #require(found["asOf"]?.text)
        repeat { (found, _) = try exposure("--since", "0s") } while found["asOf"]?.text == time
        let since = try #require(found["asOf"]?.text)
        try set("A", "replaced-secret")
        try set("B", "between")
        try set("B", "second-secret")
        try set("COPY", "first-secret", "other")
        (found, result) = try exposure("--since", since, "--except", "LEVEL")
        #expect(result.status == 1)
        let rows = found["variables"]?.elements ?? []
        #expect(rows.compactMap { $0["key"]?.text } == ["A", "B"])
        #expect(rows.map { $0["standing"]?.text } == ["replaced", "known"])
        #expect(rows.first?["copies"]?.texts == ["COPY in other"])
        try set("B", "other-secret")
        try set("COPY", "different", "other")
        let text = try home.home.run([
            "exposure", "--since", since, "--except", "LEVEL", "-p", "web",
        ])
        #expect(text.status == 0, "\(text.output)\(text.error)")
        #expect(text.output.contains("Nothing is left to replace."))
        #expect(!(text.output + text.error).contains("secret"))
        failed(try home.home.run(["exposure"]), 2, "--since")
        for wrong in ["yesterday", "2026-02-30", "2026-13-01", "1969-12-31", "3"] {
            failed(try home.home.run(["exposure", "--since", wrong]), 2, "not a time")
        }
    }
}

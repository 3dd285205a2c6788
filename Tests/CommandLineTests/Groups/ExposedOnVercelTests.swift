import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// `exposure` and `group exposure` of projects that are linked to Vercel.
@Suite("VAL-A3: what a member who left knows and Vercel has")
struct ExposedOnVercelTests {
    /// How the value that Bob knows reached Vercel.
    enum Way: String, CaseIterable, Sendable {
        /// By Bob's push, of which this vault was never told.
        case unsynced
        case dashboard
        /// By Bob's push, which the group knows.
        case synced
    }

    private let homes: GroupHomes
    private let platform: SandboxHome

    init() throws {
        homes = try GroupHomes(git: false)
        platform = try SandboxHome(
            seed: SandboxHome.bareSeed, hasVault: false, isLoggedIn: false)
        homes.environment["ZG_ENV_API_URL"] = platform.url
        try homes.set("alice", "SECRET", "known-to-bob", "-t", "production", "--type", "encrypted")
        for name in ["alice", "bob"] {
            _ = try homes.home(name)
            done(try homes.run(name, "login", input: .text(platform.token + "\n")))
        }
        done(try homes.run("alice", "link", "web"))
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        done(try homes.run("bob", "group", "adopt", "web", "--bind", "--yes"))
        try homes.settle("alice", "bob")
    }

    private func bring(_ way: Way) throws {
        switch way {
        case .dashboard:
            try platform.teammate.send(
                "POST", "/v10/projects/web/env",
                [
                    "key": "SECRET", "value": "known-to-bob", "type": "encrypted",
                    "target": ["production"],
                ])
        case .synced, .unsynced:
            done(try homes.run("bob", "push", "SECRET", "-p", "web", "--yes"))
        }
        if way == .synced { try homes.settle("bob", "alice") }
        done(try homes.run("bob", "redeploy", "-p", "web", "--wait", "--yes"))
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
    }

    private func exposure(
        _ arguments: String...
    ) throws -> (status: Int32?, isSettled: Bool, vercel: String?, text: String) {
        let result = try homes.run(
            "alice", ["group", "exposure", "bob", "--json"] + arguments)
        let found = try JSONDocument(result.standardOutput)
        return (
            result.status, found["isSettled"] == true,
            found["variables"]?.elements.first?["vercel"]?.text, result.output + result.error
        )
    }

    private func expectLeft(_ comment: Comment) throws {
        let found = try exposure()
        #expect(found.status == 1 && !found.isSettled, comment)
        let report = homes.directory.path("left.md")
        _ = try exposure("--report", report, "--force")
        #expect(
            done(try homes.run("alice", "verify", "--report", report)).output.contains(
                "not everything"), comment)
    }

    @Test(arguments: Way.allCases)
    func `a new value in the vault settles nothing before it is live`(way: Way) throws {
        try bring(way)
        try homes.set("alice", "SECRET", "new", "-t", "production")
        done(try homes.run("alice", "sync"))
        try expectLeft("\(way)")
        // As the messages say.
        done(
            try homes.run("alice", "push", "SECRET", "-p", "web", "--force", "--yes"))
        done(try homes.run("alice", "sync"))
        try expectLeft("\(way), not deployed")
        done(try homes.run("alice", "redeploy", "-p", "web", "--wait", "--yes"))
        done(try homes.run("alice", "sync"))
        let found = try exposure()
        #expect(found.status == 0 && found.isSettled && found.vercel == "live", "\(found)")
    }

    @Test(arguments: Way.allCases)
    func `a removal settles nothing before Vercel and production have no such name`(
        way: Way
    ) throws {
        try bring(way)
        done(try homes.run("alice", "rm", "SECRET", "-p", "web", "--yes"))
        done(try homes.run("alice", "sync"))
        try expectLeft("\(way)")
        for record in platform.stored where record.key == "SECRET" {
            try platform.teammate.send("DELETE", "/v9/projects/web/env/\(record.id)")
        }
        try expectLeft("\(way), still live")
        done(try homes.run("alice", "redeploy", "-p", "web", "--wait", "--yes"))
        done(try homes.run("alice", "sync"))
        let found = try exposure()
        #expect(found.status == 0 && found.isSettled, "\(found)")
        // Vercel was not asked, so nothing is known.
        for arguments in [["--dry-run"], ["--offline"]] {
            let unseen = try homes.run(
                "alice", ["group", "exposure", "bob", "--json"] + arguments)
            #expect(unseen.status == 1, "\(arguments) \(unseen.output)")
        }
    }

    @Test func `what Vercel has under another name keeps it open`() throws {
        try bring(.synced)
        try homes.set("alice", "SECRET", "new", "-t", "production")
        done(try homes.run("alice", "push", "SECRET", "-p", "web", "--yes"))
        done(try homes.run("alice", "redeploy", "-p", "web", "--wait", "--yes"))
        done(try homes.run("alice", "sync"))
        let first = try exposure()
        #expect(first.status == 0 && first.isSettled, "\(first)")
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "OTHER", "value": "known-to-bob", "type": "encrypted", "target": ["preview"]])
        try expectLeft("OTHER")
        let found = try homes.run("alice", "group", "exposure", "bob", "--json")
        let object = try JSONDocument(found.standardOutput)
        #expect(object["unknownOnVercel"]?.elements.map { $0["project"] } == ["web"])
        #expect(object["unknownOnVercel"]?.elements.first?["keys"] == ["OTHER"])
        let text = try homes.run("alice", "group", "exposure", "bob")
        #expect(text.output.contains("not in this vault: OTHER."), "\(text.output)")
        #expect(
            text.status == 1 && text.error.contains("not in this vault: OTHER.")
                && text.error.contains("hint: Get their values with: zg-env pull -p web"),
            "\(text.error)")
        let report = homes.directory.path("unknown.md")
        _ = try homes.run("alice", "group", "exposure", "bob", "--report", report)
        #expect(
            try String(contentsOfFile: report, encoding: .utf8).contains(
                "not in this vault: OTHER."))
        let alone = try homes.run("alice", "exposure", "--since", "0s")
        #expect(alone.output.contains("not in this vault: OTHER."), "\(alone.output)")
        // What the hint names brings it, and its value is the one that Bob knows.
        done(try homes.run("alice", "pull", "-p", "web", "--yes"))
        done(try homes.run("alice", "sync"))
        let known = try exposure()
        #expect(known.status == 1, "\(known)")
        let copy = try homes.run("alice", "group", "exposure", "bob")
        #expect(copy.output.contains("the same value is in OTHER in web"), "\(copy.output)")
        done(try homes.run("alice", "rm", "OTHER", "-p", "web", "--yes"))
        done(try homes.run("alice", "push", "OTHER", "-p", "web", "--yes"))
        done(try homes.run("alice", "sync"))
        let last = try exposure()
        #expect(last.status == 0 && last.isSettled, "\(last)")
    }

    @Test func `what Vercel has elsewhere matters to nobody who knows no value of it`() throws {
        try bring(.synced)
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "OTHER", "value": "x", "type": "encrypted", "target": ["preview"]])
        done(
            try homes.run(
                "alice", "group", "exposure", "bob", "--accept", "SECRET", "--reason", "public"))
        let found = try exposure()
        #expect(found.status == 0 && found.isSettled, "\(found)")
    }

    @Test func `nothing of a project that was never deployed is live`() throws {
        func set(_ value: String) throws {
            done(
                try homes.home("alice").runner(
                    ["set", "KEY", "-p", "bare", "-t", "production", "--raw"], input: .text(value),
                    environment: homes.environment
                ).run())
        }
        done(try homes.run("alice", "link", "bare", "--force"))
        try set("known")
        done(try homes.run("alice", "push", "-p", "bare", "--yes"))
        let since = try nextSecond()
        try set("new")
        let early = try homes.run("alice", "exposure", "--since", since, "-p", "bare")
        #expect(early.status == 1 && early.output.contains("not pushed"), "\(early.output)")
        done(try homes.run("alice", "push", "-p", "bare", "--yes"))
        let found = try homes.run("alice", "exposure", "--since", since, "-p", "bare")
        #expect(found.status == 0 && found.output.contains("on Vercel"), "\(found.output)")
    }

    @Test func `what was never on Vercel is settled in the vault`() throws {
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        try homes.set("alice", "SECRET", "new", "-t", "production")
        done(try homes.run("alice", "sync"))
        let found = try exposure()
        #expect(found.status == 0 && found.vercel == "absent", "\(found)")
    }

    /// Waits for the next second and returns it, as a time for `exposure`.
    private func nextSecond() throws -> String {
        func now() throws -> String? {
            let next = try homes.run("alice", "exposure", "--since", "0s", "--json")
            return try JSONDocument(next.standardOutput)["asOf"]?.text
        }
        let time = try now()
        while true {
            if let next = try now(), next != time { return next }
        }
    }

    @Test func `without a group, a value from the dashboard counts too`() throws {
        try bring(.dashboard)
        let since = try nextSecond()
        try homes.set("alice", "SECRET", "new", "-t", "production")
        let left = try homes.run("alice", "exposure", "--since", since)
        #expect(left.status == 1, "\(left.output)")
        #expect(
            left.output.contains("Vercel has a value that is not from this vault"), "\(left.output)"
        )
    }

    @Test("TEAM-T13: nothing is settled or signed while changes wait")
    func waiting() throws {
        try bring(.synced)
        done(
            try homes.home("alice").runner(
                [
                    "set", "SECRET", "-p", "web", "-t", "production", "--raw", "--push",
                    "--redeploy", "--yes",
                ],
                input: .text("new"), environment: homes.environment
            ).run())
        let report = homes.directory.path("report.md")
        let early = try exposure("--report", report)
        #expect(early.status == 1 && !early.isSettled)
        #expect(early.text.contains("unpublished"), "\(early.text)")
        #expect(!FileManager.default.fileExists(atPath: report))
        let text = try homes.run("alice", "group", "exposure", "bob", "--report", report)
        #expect(text.status == 1)
        #expect(
            text.output.contains(/\d unpublished changes?\. Publish with: zg-env sync/),
            "\(text.output)")
        #expect(text.error.contains("\(report) was not written"), "\(text.error)")
        done(try homes.run("alice", "sync"))
        let found = try exposure("--report", report)
        #expect(found.status == 0 && found.isSettled, "\(found)")
        done(try homes.run("alice", "verify", "--report", report))
    }
}

import Foundation
internal import JSON
import TestSupport
import Testing

/// Nothing that is as long as allowed, or longer, makes a vault unreadable, regardless of who wrote it.
@Suite("Limits of shared projects")
struct GroupLimitTests {
    @Test func `a project name as long as allowed arrives, and is adopted beside another one`()
        throws
    {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        for name in [String(repeating: "p", count: 1_024), String(repeating: "é", count: 512)] {
            done(
                try homes.home("alice").runner(
                    ["set", "X", "-p", name, "--raw"], input: .text("x")
                ).run())
            done(try homes.run("alice", "share", name, "--group", "acme", "--yes"))
            done(try homes.run("bob", "sync"))
            done(try homes.run("bob", "verify"))
            let projects = try homes.group("bob")["projects"]?.elements ?? []
            let found = try #require(projects.first { $0["isAdopted"] == false }?["project"]?.text)
            #expect(found.utf8.count <= 1_024 && found.hasSuffix("@acme"))
            // An own project of that name, which differs.
            done(
                try homes.home("bob").runner(
                    ["set", "X", "-p", name, "--raw"], input: .text("own")
                ).run())
            done(try homes.run("bob", "group", "adopt", found, name, "--yes"))
            done(try homes.run("bob", "verify"))
            #expect(done(try homes.run("bob", "reveal", "X", "-p", name)).output == "x")
        }
    }

    @Test(arguments: [true, false])
    func `a scope that is too long is refused`(isShared: Bool) throws {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        if isShared { try homes.share("alice") }
        let before = try homes.home("alice").vaultBytes()
        func refuse(_ options: String...) throws {
            let result = try homes.home("alice").runner(
                ["set", "B", "-p", "web"] + options, input: .text("x")
            ).run()
            failed(result, 2, "too long")
        }
        for count in [1_025, 1_500, 40_000] {
            try refuse("-t", "preview", "-b", String(repeating: "b", count: count))
        }
        try refuse("-t", String(repeating: "e", count: 4_097))
        try refuse("-t", (0..<1_001).map { "environment-\($0)" }.joined(separator: ","))
        #expect(try homes.home("alice").vaultBytes() == before)
        done(try homes.run("alice", "verify"))
    }

    @Test func `who joins again accepts first what colleagues changed`() throws {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.set("alice", "NODE_OPTIONS", "--require ./a")
        done(try homes.run("alice", "sync"))
        done(try homes.run("bob", "sync"))
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        failed(try homes.run("bob", "sync"), 6)
        let invite = try homes.object("alice", ["group", "invite", "bob", "--yes"])
        let code = try #require(invite["code"]?.text)
        func join() throws -> ProgramResult {
            try homes.run(
                "bob", "group", "join", homes.place, "--group", "acme",
                input: .text(code + "\n"))
        }
        failed(try join(), 5, "group accept")
        let run = try homes.run(
            "bob", "run", "-p", "web", "--", "/usr/bin/printenv", "NODE_OPTIONS")
        #expect(run.status == 125 && run.output.isEmpty, "\(run.error)")
        done(try homes.run("bob", "group", "accept", "-p", "web", "--unseen"))
        done(try join())
    }
}

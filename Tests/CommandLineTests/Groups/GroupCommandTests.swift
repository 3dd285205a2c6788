import Foundation
internal import JSON
import TestSupport
import Testing

/// Groups with real programs: several homes, a git repository or a directory between them.
@Suite("Groups")
struct GroupCommandTests {
    @Test(arguments: [true, false])
    func `a team of two shares a project`(git: Bool) throws {
        let homes = try GroupHomes(git: git)
        try homes.set("alice", "A", "one")
        try homes.set("alice", "B", "two", "-t", "production")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        #expect(try homes.value("bob", "A") == "one")
        #expect(try homes.value("bob", "B") == "two")
        try homes.set("bob", "A", "uno")
        let shown = try homes.object("bob", ["group", "show"])
        #expect(shown["groups"]?.elements.first?["outgoing"] == 1)
        try homes.settle("bob", "alice")
        #expect(try homes.value("alice", "A") == "uno")
        // Both compare the same words.
        let words = try ["alice", "bob"].map {
            try homes.object($0, ["group", "show"])["groups"]?.elements.first?["stateWords"]?.text
        }
        #expect(words[0] == words[1] && words[0] != nil)
        // Nothing new: nothing is written.
        let before = try homes.home("bob").vaultBytes()
        let again = try homes.object("bob", ["sync"])
        #expect(again["groups"]?.elements.first?["fetched"] == 0)
        #expect(try homes.home("bob").vaultBytes() == before)
        // The place shows no name and no value.
        let found = try ProgramRunner(
            path: "/bin/sh",
            [
                "-c", "git -C \"$0\" log -p --all 2>/dev/null; cat $(find \"$0\" -type f)",
                homes.place,
            ],
            environment: ["PATH": "/usr/bin:/bin", "HOME": homes.directory.path]
        ).run()
        for text in ["uno", "web", "production"] {
            #expect(found.standardOutput.ranges(of: Array(text.utf8)).isEmpty, "\(text)")
        }
    }

    @Test func `values set at the same time are contested until somebody decides`() throws {
        let homes = try GroupHomes()
        try homes.set("alice", "KEY", "first", "-t", "production")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.set("alice", "KEY", "from alice", "-t", "production")
        try homes.set("bob", "KEY", "from bob", "-t", "production")
        try homes.settle("alice", "bob", "alice")
        for name in ["alice", "bob"] {
            let export = try failedAsJSON(
                homes.run(name, "export", "-p", "web", "-t", "production", "--json"), 5, "conflict")
            #expect(export.contains("zg-env resolve KEY -p web"), "\(export)")
            let run = try homes.run(
                name, "run", "-p", "web", "-t", "production", "--", "/bin/true")
            #expect(run.status == 125, "\(run.error)")
        }
        let list = try homes.object("bob", ["resolve", "KEY", "-p", "web"])
        #expect(list["candidates"]?.elements.count == 2)
        let theirs = try #require(
            list["candidates"]?.elements.first { $0["author"] == "alice" }?["id"]?.text)
        done(
            try homes.run("bob", "resolve", "KEY", "-p", "web", "--take", String(theirs.prefix(8))))
        try homes.settle("bob", "alice")
        for name in ["alice", "bob"] {
            #expect(try homes.value(name, "KEY") == "from alice")
            done(try homes.run(name, "export", "-p", "web", "-t", "production"))
        }
        // The own value is a decision too, although nothing changes here.
        try homes.set("alice", "KEY", "a", "-t", "production")
        try homes.set("bob", "KEY", "b", "-t", "production")
        try homes.settle("alice", "bob", "alice")
        done(try homes.run("bob", "resolve", "KEY", "-p", "web", "--take", "mine"))
        try homes.settle("bob", "alice")
        #expect(try homes.value("alice", "KEY") == "b")
        failed(try homes.run("alice", "resolve", "KEY", "-p", "web"), 5, "not contested")
    }

    @Test func `in development a program goes on with this vault's value`() throws {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "KEY", "first")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.set("alice", "KEY", "from alice")
        try homes.set("bob", "KEY", "from bob")
        try homes.settle("alice", "bob", "alice")
        let result = try homes.run("bob", "run", "-p", "web", "--", "/bin/sh", "-c", "echo $KEY")
        #expect(done(result).output == "from bob\n")
        #expect(result.error.contains("contested"), "\(result.error)")
    }

    @Test func `a reader, a writer and somebody limited to one project`() throws {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        done(
            try homes.home("alice").runner(
                ["set", "SECRET", "-p", "other"], input: .text("hidden")
            ).run())
        done(try homes.run("alice", "share", "other", "--group", "acme", "--yes"))
        try homes.admit("ci", by: "alice", "--role", "reader", "--project", "web", "--auto")
        #expect(try homes.value("ci", "A") == "one")
        let projects = try homes.object("ci", ["projects"])["projects"]?.elements ?? []
        #expect(projects.compactMap { $0["name"]?.text } == ["web"])
        let refused = try homes.home("ci").runner(
            ["set", "A", "-p", "web", "--json"], input: .text("mine")
        ).run()
        try failedAsJSON(refused, 6, "unauthorized")
        #expect(try homes.value("ci", "A") == "one")
        try homes.admit("writer", by: "alice", "--role", "writer", "--project", "web")
        failed(try homes.run("writer", "reveal", "A", "-p", "web"), 4)
        try homes.set("writer", "NEW", "written")
        failed(try homes.run("writer", "rm", "A", "-p", "web", "--yes"), 6, "only add")
        try homes.settle("writer", "alice", "ci")
        #expect(try homes.value("ci", "NEW") == "written")
        // Only an admin invites.
        failed(try homes.run("ci", "group", "invite", "eve", "--yes"), 6, "Only an admin")
    }

    @Test func `a member that was removed reads nothing new and changes nothing`() throws {
        let homes = try GroupHomes()
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.admit("carol", by: "alice")
        let plan = try homes.object("alice", ["group", "remove", "bob", "--dry-run"])
        #expect(plan["dryRun"] == true)
        let removed = try homes.object("alice", ["group", "remove", "bob", "--yes"])
        #expect(removed["exposed"] == 1)
        try homes.set("alice", "A", "two")
        try homes.settle("alice", "carol")
        #expect(try homes.value("carol", "A") == "two")
        // Bob does not know it yet, and writes under the old keys.
        try homes.set("bob", "A", "late")
        let told = try homes.run("bob", "sync")
        #expect(told.status == 6, "\(told.error)")
        #expect(told.error.contains("removed from acme by alice on 2"), "\(told.error)")
        #expect(told.error.contains("1 change was not sent"), "\(told.error)")
        let shown = done(try homes.run("bob", "group", "show")).output
        #expect(shown.contains("removed by alice on 2") && !shown.contains("your role"), "\(shown)")
        #expect(try homes.value("bob", "A") == "late")
        try homes.settle("alice", "carol")
        for name in ["alice", "carol"] { #expect(try homes.value(name, "A") == "two") }
        failed(try homes.run("alice", "group", "remove", "bob", "--yes"), 4, "no member bob")
        failed(try homes.run("alice", "group", "leave", "--yes"), 5, "only admin")
        done(try homes.run("alice", "group", "role", "carol", "admin", "--yes"))
        done(try homes.run("carol", "sync"))
        done(try homes.run("carol", "group", "invite", "dave", "--yes"))
    }

    @Test func `a code is used once, and only for its place and time`() throws {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        let invite = try homes.object("alice", ["group", "invite", "bob", "--yes"])
        let code = try #require(invite["code"]?.text)
        #expect(invite["readable"] == 1)
        #expect(invite["command"]?.text?.contains("zg-env group join") == true)
        var wrong = code
        wrong.removeLast()
        wrong += code.hasSuffix("0") ? "1" : "0"
        for text in [wrong, "hello", ""] {
            let result = try homes.run(
                "bob", "group", "join", homes.place, input: .text(text + "\n"))
            #expect(result.status == 2, "\(result.error)")
        }
        let empty = try homes.directory.makeDirectory("empty")
        failed(
            try homes.run("bob", "group", "join", empty, input: .text(code + "\n")), 4, "no invite")
        done(try homes.run("bob", "group", "join", homes.place, input: .text(code + "\n")))
        // The same vault may repeat its answer.
        done(try homes.run("bob", "group", "join", homes.place, input: .text(code + "\n")))
        done(try homes.run("eve", "group", "join", homes.place, input: .text(code + "\n")))
        // Two answered it: neither is admitted.
        let sync = try homes.run("alice", "sync", "--admit")
        #expect(sync.error.contains("canceled"), "\(sync.error)")
        let members = try homes.object("alice", ["group", "show"])["groups"]?.elements.first
        #expect(members?["members"]?.elements.count == 1)
        // Both learn it, and join with another code.
        failed(try homes.run("bob", "sync", "-q"), 6, "invite to group was canceled", "join again")
        failed(
            try homes.run("bob", "group", "join", homes.place, input: .text(code + "\n")), 5,
            "canceled")
        let again = try #require(
            homes.object("alice", ["group", "invite", "bob", "--yes"])["code"]?.text)
        done(
            try homes.run(
                "bob", "group", "join", homes.place, "--group", "acme", input: .text(again + "\n")))
        failed(try homes.run("bob", "sync", "-q"), 6, "No admin of acme has admitted this vault")
        done(try homes.run("alice", "sync", "--admit"))
        done(try homes.run("bob", "sync"))
        failed(
            try homes.run("bob", "group", "join", homes.place, input: .text(again + "\n")), 5,
            "already belongs to that group, as acme")
    }

    @Test func `addresses and places that cannot be used`() throws {
        let homes = try GroupHomes()
        try homes.set("alice", "A", "one")
        func share(_ place: String) throws -> ProgramResult {
            try homes.run(
                "alice", "share", "web", "--group", "acme", "--at", place, "--yes", "--json")
        }
        for place in ["ext::sh -c true", "-x", "git://example.com/x", "http://example.com/x.git"] {
            try failedAsJSON(share(place), 2, "usage")
        }
        try failedAsJSON(share("/does/not/exist"), 7, "unavailable")
        #expect(try homes.object("alice", ["projects"])["projects"]?.elements.count == 1)
        failed(try homes.run("alice", "sync"), 4, "zg-env share")
        failed(try homes.run("alice", "share", "web"), 2, "--group")
        failed(
            try homes.run("alice", "share", "web", "--group", "acme", "--yes"), 2, "--at")
    }

    @Test func `the copy on this machine and the place heal each other`() throws {
        let homes = try GroupHomes()
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        // The place loses everything, and Bob's copy is deleted.
        let refs = try ProgramRunner(
            path: "/bin/sh",
            [
                "-c",
                "git -C \"$0\" for-each-ref --format='delete %(refname)' | git -C \"$0\" update-ref --stdin",
                homes.place,
            ], environment: ["PATH": "/usr/bin:/bin", "HOME": homes.directory.path]
        ).run()
        #expect(refs.status == 0, "\(refs.error)")
        try FileManager.default.removeItem(
            atPath: try homes.home("bob").directory.path("state/zg-env/groups"))
        let hidden = try homes.home("bob").runner(["sync", "--json"]).run()
        try failedAsJSON(hidden, 8, "damaged")
        try homes.set("alice", "A", "two")
        done(try homes.run("alice", "sync"))
        try homes.settle("bob", "alice")
        #expect(try homes.value("bob", "A") == "two")
    }
}

import Foundation
internal import JSON
import TestSupport
import Testing

/// Members and invites, and the messages about them.
@Suite("Members of groups")
struct GroupMemberTests {
    private let homes: GroupHomes

    init() throws {
        homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
    }

    private func shown(_ name: String) throws -> JSONDocument {
        try #require(homes.object(name, ["group", "show"])["groups"]?.elements.first)
    }

    private func invite(_ name: String, _ options: String...) throws -> String {
        try #require(
            homes.object("alice", ["group", "invite", name, "--yes"] + options)["code"]?.text)
    }

    /// Admits bob as a member, and makes him a reader before he syncs again.
    private func makeBobReader() throws {
        try homes.admit("bob", by: "alice")
        try homes.settle("alice", "bob")
        done(try homes.run("alice", "group", "role", "bob", "reader", "--yes", "--json"))
    }

    @Test func `a name belongs to one member, and digits name each`() throws {
        failed(
            try homes.run("alice", "group", "invite", "alice", "--my-machine", "--yes"), 5,
            "already has a member alice", "alice-laptop")
        for name in ["a\u{202E}b", " bob", "bob ", "a\u{7}b", ""] {
            failed(try homes.run("alice", "group", "invite", name, "--yes"), 2)
        }
        // Two invites of one name, both answered, make two members of that name.
        let codes = [try invite("bob"), try invite("bob")]
        for (name, code) in zip(["bob", "eve"], codes) {
            done(
                try homes.run(
                    name, "group", "join", homes.place, "--group", "acme",
                    input: .text(code + "\n")))
        }
        done(try homes.run("alice", "sync", "--admit"))
        let ids =
            try shown("alice")["members"]?.elements.filter { $0["name"] == "bob" }
            .compactMap { $0["member"]?.text } ?? []
        #expect(ids.count == 2)
        for arguments in [["remove", "bob"], ["role", "bob", "reader"]] {
            let refused = try homes.home("alice").runner(["group"] + arguments + ["--yes"]).run()
            failed(refused, 2, "Several members are called bob", String(ids[0].prefix(8)))
        }
        let plan = done(
            try homes.run("alice", "group", "remove", String(ids[0].prefix(4)), "--dry-run"))
        #expect(plan.output.contains("bob (\(ids[0].prefix(8)))"), "\(plan.output)")
        done(try homes.run("alice", "group", "role", String(ids[1].prefix(4)), "reader", "--yes"))
        done(try homes.run("alice", "group", "remove", String(ids[0].prefix(4)), "--yes"))
        failed(try homes.run("alice", "group", "remove", "123", "--yes"), 4)
    }

    @Test func `another machine may have a lower role, and a removal names its author`() throws {
        try homes.admit("laptop", by: "alice", "--my-machine", "--role", "member")
        try homes.admit("bob", by: "alice", "--role", "admin")
        try homes.settle("laptop")
        let members = try shown("alice")["members"]?.elements ?? []
        #expect(members.first { $0["name"] == "laptop" }?["role"] == "member")
        for member in members { #expect(member["joinedAt"] != nil && member["joinedAt"] != 0) }
        done(try homes.run("bob", "group", "remove", "laptop", "--yes"))
        let told = done(try homes.run("alice", "sync")).output
        #expect(told.contains("acme: bob removed laptop."), "\(told)")
        failed(try homes.run("laptop", "sync"), 6, "removed from acme by bob")
    }

    @Test func `open invites are listed, and can be canceled`() throws {
        let code = try invite("bob", "--role", "reader", "--project", "web")
        let invites = try shown("alice")["invites"]?.elements ?? []
        #expect(invites.count == 1 && invites[0]["name"] == "bob")
        #expect(invites[0]["role"] == "reader" && invites[0]["isAnswered"] == false)
        let text = done(try homes.run("alice", "group", "show")).output
        #expect(text.contains("invited: bob as reader (only web), valid for 3d"), "\(text)")
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        #expect(try shown("alice")["invites"]?.elements.isEmpty == true)
        failed(
            try homes.run("bob", "group", "join", homes.place, input: .text(code + "\n")), 5,
            "invite for bob was canceled")
    }

    @Test func `a no about the words offers to cancel the invite`() throws {
        let code = try invite("bob")
        done(
            try homes.run(
                "bob", "group", "join", homes.place, "--group", "acme", input: .text(code + "\n")))
        let home = try homes.home("alice")
        let asked = try home.terminalRunner(
            ["sync"],
            script: [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (.terminal("Does bob see the same words? Admit them?"), .line("n")),
                (.terminal("Cancel the invite for bob?"), .line("y")),
            ]
        ).run()
        #expect(asked.status == 0, "\(asked.error)")
        failed(try homes.run("bob", "sync"), 6, "invite to acme was canceled")
        let left = done(try homes.run("bob", "group", "leave", "--yes"))
        #expect(left.error == "Dropped the request to join acme, in this vault only.\n")
        failed(try homes.run("bob", "group", "show"), 4)
    }

    @Test func `an answer to a used code is refused, and reported once`() throws {
        let code = try invite("ci", "--role", "reader", "--auto")
        done(try homes.run("ci", "group", "join", homes.place, input: .text(code + "\n")))
        done(try homes.run("alice", "sync"))
        done(try homes.run("ci", "sync"))
        failed(
            try homes.run("eve", "group", "join", homes.place, input: .text(code + "\n")), 5,
            "Someone else was already admitted as ci")
        failed(try homes.run("eve", "sync"), 4)
        let told = done(try homes.run("alice", "sync", "-q"))
        #expect(
            told.error.contains(
                "invite for ci, which was already used: the code is known to others"),
            "\(told.error)")
        #expect(done(try homes.run("alice", "sync", "-q")).error == "")
    }

    @Test func `who is limited to a project sees that, and its words fit`() throws {
        done(
            try homes.home("alice").runner(["set", "B", "-p", "other"], input: .text("x")).run())
        done(try homes.run("alice", "share", "other", "--group", "acme", "--yes"))
        try homes.admit("bob", by: "alice", "--project", "web")
        try homes.set("alice", "A", "two")
        try homes.settle("alice", "bob")
        let text = done(try homes.run("bob", "group", "show")).output
        #expect(text.contains("your role: member (only web)"), "\(text)")
        func words(_ name: String) throws -> [String?] {
            let group = try shown(name)
            let web = group["projects"]?.elements.first { $0["project"] == "web" }
            return [group["stateWords"]?.text, web?["stateWords"]?.text]
        }
        #expect(try words("alice") == words("bob"))
        #expect(try words("bob").allSatisfy { $0 != nil } && Set(words("bob")).count == 2)
        // What he may not read is not invalid.
        let report = try homes.object("bob", ["sync"])
        #expect(report["groups"]?.elements.first?["refused"] == 0)
        // Another project that is shared names its readers: Bob is not among them.
        try homes.admit("carol", by: "alice")
        done(
            try homes.home("alice").runner(["set", "C", "-p", "third"], input: .text("x")).run())
        let plan = done(try homes.run("alice", "share", "third", "--group", "acme", "--dry-run"))
        #expect(plan.output.contains("let carol (members of acme) read third"), "\(plan.output)")
    }

    @Test func `removing somebody whom another admin removed says so`() throws {
        try homes.admit("bob", by: "alice")
        try homes.admit("carol", by: "alice", "--role", "admin")
        try homes.settle("alice", "bob", "carol")
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        let late = try homes.run("carol", "group", "remove", "bob", "--yes")
        #expect(late.status == 4)
        // First comes what the sync brought.
        for part in ["alice removed bob", "bob was already removed from acme.", "Revoke their"] {
            #expect(late.error.contains(part), "\(late.error)")
        }
        failed(
            try homes.run("carol", "group", "remove", "bob", "--yes"), 4, "has no member bob")
    }

    @Test func `a role is compared with the newest one, and has no project`() throws {
        try homes.admit("bob", by: "alice", "--role", "admin")
        try homes.admit("carol", by: "alice")
        try homes.settle("alice", "bob", "carol")
        done(try homes.run("bob", "group", "role", "carol", "admin", "--yes"))
        done(try homes.run("alice", "group", "role", "carol", "member", "--yes"))
        done(try homes.run("carol", "sync"))
        failed(try homes.run("carol", "group", "invite", "dave", "--yes"), 6)
        let same = done(try homes.run("alice", "group", "role", "carol", "member", "--yes"))
        #expect(same.error.contains("carol is already member of acme."))
        failed(
            try homes.run("alice", "group", "role", "carol", "reader", "-p", "web", "--yes"), 2,
            "leave out -p")
    }

    @Test func `an invite of somebody who is no admin any more is not made`() throws {
        try homes.admit("bob", by: "alice", "--role", "admin")
        try homes.settle("alice", "bob")
        done(try homes.run("alice", "group", "role", "bob", "member", "--yes"))
        let late = try homes.run("bob", "group", "invite", "eve", "--yes")
        #expect(late.status == 6 && late.output == "", "\(late.error)")
    }

    @Test func `a variable made by a change that does not count is in use nowhere`() throws {
        try makeBobReader()
        let bob = try homes.home("bob")
        for (key, options) in [("NEW", [String]()), ("A", ["-t", "production"])] {
            done(try bob.runner(["set", key, "-p", "web"] + options, input: .text("late")).run())
        }
        let withdrawn = done(try homes.run("bob", "sync")).output
        #expect(
            withdrawn.contains(
                "NEW (production, preview, development) was removed: the change by bob that"),
            "\(withdrawn)")
        done(try homes.run("bob", "group", "accept", "-p", "web", "--unseen", "--yes"))
        for target in ["production", "preview"] {
            let values = try json(
                homes.run("bob", "export", "-p", "web", "-t", target, "--format", "json"))
            #expect(values.names == ["A"] && values["A"] == "one", "\(values)")
        }
        // They come back once they count.
        let back = done(try homes.run("alice", "group", "role", "bob", "member", "--yes"))
        #expect(back.error.contains("bob changed A") || back.error.contains("bob added NEW"))
        let restored = done(try homes.run("bob", "sync")).output
        #expect(
            restored.contains("A (production) was restored: the change by bob counts again"),
            "\(restored)")
        try homes.settle("alice", "bob")
        for name in ["alice", "bob"] {
            let values = try json(
                homes.run(name, "export", "-p", "web", "-t", "production", "--format", "json"))
            #expect(values["A"] == "late" && values["NEW"] == "late", "\(name) \(values)")
        }
    }

    @Test func `joining twice gives the same answer, and the invite stays valid`() throws {
        let invite = try homes.object("alice", ["group", "invite", "bob", "--yes"])
        let code = try #require(invite["code"]?.text)
        let words = try (1...2).map { _ in
            let joined = try json(
                homes.run(
                    "bob", "group", "join", homes.place, "--group", "acme", "--json",
                    input: .text(code + "\n")))
            return joined["words"]
        }
        #expect(words[0] != nil && words[0] == words[1])
        let synced = done(try homes.run("alice", "sync", "--admit"))
        #expect(synced.output.contains("admitted bob"), "\(synced.output)")
    }

    @Test func `a contested scope is decided by what this vault has`() throws {
        try homes.admit("bob", by: "alice")
        try homes.settle("alice", "bob")
        done(try homes.run("alice", "rm", "A", "-p", "web", "-t", "preview", "--yes"))
        done(try homes.run("bob", "rm", "A", "-p", "web", "-t", "production", "--yes"))
        try homes.settle("alice", "bob", "alice")
        let list = done(try homes.run("bob", "resolve", "A", "-p", "web"))
        #expect(list.output.contains("--take mine"))
        for take in ["theirs", "alice"] {
            failed(
                try homes.run("bob", "resolve", "A", "-p", "web", "--take", take), 2,
                "different names or scopes")
        }
        done(try homes.run("bob", "resolve", "A", "-p", "web", "--take", "mine"))
        try homes.settle("bob", "alice")
        for name in ["alice", "bob"] {
            let listed = try json(homes.run(name, "list", "-p", "web", "--json"))
            #expect(
                listed["variables"]?.elements.first?["targets"] == ["preview", "development"],
                "\(name)")
        }
    }

    private func set(_ name: String, _ value: String, _ options: String...) throws {
        done(
            try homes.home(name).runner(
                ["set", "A", "-p", "web"] + options, input: .text(value)
            ).run())
    }

    private func export(_ name: String, _ target: String) throws -> ProgramResult {
        try homes.run(name, "export", "-p", "web", "-t", target, "--format", "json")
    }

    @Test func `a decision about one variable decides about no other one`() throws {
        try homes.admit("bob", by: "alice")
        done(try homes.run("alice", "rm", "A", "-p", "web", "-t", "production", "--yes"))
        try homes.settle("alice", "bob")
        // Two variables for production, and two values of the other variable.
        for name in ["alice", "bob"] {
            try set(name, "\(name) for production", "-t", "production")
            try set(name, "\(name) for others", "-t", "preview,development")
        }
        try homes.settle("alice", "bob", "alice")
        let listed = try homes.object("alice", ["resolve", "A", "-p", "web"])
        let mine = try #require(
            listed["candidates"]?.elements.first {
                $0["isMine"] == true && $0["scope"]?.text?.hasPrefix("preview") == true
            }?["id"]?.text)
        let taken = try homes.object(
            "alice", ["resolve", "A", "-p", "web", "--take", String(mine.prefix(8))])
        #expect(taken["others"]?.elements.isEmpty == true)
        failed(try export("alice", "production"), 5, "zg-env resolve A")
        #expect(try json(export("alice", "preview"))["A"] == "alice for others")
        try homes.settle("alice", "bob")
        for name in ["alice", "bob"] {
            failed(try export(name, "production"), 5, "zg-env resolve A")
            #expect(try json(export(name, "preview"))["A"] == "alice for others")
        }
    }

    @Test
    func `a value is contested beside a narrower scope also where scopes were assigned twice`()
        throws
    {
        try homes.admit("bob", by: "alice")
        try homes.settle("alice", "bob")
        for name in ["alice", "bob"] {
            done(try homes.run(name, "rm", "A", "-p", "web", "-t", "development", "--yes"))
        }
        try homes.settle("alice", "bob", "alice")
        try set("alice", "for production", "-t", "production")
        try set("bob", "for both")
        try homes.settle("alice", "bob", "alice")
        for name in ["alice", "bob"] { failed(try export(name, "production"), 5, "resolve A") }
    }

    @Test func `a choice of a value does not decide about a contested scope`() throws {
        done(
            try homes.run("alice", "rm", "A", "-p", "web", "-t", "preview,development", "--yes"))
        try homes.admit("bob", by: "alice")
        try homes.settle("alice", "bob")
        try set("alice", "alice's", "-t", "production")
        try set("bob", "bob's", "-t", "production,preview")
        try homes.settle("alice", "bob", "alice")
        failed(
            try homes.run("alice", "resolve", "A", "-p", "web", "--take", "bob"), 2,
            "different names or scopes")
        failed(try export("alice", "production"), 5, "different scopes")
        let scopes = try homes.object("bob", ["resolve", "A", "-p", "web", "--take", "mine"])
        #expect(scopes["scopes"]?.elements.count == 1)
        failed(try export("bob", "production"), 5, "different values")
        done(try homes.run("bob", "resolve", "A", "-p", "web", "--take", "mine"))
        try homes.settle("bob", "alice")
        done(try homes.run("alice", "group", "accept", "-p", "web", "--unseen", "--yes"))
        for name in ["alice", "bob"] {
            for target in ["production", "preview"] {
                #expect(try json(export(name, target))["A"] == "bob's", "\(name) \(target)")
            }
        }
    }

    @Test(arguments: [
        ("mine", "A for production was removed.", "for all"),
        ("theirs", "now applies to preview, development only.", "for production"),
    ])
    func `a value for one target beside one for all is contested`(
        take: String, message: String, production: String
    ) throws {
        try homes.admit("bob", by: "alice")
        try homes.settle("alice", "bob")
        try set("alice", "for production", "-t", "production")
        try set("bob", "for all")
        try homes.settle("alice", "bob", "alice")
        for name in ["alice", "bob"] {
            for target in ["production", "preview"] {
                failed(
                    try homes.run(name, "export", "-p", "web", "-t", target), 5, "zg-env resolve A")
            }
        }
        // Development has only one of them.
        for name in ["alice", "bob"] {
            let run = done(try homes.run(name, "run", "-p", "web", "--", "printenv", "A"))
            #expect(run.output == "for all\n" && run.error.contains("A is contested"))
        }
        failed(
            try homes.run("bob", "resolve", "A", "-p", "web", "--take", "theirs"), 2,
            "different names or scopes")
        done(try homes.run("bob", "resolve", "A", "-p", "web", "--take", "mine"))
        let resolved = done(try homes.run("bob", "resolve", "A", "-p", "web", "--take", take))
        #expect(resolved.error.contains(message), "\(resolved.error)")
        try homes.settle("bob", "alice")
        // A wider scope waits for her.
        done(try homes.run("alice", "group", "accept", "-p", "web", "--unseen", "--yes"))
        for name in ["alice", "bob"] {
            for (target, value) in [("production", production), ("preview", "for all")] {
                let values = try json(
                    homes.run(name, "export", "-p", "web", "-t", target, "--format", "json"))
                #expect(values["A"] == .string(value), "\(name) \(target) \(values)")
            }
        }
    }

    @Test func `set --sync fails if the change does not count`() throws {
        try makeBobReader()
        let late = try homes.home("bob").runner(
            ["set", "A", "-p", "web", "--sync"], input: .text("late")
        ).run()
        #expect(late.status == 6 && late.error.contains("does not count"), "\(late.error)")
    }

    @Test func `a directory in place of a repository is not the place`() throws {
        let homes = try GroupHomes(git: true)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        let status = try homes.run("alice", "group", "show")
        #expect(status.status == 0)
        let path = homes.placeDirectory
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        failed(try homes.run("alice", "sync"), 7, "There is no git repository at")
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    }
}

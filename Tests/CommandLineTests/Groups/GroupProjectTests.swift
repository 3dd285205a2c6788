import Foundation
internal import JSON
import TestSupport
import Testing

/// Projects of a group that a vault stops using, and takes up again.
@Suite("Projects of groups")
struct GroupProjectTests {
    private let homes: GroupHomes

    init() throws {
        homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        try homes.set("alice", "B", "two")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
    }

    private func projects(_ name: String) throws -> [String] {
        (try homes.object(name, ["projects"])["projects"]?.elements ?? [])
            .compactMap { $0["name"]?.text }.sorted()
    }

    @Test func `project remove stops using a shared project here, and adopt brings it back`() throws
    {
        let plan = done(try homes.run("bob", "project", "remove", "web", "--dry-run")).output
        #expect(plan.contains("send nothing: acme keeps the project"), "\(plan)")
        #expect(plan.contains("zg-env group adopt web@acme"), "\(plan)")
        done(try homes.run("bob", "project", "remove", "web", "--yes"))
        try homes.set("alice", "A", "newer")
        try homes.settle("bob", "alice")
        #expect(try homes.value("alice", "A") == "newer" && homes.value("alice", "B") == "two")
        // A sync does not bring it back unasked.
        #expect(try projects("bob") == [])
        let shown = done(try homes.run("bob", "group", "show")).output
        #expect(shown.contains("not used in this vault: web@acme"), "\(shown)")
        #expect(!shown.contains("?"), "\(shown)")
        done(try homes.run("bob", "group", "adopt", "web@acme", "--dry-run"))
        #expect(try projects("bob") == [])
        done(try homes.run("bob", "group", "adopt", "web@acme"))
        #expect(try homes.value("bob", "A") == "newer")
        try homes.set("bob", "B", "zwei")
        try homes.settle("bob", "alice")
        #expect(try homes.value("alice", "B") == "zwei")
        // For everybody: the variables one by one, as the plan says.
        let removal = done(try homes.run("bob", "rm", "B", "-p", "web", "--dry-run")).output
        #expect(removal.contains("for everyone in acme"), "\(removal)")
    }

    @Test(arguments: [true, false])
    func `who joins again has the same project with the values of the group`(leaves: Bool) throws {
        if leaves {
            done(try homes.run("bob", "group", "leave", "--yes"))
            done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        } else {
            done(try homes.run("alice", "group", "remove", "bob", "--yes"))
            failed(try homes.run("bob", "sync"), 6)
        }
        try homes.set("alice", "A", "newer")
        done(try homes.run("alice", "sync"))
        try homes.set("bob", "B", "mine")
        try homes.set("bob", "ONLY", "local")
        let code = try #require(
            homes.object("alice", ["group", "invite", "bob", "--yes"])["code"]?.text)
        done(
            try homes.run(
                "bob", "group", "join", homes.place, "--group", "acme", input: .text(code + "\n")))
        done(try homes.run("alice", "sync", "--admit"))
        let told = done(try homes.run("bob", "sync")).output
        #expect(told.contains("attached web again"), "\(told)")
        #expect(told.contains("only this vault had ONLY, which is now in web (before)"), "\(told)")
        #expect(try projects("bob") == ["web", "web (before)"])
        #expect(try homes.value("bob", "A") == "newer" && homes.value("bob", "B") == "two")
        let history = try homes.home("bob").runner(
            ["reveal", "B", "-p", "web", "--version", "2"]
        ).run()
        #expect(done(history).output == "mine")
        let aside = try homes.run("bob", "reveal", "ONLY", "-p", "web (before)")
        #expect(done(aside).output == "local")
        try homes.settle("bob", "alice")
        failed(try homes.run("alice", "reveal", "ONLY", "-p", "web"), 4)
        try homes.set("bob", "A", "from bob")
        try homes.settle("bob", "alice")
        #expect(try homes.value("alice", "A") == "from bob")
    }

    @Test func `each change is attributed to its author, and a removal is no change`() throws {
        try homes.admit("carol", by: "alice")
        try homes.settle("bob", "alice")
        done(try homes.run("bob", "rm", "A", "-p", "web", "--yes"))
        done(try homes.run("alice", "rm", "A", "-p", "web", "-t", "preview", "--yes"))
        done(try homes.run("alice", "sync"))
        // Bob removed it himself: Alice did not.
        let bob = done(try homes.run("bob", "sync")).output
        #expect(!bob.contains("alice removed"), "\(bob)")
        let alice = done(try homes.run("alice", "sync")).output
        #expect(alice.contains("bob removed A"), "\(alice)")
        let carol = done(try homes.run("carol", "sync")).output
        #expect(carol.contains("bob removed A") && !carol.contains("alice removed"), "\(carol)")
        // A value that was stored at the same time stays, and both learn it.
        try homes.set("alice", "B", "again")
        done(try homes.run("bob", "rm", "B", "-p", "web", "--yes"))
        done(try homes.run("alice", "sync"))
        let kept = done(try homes.run("bob", "sync")).output
        #expect(kept.contains("alice changed B") && kept.contains("the value stays"), "\(kept)")
        let told = done(try homes.run("alice", "sync")).output
        #expect(told.contains("bob removed B") && told.contains("the value stays"), "\(told)")
        #expect(try homes.value("bob", "B") == "again")
    }

    @Test func `a late change is reported once, with its reason`() throws {
        done(try homes.run("alice", "group", "role", "bob", "reader", "--yes"))
        try homes.set("bob", "A", "late")
        let told = done(try homes.run("bob", "sync", "-q"))
        #expect(told.output == "")
        #expect(told.error.contains("web: your change of A does not count: "), "\(told.error)")
        #expect(done(try homes.run("bob", "sync", "-q")).error == "")
    }

    @Test func `a place that cannot be reached is named, with what waits`() throws {
        try homes.set("bob", "A", "offline")
        try FileManager.default.moveItem(atPath: homes.place, toPath: homes.place + "-away")
        let offline = try failedAsJSON(homes.run("bob", "sync", "--json"), 7, "unavailable")
        #expect(offline.contains("acme cannot be synced with \(homes.place)"), "\(offline)")
        #expect(offline.contains("1 change is still waiting"), "\(offline)")
        try FileManager.default.moveItem(atPath: homes.place + "-away", toPath: homes.place)
        let found = try FileManager.default.contentsOfDirectory(atPath: homes.place)
        for name in found { try FileManager.default.removeItem(atPath: "\(homes.place)/\(name)") }
        let healed = done(try homes.run("bob", "sync")).output
        #expect(healed.contains("published 1 change"), "\(healed)")
        #expect(healed.contains("objects that the place lacked"), "\(healed)")
    }

    @Test func `a contested variable is decided by the name of a person`() throws {
        for taken in ["alice", "theirs"] {
            try homes.set("alice", "A", "a \(taken)")
            try homes.set("bob", "A", "b")
            try homes.settle("alice", "bob", "alice")
            let list = done(try homes.run("bob", "resolve", "A", "-p", "web")).output
            #expect(list.contains("zg-env resolve A -p web --take ID"), "\(list)")
            failed(try homes.run("bob", "resolve", "A", "-p", "web", "--take", "carol"), 4)
            done(try homes.run("bob", "resolve", "A", "-p", "web", "--take", taken, "--json"))
            #expect(try homes.value("bob", "A") == "a \(taken)")
            try homes.settle("bob", "alice")
        }
    }
}

import Foundation
internal import JSON
import Sealing
import TestSupport
import Testing
import Vault

/// What members of each role, removed ones, and programs with the index key can do to the others.
@Suite("Attacks on groups by members")
struct GroupMemberAttackTests {
    private func group(_ others: (name: String, role: String)...) throws -> GroupHomes {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        for other in others { try homes.admit(other.name, by: "alice", "--role", other.role) }
        return homes
    }

    /// Everything somebody has on their machine, as of now.
    private func keepCopy(of name: String, _ homes: GroupHomes) throws -> () throws -> Void {
        let directory = try homes.home(name).directory
        let kept = homes.directory.path("kept-\(name)")
        try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: true)
        for folder in ["data", "state"] {
            try FileManager.default.copyItem(
                atPath: directory.path(folder), toPath: "\(kept)/\(folder)")
        }
        return {
            for folder in ["data", "state"] {
                try FileManager.default.removeItem(atPath: directory.path(folder))
                try FileManager.default.copyItem(
                    atPath: "\(kept)/\(folder)", toPath: directory.path(folder))
            }
        }
    }

    @Test func `a writer's value beside another one is only an offer`() throws {
        let homes = try group(("walter", "writer"))
        try homes.set("alice", "A", "from alice")
        try homes.set("walter", "A", "from walter")
        done(try homes.run("walter", "sync"))
        let arrivals = try homes.sync("alice")["projects"]?.elements.first?["arrivals"]?.elements
        #expect(arrivals?.compactMap { $0["kind"]?.text } == ["offered"])
        #expect(try homes.value("alice", "A") == "from alice")
        done(try homes.run("alice", "export", "-p", "web", "-t", "production"))
        done(try homes.run("walter", "sync"))
        // Not even the value that the writer's own was offered beside.
        let shown = try homes.run("walter", "reveal", "A", "-p", "web")
        #expect(!shown.output.contains("alice"), "\(shown.output)")
    }

    @Test func `a writer removes and changes nothing`() throws {
        let homes = try group(("walter", "writer"))
        try homes.set("alice", "B", "second")
        try homes.settle("alice", "walter")
        for arguments in [
            ["rm", "A", "-p", "web", "--yes"], ["rename", "A", "C", "-p", "web"],
        ] {
            failed(try homes.run("walter", arguments), 6, "only add variables and values")
        }
        try homes.set("walter", "NEW", "added")
    }

    @Test func `what a lowered member still writes is ignored`() throws {
        let homes = try group(("bob", "member"), ("rita", "member"))
        done(try homes.run("alice", "group", "role", "rita", "reader", "--yes"))
        // Rita's machine does not know it.
        try homes.set("rita", "A", "late")
        done(try homes.run("rita", "sync"))
        let sync = done(try homes.run("bob", "sync"))
        #expect(sync.output.contains("ignored 1 change"), "\(sync.output)")
        #expect(try homes.value("bob", "A") == "one")
        #expect(try homes.group("bob")["projects"]?.elements.first?["late"] == 1)
        done(try homes.run("bob", "export", "-p", "web", "-t", "production"))
        let again = done(try homes.run("bob", "sync"))
        #expect(again.output.contains("nothing new"), "\(again.output)")
        let refused = try homes.home("rita").runner(
            ["set", "A", "-p", "web"], input: .text("again")
        ).run()
        failed(refused, 6, "You may only read web")
    }

    @Test func `a member limited to one project opens nothing of another`() throws {
        let homes = try group()
        done(
            try homes.home("alice").runner(["set", "S", "-p", "other"], input: .text("hidden"))
                .run())
        done(try homes.run("alice", "share", "other", "--group", "acme", "--yes"))
        try homes.admit("lisa", by: "alice", "--project", "web")
        // It has the objects of the other project, and not its keys.
        let sync = try homes.sync("lisa")
        #expect(sync["refused"] == 0)
        #expect(sync["projects"]?.elements.compactMap { $0["project"]?.text } == ["web"])
        failed(try homes.run("lisa", "group", "adopt", "other@acme"), 4)
        failed(try homes.run("lisa", "reveal", "S", "-p", "other@acme"), 4)
        failed(try homes.run("lisa", "share", "web", "--group", "acme", "--yes"), 5)
        failed(try homes.run("lisa", "group", "invite", "eve", "--yes"), 6, "Only an admin")
    }

    @Test func `a removed member's whole kit opens nothing new, and changes nothing`() throws {
        let homes = try group(("bob", "member"), ("carol", "reader"))
        try homes.settle("alice", "bob", "carol")
        let restore = try keepCopy(of: "bob", homes)
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        try homes.set("alice", "A", "two")
        try homes.settle("alice", "carol")
        func expectNothingNew() throws {
            #expect(try homes.value("bob", "A") != "two")
            #expect(try !homes.values("bob", "A").all.contains("two"))
        }
        // With a current place, and with everything that carol has of it.
        failed(try homes.run("bob", "sync"), 6, "was removed from acme by alice")
        try expectNothingNew()
        try restore()
        let objects = "state/zg-env/groups/objects"
        let mine = try homes.home("bob").directory.path(objects)
        try FileManager.default.removeItem(atPath: mine)
        try FileManager.default.copyItem(
            atPath: homes.home("carol").directory.path(objects), toPath: mine)
        failed(try homes.run("bob", "sync"), 6, "was removed from acme by alice")
        try expectNothingNew()
        // An older copy of the vault, which publishes without looking.
        try restore()
        try homes.set("bob", "A", "evil")
        try homes.set("bob", "NEW", "evil")
        done(try homes.run("bob", "rm", "A", "-p", "web", "--yes"))
        try homes.withoutNewestEntry { done(try homes.run("bob", "sync")) }
        let sync = done(try homes.run("alice", "sync"))
        #expect(sync.output.contains("ignored 3 changes"), "\(sync.output)")
        done(try homes.run("carol", "sync"))
        for name in ["alice", "carol"] {
            #expect(try homes.value(name, "A") == "two")
            failed(try homes.run(name, "reveal", "NEW", "-p", "web"), 4)
            done(try homes.run(name, "export", "-p", "web", "-t", "production"))
        }
        // Anybody who can write to the place can empty it.
        try FileManager.default.removeItem(atPath: homes.groupFolder())
        try homes.settle("alice", "carol")
        try homes.admit("dave", by: "alice")
        #expect(try homes.value("dave", "A") == "two")
    }

    /// An admin's entry of before the removal counts where it takes rights away, as of every side of a fork.
    @Test(arguments: ["member", "admin"])
    func `a removed member who puts an older place back gives nobody anything`(
        role: String
    ) throws {
        let homes = try group(("bob", role), ("carol", "reader"))
        try homes.settle("alice", "bob", "carol")
        let folder = try homes.groupFolder()
        let older = homes.directory.path("older")
        try FileManager.default.copyItem(atPath: folder, toPath: older)
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        try homes.set("alice", "A", "two")
        try homes.settle("alice", "carol")
        try FileManager.default.removeItem(atPath: folder)
        try move(older, folder)
        try homes.set("bob", "A", "evil")
        done(try homes.run("bob", "sync"))
        let isAdmin = role == "admin"
        for arguments in [["invite", "eve", "--yes"], ["remove", "carol", "--yes"]] {
            let result = try homes.run("bob", ["group"] + arguments)
            #expect(result.status == (isAdmin ? 0 : 6), "\(result.error)")
        }
        let sync = done(try homes.run("alice", "sync"))
        #expect(sync.output.contains("ignored 1 change"), "\(sync.output)")
        #expect(try homes.run("carol", "sync").status == (isAdmin ? 6 : 0))
        for name in ["alice", "carol"] { #expect(try homes.value(name, "A") == "two") }
        // The place has everything again.
        failed(try homes.run("bob", "sync"), 6, "was removed from acme")
        #expect(try !homes.values("bob", "A").all.contains("two"))
        try homes.admit("dave", by: "alice")
        #expect(try homes.value("dave", "A") == "two")
        let active = try (homes.group("alice")["members"]?.elements ?? [])
            .filter { $0["isActive"] == true }.compactMap { $0["name"]?.text }
        #expect(Set(active) == Set(["alice", "dave"] + (isAdmin ? [] : ["carol"])))
    }

    // MARK: The index key

    @Test func `the index key publishes nothing`() throws {
        let homes = try group(("bob", "member"))
        let home = try homes.home("bob")
        let key = home.directory.path("index.key")
        done(try homes.run("bob", "slot", "add", "file", key))
        func locked(_ arguments: String..., input: ProgramRunner.Input = .null) throws
            -> ProgramResult
        {
            try home.runner(
                arguments, input: input, unlocked: false, environment: ["ZG_ENV_KEY_FILE": key]
            ).run()
        }
        failed(try locked("set", "A", "-p", "web", "--raw", input: .text("forged")), 3)
        failed(try locked("sync"), 3)
        failed(try locked("group", "invite", "eve", "--yes"), 3)
        done(try homes.run("bob", "sync"))
        try homes.settle("alice")
        #expect(try homes.value("alice", "A") == "one")
    }
}

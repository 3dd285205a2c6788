import Foundation
internal import JSON
import TestSupport
import Testing

/// What people see of groups outside of the commands about groups.
@Suite("Notices of groups")
struct GroupNoticeTests {
    /// Two members with contested values of `KEY`.
    private func contest() throws -> GroupHomes {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "KEY", "first", "-t", "production")
        try homes.set("alice", "OTHER", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.set("alice", "KEY", "from alice", "-t", "production")
        try homes.set("bob", "KEY", "from bob", "-t", "production")
        try homes.settle("alice", "bob", "alice")
        return homes
    }

    @Test func `list, show and status mark what is contested`() throws {
        let homes = try contest()
        let list = try homes.object("bob", ["list", "-p", "web"])["variables"]?.elements ?? []
        #expect(list.map { $0["key"] } == ["KEY", "OTHER"])
        #expect(list.map { $0["group"] } == ["contested", .null])
        let text = done(try homes.run("bob", "list", "-p", "web")).output
        #expect(text.contains("GROUP") && text.contains("contested"), "\(text)")
        let others = done(try homes.run("bob", "list", "OTHER", "-p", "web")).output
        #expect(!others.contains("GROUP"), "\(others)")
        let shown = done(try homes.run("bob", "show", "KEY", "-p", "web")).output
        #expect(shown.contains("different values") && shown.contains("zg-env resolve KEY -p web"))
        #expect(
            try homes.object("bob", ["show", "KEY", "-p", "web"])["records"]?.elements.first?[
                "group"] == "contested")
        let status = try homes.object("bob", ["status"])
        #expect(status["contested"]?.elements.map { $0["key"] } == ["KEY"])
        #expect(
            status["contested"]?.elements.first?["command"] == "zg-env resolve KEY -p web")
        #expect(status["offered"] == [])
        done(try homes.run("bob", "resolve", "KEY", "-p", "web", "--take", "mine"))
        let after = try homes.object("bob", ["list", "-p", "web"])["variables"]?.elements ?? []
        #expect(after.map { $0["group"] } == [.null, .null])
        // Projects that are not shared say nothing of groups.
        done(try homes.home("bob").runner(["set", "X", "-p", "own"], input: .text("x")).run())
        let own = try homes.object("bob", ["list", "-p", "own"])["variables"]?.elements.first
        #expect(own?["group"] == nil && own?["shared"] == false)
    }

    @Test func `an offer of a writer is shown, taken or declined`() throws {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        try homes.set("alice", "B", "two")
        try homes.share("alice")
        try homes.admit("wendy", by: "alice", "--role", "writer")
        try homes.set("alice", "A", "one more")
        try homes.set("alice", "B", "two more")
        try homes.set("wendy", "A", "offered")
        try homes.set("wendy", "B", "offered")
        try homes.settle("alice", "wendy", "alice")
        #expect(try homes.value("alice", "A") == "one more")
        let list = try homes.object("alice", ["list", "-p", "web"])["variables"]?.elements ?? []
        #expect(list.map { $0["group"] } == ["offered", "offered"])
        let status = try homes.object("alice", ["status"])
        #expect(status["offered"]?.elements.map { $0["key"] } == ["A", "B"])
        #expect(status["contested"] == [])
        done(try homes.run("alice", "export", "-p", "web", "-t", "production"))
        let offers = try homes.object("alice", ["resolve", "A", "-p", "web"])
        let id = try #require(
            offers["candidates"]?.elements.first { $0["author"] == "wendy" }?["id"]?.text)
        done(try homes.run("alice", "resolve", "A", "-p", "web", "--take", id))
        done(try homes.run("alice", "resolve", "B", "-p", "web", "--take", "mine"))
        try homes.settle("alice", "wendy", "alice")
        #expect(try homes.value("alice", "A") == "offered")
        #expect(try homes.value("alice", "B") == "two more")
        #expect(try homes.object("alice", ["status"])["offered"] == [])
    }

    @Test func `a write says that its change waits, and status how many do`() throws {
        let homes = try GroupHomes(git: false)
        try homes.set("alice", "A", "one")
        let alone = try homes.object("alice", ["status"])
        #expect(alone["groups"] == [] && alone["contested"] == [])
        try homes.share("alice")
        func set(_ value: String, _ options: String...) throws -> ProgramResult {
            try homes.home("alice").runner(
                ["set", "A", "-p", "web"] + options, input: .text(value)
            ).run()
        }
        let first = done(try set("new"))
        #expect(
            first.error.hasSuffix("1 unpublished change. Publish with: zg-env sync\n"),
            "\(first.error)")
        #expect(done(try set("newer", "-q")).error == "")
        let asJSON = try json(set("newest", "--json"))
        #expect(asJSON["groupChanges"]?["waiting"] == 3)
        #expect(
            done(try homes.run("alice", "rm", "A", "-p", "web", "--yes")).error.contains(
                "4 unpublished changes. Publish with: zg-env sync"))
        let group = try homes.object("alice", ["status"])["groups"]?.elements.first
        #expect(group?["waiting"] == 4 && group?["admins"] == 1)
        let synced = group?["syncedAt"]?.text
        #expect(synced != nil)
        let text = done(try homes.run("alice", "status")).output
        #expect(
            text.contains(
                "Group     acme: synced just now, 4 unpublished changes (zg-env sync), only one admin"
            ),
            "\(text)")
        done(try homes.run("alice", "sync"))
        #expect(try homes.object("alice", ["status"])["groups"]?.elements.first?["waiting"] == 0)
        // What is not shared waits for nobody.
        let own = done(
            try homes.home("alice").runner(["set", "X", "-p", "own"], input: .text("x")).run())
        #expect(!own.error.contains("wait"), "\(own.error)")
        #expect(done(try homes.run("alice", "list", "-p", "web")).error.contains("wait") == false)
    }

    @Test func `set --sync sends the value at once, or says that it was not sent`() throws {
        let homes = try GroupHomes()
        try homes.set("alice", "A", "one")
        failed(
            try homes.home("alice").runner(
                ["set", "A", "-p", "web", "--sync", "-q"], input: .text("x")
            ).run(), 2, "not shared")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        let sent = try homes.object(
            "alice", ["set", "A", "-p", "web", "--sync", "--raw"], input: .text("two"))
        #expect(sent["sync"]?["published"] == 1 && sent["groupChanges"] == nil)
        done(try homes.run("bob", "sync"))
        #expect(try homes.value("bob", "A") == "two")
        // The place is gone: the value is stored, and the exit code says that it was not sent.
        let away = homes.place + ".away"
        try move(homes.place, away)
        let result = try homes.home("alice").runner(
            ["set", "A", "-p", "web", "--sync", "--raw", "-q"], input: .text("three")
        ).run()
        failed(result, 7, "was not sent to acme")
        #expect(result.error.contains("zg-env sync"), "\(result.error)")
        #expect(try homes.value("alice", "A") == "three")
        try move(away, homes.place)
        try homes.settle("alice", "bob")
        #expect(try homes.value("bob", "A") == "three")
        // Bob was removed meanwhile: he must not believe that it was sent.
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        let removed = try homes.home("bob").runner(
            ["set", "A", "-p", "web", "--sync", "--raw", "-q"], input: .text("four")
        ).run()
        failed(removed, 6, "was not sent to acme")
        #expect(try homes.value("bob", "A") == "four")
    }

    @Test func `with group-publish auto every command that writes sends its changes`() throws {
        let homes = try GroupHomes()
        try homes.set("alice", "A", "one")
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        failed(try homes.run("alice", "config", "set", "group-publish", "always"), 2, "auto")
        for name in ["alice", "bob"] {
            done(try homes.run(name, "config", "set", "group-publish", "auto"))
        }
        try homes.set("bob", "B", "two")
        let quiet = done(
            try homes.home("alice").runner(
                ["set", "A", "-p", "web", "--raw"], input: .text("uno")
            ).run())
        // Sent in silence; what came is shown.
        #expect(!quiet.error.contains("published") && !quiet.error.contains("wait"))
        #expect(quiet.error.contains("bob added B"), "\(quiet.error)")
        done(try homes.run("bob", "sync"))
        #expect(try homes.value("bob", "A") == "uno")
        let away = homes.place + ".away"
        try move(homes.place, away)
        let waiting = done(
            try homes.home("alice").runner(
                ["set", "A", "-p", "web", "--raw"], input: .text("dos")
            ).run())
        #expect(waiting.error.contains("was not sent"), "\(waiting.error)")
        #expect(
            waiting.error.contains("1 unpublished change. Publish with: zg-env sync"),
            "\(waiting.error)")
        try move(away, homes.place)
        try homes.settle("alice", "bob")
        #expect(try homes.value("bob", "A") == "dos")
    }
}

import Foundation
internal import JSON
import TestSupport
import Testing

/// What somebody who left could read, and whether it was replaced: several homes and a git repository.
@Suite("Exposure")
struct ExposureTests {
    /// Alice, Bob and Carol share `web` with three variables; Bob was removed.
    private func homes() throws -> GroupHomes {
        let homes = try GroupHomes()
        for (key, value) in [("A", "first-secret"), ("B", "second-secret"), ("LEVEL", "info")] {
            try homes.set("alice", key, value, "-t", "production")
        }
        try homes.share("alice")
        try homes.admit("bob", by: "alice")
        try homes.admit("carol", by: "alice")
        try homes.settle("alice", "bob", "carol")
        done(try homes.run("alice", "group", "remove", "bob", "--yes"))
        return homes
    }

    private func exposure(
        _ homes: GroupHomes, _ arguments: String..., of who: String = "bob"
    ) throws -> (JSONDocument, Int32?) {
        let result = try homes.home("alice").runner(
            ["group", "exposure", who, "--json"] + arguments
        ).run()
        return (try JSONDocument(result.standardOutput), result.status)
    }

    private func standing(_ found: JSONDocument, _ key: String) -> String? {
        found["variables"]?.elements.first { $0["key"]?.text == key }?["standing"]?.text
    }

    @Test func `ends with 0 once everything is replaced and everybody was seen`() throws {
        let homes = try homes()
        var (found, status) = try exposure(homes)
        #expect(status == 1)
        #expect(found["variables"]?.elements.count == 3)
        #expect(standing(found, "A") == "known")
        #expect(found["silent"]?.elements.map { $0["name"]?.text } == ["carol"])
        // The same value again, under a new version.
        try homes.set("alice", "A", "between", "-t", "production")
        try homes.set("alice", "A", "first-secret", "-t", "production")
        done(try homes.run("alice", "sync"))
        (found, status) = try exposure(homes)
        #expect(status == 1)
        #expect(standing(found, "A") == "known")
        try homes.set("alice", "A", "new-secret", "-t", "production")
        // Carol writes before she knows of the removal, with the keys that Bob has.
        try homes.set("carol", "B", "written-by-carol", "-t", "production")
        try homes.set("alice", "B", "other-secret", "-t", "production")
        done(try homes.run("alice", "sync"))
        (found, status) = try exposure(
            homes, "--accept", "LEVEL", "--accept-silent", "carol", "--reason", "not a secret")
        #expect(status == 0, "\(found)")
        #expect(standing(found, "A") == "replaced")
        #expect(found["isSettled"] == true)
        // Now her change arrives.
        done(try homes.run("carol", "sync"))
        done(try homes.run("alice", "sync"))
        (found, status) = try exposure(homes)
        #expect(status == 1)
        #expect(standing(found, "B") == "known")
        let theirs = try homes.object("alice", ["resolve", "B", "-p", "web"])
        let mine = try #require(
            theirs["candidates"]?.elements.first { $0["isMine"] == true }?["id"]?.text)
        done(try homes.run("alice", "resolve", "B", "-p", "web", "--take", mine))
        done(try homes.run("alice", "sync"))
        (found, status) = try exposure(homes)
        #expect(status == 0, "\(found)")
        // Everybody sees the decision and its reason.
        let level = found["variables"]?.elements.first { $0["key"] == "LEVEL" }
        #expect(level?["acceptedBy"] == "alice")
        #expect(level?["reason"] == "not a secret")
    }

    @Test func `finds the same value in other projects`() throws {
        let homes = try homes()
        for key in ["A", "B", "LEVEL"] {
            try homes.set("alice", key, "replaced-\(key)", "-t", "production")
        }
        done(
            try homes.home("alice").runner(
                ["set", "COPY", "-p", "other", "--raw"], input: .text("first-secret")
            ).run())
        // Equal by chance.
        done(
            try homes.home("alice").runner(
                ["set", "LEVEL", "-p", "other", "--raw"], input: .text("info")
            ).run())
        done(try homes.run("alice", "sync"))
        var (found, status) = try exposure(homes, "--accept-silent", "carol", "--reason", "asked")
        #expect(status == 1)
        let row = found["variables"]?.elements.first { $0["key"] == "A" }
        #expect(row?["copies"]?.elements.map(\.text) == ["COPY in other"])
        #expect(
            found["variables"]?.elements.first { $0["key"] == "LEVEL" }?["copies"]?.elements.isEmpty
                == true)
        done(
            try homes.home("alice").runner(
                ["set", "COPY", "-p", "other", "--raw"], input: .text("another")
            ).run())
        (found, status) = try exposure(homes)
        #expect(status == 0, "\(found)")
    }

    @Test func `a report is signed, and a changed one is refused`() throws {
        let homes = try homes()
        let alice = try homes.home("alice")
        for name in ["report.md", "report.json"] {
            let path = "\(alice.directory.path)/\(name)"
            let written = try alice.runner(["group", "exposure", "bob", "--report", path]).run()
            #expect(written.status == 1)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(!text.contains("secret\""))
            for value in ["first-secret", "second-secret"] { #expect(!text.contains(value)) }
            let checked = try homes.home("carol").runner(["verify", "--report", path]).run()
            done(checked)
            #expect(checked.output.contains("Signed by alice, an admin of acme"), "\(checked)")
            let again = try alice.runner(["group", "exposure", "bob", "--report", path]).run()
            #expect(again.status == 5)
            // Every kind of change: a state, the signature, the text for people.
            for (old, new) in [
                ("not replaced", "replaced"), ("\"signature\":\"", "\"signature\":\"00"),
                ("bob", "eve"),
            ] {
                try text.replacingOccurrences(of: old, with: new).write(
                    toFile: path, atomically: true, encoding: .utf8)
                let changed = try homes.home("carol").runner(["verify", "--report", path]).run()
                #expect(changed.status == 8, "\(name) \(old): \(changed)")
            }
        }
    }

    @Test func `only an admin may ask, and an unknown name is refused`() throws {
        let homes = try homes()
        failed(try homes.run("carol", "group", "exposure", "bob"), 6)
        failed(try homes.run("alice", "group", "exposure", "eve"), 4)
        failed(try homes.run("alice", "group", "exposure", "bob", "--accept", "A"), 2)
        failed(
            try homes.run("alice", "group", "exposure", "bob", "--accept", "X", "--reason", "r"), 4)
        // Who is still there knows what is in use.
        let (found, status) = try exposure(homes, of: "carol")
        #expect(status == 1)
        #expect(found["isStillMember"] == true)
    }
}

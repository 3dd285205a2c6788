import Sandbox
import TestSupport
import Testing

/// What sequences of ``ModelTests`` have found, in the fewest steps.
@Suite("Findings of the model")
struct ModelFindingTests {
    private let platform: PlatformHome

    init() throws {
        platform = try PlatformHome()
    }

    /// The state of a key in `list`.
    private func sync(_ key: String) throws -> String? {
        let list = try json(platform.run("list", key, "-p", "web", "--json"))
        return list["variables"]?.elements.first?["sync"]?.text
    }

    @Test(
        "SYNC-M1: what a push had not to touch, and somebody changed while it ran, is a conflict",
        arguments: [false, true])
    func untouched(isNamed: Bool) throws {
        try platform.set("A", "one", "-t", "production")
        try platform.set("B", "one", "-t", "production")
        try platform.pushed()
        try platform.set("A", "two")
        try platform.setFaults("PATCH * before:set,key=B,value=theirs")
        if isNamed {
            // Of what the push is not about nothing is said, but it is kept.
            #expect(try platform.pushed("A").keys("updated") == ["A"])
        } else {
            let (report, message) = try failedReport(try platform.push(), 5, "conflict")
            #expect(report.keys("updated") == ["A"])
            #expect(report.keys("conflicts") == ["B"] && report.keys("unchanged") == [])
            #expect(
                report.reasons("conflicts") == ["it was changed on Vercel by another user"])
            #expect(message.contains("The others are done."), "\(message)")
        }
        #expect(try sync("B") == "behind")
        #expect(platform.records("A") == ["production=two"])
        #expect(platform.records("B") == ["production=theirs"])
    }

    @Test(
        "SYNC-M3: a value set right before a push of the scope alone is not taken for the vault's",
        arguments: ["push", "set"])
    func hiddenValue(command: String) throws {
        try platform.set("A", "one", "-t", "production,preview")
        try platform.pushed()
        try platform.setFaults("PATCH * before:set,key=A,value=theirs")
        if command == "push" {
            done(try platform.run("rm", "A", "-p", "web", "-t", "preview", "--yes"))
            let (report, _) = try failedReport(try platform.push(), 5, "conflict")
            #expect(
                report.reasons("conflicts") == [
                    "its value was changed on Vercel right before that"
                ])
        } else {
            // Another one takes the place of preview.
            let set = platform.runner(
                ["set", "A", "-p", "web", "-t", "preview", "--push", "--yes", "--json"],
                input: .text("two"))
            #expect(try set.run().end == .exited(5))
            #expect(platform.records("A") == ["preview=two", "production=theirs"])
            done(try platform.run("rm", "A", "-p", "web", "-t", "preview", "--yes", "--push"))
        }
        #expect(try sync("A") == "behind")
        #expect(platform.records("A") == ["production=theirs"])
        // It is not overwritten either, and a pull takes it.
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("A")
        done(try platform.run("pull", "-p", "web", "--yes"))
        #expect(try platform.home.revealed("A") == Array("theirs".utf8))
        try platform.pushed().expectNothing()
    }

    @Test(
        "SYNC-M5: a change of scope or name that was answered and not kept failed",
        arguments: ["scope", "name"])
    func lostScope(change: String) throws {
        try platform.set("A", "one", "-t", "production,preview")
        try platform.pushed()
        let key = change == "name" ? "B" : "A"
        done(
            change == "name"
                ? try platform.run("rename", "A", "B", "-p", "web")
                : try platform.run("rm", "A", "-p", "web", "-t", "preview", "--yes"))
        try platform.setFaults("PATCH * stores-nothing")
        let (report, _) = try failedReport(try platform.push(), 1, "failed")
        #expect(report.keys("failed") == [key])
        #expect(report.keys("conflicts") == [])
        #expect(try sync(key) == "ahead")
        #expect(platform.records("A") == ["production,preview=one"])
        platform.server.setFaults([])
        #expect(try platform.pushed().keys("updated") == [key])
        try platform.pushed().expectNothing()
    }

    @Test("SYNC-M6: what somebody set before a change that was not kept is not called synced")
    func lostBehindAnother() throws {
        try platform.set("S", "one", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.set("S", "two")
        try platform.setFaults("PATCH * before:set,key=S,value=theirs", "PATCH * stores-nothing")
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("S")
        #expect(try sync("S") == "behind")
        platform.server.setFaults([])
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("S")
        #expect(platform.records("S") == ["production=theirs"])
    }

    @Test("SYNC-M7: harden sends no value again over one that somebody set, and that is readable")
    func hardenedAgain() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        try platform.setFaults("PATCH * before:set,key=A,value=theirs,by=self", "PATCH * 503 x1")
        let result = try platform.run("harden", "A", "-p", "web", "--yes", "--json")
        #expect(result.end == .exited(5), "\(result.output)\(result.error)")
        #expect(platform.records("A") == ["production=theirs"])
        #expect(platform.stored.first { $0.key == "A" }?.type == "encrypted")
    }

    @Test("SYNC-M8: an answer to a change that names another record is not taken for this one's")
    func anotherRecord() throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        try platform.set("A", "two")
        try platform.setFaults("PATCH * escapes:all x1")
        #expect(try platform.pushed().keys("updated") == ["A"])
        #expect(try sync("A") == "synced")
        #expect(platform.records("A") == ["production=two"])
        try platform.pushed().expectNothing()
    }

    @Test("SYNC-M4: push --force replaces one record that is in the way of several")
    func severalInTheWay() throws {
        for (targets, left) in [
            ("production,preview", []), ("production,preview,development", ["development=theirs"]),
        ] {
            let platform = try PlatformHome()
            let there = JSONValue.array(targets.split(separator: ",").map { .string(String($0)) })
            try platform.create("A", "theirs", ["target": there])
            try platform.set("A", "one", "-t", "production")
            try platform.set("A", "two", "-t", "preview")
            _ = try platform.pushed("--force")
            #expect(platform.records("A") == left + ["preview=two", "production=one"])
            try platform.pushed().expectNothing()
        }
    }

    @Test(
        "SYNC-M2: a change on a connection that was cut is not sent again without a look",
        arguments: ["set", "rm"], ["before", "then"])
    func cut(kind: String, moment: String) throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        if kind == "set" {
            try platform.set("A", "mine")
        } else {
            done(try platform.run("rm", "A", "-p", "web", "--yes"))
        }
        let method = kind == "set" ? "PATCH" : "DELETE"
        try platform.setFaults(
            "\(method) * reset x1", "\(method) * \(moment):set,key=A,value=theirs")
        let (report, _) = try failedReport(try platform.push(), 5, "conflict")
        #expect(report.keys("conflicts") == ["A"])
        #expect(platform.records("A") == ["production=theirs"])
    }
}

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

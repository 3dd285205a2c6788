import Foundation
import Glibc
internal import JSON
import Sandbox
import TestSupport
import Testing

/// Pushes killed at a request, and how the next one continues.
@Suite("Writes of unknown outcome")
struct SendJournalTests {
    private static let all = "production,preview,development="

    /// Kills a push at a request that the sandbox carries out without answering in time.
    private func kill(
        _ platform: SandboxHome, at method: String, _ arguments: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try platform.setFaults("\(method) * slow:6")
        let push = platform.runner(["push", "-p", "web", "--yes"] + arguments)
        let result = try platform.signalled(push, by: SIGKILL, at: method + " ").run()
        #expect(
            result.end == .signalled(SIGKILL), "\(result.end) \(result.error)",
            sourceLocation: sourceLocation)
        platform.server.setFaults([])
    }

    @Test("SYNC-A4: a killed sensitive creation is sent again, and is unverified")
    func killedCreation() throws {
        let platform = try SandboxHome()
        try platform.set("SECRET", "s", "--type", "sensitive")
        try kill(platform, at: "POST")
        #expect(platform.records("SECRET") == ["production,preview=s"])
        let writes = try platform.writes {
            let report = try platform.pushed()
            #expect(report.keys("updated") == ["SECRET"])
            #expect(report.keys("unverified") == ["SECRET"])
            #expect(report.keys("created") == [])
        }
        #expect(writes.count == 1)
        #expect(try platform.sync("SECRET") == "synced")
        let again = try platform.pushed()
        again.expectNothing()
        #expect(again.keys("unverified") == [])
        // Its state is known now: the next value is pushed as usual.
        try platform.set("SECRET", "t", "--type", "sensitive")
        #expect(try platform.pushed().keys("updated") == ["SECRET"])
        #expect(platform.records("SECRET") == ["production,preview=t"])
    }

    @Test func `a push that waited for another one sees its changes`() throws {
        let platform = try SandboxHome()
        try platform.set("SECRET", "s", "--type", "sensitive")
        try platform.setFaults("POST /v10/projects/*/env slow:0.5 x1")
        let results = try Together.run(
            (0..<3).map { _ in platform.runner(["push", "-p", "web", "--yes", "--json"]) })
        for result in results { done(result) }
        #expect(platform.records("SECRET") == ["production,preview=s"])
    }

    @Test func `a sensitive record that is not in the journal is a conflict`() throws {
        let platform = try SandboxHome()
        try platform.set("OTHER", "o", "--type", "sensitive")
        try kill(platform, at: "POST")
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "SECRET", "value": "s", "type": "sensitive", "target": ["production"]])
        try platform.set("SECRET", "s", "--type", "sensitive", "-t", "production")
        try failedReport(platform.push(), 5, "conflict").report.expectOnlyConflict("SECRET")
        // Also if the journal names it and the record has another scope.
        let second = try SandboxHome()
        try second.set("SECRET", "s", "--type", "sensitive", "-t", "production")
        try second.setFaults("POST * 500")
        #expect(try second.push().status == 7)
        second.server.setFaults([])
        try second.teammate.send(
            "POST", "/v10/projects/web/env",
            [
                "key": "SECRET", "value": "s", "type": "sensitive",
                "target": ["production", "preview"],
            ])
        try failedReport(second.push(), 5, "conflict").report.expectOnlyConflict("SECRET")
    }

    @Test func `the journal claims nothing that was refused or never sent`() throws {
        let platform = try SandboxHome()
        try platform.set("SECRET", "s", "--type", "sensitive", "-t", "production")
        for fault in ["POST * 400", "POST * 401", "POST * challenge", "POST * 429:600"] {
            try platform.setFaults(fault)
            #expect([1, 6, 7].contains(try platform.push().status), "\(fault)")
        }
        platform.server.setFaults([])
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "SECRET", "value": "theirs", "type": "sensitive", "target": ["production"]])
        try failedReport(platform.push(), 5, "conflict").report.expectOnlyConflict("SECRET")
    }

    @Test func `a killed change is recognized as ours, whatever was set since`() throws {
        for type in ["encrypted", "sensitive"] {
            let platform = try SandboxHome()
            try platform.set("KEY", "1", "--type", type, "-t", "production")
            try platform.pushed()
            try platform.set("KEY", "2")
            try kill(platform, at: "PATCH")
            #expect(platform.records("KEY") == ["production=2"])
            try platform.set("KEY", "3")
            #expect(try platform.pushed().keys("updated") == ["KEY"], "\(type)")
            #expect(platform.records("KEY") == ["production=3"])
            try platform.pushed().expectNothing()
        }
    }

    @Test func `a killed change that somebody else overwrote is a conflict`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "1", "-t", "production")
        try platform.pushed()
        try platform.set("KEY", "2")
        try kill(platform, at: "PATCH")
        try platform.teammate.send(
            "PATCH", "/v9/projects/web/env/\(try platform.id("KEY"))", ["value": "theirs"])
        try failedReport(platform.push(), 5, "conflict").report.expectOnlyConflict("KEY")
        #expect(platform.records("KEY") == ["production=theirs"])
        #expect(try platform.pushed("--force").keys("updated") == ["KEY"])
    }

    @Test func `a killed change of scope or comment is finished`() throws {
        for type in ["encrypted", "sensitive"] {
            let platform = try SandboxHome()
            try platform.set("KEY", "1", "--type", type, "-t", "production,preview")
            try platform.pushed()
            done(try platform.run("rm", "KEY", "-p", "web", "-t", "preview", "--yes"))
            try kill(platform, at: "PATCH")
            #expect(platform.records("KEY") == ["production=1"])
            let report = try platform.pushed()
            report.expectNothing()
            #expect(try platform.sync("KEY") == "synced", "\(type)")
        }
    }

    @Test func `a variable removed after its killed creation is deleted on Vercel too`() throws {
        for type in ["encrypted", "sensitive"] {
            let platform = try SandboxHome()
            try platform.set("KEY", "1", "--type", type, "-t", "production")
            try kill(platform, at: "POST")
            done(try platform.run("rm", "KEY", "-p", "web", "--yes"))
            #expect(try platform.pushed().keys("deleted") == ["KEY"], "\(type)")
            #expect(platform.records("KEY") == [])
            try platform.pushed().expectNothing()
        }
    }

    @Test func `a killed rename of a sensitive variable leaves no second one`() throws {
        for method in ["POST", "DELETE"] {
            let platform = try SandboxHome()
            try platform.set("OLD", "s", "--type", "sensitive")
            try platform.pushed()
            done(try platform.run("rename", "OLD", "NEW", "-p", "web"))
            try kill(platform, at: method)
            try platform.pushed()
            #expect(platform.records("NEW") == ["production,preview=s"], "\(method)")
            #expect(platform.records("OLD") == [], "\(method)")
            try platform.pushed().expectNothing()
        }
        // Changed by somebody meanwhile: left there, and reported.
        let platform = try SandboxHome()
        try platform.set("OLD", "s", "--type", "sensitive")
        try platform.pushed()
        done(try platform.run("rename", "OLD", "NEW", "-p", "web"))
        try kill(platform, at: "POST")
        try platform.teammate.send(
            "PATCH", "/v9/projects/web/env/\(try platform.id("OLD"))", ["value": "theirs"])
        let (report, _) = try failedReport(try platform.push(), 5, "conflict")
        #expect(report.keys("conflicts") == ["OLD"])
        done(try platform.run("pull", "OLD", "-p", "web", "--yes"))
        try platform.pushed()
        #expect(platform.records("OLD") == ["production,preview=theirs"])
        #expect(platform.records("NEW") == ["production,preview=s"])
    }

    @Test func `set --push finishes its own push`() throws {
        let platform = try SandboxHome()
        let set = ["set", "KEY", "-p", "web", "-t", "production", "--push", "--yes"]
        for type in ["encrypted", "sensitive"] {
            for value in ["first", "second"] {
                try platform.setFaults("POST * slow:6", "PATCH * slow:6")
                let write = platform.stored.contains { $0.key == "KEY" } ? "PATCH " : "POST "
                let killed = platform.runner(set + ["--type", type], input: .text(value))
                #expect(
                    try platform.signalled(killed, by: SIGKILL, at: write).run().end
                        == .signalled(SIGKILL))
                platform.server.setFaults([])
                let again = platform.runner(set + ["--type", type], input: .text(value + "!"))
                done(try again.run())
                #expect(platform.records("KEY") == ["production=\(value)!"], "\(type)")
                let list = try json(platform.run("list", "KEY", "-p", "web", "--json"))
                #expect(list["variables"]?.elements.first?["sync"] == "synced")
            }
            done(try platform.run("rm", "KEY", "-p", "web", "--push", "--yes"))
        }
    }

    @Test func `a push with everything in it survives a kill at every request`() throws {
        func prepared() throws -> SandboxHome {
            let platform = try SandboxHome()
            done(
                try platform.run(
                    "import", "-", "-p", "web", input: .text("CHANGED=0\nGONE=0\nSAME=1\n")))
            try platform.set("HIDDEN", "0", "--type", "sensitive")
            try platform.pushed()
            done(try platform.run("import", "-", "-p", "web", input: .text("CHANGED=1\nNEW=1\n")))
            try platform.set("HIDDEN", "1")
            try platform.set("SECRET", "1", "--type", "sensitive")
            done(try platform.run("rm", "GONE", "-p", "web", "--yes"))
            return platform
        }
        try KilledPush.everywhere(prepared: prepared, atLeast: 11) { platform, comment in
            #expect(platform.records("CHANGED") == [Self.all + "1"], comment)
            #expect(platform.records("NEW") == [Self.all + "1"], comment)
            #expect(platform.records("SAME") == [Self.all + "1"], comment)
            #expect(platform.records("HIDDEN") == ["production,preview=1"], comment)
            #expect(platform.records("SECRET") == ["production,preview=1"], comment)
            #expect(platform.records("GONE") == [], comment)
            #expect(platform.stored.count == 6, comment)
        }
    }

    @Test func `pushes of one project wait for each other, those of others do not`() throws {
        let platform = try SandboxHome()
        let lines = (0..<8).map { "KEY_\($0)=value \($0)\n" }.joined()
        done(try platform.run("import", "-", "-p", "web", input: .text(lines)))
        try platform.set("SECRET", "s", "--type", "sensitive")
        done(try platform.run("set", "K", "-p", "bare", input: .text("v")))
        try platform.setFaults("POST /v10/projects/*/env slow:1 x1")
        let results = try Together.run(
            (0..<4).map { _ in platform.runner(["push", "-p", "web", "--yes", "--json"]) })
        var created = 0
        for result in results {
            let report = try json(result)
            created += report.keys("created").count
            #expect(report.keys("created").count + report.keys("unchanged").count == 9)
        }
        #expect(created == 9)
        #expect(platform.stored.count == 10)
        // One that waits for Vercel's answer blocks only its own project.
        try platform.set("KEY_0", "other")
        try platform.setFaults("PATCH * slow:8 x1")
        let both = try Together.run([
            platform.runner(["push", "-p", "web", "--yes", "--json"]),
            platform.runner(["push", "-p", "bare", "--yes", "--json"]),
        ])
        for result in both { done(result) }
        #expect(both[0].duration > .seconds(8))
        #expect(both[1].duration < .seconds(8), "\(both[1].duration)")
    }
}

import Foundation
internal import JSON
import Sandbox
import TestSupport
import Testing

/// A second person, or the same one elsewhere, who changes a variable between two requests of a
/// push.
@Suite("A second writer")
struct SecondWriterTests {
    private let platform: SandboxHome

    init() throws {
        platform = try SandboxHome()
    }

    /// Somebody else's action.
    private func act(_ text: String) throws {
        try platform.server.perform(try #require(Act(text), "\(text)"))
    }

    /// Runs a push on a terminal, with an action between the question and the answer.
    private func pushed(_ arguments: [String], while act: String) throws -> ProgramResult {
        var runner = platform.runner(["push", "-p", "web"] + arguments)
        runner.terminal = .init()
        (runner.input, runner.output, runner.error) = (.terminal, .terminal, .terminal)
        let (server, deed) = (platform.server, try #require(Act(act)))
        runner.script = [
            (.terminal("[y/N] "), .call { _, _ in try? server.perform(deed) }),
            (.now, .line("y")),
        ]
        return try runner.run()
    }

    // MARK: Between the plan and the write

    @Test(
        "SYNC-A1: a change made during the question is not overwritten or deleted",
        arguments: ["set", "rm", "prune"])
    func question(kind: String) throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        switch kind {
        case "set": try platform.set("A", "mine")
        case "rm": done(try platform.run("rm", "A", "-p", "web", "--yes"))
        default:
            try act("create,key=X,value=x,targets=preview")
        }
        let key = kind == "prune" ? "X" : "A"
        let result = try pushed(
            kind == "prune" ? ["--prune"] : [], while: "set,key=\(key),value=theirs")
        #expect(result.end == .exited(5), "\(result.screen)")
        #expect(result.screen.contains("conflict  \(key)"), "\(result.screen)")
        #expect(platform.records(key).map { $0.hasSuffix("=theirs") } == [true])
        if kind == "set" { #expect(try platform.sync("A") == "diverged") }
    }

    @Test(
        "SYNC-A1: a change made while a request waits or is retried is not overwritten",
        arguments: ["429:1 x1", "429 x1", "reset x3", "503 x2", "ongoing x2"])
    func retry(fault: String) throws {
        try platform.set("A", "one", "-t", "production")
        try platform.pushed()
        try platform.set("A", "mine")
        try platform.setFaults(
            "PATCH * before:set,key=A,value=theirs @1", "PATCH * \(fault)")
        let (report, message) = try failedReport(try platform.push(), 5, "conflict")
        #expect(report.keys("conflicts") == ["A"])
        #expect(report.keys("updated") == [])
        #expect(message.contains("A: it was changed on Vercel by another user."))
        #expect(platform.records("A") == ["production=theirs"])
        #expect(try platform.sync("A") == "diverged")
    }

    @Test("SYNC-A1: a long push keeps changes made during it, and does the rest")
    func longPush() throws {
        // A changed scope takes its own request.
        for number in 0..<12 { try platform.set("K\(number)", "v\(number)", "-t", "production") }
        try platform.pushed()
        for number in 0..<12 {
            try platform.set("K\(number)", "w\(number)", "-t", "production,preview")
        }
        try platform.server.set(.members(["latencySeconds": .number(0.15)]))
        try platform.setFaults("PATCH * then:set,key=K9,value=theirs @1")
        let (report, message) = try failedReport(try platform.push(), 5, "conflict")
        #expect(report.keys("conflicts") == ["K9"])
        #expect(report.keys("updated").count == 11)
        #expect(message.contains("The other changes were applied."))
        #expect(platform.records("K9") == ["production=theirs"])
        #expect(platform.records("K11") == ["production,preview=w11"])
    }

    @Test("SYNC-A1: a batch leaves out variables that change while it waits")
    func batch() throws {
        for number in 0..<5 { try platform.set("K\(number)", "v", "-t", "production") }
        try platform.pushed()
        for number in 0..<5 { try platform.set("K\(number)", "w", "-t", "production") }
        try platform.setFaults(
            "POST */env* before:set,key=K2,value=theirs @1", "POST */env* 429:1 x1")
        let (report, _) = try failedReport(try platform.push(), 5, "conflict")
        #expect(report.keys("conflicts") == ["K2"])
        #expect(report.keys("updated") == ["K0", "K1", "K3", "K4"])
        #expect(platform.records("K2") == ["production=theirs"])
        #expect(platform.records("K3") == ["production=w"])
        // Deletions too.
        for number in [0, 1, 3] { done(try platform.run("rm", "K\(number)", "-p", "web", "--yes")) }
        try platform.setFaults(
            "DELETE */env* before:set,key=K1,value=kept @1", "DELETE */env* 429:1 x1")
        let (removal, _) = try failedReport(
            try platform.push("K0", "K1", "K3"), 5, "conflict")
        #expect(removal.keys("conflicts") == ["K1"])
        #expect(removal.keys("deleted") == ["K0", "K3"])
        #expect(platform.records("K1") == ["production=kept"])
    }

    // MARK: Right after the write

    @Test(
        "SYNC-A8: a write by somebody else right after a push is a conflict of that push",
        arguments: ["encrypted", "sensitive"], ["self", "other"])
    func rightAfter(type: String, by author: String) throws {
        try platform.set("A", "one", "-t", "production", "--type", type)
        try platform.pushed()
        try platform.set("A", "mine", "--type", type)
        try platform.setFaults("PATCH * then:set,key=A,value=theirs,by=\(author) @1")
        let (report, _) = try failedReport(try platform.push(), 5, "conflict")
        #expect(report.keys("conflicts") == ["A"])
        #expect(try platform.sync("A") == "behind")
        #expect(platform.records("A") == ["production=theirs"])
    }

    // MARK: Wrong answers

    @Test(
        "SYNC-A3: a write that was acknowledged and not stored has failed",
        arguments: ["encrypted", "sensitive"], ["stores-nothing", "returns-old-record"])
    func lostWrite(type: String, fault: String) throws {
        try platform.set("S", "one", "-t", "production", "--type", type)
        try platform.pushed()
        try platform.set("S", "two", "--type", type)
        try platform.setFaults("PATCH * \(fault)")
        let (report, _) = try failedReport(try platform.push(), 1, "failed")
        #expect(report.keys("failed") == ["S"])
        #expect(report.keys("updated") == [])
        #expect(try platform.sync("S") == "ahead")
        #expect(platform.records("S") == ["production=one"])
        platform.server.setFaults([])
        #expect(try platform.pushed().keys("updated") == ["S"])
        #expect(platform.records("S") == ["production=two"])
    }

    @Test("SYNC-A3: a batch whose answer names only some records is read back")
    func silentBatch() throws {
        for (shape, type) in [("some", "encrypted"), ("empty", "sensitive"), ("one", "sensitive")] {
            let platform = try SandboxHome()
            for number in 0..<4 {
                try platform.set("K\(number)", "v", "-t", "production", "--type", type)
            }
            try platform.setFaults("POST */env* silent-batch:\(shape) x1")
            _ = try platform.push()
            platform.server.setFaults([])
            let report = try json(platform.push())
            #expect(report.keys("failed") == [], "\(shape)")
            for number in 0..<4 {
                #expect(platform.records("K\(number)") == ["production=v"], "\(shape)")
            }
            try platform.pushed().expectNothing()
        }
    }

    // MARK: After an unfinished push

    @Test(
        "SYNC-A4: a value that never arrived does not count as sent after somebody's change",
        arguments: ["touch,key=S,by=self", "set,key=S,value=dashboard,by=self"])
    func neverSent(deed: String) throws {
        try platform.set("S", "one", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.set("S", "two", "--type", "sensitive")
        try platform.setFaults("PATCH * reset")
        _ = try failedReport(try platform.push(), 7, "unavailable")
        platform.server.setFaults([])
        platform.server.advanceClock(bySeconds: 120)
        try act(deed)
        let before = platform.records("S")
        let (report, _) = try failedReport(try platform.push(), 5, "conflict")
        #expect(report.keys("conflicts") == ["S"])
        #expect(platform.records("S") == before)
        #expect(try platform.sync("S") == "diverged")
    }

    @Test("SYNC-A4: a value whose answer was lost is sent again")
    func lostAnswer() throws {
        try platform.set("S", "one", "-t", "production", "--type", "sensitive")
        try platform.pushed()
        try platform.set("S", "two", "--type", "sensitive")
        try platform.setFaults("PATCH * lost-answer x1")
        let report = try platform.pushed()
        #expect(report.keys("updated") == ["S"])
        #expect(report.keys("unverified") == ["S"])
        #expect(platform.records("S") == ["production=two"])
        try platform.pushed().expectNothing()
    }

    // MARK: harden

    @Test("SYNC-A2: harden overwrites no value that the vault has never seen")
    func harden() throws {
        try act("create,key=S,value=one,type=sensitive,targets=production,by=self")
        _ = try platform.run("pull", "-p", "web", "--yes")
        try platform.set("S", "mine", "--type", "sensitive")
        try act("set,key=S,value=theirs,by=self")
        let result = try platform.run("harden", "S", "-p", "web", "--yes", "--json")
        #expect(result.status == 5, "\(result.output)\(result.error)")
        #expect(platform.records("S") == ["production=theirs"])
    }
}

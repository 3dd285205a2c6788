import Glibc
internal import JSON
import Sandbox
import TestSupport
import Testing

/// The questions of a pull on a terminal if both sides changed.
@Suite("Questions about conflicts")
struct ConflictQuestionTests {
    private typealias Step = (when: ProgramRunner.Trigger, then: ProgramRunner.Action)

    private func pull(
        _ platform: SandboxHome, script: [Step]
    ) throws -> ProgramResult {
        var runner = platform.home.terminalRunner(
            ["pull", "-p", "web"], streams: true, columns: 200, script: script)
        runner.environment["ZG_ENV_API_URL"] = platform.url
        return try runner.run()
    }

    /// The passphrase that opens the index, where no keyring does.
    private let passphrase: Step = (.terminal("Passphrase"), .line(CommandHome.passphrase))

    @Test func `each conflict is answered by itself, in one command`() throws {
        let platform = try SandboxHome()
        for key in ["A", "B", "C", "D", "E"] { try platform.set(key, "old") }
        try platform.pushed()
        for key in ["A", "B", "C", "D"] { try platform.set(key, "mine") }
        done(try platform.run("rm", "E", "-p", "web", "--yes"))
        for key in ["A", "B", "C", "E"] { try platform.change(key, ["value": "theirs"]) }
        try platform.delete("D")
        let result = try pull(
            platform,
            script: [
                passphrase,
                (.terminal("A (production, preview, development): it was changed"), .line("m")),
                (.terminal("B (production, preview, development): it was changed"), .line("x")),
                // Anything but an answer asks again.
                (.terminal("skip? [S/m/t/d] x\r\nChoose"), .line("theirs")),
                (.terminal("C (production, preview, development): it was changed"), .line("")),
                (.terminal("D (production, preview, development): it was changed"), .line("m")),
                (.terminal("E (production, preview, development): it was removed"), .line("m")),
            ])
        #expect(result.end == .exited(5), "\(result.screen)")
        #expect(result.stepsDone == 7, "\(result.screen)")
        let screen = String(decoding: result.terminal, as: UTF8.self)
        #expect(!screen.contains("[y/N]"), "\(screen)")
        #expect(screen.contains("vault   version 2, changed just now"), "\(screen)")
        #expect(screen.contains("by your account"), "\(screen)")
        #expect(screen.contains("updated    B "), "\(screen)")
        #expect(screen.contains("kept       A "), "\(screen)")
        #expect(screen.contains("conflict   C "), "\(screen)")
        #expect(try platform.home.revealed("B") == Array("theirs".utf8))
        #expect(try platform.home.revealed("A") == Array("mine".utf8))
        let states = try platform.states()
        #expect(states["A"] == "ahead" && states["C"] == "diverged" && states["D"] == "local")
        // The next push sends what was kept, without --force.
        let report = try platform.pushed("A", "D", "E")
        #expect(report.keys("updated") == ["A"] && report.keys("created") == ["D"])
        #expect(report.keys("deleted") == ["E"])
        let all = "production,preview,development"
        #expect(platform.records("A") == ["\(all)=mine"])
        #expect(platform.records("B") == ["\(all)=theirs"])
        #expect(platform.records("D") == ["\(all)=mine"] && platform.records("E") == [])
    }

    @Test func `a conflict takes one command, and its values are shown on demand`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old", "-t", "production")
        try platform.pushed()
        try platform.set("KEY", "mine\u{1B}[2J", "-t", "production")
        try platform.change("KEY", ["value": "theirs"])
        let result = try pull(
            platform,
            script: [
                passphrase,
                (.terminal("skip? [S/m/t/d]"), .line("d")),
                (.terminal("skip? [S/m/t/d]"), .line("t")),
            ])
        #expect(result.end == .exited(0), "\(result.screen) \(result.error)")
        #expect(result.stepsDone == 3, "\(result.screen)")
        let screen = String(decoding: result.terminal, as: UTF8.self)
        #expect(screen.contains("vault   mine\\x1B[2J"), "\(screen)")
        #expect(screen.contains("Vercel  theirs"), "\(screen)")
        #expect(try platform.home.revealed("KEY", "-t", "production") == Array("theirs".utf8))
        let entries = done(try platform.run("log", "--json")).output
        #expect(entries.contains("revealed"), "\(entries)")
    }

    @Test func `a signal between the questions says that the choices are dropped`() throws {
        let platform = try SandboxHome()
        for key in ["A", "B"] { try platform.set(key, "old") }
        try platform.pushed()
        for key in ["A", "B"] {
            try platform.set(key, "mine")
            try platform.change(key, ["value": "theirs"])
        }
        let result = try pull(
            platform,
            script: [
                passphrase,
                (.terminal("A (production, preview, development)"), .line("t")),
                (.terminal("B (production, preview, development)"), .type([0x03])),
            ])
        #expect(result.end == .signalled(SIGINT), "\(result.screen)")
        #expect(
            result.screen.contains("Nothing was changed: the choice made so far was not applied."),
            "\(result.screen)")
        #expect(try platform.home.revealed("A") == Array("mine".utf8))
    }

    @Test func `values found to be the same are no conflict`() throws {
        let keyring = try PrivateKeyring()
        let platform = try SandboxHome(keyring: keyring)
        try platform.set("KEY", "equal", "-t", "production")
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "KEY", "value": "equal", "type": "encrypted", "target": ["production"]])
        let result = try pull(
            platform,
            script: [passphrase])
        #expect(result.end == .exited(0), "\(result.screen) \(result.error)")
        #expect(!result.screen.contains("skip?"), "\(result.screen)")
        #expect(try platform.sync("KEY") == "synced")
    }

    @Test func `an unknown variable on Vercel is replaced only after a question`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "mine", "-t", "production")
        try platform.teammate.send(
            "POST", "/v10/projects/web/env",
            ["key": "KEY", "value": "theirs", "type": "encrypted", "target": ["production"]])
        // Nobody is asked with --yes, or with --json.
        _ = try failedReport(platform.run("pull", "-p", "web", "--yes", "--json"), 5, "conflict")
        let result = try pull(
            platform, script: [passphrase, (.terminal("skip? [S/m/t/d]"), .line("mine"))])
        #expect(result.end == .exited(0), "\(result.screen) \(result.error)")
        #expect(platform.records("KEY") == ["production=theirs"])
        #expect(try platform.pushed().keys("updated") == ["KEY"])
        #expect(platform.records("KEY") == ["production=mine"])
    }

    @Test func `a change after the answer is a conflict again`() throws {
        let platform = try SandboxHome()
        try platform.set("KEY", "old", "-t", "production")
        try platform.pushed()
        try platform.set("KEY", "mine", "-t", "production")
        try platform.change("KEY", ["value": "theirs"])
        let answered = try pull(
            platform, script: [passphrase, (.terminal("skip? [S/m/t/d]"), .line("m"))])
        #expect(answered.end == .exited(0), "\(answered.screen)")
        try platform.change("KEY", ["value": "newer"])
        try failedReport(try platform.push(), 5, "conflict").report.expectOnlyConflict("KEY")
        #expect(platform.records("KEY") == ["production=newer"])
    }
}

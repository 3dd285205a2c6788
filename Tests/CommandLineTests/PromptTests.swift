import Foundation
import TestSupport
import Testing

/// What prompts and questions say, and when they are asked.
@Suite("Prompts")
struct PromptTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["API_KEY": "value-of-key", "API_URL": "value-of-url"])
    }

    private func run(
        _ arguments: [String],
        _ script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)]
    ) throws -> ProgramResult {
        var runner = home.terminalRunner(arguments, streams: true, script: script)
        // Without fzf.
        runner.environment["PATH"] = "/nonexistent"
        runner.timeLimit = .seconds(30)
        return try runner.run()
    }

    private func prompts(_ result: ProgramResult) -> Int {
        String(decoding: result.terminal, as: UTF8.self).ranges(of: "assphrase").count
    }

    @Test func `reveal asks once, before its picker, and shows the value`() throws {
        let result = try run(
            ["reveal", "-p", "web"],
            [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (.terminal("Variable: "), .type(Array("key".utf8))),
                (.terminal("1 of 2"), .line("")),
            ])
        #expect(done(result).stepsDone == 3, "\(result.screen)")
        #expect(result.screen.contains("value-of-key"), "\(result.screen)")
        #expect(prompts(result) == 1)
    }

    @Test func `while unlocked, reveal checks the name and picks before it asks`() throws {
        let home = home
        let (missing, picked, value) = try LoginThread.run(.session) {
            done(try home.run(["unlock"]))
            let missing = try home.run(["reveal", "API_KEX", "-p", "web"], unlocked: false)
            var picking = home.terminalRunner(
                ["reveal", "-p", "web"], streams: true,
                script: [
                    (.terminal("Variable: "), .type(Array("url".utf8))),
                    (.terminal("1 of 2"), .line("")),
                    (.terminal("Passphrase: "), .line(CommandHome.passphrase)),
                ])
            picking.environment["PATH"] = "/nonexistent"
            // Names do not open the value.
            let value = try home.run(["reveal", "API_KEY", "-p", "web"], unlocked: false)
            return (missing, try picking.run(), value)
        }
        failed(missing, 4, "web has no variable API_KEX", "Did you mean API_KEY?")
        #expect(done(picked).stepsDone == 3, "\(picked.screen)")
        #expect(picked.screen.contains("value-of-url"), "\(picked.screen)")
        failed(value, 3, "The passphrase is needed")
        #expect(!value.output.contains("value-of-key"))
    }

    @Test func `passwd says which passphrase it asks for`() throws {
        let result = try run(
            ["passwd", "--kdf", "8MiB,1"],
            [
                (.terminal("Current passphrase: "), .line(CommandHome.passphrase)),
                (.terminal("New passphrase: "), .line("another one")),
                (.terminal("Confirm passphrase: "), .line("another one")),
            ])
        #expect(done(result).stepsDone == 3, "\(result.screen)")
    }

    @Test(arguments: ["get", "add", "unset", "delete"])
    func `a word of other programs leads to the command of the same meaning`(word: String) throws {
        let command = ["get": "reveal", "add": "set"][word] ?? "rm"
        failed(try home.run([word, "API_KEY"]), 2, "Did you mean \"\(command)\"")
    }

    @Test func `init says why the new vault is locked`() throws {
        let results = try [
            LoginThread.State.session, .withoutSession, .forbidden(EPERM),
        ].map { state in
            let new = try CommandHome()
            return try LoginThread.run(state) {
                try new.run(["init", "--kdf", "8MiB,1"])
            }
        }
        #expect(done(results[0]).error.contains("Unlocked for 15m"))
        #expect(done(results[1]).error.contains("The vault is locked."))
        #expect(results[1].error.contains("Run: zg-env unlock --scope user"))
        #expect(done(results[2]).error.contains("The vault is locked."))
        #expect(results[2].error.contains("Enter the passphrase each time"))
    }

    @Test func `unlock asks about all programs in plain words`() throws {
        let home = home
        let result = try LoginThread.run(.withoutSession) {
            try home.terminalRunner(
                ["unlock"], streams: true,
                script: [(.terminal("run on this machine (--scope user)?"), .line("n"))]
            ).run()
        }
        #expect(result.end == .exited(2), "\(result.screen)")
        #expect(result.screen.contains("cannot be unlocked for this terminal alone"))
    }
}

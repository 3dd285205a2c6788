import Foundation
internal import JSON
import TestSupport
import Testing

/// `reveal` and `set` with several variables.
@Suite("Everyday tasks with several variables")
struct EverydayVariableTests {
    @Test func `reveal prints names and values in a format`() throws {
        let home = try CommandHome.initialised()
        try home.store(["A": "one two", "B": "it's\n\"`"])
        let object = done(
            try home.run(["reveal", "A", "B", "-p", "web", "--format", "json"])
        ).output
        let document = try JSONDocument(Array(object.utf8))
        #expect(document["A"] == "one two" && document["B"] == .string("it's\n\"`"))
        // One value with a format has its name, on a terminal too.
        let shell = done(try home.run(["reveal", "A", "-p", "web", "--format", "shell"])).output
        #expect(shell == "export A='one two'\n", "\(shell)")
        let screen = try home.terminalRunner(
            ["reveal", "A", "-p", "web", "--format", "json"], streams: true,
            script: [(.terminal("Passphrase"), .line(CommandHome.passphrase))]
        ).run()
        #expect(done(screen).screen.contains("\"A\""), "\(screen.screen)")
        // What .env cannot hold names a format that exists.
        failed(try home.run(["reveal", "A", "B", "-p", "web"]), 2, "B", "--format json")
        let both = try failedAsJSON(
            home.run(["reveal", "A", "B", "-p", "web", "--json", "--format", "json"]), 2, "usage")
        #expect(both.contains("--format"))
        failed(try home.run(["reveal", "A", "-p", "web", "--copy", "--format", "json"]), 2)
    }

    @Test func `set asks for each value and stores all or none`() throws {
        let home = try CommandHome.initialised()
        try home.store(["A": "old"])
        func typed(_ second: String) throws -> ProgramResult {
            try home.terminalRunner(
                ["set", "A", "B", "-p", "web"], streams: true,
                script: [
                    (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                    (.terminal("Value of A"), .line("first")),
                    (.terminal("Value of B"), .line(second)),
                ]
            ).run()
        }
        let before = try home.vaultBytes()
        let none = try typed("")
        #expect(none.end == .exited(2), "\(none.screen)")
        #expect(try home.vaultBytes() == before)
        let both = done(try typed("second"))
        #expect(!both.screen.contains("first") && !both.screen.contains("second"))
        #expect(try home.revealed("A") == Array("first".utf8))
        #expect(try home.revealed("B") == Array("second".utf8))
    }

    @Test func `set generates a value for each key`() throws {
        let home = try CommandHome.initialised()
        let report = try json(
            home.run(["set", "A_KEY", "B_KEY", "-p", "web", "--generate", "hex:16", "--json"]))
        #expect(report["variables"]?.elements.map { $0["key"] } == ["A_KEY", "B_KEY"])
        #expect(report["projectCreated"] == true && report["project"] == "web")
        #expect(try home.revealed("A_KEY") != home.revealed("B_KEY"))
        let dry = try json(
            home.run([
                "set", "A_KEY", "C_KEY", "-p", "web", "--generate", "uuid", "--dry-run", "--json",
            ]))
        #expect(dry["keys"]?.texts == ["A_KEY", "C_KEY"])
        failed(try home.run(["show", "C_KEY", "-p", "web"]), 4)
        // A period alone needs no values, for several keys too.
        let period = try json(
            home.run(["set", "A_KEY", "B_KEY", "-p", "web", "--rotate-every", "90d", "--json"]))
        #expect(period["keys"]?.texts == ["A_KEY", "B_KEY"])
        #expect(try home.scopes(of: "B_KEY").count == 1)
    }

    @Test func `a value in place of a second name is refused and not repeated`() throws {
        let home = try CommandHome.initialised()
        try home.store(["A": "old"])
        let before = try home.vaultBytes()
        for value in ["hunter2x", "p@ss", "9F86D081884C7D659A2F"] {
            let piped = try home.run(["set", "A", value, "-p", "web"], input: .text("x"))
            failed(piped, 2, "stdin", "--generate")
            #expect(!piped.error.contains(value))
            let generated = try home.run(["set", "A", value, "-p", "web", "--generate", "uuid"])
            failed(
                generated, 2, "set takes only names", "could be a value",
                "Run: zg-env set A, and type")
            #expect(!generated.error.contains(value))
            let typed = try home.terminalRunner(
                ["set", "A", value, "-p", "web"], streams: true,
                script: [(.terminal("Passphrase"), .line(CommandHome.passphrase))]
            ).run()
            #expect(typed.end == .exited(2))
            #expect(!typed.screen.contains("Value of"), "\(typed.screen)")
        }
        failed(
            try home.run(["set", "A", "B", "-p", "web", "--from-file", "/dev/null"]), 2, "stdin")
        #expect(try home.vaultBytes() == before)
    }
}

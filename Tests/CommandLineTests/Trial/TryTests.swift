import Foundation
import Glibc
import TestSupport
import Testing

/// `try`: the tour on made-up data, and its shell.
@Suite("Trying zg-env")
struct TryTests {
    private let home: CommandHome
    /// The parent of the trial's directory.
    private let temporary: TemporaryDirectory

    init() throws {
        home = try CommandHome()
        temporary = try TemporaryDirectory(named: "try")
    }

    private func runner(_ options: String...) -> ProgramRunner {
        home.runner(["try"] + options, environment: ["TMPDIR": temporary.path])
    }

    /// Expects that neither a file nor a process of the trial is left.
    private func expectNothingLeft(sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: temporary.path) == [],
            sourceLocation: sourceLocation)
        #expect(try processesLeft() == [], sourceLocation: sourceLocation)
    }

    private func processesLeft() throws -> [String] {
        let mark = Array("HOME=\(temporary.path)/".utf8)
        return try FileManager.default.contentsOfDirectory(atPath: "/proc").filter {
            guard Int32($0) != nil,
                let bytes = FileManager.default.contents(atPath: "/proc/\($0)/environ")
            else { return false }
            return bytes.firstRange(of: mark) != nil
        }
    }

    @Test func `try does every step and touches nothing of the user`() throws {
        try home.initialise()
        try home.store(["KEY": "value"], in: "mine")
        let before = try home.vaultBytes()
        var runner = runner()
        runner.environment.merge([
            "ZG_ENV_API_URL": "http://127.0.0.1:1", "VERCEL_TOKEN": "token-of-the-user",
            "ZG_ENV_VAULT": home.vaultPath, "ZG_ENV_PROJECT": "mine",
            "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere",
        ]) { $1 }
        let result = done(try runner.run())
        #expect(result.error == "")
        for text in [
            "All 9 steps passed", "sk_live_4eC39HqLyjWDarjtT1zdp7dc\n",
            "DATABASE_PASSWORD: rotated", "web: restored the old value.",
            "STRIPE_KEY: rolled back", "(exit code 10: the rotation failed and was reverted)",
        ] {
            #expect(result.output.contains(text), "\(result.output)")
        }
        #expect(!result.output.contains("token-of-the-user"))
        #expect(try home.vaultBytes() == before)
        try expectNothingLeft()
    }

    @Test func `on a terminal lines break between words`() throws {
        var runner = runner()
        runner.terminal = .init()
        (runner.input, runner.output, runner.error) = (.terminal, .terminal, .terminal)
        let result = try runner.run()
        #expect(result.end == .exited(0), "\(result.screen)")
        #expect(
            result.screen.contains(
                "8. Replace another variable's value. Its check accepts only keys that start with\u{1B}[0m\r\n\u{1B}[1msk_live_, so it fails.\u{1B}[0m\r\n"
            ), "\(result.screen)")
        // The command can still be copied.
        #expect(result.screen.contains(" \\\r\n    "), "\(result.screen)")
    }

    @Test func `try has a result in JSON, and can be quiet`() throws {
        let commands = try #require(json(runner("--json").run())["commands"]).elements
        #expect(commands.count == 9)
        #expect(commands.compactMap { $0["exitCode"] }.filter { $0 != 0 } == [10])
        #expect(done(try runner("--quiet").run()).output == "")
        try expectNothingLeft()
    }

    @Test func `a dry run prints the commands and runs none`() throws {
        let result = done(try runner("--dry-run").run())
        let commands = result.output.split(separator: "\n")
        #expect(commands.count == 9)
        #expect(commands.allSatisfy { $0.hasPrefix("zg-env ") })
        let shell = done(try runner("--shell", "--dry-run").run())
        #expect(
            shell.output.split(separator: "\n").map(String.init)
                == commands.prefix(3).map(String.init))
        _ = try failedAsJSON(runner("--shell", "--json").run(), 2, "usage")
        try expectNothingLeft()
    }

    @Test func `a temporary directory that does not exist is an error`() throws {
        var runner = runner()
        runner.environment["TMPDIR"] = temporary.path("nowhere")
        failed(try runner.run(), 1, temporary.path("nowhere"), "TMPDIR")
    }

    /// A copy of zg-env beside what is, or is not, the server.
    private func runner(beside script: String?, in programs: TemporaryDirectory) throws
        -> ProgramRunner
    {
        var runner = runner()
        let path = programs.path("zg-env")
        try FileManager.default.copyItem(atPath: runner.path, toPath: path)
        if let script {
            try programs.write("#!/bin/sh\n\(script)\n", to: "zg-env-sandbox", mode: 0o700)
        }
        runner.path = path
        return runner
    }

    @Test(arguments: [
        nil, "exit 1", "echo nonsense", #"echo '{"url":"http://example.com","token":"x"}'"#,
        "yes", "exec /nonexistent",
    ])
    func `try says so when there is no server`(_ script: String?) throws {
        let programs = try TemporaryDirectory()
        let result = try runner(beside: script, in: programs).run()
        #expect(result.end == .exited(1))
        let words = script == nil ? "Install the package zg-env-sandbox" : "did not start."
        #expect(result.error.contains("zg-env: ") && result.error.contains(words))
        #expect(result.output == "")
        try expectNothingLeft()
    }

    @Test func `a step that ends otherwise ends the trial`() throws {
        let programs = try TemporaryDirectory()
        let server = try ProgramRunner.pathOfProduct("zg-env-sandbox")
        let result = try runner(
            beside: "exec '\(server)' \"$@\" --build fail", in: programs
        ).run()
        #expect(result.end == .exited(1))
        #expect(result.error.contains("Step 7 failed: zg-env rotate DATABASE_PASSWORD"))
        #expect(!result.output.contains("8. "))
        try expectNothingLeft()
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal ends the trial and its processes`(_ signal: Int32) throws {
        var runner = runner()
        runner.script = [(.output("building"), .signal(signal))]
        let result = try runner.run()
        #expect(result.end == .received(signal))
        #expect(result.error.contains("The trial is over, and its files are removed.\n"))
        try expectNothingLeft()
    }

    @Test func `a killed trial leaves its directory, and no server`() throws {
        var runner = runner()
        runner.script = [(.output("building"), .signal(SIGKILL))]
        #expect(try runner.run().end == .signalled(SIGKILL))
        func servers() throws -> [String] {
            try processesLeft().filter {
                SmallFile.bytes("/proc/\($0)/cmdline").starts(with: Array("zg-env-sandbox".utf8))
            }
        }
        let limit = ContinuousClock.now + .seconds(60)
        while try !servers().isEmpty, ContinuousClock.now < limit { usleep(50_000) }
        #expect(try servers() == [])
        // The command that ran would end by itself when it gives up.
        for process in try processesLeft().compactMap(Int32.init) { kill(process, SIGTERM) }
        let left = try FileManager.default.contentsOfDirectory(atPath: temporary.path)
        #expect(left.count == 1 && left[0].hasPrefix("zg-env-try-"))
    }

    @Test func `a closed output ends the trial`() throws {
        var wrapped = home.wrapped("/bin/sh") { ["-c", "'\($0)' try | head -n 1"] }
        wrapped.environment["TMPDIR"] = temporary.path
        let result = try wrapped.run()
        #expect(result.output.hasPrefix("This demo uses made-up variables in "))
        try expectNothingLeft()
    }

    @Test func `the shell has a vault and a server, and its exit code is returned`() throws {
        var runner = runner("--shell")
        runner.input = .text(
            """
            zg-env list -p web --json | grep -c STRIPE_KEY
            zg-env push -p web --yes >/dev/null || exit 1
            mkdir -p a/b && touch a/b/c && chmod 500 a/b && ln -s / a/root
            exit 7

            """)
        let result = try runner.run()
        #expect(result.end == .exited(7), "\(result.error)")
        #expect(result.output == "1\n")
        #expect(result.error.contains("Start with: zg-env list -p web."))
        #expect(result.error.hasSuffix("The trial is over, and its files are removed.\n"))
        try expectNothingLeft()
    }

    @Test func `at a terminal, the shell reads commands and keyboard interrupts`() throws {
        var runner = home.terminalRunner(
            ["try", "--shell"], streams: true,
            script: [
                (.terminal("(zg-env try)"), .line("echo pass''word is $ZG_ENV_PASSPHRASE_FILE")),
                (.terminal("password is \(temporary.path)/"), .line("sleep 600; echo no''pe")),
                (.terminal("sleep 600"), .type([0x03])),
                (.now, .line("exit 3")),
            ])
        runner.environment["TMPDIR"] = temporary.path
        let result = try runner.run()
        #expect(result.end == .exited(3), "\(result.screen)")
        #expect(!result.screen.contains("nope"))
        try expectNothingLeft()
    }

    @Test func `a signal ends the shell`() throws {
        var runner = runner("--shell")
        runner.input = .text("echo ready; sleep 600\n")
        runner.script = [(.output("ready"), .signal(SIGTERM))]
        #expect(try runner.run().end == .exited(143))
        try expectNothingLeft()
    }
}

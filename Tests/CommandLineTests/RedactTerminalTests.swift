import Foundation
import TestSupport
import Testing

/// `run --redact` on a terminal: the program gets a terminal of the right size and behaves as under
/// `run`.
@Suite("Masked output on a terminal")
struct RedactTerminalTests {
    private let home: CommandHome
    private static let secret = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["SECRET": Self.secret, "PEM": "first line\nsecond line"])
    }

    private func runner(
        _ command: [String], redact: Bool = true, columns: Int = 80,
        script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = []
    ) -> ProgramRunner {
        let options = ["run", "-p", "web", "-t", "production"] + (redact ? ["--redact"] : [])
        var runner = home.terminalRunner(
            options + ["--"] + command, streams: true, columns: columns, script: script)
        runner.environment["ZG_ENV_PASSPHRASE_FILE"] = home.passphrasePath
        runner.environment["TERM"] = "vt100"
        return runner
    }

    /// Expects the same exit, screen and files of a program with and without masking.
    private func expectSame(
        _ command: [String], columns: Int = 80,
        script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let plain = try runner(command, redact: false, columns: columns, script: script).run()
        let masked = try runner(command, columns: columns, script: script).run()
        #expect(plain.stepsDone == script.count, "\(plain.screen)", sourceLocation: sourceLocation)
        #expect(masked.stepsDone == script.count, sourceLocation: sourceLocation)
        #expect(masked.end == plain.end, sourceLocation: sourceLocation)
        #expect(masked.screen == plain.screen, sourceLocation: sourceLocation)
        #expect(masked.echoAtEnd == true, sourceLocation: sourceLocation)
    }

    @Test func `the program gets a terminal of the same size`() throws {
        try expectSame(["stty", "size"], columns: 123)
        try expectSame(["sh", "-c", "stty -a | grep -v speed; test -t 0 && test -t 1 && test -t 2"])
        try expectSame(["sh", "-c", "stty size </dev/tty; printf 'a\\tb\\n' >/dev/tty"])
        let result = done(try runner(["sh", "-c", "tty; echo $SECRET; echo \"$PEM\""]).run())
        #expect(result.screen.hasSuffix("\r\n[redacted]\r\n[redacted]\r\n"))
    }

    @Test func `vi edits a file as without masking`() throws {
        for redact in [false, true] {
            try home.directory.write("one\ntwo\n", to: "work/file")
            let result = try runner(
                ["vi", "-u", "NONE", "-N", "-i", "NONE", "-n", "file"], redact: redact,
                script: [
                    (.terminal("two"), .type(Array("Othree\u{1B}".utf8))),
                    (.terminal("three"), .type(Array(":wq\r".utf8))),
                ]
            ).run()
            #expect(result.end == .exited(0), "\(result.screen)")
            #expect(result.echoAtEnd == true)
            #expect(try home.directory.read("work/file") == Array("three\none\ntwo\n".utf8))
        }
        try home.directory.write("one\ntwo\n", to: "work/file")
        try expectSame(
            ["vi", "-u", "NONE", "-N", "-i", "NONE", "-n", "file"],
            script: [(.terminal("two"), .type(Array(":q\r".utf8)))])
    }

    @Test func `less shows a file as without masking`() throws {
        let lines = (1...200).map { "line \($0)\n" }.joined()
        try home.directory.write(lines, to: "work/long")
        let keys: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = [
            (.terminal("line 23"), .type(Array("G".utf8))),
            (.terminal("line 200"), .type(Array("q".utf8))),
        ]
        try expectSame(["less", "long"], script: keys)
        // While it reads a pipe it takes keys from /dev/tty; zg-env does not interfere before that.
        try expectSame(["sh", "-c", "cat long | less"], script: keys)
    }

    @Test func `keys reach a program that reads a pipe`() throws {
        let lines = (1...200).map { "line \($0)\n" }.joined()
        var masked = runner(
            ["less"],
            script: [
                (.terminal("line 23"), .type(Array("G".utf8))),
                (.terminal("line 200"), .type(Array("q".utf8))),
            ])
        masked.input = .text(lines)
        let result = done(try masked.run())
        #expect(result.stepsDone == 2)
        #expect(result.echoAtEnd == true)
    }

    @Test func `lines end once, also without a terminal to type at`() throws {
        let script =
            "printf 'one\\ntwo\\r\\nthree\\r'; sleep 0.1; printf 'four\\n\\rfive\\r'; printf '\\n'"
        var screens: [String] = []
        for redact in [false, true] {
            var runner = runner(["sh", "-c", script], redact: redact)
            runner.input = .null
            screens.append(done(try runner.run()).screen)
        }
        #expect(
            screens[0].hasPrefix("one\r\ntwo\r\r\nthree\rfour\r\n\rfive\r\r\n"), "\(screens[0])")
        #expect(screens[1] == screens[0])
        // The same where the terminal itself adds nothing.
        try expectSame(["sh", "-c", "stty -onlcr; \(script); stty onlcr"])
    }

    @Test func `the program learns of a new size`() throws {
        let script = "trap 'stty size; exit 3' WINCH; echo ready; while :; do sleep 0.02; done"
        let result = try runner(
            ["sh", "-c", script],
            script: [(.terminal("ready"), .call { _, terminal in terminal?.resize(99, 33) })]
        ).run()
        #expect(result.end == .exited(3))
        #expect(result.screen.hasSuffix("33 99\r\n"))
    }

    @Test func `interrupt and quit keys reach the program`() throws {
        for (key, status) in [(3, 130), (28, 131)] as [(UInt8, Int32)] {
            let result = try runner(
                ["sh", "-c", "ulimit -c 0; echo ready; exec sleep 20"],
                script: [(.terminal("ready"), .type([key]))]
            ).run()
            #expect(result.end == .exited(status))
            #expect(result.echoAtEnd == true)
        }
    }

    @Test func `the terminal is restored however the program ends`() throws {
        for script in [
            "stty raw -echo; exit 5", "stty raw -echo; kill -9 $$", "stty raw -echo; exec false",
        ] {
            let result = try runner(["sh", "-c", script]).run()
            #expect(result.echoAtEnd == true, "\(script)")
        }
        let killed = try runner(
            ["sh", "-c", "stty -echo; echo ready; exec sleep 20"],
            script: [(.terminal("ready"), .signal(SIGTERM))]
        ).run()
        #expect(killed.end == .exited(143))
        #expect(killed.echoAtEnd == true)
    }

    @Test func `a value that is typed is masked in its echo`() throws {
        let result = try runner(
            ["sh", "-c", "echo ready; read x; echo got $x"],
            script: [(.terminal("ready"), .line(Self.secret))]
        ).run()
        #expect(!result.screen.contains(Self.secret))
        #expect(result.screen.contains("got [redacted]"))
    }

    /// A shell with job control on the terminal, which starts zg-env.
    private func shell(
        _ redact: Bool, _ script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)]
    ) throws -> ProgramResult {
        var runner = home.wrapped("/bin/bash") { program in
            [
                "--norc", "--noprofile", "-i", "-c",
                """
                PS1='$ '; set -m; run() { "\(program)" run -q -p web \
                \(redact ? "--redact" : "") -- "$@"; }; exec 2>&1
                run sh -c 'echo ready; read x; echo got $x'; echo "first $?"
                fg; echo "then $?"; stty -a | grep -o ' echo '; echo over
                """,
            ]
        }
        runner.terminal = .init()
        runner.input = .terminal
        runner.output = .terminal
        runner.error = .terminal
        runner.environment["TERM"] = "vt100"
        runner.script = script
        runner.timeLimit = .seconds(20)
        return try runner.run()
    }

    @Test(arguments: [false, true])
    func `the keyboard stops and continues the program`(redact: Bool) throws {
        let result = try shell(
            redact,
            [
                (.terminal("ready"), .type([26])),
                (.terminal("first 148"), .type(Array("word\n".utf8))),
            ])
        #expect(result.stepsDone == 2, "\(result.screen)")
        #expect(result.screen.contains("Stopped"), "\(result.screen)")
        #expect(result.screen.contains("got word"))
        #expect(result.screen.contains("then 0"))
        #expect(result.screen.contains(" echo "))
    }
}

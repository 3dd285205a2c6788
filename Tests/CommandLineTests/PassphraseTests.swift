import Foundation
import TestSupport
import Testing

/// Where the passphrase comes from, and who gets to see it.
@Suite("Passphrases")
struct PassphraseTests {
    private let home: CommandHome
    private let reveal = ["reveal", "KEY", "-p", "web"]

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["KEY": "value"])
    }

    private func file(_ text: String, _ name: String = "other") throws -> String {
        try home.directory.write(text, to: name)
    }

    /// Every source of the passphrase, in the documented order.
    enum Source: Int, CaseIterable, Comparable {
        case descriptor, file, variable, command, credentials, terminal

        static func < (left: Source, right: Source) -> Bool { left.rawValue < right.rawValue }
    }

    /// A run whose sources all have the wrong passphrase, except `right`.
    private func runner(
        from sources: [Source], right: Source?
    ) throws -> ProgramRunner {
        let correct = CommandHome.passphrase
        func text(_ source: Source) -> String { source == right ? correct : "wrong \(source)" }
        var arguments = reveal
        var environment: [String: String] = [:]
        var descriptors: [Int32: [UInt8]] = [:]
        var script: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = []
        for source in sources {
            switch source {
            case .descriptor:
                arguments += ["--passphrase-fd", "7"]
                descriptors[7] = Array(text(source).utf8)
            case .file: arguments += ["--passphrase-file", try file(text(source), "file")]
            case .variable:
                environment["ZG_ENV_PASSPHRASE_FILE"] = try file(text(source), "variable")
            case .command:
                environment["ZG_ENV_PASSPHRASE_COMMAND"] = "echo '\(text(source))'"
            case .credentials:
                environment["CREDENTIALS_DIRECTORY"] = try home.directory.makeDirectory("cred")
                _ = try file(text(source), "cred/zg-env-passphrase")
            case .terminal: script = [(.terminal("Passphrase"), .line(text(source)))]
            }
        }
        var runner = home.runner(arguments, unlocked: false, environment: environment)
        runner.descriptors = descriptors
        if sources.contains(.terminal) {
            runner.terminal = .init()
            runner.script = script
        }
        return runner
    }

    @Test(arguments: Source.allCases)
    func `the first source that is set counts, and no other is tried`(first: Source) throws {
        let sources = Source.allCases.filter { $0 >= first }
        let right = done(try runner(from: sources, right: first).run())
        #expect(right.output == "value")
        #expect(try runner(from: [first], right: first).run().output == "value")
        // Wrong there: the right one in the next source does not help.
        if let next = sources.dropFirst().first {
            let wrong = try runner(from: sources, right: next).run()
            failed(wrong, 3, "Wrong passphrase")
            #expect(wrong.stepsDone == 0)
        }
    }

    @Test(arguments: [
        ("\n", true), ("", true), ("\r\n", true), ("\n\n", false), (" ", false), ("\0", false),
    ])
    func `one trailing newline is removed and nothing else`(ending: String, opens: Bool) throws {
        let path = try file(CommandHome.passphrase + ending)
        let result = try home.run(reveal + ["--passphrase-file", path], unlocked: false)
        #expect(result.status == (opens ? 0 : 3), "\(result.error)")
    }

    @Test(
        "VAL-F10: CR LF is one line end of a passphrase, from wherever it comes",
        arguments: [Source.descriptor, .file, .command])
    func carriageReturns(source: Source) throws {
        let text = CommandHome.passphrase + "\r\n"
        var runner = home.runner(reveal, unlocked: false)
        switch source {
        case .descriptor:
            runner = home.runner(reveal + ["--passphrase-fd", "7"], unlocked: false)
            runner.descriptors = [7: Array(text.utf8)]
        case .file: runner.environment["ZG_ENV_PASSPHRASE_FILE"] = try file(text)
        default: runner.environment["ZG_ENV_PASSPHRASE_COMMAND"] = "cat \(try file(text))"
        }
        #expect(try done(runner.run()).output == "value")
        // A vault that is created with such a file opens with the passphrase as typed.
        let other = try CommandHome()
        try other.directory.write("as typed\r\n", to: "crlf")
        done(
            try other.run(
                [
                    "init", "--lock", "--kdf", "8MiB,1", "--passphrase-file",
                    other.directory.path("crlf"),
                ]
            ))
        try other.directory.write("as typed", to: "passphrase")
        done(try other.run(["set", "KEY", "-p", "web"], input: .text("value")))
        #expect(try other.revealed("KEY") == Array("value".utf8))
    }

    @Test(
        "VAL-F10: a wrong passphrase says how its text begins and ends",
        arguments: [
            ("#\n\n", "ends in more than one line end"), ("#\r", "ends in a carriage return"),
            ("# \n", "ends in a space or tab"), ("#\t", "ends in a space or tab"),
            ("\u{FEFF}#\n", "begins with a byte order mark"), (" #", "begins with a space or tab"),
            ("\u{FEFF}# \n", "begins with a byte order mark and ends in a space or tab"),
            ("#x", nil),
        ])
    func ends(text: String, words: String?) throws {
        let path = try file(text.replacing("#", with: CommandHome.passphrase))
        let result = try home.run(reveal + ["--passphrase-file", path], unlocked: false)
        failed(result, 3, "Wrong passphrase", words ?? "does not open")
        #expect(!result.error.contains("correct horse"))
        #expect(result.error.contains("The passphrase file \(path) "))
    }

    @Test("VAL-F10: init, passwd and slot add say how a new passphrase begins and ends")
    func newEnds() throws {
        let path = try file("\u{FEFF}next one \n", "new")
        let words =
            "The passphrase file \(path) begins with a byte order mark and ends in a space or tab, which is part of the passphrase."
        let other = try CommandHome()
        let results = [
            try other.run(["init", "--kdf", "8MiB,1", "--passphrase-file", path]),
            try home.run([
                "slot", "add", "passphrase", "--kdf", "8MiB,1", "--new-passphrase-file", path,
            ]),
            try home.run(["passwd", "--new-passphrase-file", path]),
        ]
        for result in results {
            #expect(done(result).error.contains(words), "\(result.error)")
            #expect(!result.error.contains("next one"))
        }
        let plain = try file("next one\n", "plain")
        let quiet = done(
            try home.run(["passwd", "--passphrase-file", path, "--new-passphrase-file", plain]))
        #expect(!quiet.error.contains("is part of the passphrase"), "\(quiet.error)")
    }

    @Test(arguments: ["", "\n"])
    func `an empty passphrase is refused`(text: String) throws {
        let path = try file(text)
        failed(
            try home.run(reveal + ["--passphrase-file", path], unlocked: false), 2,
            "passphrase is empty")
        let new = try CommandHome()
        failed(
            try new.run(
                ["init", "--lock", "--kdf", "8MiB,1", "--passphrase-file", path], unlocked: false),
            2,
            "passphrase is empty")
        #expect(!FileManager.default.fileExists(atPath: new.vaultPath))
        var asked = home.terminalRunner(reveal)
        asked.script = [(.terminal("Passphrase"), .line(""))]
        failed(try asked.run(), 2, "passphrase is empty")
    }

    @Test func `passphrases of 1 to 1024 arbitrary bytes are accepted`() throws {
        for bytes in [[0x20], [0xFF, 0x00, 0x0A, 0x41], [UInt8](repeating: 0x61, count: 1_024)] {
            let new = try CommandHome()
            try new.directory.write(bytes, to: "passphrase")
            try new.initialise()
            done(try new.run(["list", "--all-projects"]))
        }
        let new = try CommandHome()
        for count in [1_025, 1_026, 100_000] {
            try new.directory.write([UInt8](repeating: 0x61, count: count), to: "passphrase")
            failed(try new.run(["init", "--lock", "--kdf", "8MiB,1"]), 2, "longer than")
        }
    }

    @Test func `unreadable sources are reported`() throws {
        let missing = ["--passphrase-file", "/nonexistent/file"]
        failed(try home.run(reveal + missing, unlocked: false), 2, "/nonexistent/file")
        let directory = ["--passphrase-file", home.directory.path]
        failed(try home.run(reveal + directory, unlocked: false), 2, "cannot be read")
        let descriptor = ["--passphrase-fd", "99"]
        failed(try home.run(reveal + descriptor, unlocked: false), 2, "descriptor 99")
        let command = ["ZG_ENV_PASSPHRASE_COMMAND": "echo \(CommandHome.passphrase); exit 3"]
        failed(
            try home.run(reveal, unlocked: false, environment: command), 3, "exit code 3")
        failed(try home.run(reveal, unlocked: false), 3, "--passphrase-file", "no terminal")
        failed(
            try home.run(reveal + ["--passphrase-fd", "-1"], unlocked: false), 2,
            "--passphrase-fd")
    }

    @Test func `stdin provides the passphrase or the value, not both`() throws {
        let input = ProgramRunner.Input.text(CommandHome.passphrase + "\n")
        let zero = ["--passphrase-fd", "0"]
        #expect(try home.run(reveal + zero, input: input, unlocked: false).output == "value")
        let before = try home.vaultBytes()
        failed(try home.run(["set", "KEY", "-p", "web"] + zero, input: input), 2, "from stdin")
        failed(
            try home.run(["import", "-", "-p", "web"] + zero, input: input), 2, "from stdin")
        #expect(try home.vaultBytes() == before)
        let value = try home.directory.write("from a file", to: "value")
        done(
            try home.run(
                ["set", "KEY", "-p", "web", "--from-file", value] + zero, input: input))
    }

    @Test func `pinentry asks where there is a display and no terminal`() throws {
        try home.directory.makeDirectory("bin")
        func answered(_ answer: String, screen: [String: String]) throws -> ProgramResult {
            try home.directory.write(
                """
                #!/bin/sh
                echo "OK ready"
                while read -r command rest; do
                    case "$command" in
                    GETPIN) printf '%s\n' \(answer) ;;
                    BYE) echo OK; exit 0 ;;
                    *) echo OK ;;
                    esac
                done
                """, to: "bin/pinentry", mode: 0o700)
            let path = ["PATH": "\(home.directory.path("bin")):/usr/bin:/bin"]
            return try home.run(
                reveal, unlocked: false, environment: path.merging(screen) { $1 })
        }
        let given = "'D \(CommandHome.passphrase)' OK"
        for screen in [["DISPLAY": ":0"], ["WAYLAND_DISPLAY": "wayland-0"]] {
            #expect(try answered(given, screen: screen).output == "value")
        }
        // A long answer comes in several lines.
        let (front, rest) = (CommandHome.passphrase.prefix(4), CommandHome.passphrase.dropFirst(4))
        #expect(
            try answered("'D \(front)' 'D \(rest)' OK", screen: ["DISPLAY": ":0"]).output == "value"
        )
        failed(try answered(given, screen: [:]), 3, "no terminal")
        failed(try answered("'D wrong' OK", screen: ["DISPLAY": ":0"]), 3, "Wrong passphrase")
        failed(try answered("'ERR 83886179 cancelled'", screen: ["DISPLAY": ":0"]), 3)
        failed(try answered("'nonsense'", screen: ["DISPLAY": ":0"]), 3)
        // It asks for a new value, too.
        _ = try answered("'D typed%20value' OK", screen: [:])
        let path = "\(home.directory.path("bin")):/usr/bin:/bin"
        done(
            try home.run(
                ["set", "KEY", "-p", "web", "--prompt"],
                environment: ["DISPLAY": ":0", "PATH": path]))
        #expect(try home.revealed("KEY") == Array("typed value".utf8))
        #expect(unsafe unlink(home.directory.path("bin/pinentry")) == 0)
        let none = ["DISPLAY": ":0", "PATH": home.directory.path("bin")]
        failed(try home.run(reveal, unlocked: false, environment: none), 3, "pinentry")
    }

    @Test func `init asks twice on a terminal, without echo`() throws {
        let new = try CommandHome()
        let phrase = "typed passphrase"
        var echoes: [Bool?] = []
        let note = ProgramRunner.Action.call { _, terminal in echoes.append(terminal?.isEchoOn) }
        let made = try new.terminalRunner(
            ["init", "--lock", "--kdf", "8MiB,1"],
            script: [
                (.terminal("New passphrase"), note), (.now, .line(phrase)),
                (.terminal("Confirm passphrase"), note), (.now, .line(phrase)),
            ]
        ).run()
        done(made)
        #expect(made.stepsDone == 4)
        #expect(echoes == [false, false])
        #expect(made.echoAtEnd == true)
        #expect(!made.screen.contains(phrase))
        try new.directory.write(phrase, to: "passphrase")
        done(try new.run(["list", "--all-projects"]))
    }

    @Test func `two different passphrases create no vault`() throws {
        let new = try CommandHome()
        let result = try new.terminalRunner(
            ["init", "--lock", "--kdf", "8MiB,1"],
            script: [
                (.terminal("New passphrase"), .line("one")),
                (.terminal("Confirm passphrase"), .line("two")),
                (.terminal("do not match. New passphrase"), .line("three")),
                (.terminal("Confirm passphrase"), .line("four")),
                (.terminal("do not match. New passphrase"), .line("five")),
                (.terminal("Confirm passphrase"), .line("six")),
            ]
        ).run()
        failed(result, 2, "do not match")
        #expect(result.stepsDone == 6)
        #expect(!FileManager.default.fileExists(atPath: new.vaultPath))
    }

    @Test func `a mistyped passphrase can be entered again twice`() throws {
        let wrong: [(when: ProgramRunner.Trigger, then: ProgramRunner.Action)] = [
            (.terminal("Passphrase"), .line("wrong one")),
            (.terminal("try 2 of 3. Passphrase"), .line("wrong two")),
        ]
        let opened = try home.terminalRunner(
            reveal,
            script: wrong + [
                (.terminal("try 3 of 3. Passphrase"), .line(CommandHome.passphrase))
            ]
        ).run()
        #expect(opened.end == .exited(0), "\(opened.error)")
        #expect(opened.output == "value")
        #expect(opened.echoAtEnd == true)
        let refused = try home.terminalRunner(
            reveal, script: wrong + [(.terminal("try 3 of 3. Passphrase"), .line("wrong"))]
        ).run()
        failed(refused, 3, "Wrong passphrase")
        #expect(refused.stepsDone == 3)
        #expect(refused.echoAtEnd == true)
        // Without a terminal there is one try.
        failed(
            try home.run(reveal + ["--passphrase-file", try file("wrong")], unlocked: false), 3)
    }

    /// The prompt's own descriptor is closed by then.
    @Test(arguments: [SIGINT, SIGTERM])
    func `a signal while the key is derived restores the echo`(signal: Int32) throws {
        let slow = try CommandHome()
        try slow.directory.write(CommandHome.passphrase, to: "passphrase")
        done(
            try slow.run([
                "init", "--lock", "--no-secret-service", "--kdf", "256MiB,6", "--passphrase-file",
                slow.directory.path("passphrase"),
            ]))
        let result = try slow.terminalRunner(
            ["list", "--all-projects"],
            script: [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                (.terminal("\u{1B}[K"), .signal(signal)),
            ]
        ).run()
        #expect(result.end == .received(signal), "\(result.error)")
        #expect(result.echoAtEnd == true)
    }

    @Test func `the echo stays off while the key is derived, and typed text is dropped`() throws {
        var slow = home
        slow = try CommandHome()
        try slow.directory.write(CommandHome.passphrase, to: "passphrase")
        // About half a second, so that keys can be typed meanwhile.
        done(
            try slow.run([
                "init", "--lock", "--no-secret-service", "--kdf", "64MiB,8", "--passphrase-file",
                slow.directory.path("passphrase"),
            ]))
        var echoes: [Bool?] = []
        let result = try slow.terminalRunner(
            ["list", "--all-projects"],
            script: [
                (.terminal("Passphrase"), .line(CommandHome.passphrase)),
                // The prompt is erased when the answer is complete.
                (.terminal("\u{1B}[K"), .call { _, terminal in echoes.append(terminal?.isEchoOn) }),
                (.now, .type(Array("typed ahead\r".utf8))),
            ]
        ).run()
        #expect(result.end == .exited(0), "\(result.error)")
        #expect(echoes == [false])
        #expect(!result.screen.contains("typed ahead"), "\(result.screen)")
        #expect(result.echoAtEnd == true)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal at the prompt ends the program and restores the echo`(signal: Int32) throws {
        let before = try home.vaultBytes()
        var echo: Bool?
        let result = try home.terminalRunner(
            reveal,
            script: [
                (.terminal("Passphrase"), .call { _, terminal in echo = terminal?.isEchoOn }),
                (.now, .signal(signal)),
            ]
        ).run()
        #expect(echo == false)
        #expect(result.end == .received(signal))
        #expect(result.echoAtEnd == true)
        #expect(result.output == "")
        #expect(try home.vaultBytes() == before)
    }

    @Test func `the interrupt key works at the prompt`() throws {
        let result = try home.terminalRunner(
            ["set", "KEY", "-p", "web"], streams: true,
            script: [(.terminal("Passphrase"), .type([3]))]
        ).run()
        #expect(result.signal == SIGINT)
        #expect(result.echoAtEnd == true)
    }

    @Test func `the child of run does not inherit the passphrase`() throws {
        // An inherited descriptor would let it read a regular file again.
        let script = """
            exec 5<"$1"; shift
            exec "$@"
            """
        let list = "ls /proc/self/fd; env; cat <&5"
        let runner = home.wrapped("/bin/sh") { program in
            [
                "-c", script, "sh", self.home.passphrasePath, program, "run", "-p", "web", "-t",
                "preview", "--passphrase-fd", "5", "--", "sh", "-c", list,
            ]
        }
        var all = runner
        all.environment["ZG_ENV_PASSPHRASE_COMMAND"] = "echo wrong"
        all.environment["ZG_ENV_PASSPHRASE_FUTURE"] = "x"
        all.environment["ZG_ENV_PROJECT"] = "kept"
        let result = try all.run()
        #expect(result.output.hasPrefix("0\n1\n2\n3\n"), "\(result.output)\(result.error)")
        // As a whole line: a directory name may end in any digit.
        #expect(!result.output.contains("\n5\n"))
        #expect(!result.output.contains("ZG_ENV_PASSPHRASE_"))
        #expect(result.output.contains("ZG_ENV_PROJECT=kept\n"))
        #expect(result.output.contains("KEY=value\n"))
        #expect(!result.output.contains(CommandHome.passphrase))

        let input = home.wrapped("/bin/sh") { program in
            [
                "-c", #"exec "$@" <"$HOME/passphrase""#, "sh", program, "run", "-p", "web", "-t",
                "preview", "--passphrase-fd", "0", "--", "sh", "-c", "readlink /proc/self/fd/0",
            ]
        }
        #expect(try input.run().output == "/dev/null\n")
    }

    @Test(
        "SEC-F4: the child of run does not inherit --passphrase-fd if the vault is unlocked",
        arguments: [
            ["--passphrase-fd", "5"], ["--passphrase-fd", "0"],
            ["--passphrase-file", "/dev/fd/5"], ["--passphrase-file", "/proc/self/fd/5"],
            ["--passphrase-file", "/dev/stdin"], ["--passphrase-file", "//dev/fd/5"],
            ["--passphrase-file", "/dev/../dev/fd/5"],
            ["--passphrase-file", "/proc/thread-self/fd/5"], ["--passphrase-file", "linked"], [],
        ], [[], ["--redact"]])
    func childOfUnlockedRun(source: [String], redact: [String]) throws {
        done(try home.run(["unlock", "--scope", "user", "--for", "2m"]))
        defer { _ = try? home.run(["lock"]) }
        // Without an option the environment variable names the descriptor.
        let input = source.isEmpty || source[1] == "0" || source[1] == "/dev/stdin"
        let script = """
            ln -sf /proc/self/fd/5 linked
            exec \(input ? 0 : 5)<"$1"; shift
            exec "$@"
            """
        let child = "ls /proc/self/fd; cat <&5; \(input ? "readlink /proc/self/fd/0; cat" : "")"
        var runner = home.wrapped("/bin/sh") { program in
            ["-c", script, "sh", self.home.passphrasePath, program, "run", "-q"] + source + redact
                + ["-p", "web", "-t", "preview", "--", "sh", "-c", child]
        }
        runner.environment["ZG_ENV_PASSPHRASE_FILE"] = source.isEmpty ? "/dev/stdin" : nil
        let result = try runner.run()
        #expect(result.output.hasPrefix("0\n1\n2\n"), "\(result.output)\(result.error)")
        #expect(!result.output.contains(CommandHome.passphrase))
        if input {
            #expect(result.output.contains("/dev/null\n"))
        } else {
            #expect(!result.output.contains("\n5\n"))
            #expect(result.error.contains("Bad file descriptor"), "\(result.error)")
        }
    }

    @Test("SEC-F4: other children do not inherit a passphrase descriptor before it is read")
    func otherChildren() throws {
        func leak(_ arguments: [String], _ environment: [String: String]) throws -> String {
            try home.directory.write("the new passphrase", to: "new")
            let script = """
                exec 5<"$HOME/passphrase" 6<"$HOME/new"
                exec "$@"
                """
            var runner = home.wrapped("/bin/sh") { ["-c", script, "sh", $0] + arguments }
            runner.environment.merge(environment) { $1 }
            runner.environment["ZG_ENV_PASSPHRASE_FILE"] = nil
            runner.terminal = .init()
            try home.directory.write("", to: "leak")
            let result = try runner.run()
            let seen = String(decoding: try home.directory.read("leak"), as: UTF8.self)
            #expect(seen.hasPrefix("started\n"), "\(result.error)")
            return seen
        }
        let spy = #"(echo started; cat <&5; cat <&6) >"$HOME/leak" 2>&1"#
        // The command for the old passphrase runs before the new one is read.
        let added = try leak(
            ["slot", "add", "passphrase", "--new-passphrase-fd", "6", "--kdf", "8MiB,1"],
            ["ZG_ENV_PASSPHRASE_COMMAND": "\(spy); cat \"$HOME/passphrase\""])
        #expect(!added.contains("the new passphrase"), "\(added)")
        // An editor, while the unlock cache opens the values.
        done(try home.run(["unlock", "--scope", "user", "--for", "2m"]))
        defer { _ = try? home.run(["lock"]) }
        try home.directory.write("#!/bin/sh\n\(spy)\n", to: "editor", mode: 0o700)
        let edited = try leak(
            ["edit", "-p", "web", "--passphrase-fd", "5"],
            ["EDITOR": home.directory.path("editor")])
        #expect(!edited.contains(CommandHome.passphrase), "\(edited)")
    }

    @Test("SEC-F4: an input that provides the passphrase is not read for anything else")
    func inputOfPassphrase() throws {
        let input = ProgramRunner.Input.text(CommandHome.passphrase + "\n")
        for source in [["--passphrase-fd", "0"], ["--passphrase-file", "/dev/stdin"]] {
            #expect(try home.run(reveal + source, input: input, unlocked: false).output == "value")
            for command in [
                ["convert", "-"], ["diff", "-", "-p", "web"], ["import", "-", "-p", "web"],
                ["scan", "-", "-p", "web"], ["set", "KEY", "-p", "web"], ["login"],
            ] {
                failed(try home.run(command + source, input: input), 2, "from stdin")
            }
        }
        for number in ["1", "2"] {
            let result = try home.run(
                ["run", "-p", "web", "--passphrase-fd", number, "--", "true"], unlocked: false)
            failed(result, 125, "Descriptor \(number)", "--passphrase-fd")
        }
        failed(
            try home.run(
                ["slot", "add", "passphrase", "--new-passphrase-file", "/dev/stdin"]
                    + ["--passphrase-fd", "0"], input: input, unlocked: false), 2, "same descriptor"
        )
    }

    @Test func `a passphrase command has no terminal, and default signal handling`()
        throws
    {
        let command = """
            grep -h SigIgn /proc/self/status >"$HOME/signals"; yes | head -1 >/dev/null
            cat "$HOME/passphrase"
            """
        let result = try home.run(
            reveal, unlocked: false, environment: ["ZG_ENV_PASSPHRASE_COMMAND": command])
        #expect(result.output == "value")
        #expect(result.error == "")
        let signals = String(decoding: try home.directory.read("signals"), as: UTF8.self)
        let ignored = signals.split(separator: "\t").last.flatMap {
            UInt64($0.dropLast(), radix: 16)
        }
        // 32 and 33 belong to the C library; no program can set them.
        #expect(ignored.map { $0 & ~0x1_8000_0000 } == 0, "\(signals)")
    }

    @Test func `an ignored SIGCHLD hides no exit code, and run leaves it as it was`() throws {
        func ignoring(_ arguments: [String], _ command: String) throws -> ProgramResult {
            var runner = home.runner(
                arguments, unlocked: false, environment: ["ZG_ENV_PASSPHRASE_COMMAND": command])
            runner.arguments =
                ["-c", "trap '' CHLD; exec \"$@\"", "bash", runner.path].map { Array($0.utf8) }
                + runner.arguments
            runner.path = "/bin/bash"
            return try runner.run()
        }
        failed(
            try ignoring(reveal, "echo \(CommandHome.passphrase); exit 3"), 3, "exit code 3")
        let good = "echo \(CommandHome.passphrase)"
        #expect(try ignoring(reveal, good).output == "value")
        let signals = try ignoring(
            ["run", "-p", "web", "--", "grep", "-h", "SigIgn", "/proc/self/status"], good)
        let ignored = signals.output.split(separator: "\t").last.flatMap {
            UInt64($0.dropLast(), radix: 16)
        }
        #expect(ignored.map { $0 & 1 << 16 } == 1 << 16, "\(signals)")
    }

    // MARK: - Who else can open the file

    @Test(arguments: [0o640, 0o604, 0o601, 0o622] as [mode_t])
    func `SEC-F14: a passphrase file that other users can open is refused`(mode: mode_t) throws {
        let path = try home.directory.write(CommandHome.passphrase, to: "open", mode: mode)
        let before = try home.vaultBytes()
        let words = "can be opened by other users"
        failed(
            try home.run(reveal + ["--passphrase-file", path], unlocked: false), 3,
            "The passphrase file \(path) \(words)", "chmod 600")
        failed(
            try home.run(reveal, environment: ["ZG_ENV_PASSPHRASE_FILE": path]), 3, words)
        failed(
            try home.run(
                ["run", "-p", "web", "--passphrase-file", path, "--", "true"], unlocked: false),
            125, words)
        failed(try home.run(["passwd", "--new-passphrase-file", path]), 3, words)
        failed(
            try home.run(["rekey", "--yes", "--slot-secret-file", path]), 3, words)
        #expect(try home.vaultBytes() == before)
        let new = try CommandHome()
        failed(
            try new.run(
                ["init", "--lock", "--kdf", "8MiB,1", "--passphrase-file", path], unlocked: false),
            3, words)
        #expect(!FileManager.default.fileExists(atPath: new.vaultPath))
        // The target of a symbolic link counts.
        let link = home.directory.path("link")
        #expect(unsafe symlink(path, link) == 0)
        failed(
            try home.run(reveal + ["--passphrase-file", link], unlocked: false), 3, words)
        #expect(unsafe chmod(path, 0o600) == 0)
        #expect(
            try home.run(reveal + ["--passphrase-file", link], unlocked: false).output == "value")
    }

    @Test(.enabled(if: geteuid() == 0, "Needs root for another user's file."))
    func `SEC-F14: a passphrase file of another user is refused, a systemd credential is not`()
        throws
    {
        let path = try file(CommandHome.passphrase)
        #expect(unsafe chown(path, 65_534, 65_534) == 0)
        failed(
            try home.run(reveal + ["--passphrase-file", path], unlocked: false), 3,
            "belongs to another user")
        // systemd grants access to the service's user with an ACL, whose mask shows as the group's
        // bits.
        let directory = try home.directory.makeDirectory("cred")
        let given = ["CREDENTIALS_DIRECTORY": directory]
        let named = given.merging(["ZG_ENV_PASSPHRASE_FILE": "\(directory)/other"]) { $1 }
        for (name, environment) in [("zg-env-passphrase", given), ("other", named)] {
            let path = try home.directory.write(
                CommandHome.passphrase, to: "cred/\(name)", mode: 0o440)
            let result = try home.run(reveal, unlocked: false, environment: environment)
            #expect(result.output == "value", "\(result.error)")
            #expect(unsafe chmod(path, 0o444) == 0)
            failed(
                try home.run(reveal, unlocked: false, environment: environment), 3,
                "can be opened by other users")
            #expect(unsafe unlink(path) == 0)
        }
        let outside = try home.directory.write(CommandHome.passphrase, to: "outside", mode: 0o440)
        failed(
            try home.run(
                reveal + ["--passphrase-file", "\(directory)/../outside"], unlocked: false,
                environment: given), 3, "can be opened by other users")
        _ = outside
    }

    @Test func `SEC-F14: a pipe, a FIFO, a descriptor and an unnamed file are accepted`() throws {
        let open = try home.directory.write(CommandHome.passphrase, to: "open", mode: 0o644)
        let fifo = home.directory.path("fifo")
        #expect(unsafe mkfifo(fifo, 0o644) == 0)
        #expect(unsafe chmod(fifo, 0o644) == 0)
        let reading = "reveal KEY -p web --passphrase-"
        for (script, why) in [
            (#""$0" \#(reading)file <(cat "$HOME/open")"#, "process substitution"),
            (#"cat "$HOME/open" | "$0" \#(reading)file /dev/stdin"#, "a pipe"),
            (#""$0" \#(reading)file /dev/fd/5 5< <(cat "$HOME/open")"#, "/dev/fd"),
            (#""$0" \#(reading)file /dev/fd/5 5<"$HOME/passphrase""#, "a file of our own"),
            (#"cat "$HOME/open" >"$HOME/fifo" & "$0" \#(reading)file "$HOME/fifo""#, "a fifo"),
            (#""$0" \#(reading)fd 5 5<"$HOME/open""#, "a descriptor that the caller opened"),
            (#""$0" \#(reading)file /dev/stdin <<<'\#(CommandHome.passphrase)'"#, "a here string"),
            (
                #"exec 5<>"$HOME/gone"; rm "$HOME/gone"; cat "$HOME/open" >&5; "#
                    + #"chmod 644 /dev/fd/5; "$0" \#(reading)file /dev/fd/5"#, "a deleted file"
            ),
        ] {
            let result = try home.wrapped("/bin/bash") { ["-c", script, $0] }.run()
            #expect(result.output == "value", "\(why): \(result.error)")
        }
        failed(
            try home.wrapped("/bin/bash") {
                ["-c", #""$0" \#(reading)file /dev/fd/5 5<"$HOME/open""#, $0]
            }.run(), 3, "can be opened by other users")
        _ = open
    }

    @Test func `READER-4: an empty or too long passphrase is a usage error with an existing vault`()
        throws
    {
        for (bytes, words) in [
            ([], "is empty"), ([0x0A], "is empty"),
            ([UInt8](repeating: 0x61, count: 1_025), "longer than 1,024 bytes"),
        ] as [([UInt8], String)] {
            let path = try home.directory.write(bytes, to: "other")
            for arguments in [reveal, ["verify"], ["list", "-p", "web"]] {
                failed(
                    try home.run(arguments + ["--passphrase-file", path], unlocked: false), 2,
                    words)
            }
        }
    }
}

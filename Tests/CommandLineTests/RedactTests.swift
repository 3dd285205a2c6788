import Foundation
import TestSupport
import Testing

/// `run --redact` without a terminal: pipes, order, signals and exit codes.
@Suite("Masked output of a program")
struct RedactTests {
    private let home: CommandHome
    private let run = ["run", "--redact", "-p", "web", "-t", "production", "--"]
    private static let secret = "sk_live_4eC39HqLyjWDarjtT1zdp7dc"

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["SECRET": Self.secret, "SHORT": "tiny", "TEXT": "first line\nsecond line"])
    }

    private func shell(_ script: String) throws -> ProgramResult {
        try home.run(run + ["sh", "-c", script])
    }

    @Test(arguments: 4...16) func `too few descriptors is not the program's fault`(limit: Int)
        throws
    {
        for options in [["--redact"], []] {
            var runner = home.wrapped("/bin/sh") { program in
                [
                    "-c", #"ulimit -n \#(limit); exec "$@""#, "sh", program, "run", "-p", "web",
                    "-t", "production",
                ]
                    + options + ["--", "true"]
            }
            runner.environment["ZG_ENV_PASSPHRASE_FILE"] = home.passphrasePath
            let result = try runner.run()
            // With none left for the dynamic linker, nothing here runs.
            if result.status == 127, result.error.contains("shared libraries") { continue }
            #expect(
                [0, 125].contains(result.status),
                "\(limit) \(options): \(result.status) \(result.error)")
        }
    }

    @Test(arguments: [
        "echo $SECRET", "printf 'a%sb' $SECRET", "env", "printf '%s%s' $SECRET $SECRET",
        "printf %s $SECRET | base64", "printf 'x%s' $SECRET | base64",
        "printf 'xy%sz' $SECRET | base64", "printf 'user:%s' $SECRET | base64 | tr +/ -_",
        "i=0; while [ $i -lt 30 ]; do echo $SECRET; i=$((i+1)); done | base64",
        "printf %s ${SECRET%????????????????}; sleep 0.4; printf %s ${SECRET#????????????????}",
        "echo $SECRET >&2", "head -c 100000 /dev/zero | tr '\\0' x; echo $SECRET",
        "printf %s \"$SECRET\" | dd bs=1 2>/dev/null",
    ])
    func `no value gets out, in clear or in base64`(script: String) throws {
        let result = done(try shell(script))
        let all = result.output + result.error
        #expect(all.contains("[redacted]"))
        #expect(!all.contains(Self.secret))
        let encoded = Data(Self.secret.utf8).base64EncodedString()
        #expect(!all.contains(encoded.prefix(20)))
        for number in 0..<(Self.secret.count - 8) {
            let part = Self.secret.dropFirst(number).prefix(8)
            #expect(!all.contains(part), "\(part)")
        }
    }

    @Test func `all other output is unchanged, each on its stream`() throws {
        let script = "printf 'out sk_live\\n'; printf 'err\\377\\n' >&2; echo tiny $SHORT"
        let result = done(try shell(script))
        #expect(result.output == "out sk_live\ntiny tiny\n")
        #expect(
            result.standardError
                == Array("Not masked (shorter than 6 bytes): SHORT.\n".utf8)
                + [0x65, 0x72, 0x72, 0xFF, 0x0A])
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }
        let copied = done(try home.run(run + ["cat"], input: .bytes(bytes)))
        #expect(copied.standardOutput == bytes)
    }

    @Test func `a value of several lines is masked`() throws {
        #expect(try shell("echo \"$TEXT\"").output == "[redacted]\n")
    }

    @Test(
        "VAL-F9: the lines of a key and its JSON are masked",
        arguments: [
            #"echo "$PEM" | sed "s/^/web-1 | /""#, #"echo "$PEM" | sed "s/^/    /""#,
            #"echo "$PEM" | sed -n 2p"#,
            #"python3 -c 'import json, os; print(json.dumps(os.environ["PEM"]))'"#,
            #"python3 -c 'import os; print(repr(os.environ["PEM"]))'"#,
        ])
    func lines(script: String) throws {
        let lines = [
            "-----BEGIN PRIVATE KEY-----", "MIIEfake0123456789ABCDEF", "Zm9vYmFyc2VjcmV0dGFpbA==",
            "-----END PRIVATE KEY-----",
        ]
        try home.store(["PEM": lines.joined(separator: "\n")])
        let result = done(try shell(script))
        #expect(result.output.contains("[redacted]"))
        for line in lines { #expect(!result.output.contains(line), "\(result.output)") }
    }

    @Test func `one pipe for both outputs keeps their order`() throws {
        let script = "for i in 1 2 3 4 5 6 7 8; do echo out $i; echo err $i >&2; done"
        let runner = home.wrapped("/bin/sh") { program in
            ["-c", "\"$@\" 2>&1", "sh", program] + run + ["sh", "-c", script]
        }
        let result = done(try runner.run())
        let expected = (1...8).map { "out \($0)\nerr \($0)\n" }.joined()
        #expect(result.output.hasSuffix(expected))
    }

    @Test(arguments: [0, 1, 42, 126, 255] as [Int32])
    func `the exit code is the program's`(status: Int32) throws {
        #expect(try shell("exit \(status)").end == .exited(status))
    }

    @Test(arguments: [SIGTERM, SIGKILL, SIGSEGV, SIGPIPE])
    func `a signal that ends the program exits with 128 plus its number`(signal: Int32) throws {
        let result = try shell("ulimit -c 0; kill -\(signal) $$; sleep 5")
        #expect(result.end == .exited(128 + signal))
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGQUIT])
    func `signals sent to zg-env reach the program`(signal: Int32) throws {
        var runner = home.runner(
            run + [
                "sh", "-c",
                "trap 'echo $SECRET; exit 42' TERM INT HUP USR1 QUIT; echo ready; "
                    + "while :; do sleep 0.02; done",
            ])
        runner.script = [(.output("ready"), .signal(signal))]
        let result = try runner.run()
        #expect(result.end == .exited(42))
        #expect(result.output == "ready\n[redacted]\n")
    }

    @Test func `killing zg-env kills the program`() throws {
        var runner = home.runner(run + ["sh", "-c", "echo $$; exec sleep 20"])
        runner.script = [(.output("\n"), .signal(SIGKILL))]
        let result = try runner.run()
        #expect(result.end == .signalled(SIGKILL))
        let program = try #require(Int32(result.output.dropLast()))
        for _ in 0..<100 where kill(program, 0) == 0 { usleep(20_000) }
        #expect(kill(program, 0) != 0)
    }

    @Test func `failures are the same as without masking`() throws {
        failed(
            try home.run(["run", "--redact", "-q", "-p", "web", "--", "no-such-program"]), 127,
            "no-such-program")
        failed(try home.run(["run", "--redact", "-q", "-p", "web", "--", "/"]), 126)
        failed(try home.run(["run", "--redact", "-q", "-p", "web", "--", ""]), 127)
        failed(try home.run(["run", "--redact", "-q", "-p", "none", "--", "true"]), 125, "none")
        let json = ["run", "--redact", "--json", "-p", "web", "--", "no-such-program"]
        try failedAsJSON(home.run(json), 127, "not_found")
        let quiet = try home.run(["run", "--redact", "--json", "-p", "web", "--", "echo", "x"])
        #expect(quiet.output == "x\n" && quiet.error == "")
    }

    @Test func `a closed output ends the program`() throws {
        let runner = home.wrapped("/bin/sh") { program in
            ["-c", "\"$@\" | head -1; echo done", "sh", program] + run + ["yes", "word"]
        }
        #expect(try runner.run().output == "word\ndone\n")
    }

    @Test func `output that a full disk loses is an error`() throws {
        for (script, status) in [
            ("echo x", Int32(125)), ("echo x >&2; echo y", 125), ("echo x; exit 3", 3),
        ] {
            let full = try home.wrapped("/bin/sh") { program in
                ["-c", "\"$@\" >/dev/full", "sh", program] + run + ["sh", "-c", script]
            }.run()
            #expect(full.status == status, "\(full.error)")
            let isSaid = full.error.contains(
                "The program's output could not be written: No space left on device.")
            #expect(isSaid == (status == 125), "\(full.error)")
        }
    }

    @Test func `output of background children is read to its end`() throws {
        let result = done(try shell("(sleep 0.5; echo late $SECRET) & echo early"))
        #expect(result.output == "early\nlate [redacted]\n")
    }

    private static let look = """
        umask; ulimit -c; ulimit -S -n; grep -E '^(Sig[BIC]|NoNewPrivs)' /proc/self/status; \
        ls /proc/self/fd; readlink /proc/self/cwd
        """

    @Test(arguments: [
        "", "umask 027; ulimit -c 0;", "trap '' USR1 PIPE INT TERM HUP CHLD;",
        "exec 5</dev/null 9>/dev/null;", "exec <&-;", "exec 2>&-;",
    ])
    func `the program's process is set up as zg-env was started`(settings: String) throws {
        func seen(_ command: (String) -> [String]) throws -> String {
            let runner = home.wrapped("/bin/sh") { program in
                ["-c", "\(settings) exec \"$@\"", "sh"] + command(program)
            }
            return try runner.run().output
        }
        let look = ["/bin/sh", "-c", Self.look]
        let expected = try seen { _ in look }
        #expect(expected.split(separator: "\n").count > 7)
        #expect(try seen { [$0] + run + look } == expected)
    }

    @Test func `no process in between holds a value`() throws {
        let runner = home.runner(run + ["sh", "-c", "cat /proc/$PPID/environ; ps -o args= -e"])
        let result = try runner.run()
        #expect(!result.output.contains(Self.secret))
    }
}

import Foundation
import TestSupport
import Testing

/// `run`: zg-env replaces itself with the program.
@Suite("Running a program")
struct RunTests {
    private let home: CommandHome
    private let run = ["run", "-p", "web", "-t", "production", "--"]

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["KEY": "value", "OTHER": "second"])
    }

    @Test func `the program has the process id of zg-env`() throws {
        let result = done(try home.run(run + ["sh", "-c", "echo $$"]))
        #expect(result.output == "\(result.identifier)\n")
    }

    @Test(arguments: [0, 1, 3, 100, 125, 126, 127, 130, 255] as [Int32])
    func `the exit code is the program's`(status: Int32) throws {
        let result = try home.run(run + ["sh", "-c", "exit \(status)"])
        #expect(result.end == .exited(status))
        #expect(result.error == "")
    }

    @Test(arguments: [SIGTERM, SIGKILL, SIGUSR1, SIGSEGV, SIGPIPE, SIGINT])
    func `a signal that ends the program is visible outside`(signal: Int32) throws {
        let result = try home.run(run + ["sh", "-c", "ulimit -c 0; kill -\(signal) $$; sleep 5"])
        #expect(result.end == .signalled(signal))
    }

    @Test func `signals sent to zg-env reach the program`() throws {
        var trapped = home.runner(
            run + ["sh", "-c", "trap 'exit 42' TERM; echo ready; while :; do sleep 0.02; done"])
        trapped.script = [(.output("ready"), .signal(SIGTERM))]
        #expect(try trapped.run().end == .exited(42))
        var plain = home.runner(run + ["sh", "-c", "echo ready; exec sleep 20"])
        plain.script = [(.output("ready"), .signal(SIGTERM))]
        #expect(try plain.run().end == .signalled(SIGTERM))
    }

    @Test func `a missing program exits with 127, one that cannot run with 126`() throws {
        failed(try home.run(run + ["no-such-program"]), 127, "no-such-program")
        failed(try home.run(run + ["/nonexistent/program"]), 127, "/nonexistent/program")
        failed(try home.run(run + [""]), 127)
        try home.directory.write("#!/bin/sh\n", to: "work/plain", mode: 0o644)
        failed(try home.run(run + ["./plain"]), 126, "./plain")
        failed(try home.run(run + ["/"]), 126)
        try home.directory.write([0x7F, 0x45, 0x4C, 0x46, 0, 0], to: "work/broken", mode: 0o755)
        failed(try home.run(run + ["./broken"]), 126, "./broken")
        let json = ["run", "--json", "-p", "web", "-t", "production", "--", "no-such-program"]
        try failedAsJSON(home.run(json), 127, "not_found")
        // As with env: a file found but not executable is reported, though the search went on.
        try home.directory.makeDirectory("bin")
        try home.directory.write("#!/bin/sh\n", to: "bin/plain", mode: 0o644)
        let path = ["PATH": "/nonexistent:\(home.directory.path("bin")):/usr/bin"]
        failed(try home.run(run + ["plain"], environment: path), 126, "plain")
        try home.directory.write("#!/bin/sh\necho found\n", to: "bin/script", mode: 0o755)
        #expect(try home.run(run + ["script"], environment: path).output == "found\n")
    }

    @Test func `failures of zg-env itself exit with 125 and their code`() throws {
        failed(try home.run(["run", "-p", "web"]), 125)
        failed(try home.run(["run", "-p", "web", "--bogus", "--", "true"]), 125, "--bogus")
        failed(try home.run(["run", "-p", "none", "--", "true"]), 125, "none")
        try failedAsJSON(home.run(["run", "-p", "none", "--json", "--", "true"]), 125, "not_found")
        try failedAsJSON(home.run(["run", "--json", "--", "true"]), 125, "usage")
        // Other commands with the word `run` among their arguments keep their own codes.
        failed(try home.run(["list", "-p", "run", "--bogus"]), 2)
        failed(try home.run(["set", "KEY", "run"]), 2)
        failed(try home.run(["-p", "run", "list"]), 4)
    }

    /// What a program sees of its process, one item a line.
    private static let look = """
        umask; ulimit -c; ulimit -S -n; ulimit -H -c; grep -E '^(Sig[BIC]|ShdPnd|NoNewPrivs)' \
        /proc/self/status; ls /proc/self/fd; readlink /proc/self/cwd; ps -o nice= -p $$
        """

    @Test(arguments: [
        "", "umask 027; ulimit -c 0; ulimit -S -n 300;", "umask 0; ulimit -c 1000;",
        "trap '' USR1 PIPE INT TERM HUP;", "exec 5</dev/null 9>/dev/null;", "exec <&-;",
        "exec 2>&-;",
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
        #expect(expected.split(separator: "\n").count > 8)
        #expect(try seen { [$0] + run + look } == expected)
    }

    @Test func `blocked signals stay blocked, and ignored ones ignored`() throws {
        let settings = [
            "--block-signal=USR2,TERM", "--ignore-signal=USR1,PIPE", "--default-signal=HUP",
        ]
        // Not SigQ, which counts queued signals of the whole user.
        let look = ["grep", "Sig[BIC]", "/proc/self/status"]
        let expected = try home.wrapped("/usr/bin/env") { _ in settings + look }.run().output
        let found = try home.wrapped("/usr/bin/env") { settings + [$0] + run + look }.run().output
        #expect(expected.contains("SigBlk"))
        #expect(found == expected)
    }

    @Test func `stdin reaches the program unchanged`() throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let result = done(try home.run(run + ["cat"], input: .bytes(bytes)))
        #expect(result.standardOutput == bytes)
    }

    @Test func `arguments reach the program unchanged`() throws {
        var runner = home.runner(run + ["printf", "%s|", "--json", "-p", "", "a b", "--"])
        runner.arguments.append([0xFF, 0xFE])
        let result = done(try runner.run())
        #expect(result.standardOutput == Array("--json|-p||a b|--|".utf8) + [0xFF, 0xFE, 0x7C])
    }

    @Test func `variables set by the shell win and are named`() throws {
        let shell = ["KEY": "of the shell"]
        let print = ["printenv", "KEY", "OTHER"]
        let kept = done(try home.run(run + print, environment: shell))
        #expect(kept.output == "of the shell\nsecond\n")
        #expect(kept.error.contains("KEY") && kept.error.contains("--override"))
        #expect(!kept.error.contains("OTHER"))
        let quiet = done(
            try home.run(["run", "-q", "-p", "web", "--"] + print, environment: shell))
        #expect(quiet.error == "")
        let options = ["run", "-p", "web", "-t", "production", "--override", "--"]
        let overridden = done(try home.run(options + print, environment: shell))
        #expect(overridden.output == "value\nsecond\n")
        #expect(overridden.error.contains("KEY"))
        // An empty variable counts as set.
        #expect(try home.run(run + print, environment: ["KEY": ""]).output == "\nsecond\n")
    }

    @Test(
        "VAL-F13: another target's value in the shell stops run",
        arguments: [
            [], ["-q"], ["--require", "DB"], ["--dry-run"], ["--redact"], ["--only", "OTHER"],
        ])
    func valuesOfOtherTargets(options: [String]) throws {
        let development = ["DB": "postgres://dev"]
        for (target, value) in [
            ("production", "postgres://live"), ("development", "postgres://dev"),
        ] {
            done(try home.run(["set", "DB", "-p", "web", "-t", target], input: .text(value)))
        }
        func result(
            _ target: String, _ shell: [String: String], _ more: String...
        ) throws -> ProgramResult {
            try home.run(
                ["run", "-p", "web", "-t", target] + options + more + ["--", "printenv", "DB"],
                environment: shell)
        }
        failed(
            try result("production", development), 125,
            "The shell's value of DB is for development, but the program would run for production.",
            options.contains("--only") ? "Run: unset DB" : "--override, or run: unset DB")
        failed(try result("development", ["DB": "postgres://live"]), 125, "DB is for production")
        if options.contains("--require") { return }
        // This target has no value of its own.
        failed(try result("preview", development), 125, "is for development", "Run: unset DB")
        if options.contains("--only") || options.contains("--dry-run") { return }
        #expect(
            try done(result("production", development, "--override")).output.contains(
                options.contains("--redact") ? "[redacted]" : "postgres://live"))
        done(try result("production", development, "--no-inherit"))
        // The target's own value, a third one and an empty one stay the shell's business.
        done(try result("development", development))
        #expect(try result("production", ["DB": "postgres://third"]).output == "postgres://third\n")
        #expect(try result("production", ["DB": ""]).output == "\n")
    }

    @Test("VAL-F13: equal values of two targets, short ones, and other variables do not stop run")
    func valuesOfNoTarget() throws {
        for (key, target, value) in [
            ("SAME", "production", "one and the same"), ("SAME", "development", "one and the same"),
            ("FLAG", "production", "false"), ("FLAG", "development", "true"),
            ("A", "production", "of production"), ("B", "development", "of development"),
        ] {
            done(try home.run(["set", key, "-p", "web", "-t", target], input: .text(value)))
        }
        let shell = [
            "SAME": "one and the same", "FLAG": "true", "A": "of development",
            "BB": "of development",
        ]
        let result = done(
            try home.run(["run", "-p", "web", "-t", "production", "--", "env"], environment: shell))
        done(
            try home.run(
                ["run", "-p", "web", "-t", "production", "--only", "KEY", "--", "true"],
                environment: shell))
        for (name, value) in shell { #expect(result.output.contains("\(name)=\(value)\n")) }
        // Several at once, from targets and branches.
        done(
            try home.run(
                ["set", "A", "-p", "web", "-t", "preview", "-b", "feat"],
                input: .text("of a branch")))
        failed(
            try home.run(
                ["run", "-p", "web", "-t", "production", "--", "env"],
                environment: ["A": "of a branch", "B": "of development"]), 125,
            "values of A, B are for development; preview (branch feat)", "unset A B")
    }

    @Test func `--no-inherit passes only the vault's variables`() throws {
        let result = done(
            try home.run(
                ["run", "-p", "web", "-t", "preview", "--no-inherit", "--", "env"],
                environment: ["KEY": "of the shell"]))
        #expect(result.output == "KEY=value\nOTHER=second\n")
        #expect(result.error == "")
    }

    @Test func `--only selects and --require checks`() throws {
        let base = ["run", "-p", "web", "-t", "preview", "--no-inherit"]
        #expect(try home.run(base + ["--only", "KEY", "--", "env"]).output == "KEY=value\n")
        let two = base + ["--only", "KEY,OTHER", "--require", "KEY", "--require", "OTHER"]
        #expect(try home.run(two + ["--", "env"]).output == "KEY=value\nOTHER=second\n")
        failed(try home.run(base + ["--require", "NONE", "--", "env"]), 125, "NONE")
        failed(try home.run(base + ["--only", "KEY,NONE", "--", "env"]), 125, "NONE")
        failed(
            try home.run(base + ["--only", "KEY", "--require", "OTHER", "--", "env"]), 125, "OTHER")
    }

    @Test func `development is the default, and run says so`() throws {
        done(
            try home.run(["set", "KEY", "-p", "web", "-t", "development"], input: .text("dev")))
        let result = done(try home.run(["run", "-p", "web", "--", "printenv", "KEY"]))
        #expect(result.output == "dev\n")
        #expect(result.error.contains("development"))
        let exported = done(try home.run(["export", "-p", "web"]))
        #expect(exported.output == "KEY=dev\nOTHER=second\n")
        #expect(exported.error.contains("development"))
        #expect(try home.run(["export", "-q", "-p", "web"]).error == "")
        #expect(try home.run(run + ["true"]).error == "")
    }

    @Test func `--dry-run names the keys and starts nothing`() throws {
        let result = try json(
            home.run(
                ["run", "-p", "web", "-t", "preview", "--dry-run", "--json", "--", "touch", "made"])
        )
        #expect(result["dryRun"] == true)
        #expect(result["keys"] == ["KEY", "OTHER"])
        #expect(!FileManager.default.fileExists(atPath: home.directory.path("work/made")))
    }

    @Test func `the program keeps its terminal`() throws {
        var runner = home.terminalRunner(
            run + ["sh", "-c", "tty; stty -a | grep -o ' echo '; test -t 1 && echo terminal"],
            streams: true, script: [(.terminal("Passphrase"), .line(CommandHome.passphrase))])
        runner.timeLimit = .seconds(10)
        let result = done(try runner.run())
        #expect(result.screen.contains("/dev/pts/"))
        #expect(result.screen.contains(" echo "))
        #expect(result.screen.contains("terminal"))
        #expect(!result.screen.contains(CommandHome.passphrase))
    }

    @Test func `a value that no environment can hold is named`() throws {
        let most = String(repeating: "a", count: (128 << 10) - "LONG=".utf8.count - 1)
        try home.store(["LONG": most])
        let print = run + ["sh", "-c", "echo ${#LONG}"]
        #expect(try home.run(print).output == "\(most.utf8.count)\n")
        try home.store(["LONG": most + "a"])
        failed(try home.run(print), 125, "LONG", "--only")
        let only = ["run", "-p", "web", "-t", "preview", "--only", "KEY", "--", "printenv", "KEY"]
        #expect(try home.run(only).output == "value\n")
    }

    @Test func `an environment that is too large is not blamed on the program`() throws {
        let lines = (0..<80).map { "K\($0)=\(String(repeating: "v", count: 100_000))\n" }
        done(try home.run(["import", "-", "-p", "large"], input: .text(lines.joined())))
        for options in [[], ["--redact"]] {
            let large = ["run", "-p", "large", "-t", "preview"] + options
            let result = try home.run(large + ["--", "/bin/true"])
            failed(result, 125, "too long", "--only")
            #expect(!result.error.contains("/bin/true"))
            try failedAsJSON(home.run(large + ["--json", "--", "true"]), 125, "usage")
            #expect(try home.run(large + ["--only", "K1,K2", "--", "true"]).status == 0)
        }
    }

    @Test func `an environment of 1000 variables with long values arrives`() throws {
        let lines = (0..<1_000).map { "K\($0)=\(String(repeating: "v\($0)", count: 20))" }
        done(
            try home.run(
                ["import", "-", "-p", "many"],
                input: .text(lines.joined(separator: "\n"))))
        let result = done(
            try home.run(["run", "-p", "many", "-t", "preview", "--no-inherit", "--", "env"]))
        #expect(Set(result.output.split(separator: "\n").map { String($0) }) == Set(lines))
    }
}

import Foundation
import TestSupport
import Testing

@testable import ZGEnvCommands

/// Help, terminals, colors and closed outputs.
@Suite("Help and output")
struct OutputTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["KEY": "value", "A_RATHER_LONG_NAME_OF_A_VARIABLE_IN_THE_VAULT": "x"])
    }

    @Test func `help lists every command, and each has its own help`() throws {
        #expect(try home.run(["--help"]).output == done(try home.run(["help"])).output)
        let all = done(try home.run(["--help-all"]))
        #expect(all.error == "")
        for path in CommandTable.paths {
            let name = path.joined(separator: " ")
            #expect(all.output.contains("\n  \(name) "), "\(name)")
            let help = done(try home.run(["help"] + path))
            #expect(help.output.hasPrefix("Usage: zg-env \(name)"))
            #expect(help.output.hasSuffix("\n"))
            #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
            #expect(try home.run(path + ["--help"]).output == help.output)
            #expect(help.error == "")
        }
    }

    @Test func `help and version need no home and no vault`() throws {
        for arguments in [["help"], ["--version"], ["set", "--help"]] {
            var runner = home.runner(arguments)
            runner.environment = [:]
            done(try runner.run())
        }
        let version = done(try home.run(["--version"]))
        #expect(version.output.wholeMatch(of: /zg-env \d+\.\d+\.\d+\n/) != nil)
        var list = home.runner(["list", "-p", "web"])
        list.environment = [:]
        failed(try list.run(), 2, "HOME")
    }

    @Test(arguments: [
        (["lst"], "list"), (["improt", ".env"], "import"), (["list", "--jsn"], "--json"),
        (["set", "KEY", "--comentt", "x"], "--comment"), (["help", "revael"], "reveal"),
        (["export", "--format", "jso"], "json"),
    ])
    func `a misspelled command gets a suggestion`(
        arguments: [String], word: String
    ) throws {
        failed(try home.run(arguments), 2, "Did you mean", word)
        let text = try failedAsJSON(home.run(arguments + ["--json"]), 2, "usage")
        #expect(text.contains(word))
    }

    @Test(arguments: [
        (["env", "ls"], "list"), (["env", "pull"], "pull"), (["env", "add", "KEY"], "set"),
        (["env", "rm", "KEY"], "rm"), (["env"], "list"),
    ])
    func `a command of Vercel's program suggests ours`(arguments: [String], word: String) throws {
        failed(
            try home.run(arguments), 2, "Unknown command \"env\".", "Did you mean \"\(word)\"?")
    }

    @Test func `run without -- prints the corrected line`() throws {
        for (arguments, line) in [
            (["run", "npm", "run", "dev"], "zg-env run -- npm run dev"),
            (
                ["-p", "web", "run", "-t", "preview", "./serve"],
                "zg-env -p web run -t preview -- ./serve"
            ),
            (["run", "next", "dev", "--port", "3000"], "zg-env run -- next dev --port 3000"),
        ] {
            failed(try home.run(arguments), 125, "Use: \(line)\n")
        }
        // A word that may be a secret is not repeated.
        let result = try home.run(["run", "env", "TOKEN=Zq7vX9kLmN2pR4tW", "npm"])
        failed(result, 125, "Usage: ")
        #expect(!result.error.contains("Zq7v"))
    }

    @Test func `the help of both lists of projects mentions the other`() throws {
        #expect(done(try home.run(["projects", "--help"])).output.contains("zg-env project list"))
        #expect(
            done(try home.run(["project", "list", "--help"])).output.contains("zg-env projects"))
    }

    @Test func `the help lists every setting, and the exit codes of signals`() throws {
        let help = done(try home.run(["config", "set", "--help"])).output
        let list = try json(home.run(["config", "list", "--json"]))
        for setting in list["settings"]?.elements ?? [] {
            #expect(help.contains("\n  \(setting["key"]?.text ?? "?") "), "\(setting)")
        }
        #expect(help.contains("require the values to be unlocked"))
        let widest = help.split(separator: "\n").map(\.count).max() ?? 0
        #expect(widest <= 80, "\(widest)")
        let codes = done(try home.run(["help", "exit-codes"])).output
        for code in ["129", "130", "131", "141", "143"] { #expect(codes.contains("\n  \(code) ")) }
    }

    @Test func `running without a command is a usage error`() throws {
        #expect(done(try home.run([])).output == done(try home.run(["help"])).output)
        failed(try home.run(["-p", "web"]), 2, "help")
        failed(try home.run(["list", "--project"]), 2, "--project")
        failed(try home.run(["list", "-p", ""]), 2)
        var bytes = home.runner(["list", "-p"])
        bytes.arguments.append([0xFF])
        failed(try bytes.run(), 2, "UTF-8")
    }

    @Test func `global options are accepted before and after the command`() throws {
        let after = try home.run(["list", "--project", "web", "--json"])
        done(after)
        for arguments in [
            ["--project=web", "--json", "list"], ["-pweb", "list", "--json"],
            ["--json", "-p", "web", "list"], ["list", "--json", "-p=web"],
            ["list", "-p", "web", "--json", "--"],
        ] {
            #expect(try home.run(arguments).standardOutput == after.standardOutput)
        }
    }

    @Test(arguments: [
        ["help"], ["list", "-p", "web"], ["list", "-p", "web", "--json"], ["status"],
        ["reveal", "KEY", "-p", "web"], ["export", "-p", "web", "-t", "preview"],
        ["show", "KEY", "-p", "web"],
    ])
    func `a closed output ends the program quietly`(arguments: [String]) throws {
        let runner = home.wrapped("/bin/bash") { program in
            // The reader is gone before anything is written.
            let script = """
                mkfifo pipe; (exec 3<>pipe 4>pipe; exec 3<&-; ZG_ENV_PASSPHRASE_FILE="$PASS" "$@" >&4)
                echo "status $?"
                """
            return ["-c", script, "bash", program] + arguments
        }
        var closed = runner
        closed.environment["PASS"] = home.passphrasePath
        let result = try closed.run()
        #expect(result.output == "status 141\n")
        #expect(result.error == "")
    }

    @Test(arguments: [
        ["help"], ["list", "-p", "web", "--json"], ["reveal", "KEY", "-p", "web"],
        ["export", "-p", "web", "-t", "preview"], ["status"],
    ])
    func `an output that was never open, or is read-only, ends the program quietly too`(
        arguments: [String]
    ) throws {
        for redirection in [">&-", "1</dev/null"] {
            let result = try home.wrapped("/bin/sh") { program in
                ["-c", "\"$@\" \(redirection); echo \"status $?\"", "sh", program] + arguments
            }.run()
            #expect(result.output == "status 141\n")
            #expect(result.error == "")
        }
    }

    @Test func `with stdout closed only a recovery code is a failure`() throws {
        func status(_ arguments: [String], _ input: ProgramRunner.Input = .null) throws
            -> ProgramResult
        {
            var runner = home.wrapped("/bin/sh") { program in
                ["-c", "exec \"$@\" >&-", "sh", program] + arguments
            }
            runner.input = input
            return try runner.run()
        }
        let code = try status(["slot", "add", "recovery"])
        #expect(code.status == 1)
        #expect(code.error.contains("The recovery code was not shown"))
        // There was nothing to print, and the work is done.
        #expect(try status(["set", "KEY", "-p", "web"], .text("new")).status == 0)
        #expect(try home.revealed("KEY") == Array("new".utf8))
        #expect(try status(["set", "KEY", "-p", "web", "--json"], .text("newer")).status == 141)
        #expect(try home.revealed("KEY") == Array("newer".utf8))
    }

    @Test func `a full disk is a failure`() throws {
        for arguments in [
            ["list", "-p", "web"], ["reveal", "KEY", "-p", "web"], ["list", "-p", "web", "--json"],
        ] {
            let runner = home.wrapped("/bin/sh") { program in
                ["-c", #""$@" >/dev/full"#, "sh", program] + arguments
            }
            let result = try runner.run()
            #expect(result.status == 1, "\(result.error)")
            #expect(result.error.contains("cannot be written"))
        }
    }

    @Test func `a terminal gets colors and a table as wide as it is`() throws {
        func shown(_ environment: [String: String], columns: Int = 80) throws -> String {
            var runner = home.terminalRunner(
                ["list", "-p", "web", "--passphrase-file", home.passphrasePath], streams: true,
                columns: columns)
            runner.environment.merge(environment) { $1 }
            let result = done(try runner.run())
            return result.screen
        }
        #expect(try shown([:]).contains("\u{1B}["))
        for environment in [["NO_COLOR": "1"], ["TERM": "dumb"]] {
            let plain = try shown(environment)
            #expect(!plain.contains("\u{1B}"))
            #expect(plain.contains("KEY  ") && plain.contains("encrypted"))
        }
        for columns in [70, 80, 120] {
            let lines = try shown(["NO_COLOR": "1"], columns: columns).split(separator: "\r\n")
            #expect(lines.count == 3)
            #expect(lines.allSatisfy { $0.count <= columns }, "\(lines)")
        }
        // An empty NO_COLOR has no effect, by its convention.
        #expect(try shown(["NO_COLOR": ""]).contains("\u{1B}["))
        let piped = done(try home.run(["list", "-p", "web"]))
        #expect(!piped.output.contains("\u{1B}"))
    }

    @Test func `reveal ends with a newline only on a terminal`() throws {
        let runner = home.terminalRunner(
            ["reveal", "KEY", "-p", "web", "--passphrase-file", home.passphrasePath],
            streams: true)
        #expect(try runner.run().screen == "value\r\n")
        #expect(try home.run(["reveal", "KEY", "-p", "web"]).output == "value")
    }

    @Test func `a signal during a question changes nothing`() throws {
        let result = try home.terminalRunner(
            ["rm", "KEY", "-p", "web", "--passphrase-file", home.passphrasePath],
            script: [(.terminal("Remove it?"), .signal(SIGINT))]
        ).run()
        #expect(result.signal == SIGINT)
        #expect(try home.scopes(of: "KEY").count == 1)
    }

    @Test func `the interrupt key at a question ends its line, and the script of a shell`() throws {
        let script = "\"$@\"; echo AFTER"
        for (command, prompt, end) in [
            (
                ["rm", "KEY", "-p", "web", "--passphrase-file", home.passphrasePath],
                "Remove it? [y/N] ", "Remove it? [y/N] ^C\r\n"
            ),
            (["reveal", "KEY", "-p", "web"], "Passphrase", "\r\n"),
        ] {
            var runner = home.terminalRunner(
                [], streams: true, script: [(.terminal(prompt), .type([3]))])
            runner.path = "/usr/bin/bash"
            runner.arguments =
                home.wrapped(runner.path) {
                    ["-c", script, "bash", $0] + command
                }.arguments
            let result = try runner.run()
            #expect(result.end == .signalled(SIGINT), "\(result.screen)")
            #expect(!result.screen.contains("AFTER"), "\(result.screen)")
            #expect(result.screen.hasSuffix(end), "\(result.screen)")
            #expect(result.echoAtEnd == true)
        }
        #expect(try home.scopes(of: "KEY").count == 1)
    }

    @Test func `rm asks on a terminal, and "no" changes nothing`() throws {
        func answered(_ answer: String) throws -> ProgramResult {
            try home.terminalRunner(
                ["rm", "KEY", "-p", "web", "--passphrase-file", home.passphrasePath],
                streams: true, script: [(.terminal("Remove it?"), .line(answer))]
            ).run()
        }
        for answer in ["n", "", "no", "yess", "x y"] {
            let result = try answered(answer)
            #expect(result.status == 1, "\(answer)")
            #expect(result.screen.contains("remove KEY from web for production"))
            #expect(try home.scopes(of: "KEY").count == 1)
        }
        done(try answered("y"))
        #expect(try home.scopes(of: "KEY") == [])
    }

    @Test func `control characters in names are made harmless`() throws {
        done(
            try home.run(
                ["set", "KEY", "-p", "web", "--comment", "a\u{1B}]0;title\u{7}\u{202E}b"],
                input: .text("1")))
        let shown = done(try home.run(["show", "KEY", "-p", "web"]))
        #expect(!shown.output.contains("\u{1B}") && !shown.output.contains("\u{202E}"))
        let json = done(try home.run(["show", "KEY", "-p", "web", "--json"]))
        #expect(!json.output.utf8.contains(0x1B) && !json.output.utf8.contains(0x07))
    }

    @Test func `--quiet keeps errors and data`() throws {
        let quiet = done(try home.run(["-q", "set", "KEY", "-p", "other"], input: .text("1\n")))
        #expect(quiet.error == "" && quiet.output == "")
        failed(try home.run(["-q", "list", "-p", "none"]), 4)
        #expect(try home.run(["-q", "reveal", "KEY", "-p", "other"]).output == "1")
    }
}

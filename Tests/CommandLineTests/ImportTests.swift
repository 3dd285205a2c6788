import Foundation
import TestSupport
import Testing

/// `import`: options, several files, and invalid input.
@Suite("Importing files")
struct ImportTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
    }

    private func imported(_ text: String, _ options: String...) throws -> JSONDocument {
        try json(
            home.run(["import", "-", "-p", "web", "--json"] + options, input: .text(text)))
    }

    private func comment(of key: String) throws -> JSONDocument? {
        let shown = try json(home.run(["list", "-p", "web", "--json"]))
        return shown["variables"]?.elements.first { $0["key"]?.text == key }?["comment"]
    }

    @Test func `comments above keys are kept with --comments`() throws {
        let text = """
            # Of the whole file

            # The database
            # of the shop
            URL=1
            NONE=2 # beside
            # -----------
            # Payment
            KEY=3
            """
        let plain = try imported(text)
        #expect(plain["created"] == ["URL", "NONE", "KEY"])
        #expect(try comment(of: "URL") == .null)
        // Only the comment changes: no new version.
        let result = try imported(text, "--comments")
        #expect(result["updated"] == ["URL", "KEY"])
        #expect(result["unchanged"] == ["NONE"])
        #expect(try comment(of: "URL") == "The database\nof the shop")
        #expect(try comment(of: "KEY") == "Payment")
        #expect(try comment(of: "NONE") == .null)
        let history = try json(home.run(["history", "URL", "-p", "web", "--json"]))
        #expect(history["versions"]?.elements.count == 1)
        #expect(try imported(text, "--comments")["updated"] == [])
        // A variable without a comment in the file keeps its own.
        #expect(try imported("URL=9\n", "--comments")["updated"] == ["URL"])
        #expect(try comment(of: "URL") == "The database\nof the shop")
        #expect(
            try imported("# new\nURL=9\n", "--comments", "--on-conflict", "skip")["updated"] == [])
    }

    @Test func `a commented-out assignment is not taken as a comment`() throws {
        let text =
            "# Old one:\n# URL=s3cret-of-before\n#export KEY = s3cret-too\n# API_KEY: s3cret\nURL=1\n"
        let result = try imported(text, "--comments")
        #expect(result["warnings"]?.elements.contains { $0["code"] == "comment-left-out" } == true)
        #expect(try comment(of: "URL") == "Old one:")
        let listed = try home.run(["list", "-p", "web", "--json"])
        #expect(!listed.output.contains("s3cret"))
    }

    @Test func `a comment that contains a value from the files is left out`() throws {
        let encoded = Data("the-current-value".utf8).base64EncodedString()
        try home.directory.write(
            """
            # The database
            # was KEY_OLD: the-current-value once
            # \(encoded)
            # a twice-given here, says "with\\nbreak" there
            # and the second-line-of-it
            # key: short
            URL=1
            KEY=the-current-value
            TWICE=twice-given
            TWICE=other-value
            LINES="first-line-of-it\\nsecond-line-of-it"
            ESCAPED="with\\nbreak"
            SHORT=short
            """, to: "work/one")
        try home.directory.write("# uses the-current-value\nOTHER=2\n", to: "work/two")
        let result = try json(
            home.run(["import", "two", "one", "-p", "web", "--comments", "--json"]))
        let warnings = result["warnings"]?.elements.compactMap { $0["message"]?.text } ?? []
        #expect(
            warnings.count { $0.contains("contains a value from the file") } == 2, "\(warnings)")
        // A short value may occur by chance.
        #expect(try comment(of: "URL") == "The database\nkey: short")
        #expect(try comment(of: "OTHER") == .null)
        let listed = done(try home.run(["list", "-p", "web", "--json"])).output
        for value in ["the-current-value", encoded, "twice-given", "second-line", "break"] {
            #expect(!listed.contains(value))
        }
    }

    @Test func `a value that Vercel does not accept is reported`() throws {
        try home.directory.write(
            "LONG=\(String(repeating: "x", count: 65_537))\nMOST=\(String(repeating: "y", count: 65_536))\n",
            to: "work/long")
        let result = try json(home.run(["import", "long", "-p", "web", "--json"]))
        let told = result["warnings"]?.elements.filter { $0["code"] == "over-platform-limit" } ?? []
        #expect(
            told.compactMap { $0["message"]?.text } == [
                "The value of LONG is over 64 KiB and cannot be pushed."
            ])
        let copied = try json(
            home.run(["copy", "LONG", "MOST", "-p", "web", "--to-project", "other", "--json"]))
        #expect(
            copied["warnings"]?.elements.map { $0["code"] } == ["over-platform-limit"],
            "\(copied)")
    }

    @Test func `--expand replaces references within the same file only`() throws {
        let text = """
            HOST=db.example.com
            URL="postgres://${HOST}:${PORT:-5432}/"
            PLAIN='${HOST}'
            OTHER=${HOME}
            DOLLAR=$HOST
            """
        _ = try imported(text)
        #expect(try home.revealed("URL") == Array("postgres://${HOST}:${PORT:-5432}/".utf8))
        let result = try imported(text, "--expand")
        #expect(try home.revealed("URL") == Array("postgres://db.example.com:5432/".utf8))
        #expect(try home.revealed("PLAIN") == Array("db.example.com".utf8))
        #expect(try home.revealed("OTHER") == Array("${HOME}".utf8))
        #expect(try home.revealed("DOLLAR") == Array("db.example.com".utf8))
        let codes = result["diagnostics"]?.elements.compactMap { $0["code"]?.text } ?? []
        #expect(codes.contains("unexpanded"))
        let before = try home.vaultBytes()
        failed(
            try home.run(
                ["import", "-", "-p", "web", "--expand"], input: .text("A=${B}\nB=${A}\n")),
            2, "stdin: line 1", "A")
        #expect(try home.vaultBytes() == before)
    }

    /// A newcomer's file, and what bash, Next.js and others make of its `$`.
    private static let dollars = "HOST=db\nA=$HOST\nB=\"$HOST\"\nC='$HOST'\nD=pa$$word1\n"

    @Test("USE-A1: a $ that other parsers expand is reported, and refused with --strict")
    func dollars() throws {
        try home.directory.write(Self.dollars, to: "work/ex3.env")
        let result = done(try home.run(["convert", "ex3.env", "--format", "json"]))
        #expect(
            try JSONDocument(result.standardOutput) == [
                "HOST": "db", "A": "$HOST", "B": "$HOST", "C": "$HOST", "D": "pa$$word1",
            ])
        for key in ["A", "B", "C", "D"] {
            #expect(result.error.contains("differs-expansion \(key):"), "\(key)")
        }
        #expect(!result.error.contains("HOST:"))
        let before = try home.vaultBytes()
        for command in [["convert", "ex3.env"], ["import", "ex3.env", "-p", "web"]] {
            let strict = try home.run(command + ["--strict"])
            failed(strict, 2, "--strict", "differs-expansion")
            #expect(strict.output == "")
        }
        #expect(try home.vaultBytes() == before)
    }

    @Test(
        "USE-A1: --expand and the dialect next use variables of the file, never of the environment"
    )
    func expandedDollars() throws {
        func values(_ text: String, _ options: String...) throws -> JSONDocument {
            let result = done(
                try home.run(
                    ["convert", "-", "--format", "json"] + options, input: .text(text),
                    environment: ["HOST": "leaked", "NOPE": "leaked"]))
            #expect(!result.output.contains("leaked"))
            return try JSONDocument(result.standardOutput)
        }
        #expect(
            try values(Self.dollars, "--expand") == [
                "HOST": "db", "A": "db", "B": "db", "C": "db", "D": "pa$$word1",
            ])
        #expect(
            try values(Self.dollars, "--dialect", "next") == [
                "HOST": "db", "A": "db", "B": "db", "C": "db", "D": "pa$",
            ])
        #expect(try values("A=x$NOPE${NOPE}\n", "--expand") == ["A": "x$NOPE${NOPE}"])
        #expect(try values("A=x$NOPE${NOPE}\n", "--dialect", "next") == ["A": "x"])
        let told = try imported("A=$NOPE\nB=\\$A\n", "--expand")["diagnostics"]?.elements ?? []
        #expect(told.contains { $0["code"] == "unexpanded" && $0["key"] == "A" })
        #expect(!told.contains { $0["code"] == "unexpanded" && $0["key"] == "B" })
        #expect(try home.revealed("B") == Array("$A".utf8))
        _ = try imported("A=1\nB=$A\n", "--dialect", "next")
        #expect(try home.revealed("B") == Array("1".utf8))
        failed(
            try home.run(
                ["import", "-", "-p", "web", "--dialect", "next"], input: .text("A=1\nB=x$B\n")),
            2, "stdin: line 2", "B", "Next.js")
    }

    @Test("USE-B13: an import without variables fails and creates no project")
    func nothingToImport() throws {
        let before = try home.vaultBytes()
        for text in ["", "\n# nothing\n", "no variable here\n"] {
            failed(
                try home.run(["import", "-", "-p", "pw"], input: .text(text)), 2,
                "No variables found in stdin")
        }
        let passwd = (0..<27).map { "user\($0):x:\($0):\($0)::/home/u\($0):/bin/sh\n" }.joined()
        try home.directory.write(passwd, to: "work/passwd")
        let result = try home.run(["import", "passwd", "-p", "pw"])
        failed(result, 2, "No variables found in passwd", "more (--json lists all)")
        #expect(result.error.split(separator: "\n").filter { $0.hasPrefix("passwd:") }.count <= 6)
        #expect(!result.error.contains("Created project"))
        #expect(try home.vaultBytes() == before)
        failed(try home.run(["list", "-p", "pw"]), 4, "pw")
    }

    @Test("USE-B13: many diagnostics are one line with a count, and --json shows all")
    func manyDiagnostics() throws {
        let text = (1...49).map { "A\($0)=$B\n" }.joined()
        let result = done(try home.run(["import", "-", "-p", "web"], input: .text(text)))
        let lines = result.error.split(separator: "\n")
        #expect(lines.filter { $0.contains("differs-expansion") }.count == 1)
        #expect(
            lines.contains { $0.hasSuffix("and 38 more (--json lists all)") }, "\(result.error)")
        #expect(try imported(text)["diagnostics"]?.elements.count == 49)
        // Six are shown without a count.
        let six = (1...6).map { "A\($0)=$B\n" }.joined()
        let short = done(try home.run(["import", "-", "-p", "web"], input: .text(six)))
        #expect(short.error.split(separator: "\n").filter { $0.contains("differs-") }.count == 6)
        #expect(!short.error.contains("lists all"))
    }

    @Test func `what was not imported is shown first`() throws {
        let text = (1...9).map { "A\($0)=$B\n" }.joined() + "A1=2\nno assignment\n"
        let result = done(try home.run(["import", "-", "-p", "web"], input: .text(text)))
        let lines = result.error.split(separator: "\n").filter { $0.hasPrefix("stdin:") }
        #expect(lines.count <= 5)
        #expect(lines.first?.contains("duplicate-key A1") == true, "\(result.error)")
        #expect(lines.dropFirst().first?.contains("ignored-no-equals") == true)
    }

    @Test func `a file with a value that another replaces is kept`() throws {
        func isKept(_ files: [String: String]) throws -> [String: Bool] {
            for (name, text) in files { try home.directory.write(text, to: "work/\(name)") }
            let names = files.keys.sorted()
            let result = try home.run(["import"] + names + ["-p", "web", "--remove"])
            let kept = names.filter { unsafe access(home.directory.path("work/\($0)"), F_OK) == 0 }
            #expect(result.end == .exited(kept.isEmpty ? 0 : 1))
            if !kept.isEmpty {
                #expect(result.error.contains("sets some of its variables to different values"))
            }
            return Dictionary(uniqueKeysWithValues: names.map { ($0, kept.contains($0)) })
        }
        #expect(try isKept(["one": "A=1\nA=2\n"]) == ["one": true])
        #expect(try home.revealed("A") == Array("2".utf8))
        #expect(try isKept(["one": "A=1\nA='1'\n"]) == ["one": false])
        #expect(
            try isKept(["one": "A=1\nB=1\n", "two": "A=1\n", "three": "B=2\n"])
                == ["one": true, "two": false, "three": false])
        // What counts is the last value, not the next one.
        #expect(
            try isKept(["a": "A=1\n", "b": "A=1\n", "c": "A=2\n"])
                == ["a": true, "b": true, "c": false])
        #expect(
            try isKept(["a": "A=1\n", "b": "A=2\n", "c": "A=1\n"])
                == ["a": false, "b": true, "c": false])
    }

    @Test func `a file is kept although stdin has the same value`() throws {
        try home.directory.write("A=1\n", to: "work/one")
        try home.directory.write("A=2\n", to: "work/two")
        let result = try home.run(
            ["import", "one", "-", "two", "-p", "web", "--remove"], input: .text("A=1\n"))
        #expect(result.end == .exited(1))
        #expect(result.error.contains("one was not deleted: a later line or file"))
        #expect(result.error.contains("Deleted two."))
    }

    @Test(arguments: [
        ("B=foo\nA=$B\nA=$B\n", false), ("B=foo\nA=$B\nA=foo\n", false),
        ("B=foo\nA=$B\nA=\\$B\n", true),
    ])
    func `replaced values are compared as they are imported`(text: String, isKept: Bool) throws {
        try home.directory.write(text, to: "work/one")
        let result = try home.run(["import", "one", "-p", "web", "--expand", "--remove"])
        #expect(result.end == .exited(isKept ? 1 : 0), "\(result.error)")
    }

    @Test func `a file with too many diagnostics is kept`() throws {
        try home.directory.write(
            String(repeating: "A=x\n", count: 12_000) + "no assignment\n", to: "work/one")
        let result = try home.run(["import", "one", "-p", "web", "--remove"])
        #expect(result.end == .exited(1))
        #expect(result.error.contains("one was not deleted: some of its lines"))
    }

    @Test func `deleting a file mentions its comments`() throws {
        let text = "# first\nA='1\n# in the value\n2' # behind\n\n  # B=secret\n#\nC=1\n# last"
        try home.directory.write(text, to: "work/one")
        let result = done(try home.run(["import", "one", "-p", "web", "--remove"]))
        #expect(
            result.error.contains("Deleted one, with 4 comment lines that import leaves out.\n"),
            "\(result.error)")
        #expect(!result.error.contains("secret"))
        for (text, options) in [
            ("\u{FEFF}# first\nA=1\n", []), ("; first\nA=1\n", ["--dialect", "systemd"]),
            ("# above\nA=1\n# behind\n", ["--comments"]),
            ("A='1' # with it\n# behind\n", ["--dialect", "compose"]),
        ] {
            try home.directory.write(text, to: "work/one")
            let result = done(try home.run(["import", "one", "-p", "web", "--remove"] + options))
            #expect(result.error.contains("Deleted one, with 1 comment line that"), "\(text)")
        }
    }

    @Test func `the later of several files wins, and stdin can be one of them`() throws {
        try home.directory.write("A=1\nB=1\nC=1\n", to: "work/one")
        try home.directory.write("B=2\nD=2\n", to: "work/two")
        let result = try json(
            home.run(
                ["import", "one", "-", "two", "-p", "web", "--json"], input: .text("C=0\nB=0\n")))
        #expect(result["created"] == ["A", "B", "C", "D"])
        for (key, value) in [("A", "1"), ("B", "2"), ("C", "0"), ("D", "2")] {
            #expect(try home.revealed(key) == Array(value.utf8))
        }
        failed(try home.run(["import", "-", "-", "-p", "web"]), 2, "once")
    }

    @Test func `--dry-run lists each variable's outcome and changes nothing`() throws {
        _ = try imported("A=1\nB=1\n")
        let before = try home.vaultBytes()
        let result = try imported("A=1\nB=2\nC=3\n", "--dry-run")
        #expect(result["dryRun"] == true)
        #expect(result["unchanged"] == ["A"])
        #expect(result["updated"] == ["B"])
        #expect(result["created"] == ["C"])
        #expect(try home.vaultBytes() == before)
    }

    @Test func `a conflict with --on-conflict fail changes nothing`() throws {
        _ = try imported("A=1\nB=1\n")
        let before = try home.vaultBytes()
        let run = ["import", "-", "-p", "web", "--on-conflict"]
        let text = ProgramRunner.Input.text("A=1\nB=2\nC=3\n")
        failed(try home.run(run + ["fail"], input: text), 5, "B")
        #expect(try home.vaultBytes() == before)
        let skipped = try json(home.run(run + ["skip", "--json"], input: text))
        #expect(skipped["skipped"] == ["B"])
        #expect(skipped["created"] == ["C"])
        #expect(try home.revealed("B") == Array("1".utf8))
    }

    @Test func `unreadable and too long files are refused with one clear line`() throws {
        let before = try home.vaultBytes()
        try home.directory.makeDirectory("work/directory")
        try home.directory.write("GOOD=1\n", to: "work/good")
        let line = Array("# 345678901234567890123456789012345678901234567890123456789012\n".utf8)
        let most = Array(repeatElement(line, count: (16 << 20) / line.count - 1).joined())
        let room = (16 << 20) - most.count
        let full = most + Array("A=".utf8) + [UInt8](repeating: 0x61, count: room - 2)
        try home.directory.write(full + [0x0A], to: "work/long")
        for (name, word) in [
            ("directory", "irectory"), ("missing", "No such file"), ("long", "16 MiB"),
            ("/dev/zero", "16 MiB"), ("good/below", "Not a directory"),
        ] {
            failed(try home.run(["import", "good", name, "-p", "web"]), 2, name, word)
        }
        #expect(try home.vaultBytes() == before)
        // The largest file allowed.
        try home.directory.write(full, to: "work/full")
        #expect(
            try json(home.run(["import", "full", "-p", "web", "--json"]))["created"] == ["A"])
    }

    @Test func `a FIFO is read like a file`() throws {
        let path = home.directory.path("work/fifo")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let writer = Thread {
            try? Data("A=of the pipe\n".utf8).write(to: URL(filePath: path), options: [])
        }
        writer.start()
        let result = try json(home.run(["import", "fifo", "-p", "web", "--json", "--remove"]))
        #expect(result["created"] == ["A"])
        let told = result["warnings"]?.elements.first { $0["code"] == "plaintext-kept" }
        #expect(told?["message"]?.text?.contains("not a regular file") == true)
        #expect(try home.revealed("A") == Array("of the pipe".utf8))
        #expect(unsafe access(path, F_OK) == 0)
    }

    @Test func `variables that change which code runs are warned about`() throws {
        let result = try imported("LD_PRELOAD=x.so\nGIT_SSH_COMMAND=x\nA=1\n")
        let warnings = result["warnings"]?.elements ?? []
        #expect(warnings.count { $0["code"] == "loads-code" } == 2)
        let set = try home.run(["set", "NODE_OPTIONS", "-p", "web"], input: .text("--require x"))
        #expect(done(set).error.contains("warning: NODE_OPTIONS"))
        let run = done(
            try home.run(["run", "-p", "web", "-t", "preview", "--", "true"]))
        #expect(run.error.contains("warning: NODE_OPTIONS"))
        #expect(run.error.contains("warning: GIT_SSH_COMMAND"))
        #expect(!run.error.contains("A "))
        // A variable set by the shell belongs to the shell.
        let kept = try home.run(
            ["run", "-p", "web", "-t", "preview", "--only", "NODE_OPTIONS", "--", "true"],
            environment: ["NODE_OPTIONS": "--x"])
        #expect(!kept.error.contains("warning"))
    }

    @Test func `a long import shows its progress on a terminal and erases it`() throws {
        let lines = (0..<60_000).map { "K\($0)=v\($0)\n" }.joined()
        try home.directory.write(lines, to: "work/many")
        var runner = home.terminalRunner(
            [
                "import", "many", "-p", "web", "-q", "-t", "production", "--passphrase-file",
                home.passphrasePath,
            ])
        runner.output = .null
        runner.error = .terminal
        runner.timeLimit = .seconds(120)
        #expect(try done(runner.run()).screen.contains("of 60000") == false)
        runner.arguments.removeAll { $0 == Array("-q".utf8) }
        runner.arguments.append(Array("--dialect=node".utf8))
        let lines2 = (0..<60_000).map { "K\($0)=w\($0)\n" }.joined()
        try home.directory.write(lines2, to: "work/many")
        let result = try done(runner.run())
        #expect(result.screen.contains("of 60000 variables"))
        #expect(!result.screen.hasSuffix("…"))
    }
}

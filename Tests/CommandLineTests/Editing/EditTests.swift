import Foundation
import TestSupport
import Testing

/// `edit` with shell scripts as editors, on a real terminal.
@Suite("edit")
struct EditTests {
    private let home: CommandHome

    init() throws {
        home = try CommandHome.initialised()
        try home.store(["A": "first", "B": "two words\n", "C": "3"])
    }

    // MARK: Text and result

    @Test func `the text has the target's variables, and unchanged it changes nothing`()
        throws
    {
        let before = try home.vaultBytes()
        let result = done(try home.editing(with: home.editor("true")).run())
        #expect(result.error.contains("No changes."))
        #expect(result.output == "")
        let exported = done(try home.run(["export", "-p", "web"])).output
        #expect(try home.seenLines() == exported.split(separator: "\n").map(String.init))
        #expect(try home.seen().hasPrefix("# "))
        #expect(try home.vaultBytes() == before)
        let log = try json(home.run(["log", "--json"]))
        let entry = log["entries"]?.elements.last { $0["command"] == "edit" }
        #expect(entry?["outcome"] == "revealed", "\(log)")
        #expect(entry?["names"] == ["A", "B", "C"])
    }

    @Test("USE-B6: edit shows every variable that a .env text can hold")
    func unportableIsShown() throws {
        let url = "smtp://${SMTP_USER}:pw@mail"
        try home.store(["URL": url, "QUOTES": "it's \"x\" \\", "ODD": "it's\n\"`"])
        let editor = try home.editor(
            "sed 's/^C=.*/C=4/' \"$1\" >\"$HOME/t\"; cat \"$HOME/t\" >\"$1\"")
        let result = done(try home.editing(["-p", "web", "--yes"], with: editor).run())
        let seen = try home.seen()
        #expect(seen.contains("URL='\(url)'") && seen.contains("QUOTES="))
        #expect(
            seen.contains("ODD (no .env line can hold it; edit it with: zg-env edit ODD -p web)"),
            "\(seen)")
        #expect(!result.error.contains(" URL for") && !result.error.contains("QUOTES for"))
        #expect(try home.revealed("C") == Array("4".utf8))
        #expect(try home.revealed("URL") == Array(url.utf8))
        #expect(try home.revealed("ODD") == Array("it's\n\"`".utf8))
    }

    @Test func `a value that no .env line can hold is edited alone`() throws {
        let odd = "it's\n\"`"
        try home.store(["ODD": odd])
        // As editors do, this one ends the text with a newline.
        let editor = try home.editor("cp \"$1\" \"$HOME/raw\"; printf '\\n' >>\"$1\"")
        let same = done(try home.editing(["ODD", "-p", "web"], with: editor).run())
        #expect(same.error.contains("ODD does not fit on a .env line"), "\(same.error)")
        #expect(same.error.contains("No changes."), "\(same.error)")
        #expect(try home.directory.read("raw") == Array(odd.utf8))
        let change = try home.editor("printf 'more\\n' >>\"$1\"")
        done(try home.editing(["ODD", "-p", "web"], with: change).run())
        #expect(try home.revealed("ODD") == Array("\(odd)more".utf8))
        let before = try home.vaultBytes()
        for text in ["", "\\n", "a\\000b", "\\377"] {
            let bad = try home.editor("printf '\(text)' >\"$1\"")
            let refused = try home.editing(
                ["ODD", "-p", "web"], with: bad,
                script: [(.terminal("Discard your edits?"), .line("y"))]
            ).run()
            #expect(refused.end == .exited(2), "\(refused.error)")
        }
        #expect(try home.vaultBytes() == before)
    }

    @Test func `without a target all variables with one value are shown`() throws {
        done(try home.run(["set", "P", "-p", "web", "-t", "production"], input: .text("x")))
        done(try home.run(["set", "A", "-p", "web", "-t", "production"], input: .text("other")))
        done(try home.run(["set", "Q", "-p", "web", "-b", "fix"], input: .text("of fix")))
        let editor = try home.editor(
            "sed 's/^P=x/P=y/' \"$1\" >\"$HOME/t\"; cat \"$HOME/t\" >\"$1\"")
        let result = done(try home.editing(with: editor).run())
        #expect(result.error.contains("update P for production"), "\(result.error)")
        let seen = try home.seen()
        #expect(seen.contains("\nP=x\n") && seen.contains("# Only for production: P."), "\(seen)")
        #expect(!seen.contains("\nA=") && !seen.contains("\nQ="), "\(seen)")
        #expect(seen.contains("(edit them with -t or -b): A, Q."), "\(seen)")
        #expect(try home.revealed("P") == Array("y".utf8))
        // Which of the values a line would mean is not known.
        let ambiguous = try home.editor("echo A=new >>\"$1\"")
        let refused = try home.editing(
            with: ambiguous, script: [(.terminal("Discard your edits?"), .line("y"))]
        ).run()
        failed(refused, 2, "A has separate values", "-t")
    }

    @Test func `changes are planned by key, saved, and reported to scripts`() throws {
        let editor = try home.editor(
            "printf 'A=nv7\\nB=\"two words\\n\"\\nC=3\\nNEW=4\\n' >\"$1\"")
        let result = done(try home.editing(with: editor).run())
        #expect(result.error.contains("update A for production, preview, development"))
        #expect(result.error.contains("create NEW for production, preview, development"))
        #expect(!result.error.contains(" B for"))
        #expect(!result.error.contains("nv7") && !result.screen.contains("nv7"))
        #expect(try home.revealed("A") == Array("nv7".utf8))
        #expect(try home.revealed("NEW") == Array("4".utf8))
        let shown = try json(home.run(["show", "B", "-p", "web", "--json"]))
        #expect(shown["records"]?.elements.first?["version"] ?? shown["version"] != 2)

        let second = try home.editor("sed '/^A=/d' \"$1\" >\"$HOME/t\"; cat \"$HOME/t\" >\"$1\"")
        let told = try json(home.editing(["-p", "web", "--json", "--yes"], with: second).run())
        #expect(told["project"] == "web")
        #expect(told["removed"]?.elements.map { $0["key"] } == ["A"])
        #expect(
            told["removed"]?.elements.first?["targets"] == ["production", "preview", "development"])
        #expect(told["created"] == .array([]) && told["updated"] == .array([]))
        #expect(told["unchanged"] == ["B", "C", "NEW"])
        failed(try home.run(["reveal", "A", "-p", "web"]), 4)
    }

    @Test func `--dry-run shows the plan and changes nothing`() throws {
        let before = try home.vaultBytes()
        let editor = try home.editor("printf 'A=other\\nNEW=4\\n' >\"$1\"")
        let result = done(try home.editing(["-p", "web", "--dry-run"], with: editor).run())
        #expect(
            result.output.split(separator: "\n").map { $0.prefix(14) } == [
                "Would update A", "Would create N", "Would remove B", "Would remove C",
            ])
        // What is on stdout is not on stderr too.
        #expect(!result.error.contains("update A") && !result.error.contains("create NEW"))
        let told = try json(home.editing(["-p", "web", "--dry-run", "--json"], with: editor).run())
        #expect(told["dryRun"] == true)
        #expect(try home.vaultBytes() == before)
    }

    @Test func `wiping a long sparse file takes no memory`() throws {
        // Larger than the memory: filling the holes would use all of it.
        let editor = try home.editor("truncate -s 1T \"$1\"")
        var runner = home.editing(
            ["A", "-p", "web"], with: editor,
            script: [(.terminal("Discard your edits?"), .line("y"))])
        runner.timeLimit = .seconds(20)
        failed(try runner.run(), 2, "The edited text")
        #expect(try home.revealed("A") == Array("first".utf8))
    }

    @Test func `the end of input ends edit, which says that the edits are gone`() throws {
        let before = try home.vaultBytes()
        for (text, status) in [("B=b\\nA=a\\n", Int32(2)), ("", 1)] {
            let editor = try home.editor("printf '\(text)' >\"$1\"")
            let arguments = text.isEmpty ? ["-p", "web"] : ["B", "-p", "web"]
            let ends: [(ProgramRunner.Trigger, ProgramRunner.Action)] =
                (text.isEmpty ? [(.terminal("Save these changes"), .type([4]))] : [])
                + [(.terminal("Discard your edits?"), .type([4]))]
            let result = try home.editing(arguments, with: editor, script: ends).run()
            #expect(result.end == .exited(status), "\(result.screen)")
            #expect(
                result.error.hasSuffix("hint: No one answered, so your edits were discarded.\n"),
                "\(result.error)")
        }
        #expect(try home.vaultBytes() == before)
    }

    @Test func `a single key can be edited, and the text may hold no other`() throws {
        let editor = try home.editor(
            "printf 'B=b\\nA=a\\n' >\"$1\"", "printf 'B=\"line\\nline\"\\n' >\"$1\"")
        let result = done(
            try home.editing(
                ["B", "-p", "web"], with: editor,
                script: [(.terminal("Only B is being edited"), .line(""))]
            ).run())
        #expect(try home.seenLines(1).first?.hasSuffix("two words") == true)
        #expect(try home.seenLines(2) == ["B=b", "A=a"])
        #expect(result.error.contains("update B"))
        #expect(try home.revealed("B") == Array("line\nline".utf8))
        #expect(try home.revealed("A") == Array("first".utf8))
        failed(try home.editing(["NONE", "-p", "web"], with: editor).run(), 4)
    }

    // MARK: Targets

    @Test func `with a target the others keep their value, without one all get the new one`() throws
    {
        let editor = try home.editor("printf 'A=prod\\nB=\"two words\\n\"\\n' >\"$1\"")
        let result = done(
            try home.editing(["-p", "web", "-t", "production", "--yes"], with: editor).run())
        #expect(result.error.contains("update A for production; keeps its value for preview"))
        #expect(result.error.contains("remove C for production; keeps its value for preview"))
        #expect(try home.scopes(of: "A") == ["preview,development", "production"])
        #expect(try home.scopes(of: "B") == ["production,preview,development"])
        #expect(try home.scopes(of: "C") == ["preview,development"])
        #expect(try home.revealed("A", "-t", "production") == Array("prod".utf8))
        #expect(try home.revealed("A", "-t", "preview") == Array("first".utf8))
        // Now A has two values: the target must be given, and the others stay.
        failed(try home.editing(["A", "-p", "web"], with: editor).run(), 2, "several values")
        // What the hint says makes it one value again.
        let again = "zg-env set A -p web -t production,preview,development"
        failed(
            try home.run(["set", "A", "-p", "web"], input: .text("x")), 2, "several values",
            "a single value for all of these targets again, run: \(again)\n")
        failed(try home.run(["restore-version", "A", "1", "-p", "web"]), 2, "several values")
        let restored = done(
            try home.run(["restore-version", "A", "1", "-p", "web", "-t", "preview,development"]))
        #expect(restored.error == "Restored version 1 of A for preview, development.\n")
        let other = try home.editor("printf 'A=dev\\n' >\"$1\"")
        done(try home.editing(["A", "-p", "web", "-t", "development"], with: other).run())
        #expect(try home.revealed("A", "-t", "preview") == Array("first".utf8))
        #expect(try home.revealed("A", "-t", "development") == Array("dev".utf8))
        #expect(try home.revealed("A", "-t", "production") == Array("prod".utf8))
    }

    @Test func `a key with a value elsewhere is created for the shown target only`() throws {
        done(try home.run(["set", "P", "-p", "web", "-t", "production"], input: .text("x")))
        let editor = try home.editor("echo P=here >>\"$1\"")
        done(try home.editing(["-p", "web", "-t", "development"], with: editor).run())
        #expect(try home.scopes(of: "P") == ["development", "production"])
        #expect(try home.revealed("P", "-t", "production") == Array("x".utf8))
    }

    @Test func `edit --branch shows the branch's records and creates new ones for it`() throws {
        done(try home.run(["set", "A", "-p", "web", "-b", "fix"], input: .text("of fix")))
        let editor = try home.editor("echo C=of-fix >>\"$1\"")
        done(try home.editing(["-p", "web", "-b", "fix"], with: editor).run())
        #expect(try home.seenLines() == ["A='of fix'"])
        #expect(try home.scopes(of: "C") == ["preview@fix", "production,preview,development"])
    }

    // MARK: Questions

    @Test func `a removal needs a confirmation, and "no" keeps the text`() throws {
        let editor = try home.editor(
            "printf 'A=first\\n' >\"$1\"", "printf 'A=changed\\nC=3\\n' >\"$1\"")
        let result = done(
            try home.editing(
                with: editor,
                script: [
                    (.terminal("Save these changes and remove 2 variables?"), .line("n")),
                    (.terminal("Discard your edits?"), .line("")),
                    (.terminal("Save these changes and remove 1 variable?"), .line("y")),
                ]
            ).run())
        #expect(result.stepsDone == 3)
        #expect(try home.seenLines(2) == ["A=first"])
        #expect(try home.revealed("A") == Array("changed".utf8))
        failed(try home.run(["reveal", "B", "-p", "web"]), 4)
        #expect(try home.revealed("C") == Array("3".utf8))
    }

    @Test func `--json asks no question about a removal`() throws {
        let before = try home.vaultBytes()
        let editor = try home.editor("printf 'A=first\\n' >\"$1\"")
        let result = try home.editing(["-p", "web", "--json"], with: editor).run()
        try failedAsJSON(result, 2, "usage")
        #expect(try home.vaultBytes() == before)
    }

    @Test(arguments: [
        ("A=1\\nA=2\\n", "Line 1, column 1"), ("A=1\\nnonsense\\n", "Line 2, column 1"),
        ("A=\"open\\nB=2\\n", "quote"), ("A=\\377\\n", "UTF-8"), ("A=a\\000b\\n", "NUL"),
    ])
    func `an invalid text is kept and can be edited again`(
        text: String, word: String
    ) throws {
        let before = try home.vaultBytes()
        let editor = try home.editor("printf '\(text)' >\"$1\"", "true")
        let result = try home.editing(
            with: editor,
            script: [
                (.terminal("Discard your edits?"), .line("n")),
                (.terminal("Discard your edits?"), .line("y")),
            ]
        ).run()
        failed(result, 2, word)
        #expect(result.stepsDone == 2)
        #expect(home.passes == 2)
        let expected = try ProgramRunner(
            path: "/usr/bin/printf", [text], environment: [:]
        ).run().standardOutput
        #expect(try home.directory.read("seen.2") == expected)
        #expect(try home.vaultBytes() == before)
    }

    @Test func `an editor that fails changes nothing`() throws {
        let before = try home.vaultBytes()
        let editor = try home.editor("echo A=other >\"$1\"; exit 3")
        failed(try home.editing(with: editor).run(), 1, "code 3", "edits were not saved")
        failed(try home.editing(with: "/nonexistent/editor").run(), 1, "/nonexistent/editor")
        var without = home.editing(with: "")
        without.environment["PATH"] = "/nonexistent"
        failed(try without.run(), 1, "No editor found")
        #expect(try home.vaultBytes() == before)
    }

    @Test func `edit needs a terminal`() throws {
        let editor = try home.editor("echo A=other >\"$1\"")
        failed(
            try home.run(["edit", "-p", "web"], environment: ["VISUAL": editor]), 2, "terminal")
        #expect(home.passes == 0)
    }

    // MARK: Concurrent changes

    @Test func `a concurrent change is a conflict, and the text can be edited again`() throws {
        let program = try ProgramRunner.pathOfProduct("zg-env")
        let set = { (key: String, value: String) in
            "printf \(value) | '\(program)' set \(key) -p web --passphrase-file \"$HOME/passphrase\""
        }
        let editor = try home.editor(
            "\(set("A", "theirs")); \(set("C", "theirs")); sed s/first/mine/ \"$1\" >\"$HOME/t\";"
                + "cat \"$HOME/t\" >\"$1\"", "true")
        let given = try home.editing(
            with: editor, script: [(.terminal("Discard your edits?"), .line("y"))]
        ).run()
        failed(given, 5, "Someone else has since changed: A.")
        #expect(try home.revealed("A") == Array("theirs".utf8))

        try home.directory.write("0", to: "passes")
        try home.store(["A": "first"])
        let kept = done(
            try home.editing(
                with: editor, script: [(.terminal("Discard your edits?"), .line(""))]
            ).run())
        #expect(home.passes == 2)
        #expect(kept.error.contains("update A"))
        // The untouched key keeps the other writer's value.
        #expect(!kept.error.contains(" C "))
        #expect(try home.revealed("A") == Array("mine".utf8))
        #expect(try home.revealed("C") == Array("theirs".utf8))
    }

    @Test func `a variable that was removed meanwhile can be created again or given up`() throws {
        let program = try ProgramRunner.pathOfProduct("zg-env")
        let editor = try home.editor(
            "'\(program)' rm A -p web --yes --passphrase-file \"$HOME/passphrase\";"
                + "echo 'A=mine' >\"$1\"", "true")
        done(
            try home.editing(
                ["A", "-p", "web"], with: editor,
                script: [(.terminal("Discard your edits?"), .line(""))]
            ).run())
        #expect(try home.revealed("A") == Array("mine".utf8))
    }

    // MARK: Signals

    @Test func `keyboard interrupts go to the editor, and SIGTERM ends both`() throws {
        let editor = try home.editor(
            "trap : INT; echo ready >/dev/tty; sleep 0.5; echo A=x >\"$1\"")
        let result = try home.editing(
            ["-p", "web", "--yes"], with: editor,
            script: [(.terminal("ready"), .signal(SIGINT))]
        ).run()
        done(result)
        #expect(try home.revealed("A") == Array("x".utf8))

        let before = try home.vaultBytes()
        let slow = try home.editor("echo $$ >\"$HOME/pid\"; echo ready >/dev/tty; sleep 30")
        let ended = try home.editing(
            with: slow, script: [(.terminal("ready"), .signal(SIGTERM))]
        ).run()
        #expect(ended.end == .exited(143), "\(ended.error)")
        #expect(ended.duration < .seconds(10))
        let pid = String(decoding: try home.directory.read("pid"), as: UTF8.self)
        #expect(!FileManager.default.fileExists(atPath: "/proc/\(pid.filter(\.isNumber))"))
        #expect(try home.vaultBytes() == before)
    }
}

import CommandLineKit
import Foundation
import Testing

@Suite struct `Help` {
    static let formatter = HelpFormatter(Fixture.program)

    /// Compares with the file of that name beside this one. `RECORD_SNAPSHOTS=1` writes it, and
    /// the test fails, so that no run with it passes for a check.
    func expectSnapshot(_ text: String, _ name: String) throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Snapshots/\(name)")
        if ProcessInfo.processInfo.environment["RECORD_SNAPSHOTS"] == "1" {
            try Data(text.utf8).write(to: file)
            Issue.record("recorded \(name)")
            return
        }
        #expect(text == String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }

    @Test func `of the program lists the first steps and sections`() throws {
        try expectSnapshot(Self.formatter.text(on: .program), "program.txt")
    }

    @Test func `in full lists every command of a group`() throws {
        try expectSnapshot(Self.formatter.text(on: .program, full: true), "program-full.txt")
    }

    @Test(arguments: [
        (HelpTopic.options, "options.txt"), (.environment, "environment.txt"),
        (.exitCodes, "exit-codes.txt"),
    ])
    func `on a topic lists it once`(_ topic: HelpTopic, _ name: String) throws {
        try expectSnapshot(Self.formatter.text(on: topic), name)
    }

    @Test func `of a command shows its arguments, options and examples`() throws {
        try expectSnapshot(Self.formatter.text(on: .command(Fixture.set)), "set.txt")
    }

    @Test func `of a command in full has global options and exit codes too`() throws {
        try expectSnapshot(
            Self.formatter.text(on: .command(Fixture.set), full: true), "set-full.txt")
    }

    @Test func `of a group lists its commands`() throws {
        try expectSnapshot(Self.formatter.text(on: .group(["deployment"])), "deployment.txt")
    }

    @Test(arguments: [40, 60, 80, 120])
    func `stays within its width`(_ width: Int) {
        let formatter = HelpFormatter(Fixture.program, width: width)
        let topics =
            [.program, .options, .environment, .exitCodes]
            + Fixture.commands.map { HelpTopic.command($0) }
        for topic in topics {
            for line in formatter.text(on: topic, full: true).split(separator: "\n") {
                // Usage and example lines are copied, so they are not broken.
                let isKept =
                    line.hasPrefix("Usage:") || line.contains("tool set") || line.contains("|")
                #expect(isKept || line.count <= width, "\(line)")
                #expect(!line.hasSuffix(" "), "\(line)")
            }
        }
    }

    @Test func `leaves out what is hidden`() {
        #expect(!Self.formatter.text(on: .program).contains("__complete"))
        #expect(!Self.formatter.text(on: .command(Fixture.set)).contains("secret-flag"))
    }

    @Test func `has colours only when told so`() {
        #expect(!Self.formatter.text(on: .program).contains("\u{1B}"))
        let colored = HelpFormatter(Fixture.program, style: Style(usesColor: true))
        #expect(colored.text(on: .program).contains("\u{1B}[1mGet started:\u{1B}[0m"))
    }
}

@Suite struct `Completion scripts` {
    static let generator = CompletionGenerator(Fixture.program, passing: ["vault", "project"])

    @Test func `for bash are bash`() throws {
        let result = try Tool.run("bash", ["-n"], input: Self.generator.script(for: .bash))
        #expect(result.status == 0)
        #expect(result.errors == "")
    }

    @Test(.enabled(if: Tool.file("zsh") != nil, "zsh is not installed"))
    func `for zsh are zsh`() throws {
        let result = try Tool.run(
            "zsh", ["-n", "/dev/stdin"], input: Self.generator.script(for: .zsh))
        #expect(result.status == 0)
        #expect(result.errors == "")
    }

    @Test(.enabled(if: Tool.file("fish") != nil, "fish is not installed"))
    func `for fish are fish`() throws {
        let result = try Tool.run(
            "fish", ["--no-execute", "/dev/stdin"], input: Self.generator.script(for: .fish))
        #expect(result.status == 0)
        #expect(result.errors == "")
    }

    @Test(arguments: CompletionGenerator.Shell.allCases)
    func `know every visible command and option`(_ shell: CompletionGenerator.Shell) {
        let script = Self.generator.script(for: shell)
        for command in Fixture.commands where !command.isHidden {
            for word in command.path { #expect(script.contains(word)) }
            for option in command.options where !option.isHidden {
                #expect(script.contains(shell == .fish ? "-l \(option.name)" : option.dashedName))
            }
        }
        #expect(!script.contains("secret-flag"))
    }

    /// What bash offers for words, the last of which is being typed.
    func offered(_ words: [String]) throws -> [String] {
        // Readline parts words at "=" before it asks.
        let parted = words.flatMap { word -> [String] in
            guard word.hasPrefix("--"), let equals = word.firstIndex(of: "=") else { return [word] }
            let value = String(word[word.index(after: equals)...])
            return [String(word[..<equals]), "="] + (value.isEmpty ? [] : [value])
        }
        let quoted = parted.map { "'" + $0.replacing("'", with: "'\\''") + "'" }
        let script = """
            compopt() { :; }
            complete() { :; }
            tool() {
                local -a before=()
                while [[ $1 != __complete ]]; do before+=("$1"); shift; done
                case $2 in
                project) printf '%s\\n' web api 'we$(touch /tmp/never)' ;;
                target) printf '%s\\tabout\\n' production preview development ;;
                variable) printf '%s\\n' "API_KEY" "SAID_${before[*]}" ;;
                esac
            }
            \(Self.generator.script(for: .bash))
            COMP_WORDS=(\(quoted.joined(separator: " ")))
            COMP_CWORD=\(parted.count - 1)
            _tool tool
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let result = try Tool.run("bash", [], input: script)
        #expect(result.errors == "")
        return result.output.split(separator: "\n").map(String.init).sorted()
    }

    @Test(arguments: [
        (["tool", "re"], ["rename", "reveal"]),
        (["tool", "l"], ["list", "ls"]),
        (["tool", "deployment", ""], ["list", "promote"]),
        (["tool", "deployment", "p"], ["promote"]),
        (["tool", "slot", "add", ""], ["file"]),
        (["tool", "help", "de"], ["deployment"]),
        (["tool", "-p", "x", "--json", "deployment", "l"], ["list"]),
        (["tool", "history", "p"], ["prune"]),
        (["tool", "set", "--ty"], ["--type"]),
        (["tool", "set", "KEY", "--fr"], ["--from-file"]),
        (["tool", "--dr"], ["--dry-run"]),
        (["tool", "set", "--type", ""], ["encrypted", "plain", "sensitive"]),
        (["tool", "set", "--type=s"], ["sensitive"]),
        (["tool", "set", "--type="], ["encrypted", "plain", "sensitive"]),
        (["tool", "list", "-t", "p"], ["preview", "production"]),
        (["tool", "list", "-qt", "d"], ["development"]),
        (["tool", "list", "--target", "production,pre"], ["production,preview"]),
        (["tool", "list", "--target=production,d"], ["production,development"]),
        (["tool", "reveal", "A"], ["API_KEY"]),
        (["tool", "reveal", "X", "A"], ["API_KEY"]),
        (["tool", "reveal", "--", "A"], ["API_KEY"]),
        (["tool", "move", "a", "b", ""], []),
        (["tool", "-p", "a"], ["api"]),
        (["tool", "set", "--comment", "x"], []),
        (["tool", "reveal", "--version", "1", "A"], ["API_KEY"]),
    ])
    func `for bash offer what may follow`(_ words: [String], _ expected: [String]) throws {
        #expect(try offered(words) == expected)
    }

    @Test func `for bash pass on what decides the words`() throws {
        #expect(
            try offered(["tool", "--vault=v", "-pweb", "reveal", "SAID"]) == [
                "SAID_--vault\\ v\\ -p\\ web"
            ])
        #expect(try offered(["tool", "-p", "web", "reveal", "SAID"]) == ["SAID_-p\\ web"])
    }

    @Test func `for bash quote a name that the shell would run`() throws {
        #expect(try offered(["tool", "-p", "we"]) == ["we\\$\\(touch\\ /tmp/never\\)", "web"])
    }

    @Test func `for bash complete the command to run`() throws {
        #expect(try offered(["tool", "run", "--", "bas"]).contains("bash"))
        #expect(try offered(["tool", "run", "--", "ls", "/etc/host"]).contains("/etc/hosts"))
    }

    @Test func `ask with words that the program's own parser takes`() throws {
        for prefix in ["", "A", "--json", "-"] {
            let command = try Fixture.command(["-p", "web", "__complete", "variable", "--", prefix])
            #expect(command.argument("KIND") == "variable")
            #expect(command.argument("PREFIX") == prefix)
        }
    }
}

@Suite struct `Manual pages` {
    static let pages = ManPageGenerator(Fixture.program, date: "November 21, 2026").pages()

    @Test func `are there for the program and every visible command`() {
        let names = Self.pages.map(\.fileName)
        #expect(names.first == "tool.1")
        #expect(names.contains("tool-deployment-list.1"))
        #expect(names.contains("tool-slot-add-file.1"))
        #expect(names.count == Fixture.commands.filter { !$0.isHidden }.count + 1)
        #expect(Set(names).count == names.count)
    }

    @Test func `render without a warning`() throws {
        for page in Self.pages {
            let result = try Tool.run("groff", ["-mdoc", "-ww", "-Tutf8", "-z"], input: page.text)
            #expect(result.status == 0)
            #expect(result.errors == "", "\(page.fileName)")
        }
    }

    @Test(.enabled(if: Tool.file("lexgrog") != nil, "lexgrog (man-db) is not installed"))
    func `are found by their names in an index`() throws {
        for page in Self.pages {
            let result = try Tool.run("lexgrog", ["/dev/stdin"], input: page.text)
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("\"\(page.fileName.dropLast(2)) - "))
        }
    }

    @Test func `name the page of each command with its section`() {
        for command in Fixture.commands where !command.isHidden {
            let name = command.pageName(of: Fixture.program).replacing("-", with: "\\-")
            #expect(Self.pages[0].text.contains("See \(name)(1)."), "\(Self.pages[0].text)")
        }
    }

    @Test func `show options as they are typed`() throws {
        let page = try #require(Self.pages.first { $0.fileName == "tool-set.1" })
        let result = try Tool.run("groff", ["-mdoc", "-Tascii", "-P-cbou"], input: page.text)
        let text = result.output
        #expect(text.contains("Create or change a variable"))
        #expect(text.contains("[--target T]"))
        #expect(text.contains("-t, --target T"))
        #expect(text.contains("--type TYPE"))
        #expect(text.contains("encrypted, sensitive, plain"))
        #expect(text.contains("printf %s \"$VALUE\" | tool set KEY"))
        #expect(text.contains("exists already."))
        #expect(text.contains("tool set API_KEY"))
        #expect(!text.contains("secret-flag"))
    }

    @Test func `take no text for a request`() throws {
        let program = ProgramSpec(
            name: "tool", version: "1", summary: "Ar No .Sh \"x\" \\(co 'y'",
            discussion: ".Sh EVIL\n\\fBbold\\fP\n'br\n.\n\u{1B}[2J é",
            globalOptions: [OptionSpec("no", value: "Fl", ".Ar \"quoted\"")],
            sections: [.init("Sh", [CommandSpec(["no"], "'tis \\n(.x")])])
        for page in ManPageGenerator(program, date: "January 1, 2026").pages() {
            let check = try Tool.run("groff", ["-mdoc", "-ww", "-Tutf8", "-z"], input: page.text)
            #expect(check.errors == "", "\(page.text)")
        }
        let page = ManPageGenerator(program, date: "January 1, 2026").pages()[0]
        let text = try Tool.run("groff", ["-mdoc", "-Tutf8", "-P-cbou"], input: page.text).output
        let words = text.split { $0 == " " || $0 == "\n" }.joined(separator: " ")
        #expect(words.contains(".Sh EVIL \\fBbold\\fP 'br . é"))
        #expect(text.contains("Ar No .Sh \"x\" \\(co 'y'"))
    }
}

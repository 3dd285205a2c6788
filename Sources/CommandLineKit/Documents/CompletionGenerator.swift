/// Writes completion scripts from the description of a program.
///
/// The scripts know commands, options and fixed words. For words that only the program knows they
/// run `PROGRAM [global options] __complete KIND -- PREFIX`; see ``CommandSpec/completionCallback``.
/// What comes back is inserted as text, never run.
package struct CompletionGenerator: Sendable {
    /// A shell that can complete.
    package enum Shell: String, Sendable, CaseIterable {
        case bash, zsh, fish
    }

    /// The description.
    package let program: ProgramSpec
    /// Names of global options that are passed on with their values when words are asked for, as
    /// typed so far: they decide which words there are.
    package let passedOptions: [String]

    /// Makes a generator.
    package init(_ program: ProgramSpec, passing passedOptions: [String] = []) {
        self.program = program
        self.passedOptions = passedOptions
    }

    /// The script for a shell, ended by a line feed.
    package func script(for shell: Shell) -> String {
        switch shell {
        case .bash: bashScript()
        case .zsh: zshScript()
        case .fish: fishScript()
        }
    }

    /// Name for the functions of a script.
    var function: String {
        "_" + String(program.name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    /// Commands to offer, with their paths and other names.
    var visibleCommands: [(path: [String], command: CommandSpec)] {
        program.commands.filter { !$0.isHidden }.flatMap { command in
            ([command.path] + command.aliases).map { ($0, command) }
        }
    }

    /// Every path that a word may follow, with the words and what they are.
    var followers: [(path: [String], words: [(word: String, summary: String)])] {
        var found: [(path: [String], words: [(word: String, summary: String)])] = []
        func visit(_ node: CommandNode) {
            let children = node.children.filter { !$0.isHidden }
            if !children.isEmpty {
                found.append((node.path, children.map { ($0.word, summary($0)) }))
            }
            children.forEach(visit)
        }
        visit(program.root)
        return found
    }

    private func summary(_ node: CommandNode) -> String {
        node.command?.summary
            ?? program.groups.first { $0.path == node.path }?.summary ?? ""
    }

    /// Options to offer, the letter's spelling first.
    static func spellings(_ option: OptionSpec) -> [String] {
        (option.short.map { ["-\($0)"] } ?? []) + [option.dashedName]
    }

    /// A text in single quotes for bash and zsh.
    static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }

    /// What a script's tables say about a completion: a word, then what belongs to it.
    static func kind(_ completion: Completion) -> String {
        switch completion {
        case .nothing: "any"
        case .file: "file"
        case .directory: "directory"
        case .words(let words): "words " + words.joined(separator: " ")
        case .dynamic(let dynamic): "ask " + dynamic.rawValue
        case .command: "command"
        }
    }
}

extension CompletionGenerator {
    /// The tables that bash and zsh share: functions that set variables of their caller by the
    /// command found so far.
    func sharedTables() -> String {
        var text = "# The words that may follow those of a command.\n"
        text += "\(function)_followers() {\n    followers=()\n    case $1 in\n"
        for (path, words) in followers {
            let listed = (words.map(\.word) + (path.isEmpty ? [ArgumentScan.helpWord] : []))
            text += "    \(Self.quoted(path.joined(separator: " "))))"
            text += " followers=(\(listed.joined(separator: " "))) ;;\n"
        }
        text += "    esac\n}\n\n"
        text +=
            "# The options of a command.\n\(function)_options() {\n    options=()\n    case $1 in\n"
        for (path, command) in visibleCommands {
            let own = command.options.filter { !$0.isHidden }.flatMap(Self.spellings)
            guard !own.isEmpty else { continue }
            text += "    \(Self.quoted(path.joined(separator: " "))))"
            text += " options=(\(own.joined(separator: " "))) ;;\n"
        }
        let globals = program.globalOptions.filter { !$0.isHidden }.flatMap(Self.spellings)
        text += "    esac\n    options+=(\((globals + ["--help"]).joined(separator: " ")))\n}\n\n"
        text += "# What the value of an option is; nothing for a flag.\n"
        text += "\(function)_value() {\n    kind= list=\n    case $1 in\n"
        for (path, command) in visibleCommands {
            let cases = valueCases(command.options, indent: "        ")
            guard !cases.isEmpty else { continue }
            text += "    \(Self.quoted(path.joined(separator: " "))))\n        case $2 in\n"
            text += cases + "        esac ;;\n"
        }
        text += "    esac\n    case $2 in\n"
        text += valueCases(program.globalOptions, indent: "    ") + "    esac\n}\n\n"
        text += "# What an argument of a command is, by its number from 0.\n"
        text += "\(function)_argument() {\n    kind= list=\n    case $1:$2 in\n"
        for (path, command) in visibleCommands {
            for (index, argument) in command.arguments.enumerated() {
                let number = argument.isVariadic ? "*" : "\(index)"
                let end = argument.arity == .restAfterDashes ? "rest" : number
                text += "    \(Self.quoted(path.joined(separator: " ") + ":"))\(end))"
                text += " kind=\(Self.quoted(Self.kind(argument.completion))) ;;\n"
            }
        }
        return text + "    esac\n}\n\n"
    }

    private func valueCases(_ options: [OptionSpec], indent: String) -> String {
        options.filter { !$0.isHidden }.reduce(into: "") { text, option in
            let spellings = Self.spellings(option).joined(separator: "|")
            let kind = option.isFlag ? "''" : Self.quoted(Self.kind(option.completion))
            let list = option.isCommaSeparated ? " list=1" : ""
            text += "\(indent)\(spellings)) kind=\(kind)\(list); return ;;\n"
        }
    }
}

/// Generates completion scripts from a program's spec.
///
/// The scripts contain commands, options and fixed words. For words that only the program knows they
/// run `PROGRAM [global options] __complete KIND -- PREFIX`; see ``CommandSpec/completionCallback``.
/// Its output is inserted as text, never evaluated.
package struct CompletionGenerator: Sendable {
    package enum Shell: String, Sendable, CaseIterable {
        case bash, zsh, fish
    }

    package let program: ProgramSpec
    /// The global options that scripts pass on to `__complete` with their values, since they affect
    /// which words there are.
    package let passedOptions: [String]

    package init(_ program: ProgramSpec, passing passedOptions: [String] = []) {
        self.program = program
        self.passedOptions = passedOptions
    }

    package func script(for shell: Shell) -> String {
        switch shell {
        case .bash: bashScript()
        case .zsh: zshScript()
        case .fish: fishScript()
        }
    }

    /// The name prefix of a script's functions.
    var function: String {
        "_" + String(program.name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    /// The visible commands, by path and alias.
    var visibleCommands: [(path: [String], command: CommandSpec)] {
        program.commands.filter { !$0.isHidden }.flatMap { command in
            ([command.path] + command.aliases).map { ($0, command) }
        }
    }

    /// Every path that another word can follow, with these words and their summaries.
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

    /// Returns the names of an option with dashes, the short one first.
    static func spellings(_ option: OptionSpec) -> [String] {
        (option.short.map { ["-\($0)"] } ?? []) + [option.dashedName]
    }

    /// Returns a text in single quotes for bash and zsh.
    static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: "'\\''") + "'"
    }

    /// Returns the notation of a completion in a script's tables: a keyword, then its arguments.
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
    /// Returns the tables that bash and zsh share: functions that set variables of their caller for
    /// the command found so far.
    ///
    /// - Parameter describes: Whether `described` is set too, to the words with their summaries.
    func sharedTables(describes: Bool = false) -> String {
        var text = "# Sets followers to the words that can follow the command.\n"
        text += "\(function)_followers() {\n    followers=()\n    case $1 in\n"
        for (path, words) in followers {
            let listed = words + (path.isEmpty ? [(ArgumentScan.helpWord, "Show help")] : [])
            text += "    \(Self.quoted(path.joined(separator: " "))))"
            text += " followers=(\(listed.map(\.word).joined(separator: " ")))"
            if describes {
                let pairs = listed.map { Self.quoted("\($0.word):\($0.summary)") }
                text += "\n        described=(\(pairs.joined(separator: " ")))"
            }
            text += " ;;\n"
        }
        text += "    esac\n}\n\n"
        text +=
            "# Sets options to those of the command.\n\(function)_options() {\n    options=()\n    case $1 in\n"
        for (path, command) in visibleCommands {
            let own = command.options.filter { !$0.isHidden }.flatMap(Self.spellings)
            guard !own.isEmpty else { continue }
            text += "    \(Self.quoted(path.joined(separator: " "))))"
            text += " options=(\(own.joined(separator: " "))) ;;\n"
        }
        let globals = program.globalOptions.filter { !$0.isHidden }.flatMap(Self.spellings)
        text +=
            "    esac\n    options+=(\((globals + ["--help", "--help-all"]).joined(separator: " ")))\n}\n\n"
        text += "# Sets kind to the completion of an option's value; empty for a flag.\n"
        text += "\(function)_value() {\n    kind= list=\n    case $1 in\n"
        for (path, command) in visibleCommands {
            let cases = valueCases(command.options, indent: "        ")
            guard !cases.isEmpty else { continue }
            text += "    \(Self.quoted(path.joined(separator: " "))))\n        case $2 in\n"
            text += cases + "        esac ;;\n"
        }
        text += "    esac\n    case $2 in\n"
        text += valueCases(program.globalOptions, indent: "    ") + "    esac\n}\n\n"
        text += "# Sets kind to the completion of an argument, counted from 0.\n"
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

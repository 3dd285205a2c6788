extension ProgramSpec {
    /// Returns the errors in the spec, one sentence each.
    ///
    /// For a test of each program: specs are written by hand, and the parser, help and completions
    /// rely on these checks.
    package func problems() -> [String] {
        var problems = optionProblems(globalOptions, of: "The program")
        for option in globalOptions where ["help", "version"].contains(option.name) {
            problems.append("Global option \(option.dashedName) is reserved for the parser.")
        }
        var paths: Set<[String]> = []
        for command in commands {
            for path in [command.path] + command.aliases {
                if !paths.insert(path).inserted { problems.append("Duplicate command \(path).") }
                if path.isEmpty || !path.allSatisfy(Self.isWord) || path == ["help"] {
                    problems.append("\(path) is not a valid command name.")
                }
            }
            problems += commandProblems(command)
        }
        for group in groups where root.descendant(group.path)?.children.isEmpty ?? true {
            problems.append("Group \(group.path) has no commands.")
        }
        return problems
    }

    private func commandProblems(_ command: CommandSpec) -> [String] {
        let name = "Command \(command.name)"
        var problems = summaryProblems(command.summary, of: name)
        problems += optionProblems(options(of: command), of: name)
        for own in command.options {
            guard let global = globalOptions.first(where: { $0.name == own.name }) else { continue }
            if global.isFlag != own.isFlag || global.short != own.short {
                problems.append(
                    "\(name) replaces \(own.dashedName) with a different kind of option.")
            }
        }
        if command.options.contains(where: { $0.name == "help" }) {
            problems.append("\(name) has the option --help, which is reserved for the parser.")
        }
        for option in command.exclusiveOptions.joined()
        where !options(of: command).contains(where: { $0.name == option }) {
            problems.append("\(name) has no option --\(option) to exclude.")
        }
        for code in command.exitCodes where !exitCodes.contains(where: { $0.code == code }) {
            problems.append("\(name) returns the undocumented exit code \(code).")
        }
        for example in command.examples where !example.line.contains(self.name) {
            problems.append("\(name) has an example without the program's name.")
        }
        return problems + argumentProblems(command.arguments, of: name)
    }

    private func argumentProblems(_ arguments: [ArgumentSpec], of name: String) -> [String] {
        var problems: [String] = []
        if arguments.dropLast().contains(where: { $0.arity == .restAfterDashes }) {
            problems.append("\(name) declares another argument after the ones that follow --.")
        }
        if arguments.filter({ $0.isVariadic || $0.arity == .optional }).count > 1 {
            problems.append("\(name) has two optional or variadic arguments.")
        }
        if Set(arguments.map(\.name)).count != arguments.count {
            problems.append("\(name) has two arguments with the same name.")
        }
        return problems
    }

    private func optionProblems(_ options: [OptionSpec], of name: String) -> [String] {
        var problems: [String] = []
        var names: Set<String> = []
        var letters: Set<Character> = []
        for option in options {
            let place = "\(name), option \(option.dashedName)"
            problems += summaryProblems(option.summary, of: place)
            if !names.insert(option.name).inserted { problems.append("\(place) is a duplicate.") }
            if !Self.isWord(option.name) { problems.append("\(place) has an invalid name.") }
            guard let short = option.short else { continue }
            if !letters.insert(short).inserted { problems.append("\(place) reuses -\(short).") }
            if !short.isASCII || !(short.isLetter || short.isNumber) || short == "h" {
                problems.append("\(place) has an invalid short name.")
            }
        }
        return problems
    }

    private func summaryProblems(_ summary: String, of name: String) -> [String] {
        if summary.isEmpty { return ["\(name) has no summary."] }
        return summary.hasSuffix(".") || summary.contains("\n")
            ? ["\(name) has a summary with a full stop or a line break."] : []
    }

    /// Whether a text has only lowercase ASCII letters, digits, hyphens and, for internal commands,
    /// underscores.
    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && !text.hasPrefix("-")
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

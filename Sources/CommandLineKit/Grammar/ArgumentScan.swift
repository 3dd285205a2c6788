/// The first pass: finds the command and separates options from positional arguments.
struct ArgumentScan {
    enum Outcome {
        case command(CommandSpec)
        case help([String])
        case version
    }

    /// An option as it was given.
    struct Occurrence {
        let option: OptionSpec
        let value: String?
    }

    static let helpWord = "help"

    let program: ProgramSpec
    let arguments: [String]
    private var node: CommandNode {
        didSet { visibleOptions = node.command.map { program.options(of: $0) } ?? visibleOptions }
    }
    /// The options valid at this position.
    private var visibleOptions: [OptionSpec]
    private var isLookingForCommand = true
    private var index = 0
    private(set) var occurrences: [Occurrence] = []
    private(set) var positionals: [String] = []
    /// Its index, and the number of options before it.
    private var firstPositional: (index: Int, options: Int)?
    /// The index of the first argument after `--`.
    private(set) var restIndex: Int?

    init(program: ProgramSpec, arguments: [String]) {
        self.program = program
        self.arguments = arguments
        node = program.root
        visibleOptions = program.globalOptions
    }

    mutating func run() throws(UsageError) -> Outcome {
        while index < arguments.count {
            let argument = arguments[index]
            index += 1
            if argument == "--" {
                restIndex = index
                break
            }
            if let word = OptionWord(argument) {
                if node.path.isEmpty, argument == "--version" { return .version }
                try take(word)
            } else if isLookingForCommand, let next = node.child(argument) {
                node = next
            } else if node.command == nil {
                if node.path.isEmpty, argument == Self.helpWord { return .help(helpWords()) }
                throw Self.unknownCommand(
                    argument, arguments.dropFirst(index).first, after: node, in: program)
            } else {
                isLookingForCommand = false
                firstPositional = firstPositional ?? (index - 1, occurrences.count)
                positionals.append(argument)
            }
        }
        guard let command = node.command else { throw missingCommand() }
        return .command(command)
    }

    /// The words after `help`. Options among them are ignored.
    private func helpWords() -> [String] {
        arguments[index...].prefix { $0 != "--" }.filter { OptionWord($0) == nil }
    }

    private mutating func take(_ word: OptionWord) throws(UsageError) {
        if word.dashes == 2 {
            guard let option = visibleOptions.first(where: { word.matches($0) }) else {
                throw unknownOption(word)
            }
            try takeLong(option, word)
        } else {
            try takeLetters(word)
        }
    }

    private mutating func takeLong(_ option: OptionSpec, _ word: OptionWord) throws(UsageError) {
        if option.isFlag {
            guard word.attachedValue == nil else {
                throw UsageError(.unexpectedValue, "\(option.dashedName) does not take a value.")
            }
            note(option, nil)
        } else if let value = word.attachedValue {
            note(option, String(value))
        } else {
            note(option, try nextValue(of: option, spelled: option.dashedName))
        }
    }

    private mutating func takeLetters(_ word: OptionWord) throws(UsageError) {
        var rest = Substring(word.name).utf8
        while let byte = rest.popFirst() {
            let letter = Character(UnicodeScalar(byte))
            guard byte < 0x80, let option = visibleOptions.first(where: { $0.short == letter })
            else {
                // The message omits letters after a known flag: they may be a mistyped value.
                let isAlone = byte < 0x80 && letter.isLetter && word.name.utf8.count == 1
                throw UsageError(
                    .unknownOption, isAlone ? "Unknown option -\(letter)." : "Unknown option.",
                    hint: seeHelp)
            }
            if option.isFlag {
                guard rest.first != UInt8(ascii: "=") else {
                    throw UsageError(.unexpectedValue, "-\(letter) does not take a value.")
                }
                note(option, nil)
                continue
            }
            if rest.isEmpty {
                note(option, try nextValue(of: option, spelled: "-\(letter)"))
            } else {
                if rest.first == UInt8(ascii: "=") { rest.removeFirst() }
                note(option, String(Substring(rest)))
            }
            return
        }
    }

    private mutating func note(_ option: OptionSpec, _ value: String?) {
        // The command's own options end its name: `prune` in `history --limit 3 prune` is a key.
        if !program.globalOptions.contains(option) { isLookingForCommand = false }
        occurrences.append(Occurrence(option: option, value: value))
    }

    private mutating func nextValue(
        of option: OptionSpec, spelled: String
    ) throws(UsageError) -> String {
        let name = option.valueName ?? "a value"
        guard index < arguments.count else {
            throw UsageError(.missingValue, "\(spelled) needs \(name).")
        }
        let value = arguments[index]
        if value == "--" || isKnownOption(value) {
            throw UsageError(
                .missingValue, "\(spelled) needs \(name), but an option follows.",
                hint: "Use \(option.dashedName)=\(name) if the value starts with a dash.")
        }
        index += 1
        return value
    }

    private func isKnownOption(_ argument: String) -> Bool {
        guard let word = OptionWord(argument) else { return false }
        if word.dashes == 2 {
            return OptionWord.same(word.name, "help")
                || visibleOptions.contains { word.matches($0) }
        }
        let letters = word.name.utf8.map { Character(UnicodeScalar($0)) }
        let flags = visibleOptions.filter(\.isFlag).compactMap(\.short)
        return letters.allSatisfy { flags.contains($0) }
            || (letters.count == 1 && visibleOptions.contains { $0.short == letters.first })
    }
}

extension ArgumentScan {
    private var seeHelp: String {
        Self.seeHelp(node, program)
    }

    private static func seeHelp(_ node: CommandNode, _ program: ProgramSpec) -> String {
        "See \"\(([program.name] + node.path).joined(separator: " ")) --help\"."
    }

    private func unknownOption(_ word: OptionWord) -> UsageError {
        guard let name = word.repeatableName else {
            return UsageError(.unknownOption, "Unknown option.", hint: seeHelp)
        }
        let message = "Unknown option \(name)."
        if node.command?.takesProgram == true, let line = lineWithDashes {
            return UsageError(.unknownOption, message, hint: "Use: \(line)")
        }
        let visible = visibleOptions.filter { !$0.isHidden }
        if let near = Suggestion.nearest(to: String(word.name), among: visible.map(\.name)) {
            return UsageError(.unknownOption, message, hint: "Did you mean --\(near)?")
        }
        if node.command == nil,
            program.commands.contains(where: { command in
                command.options.contains { word.matches($0) }
            })
        {
            return UsageError(
                .unknownOption, "\(name) must come after the command.",
                hint: "Only global options can come before the command.")
        }
        return UsageError(.unknownOption, message, hint: seeHelp)
    }

    private func missingCommand() -> UsageError {
        if node.path.isEmpty {
            return UsageError(
                .missingCommand, "No command given.", hint: "See \"\(program.name) help\".")
        }
        let words = node.children.filter { !$0.isHidden }.map(\.word)
        return UsageError(
            .missingCommand, "\(node.path.joined(separator: " ")) needs a subcommand.",
            hint: "Use one of: \(words.joined(separator: ", ")).")
    }

    /// The command line with `--` before the first argument, for a program that was given without it;
    /// nil without one, or with a word that may be a secret.
    var lineWithDashes: String? {
        // An option after it may have been meant for this program or for the other.
        guard let (index, options) = firstPositional, options == occurrences.count,
            restIndex == nil, arguments.allSatisfy(Self.isHarmless)
        else { return nil }
        let words = arguments[..<index] + ["--"] + arguments[index...]
        return ([program.name] + words).joined(separator: " ")
    }

    /// Whether a word is short, has small letters and few digits, and nothing that a shell expands,
    /// unlike passwords, tokens and assignments.
    private static func isHarmless(_ word: String) -> Bool {
        let others = word.utf8.filter { byte in
            !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) && !"-./:@".utf8.contains(byte)
        }
        return (1...32).contains(word.utf8.count) && others.count <= 4
            && others.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Returns the error for an unknown command. It repeats the word only if it looks like a command.
    ///
    /// - Parameter next: The word after it.
    static func unknownCommand(
        _ word: String, _ next: String? = nil, after node: CommandNode, in program: ProgramSpec
    ) -> UsageError {
        let place = node.path.isEmpty ? "command" : "\(node.path.joined(separator: " ")) command"
        let message = isSafeToRepeat(word) ? "Unknown \(place) \"\(word)\"." : "Unknown \(place)."
        let words = node.children.filter { !$0.isHidden }.map(\.word)
        guard node.path.isEmpty else {
            let near = Suggestion.nearest(to: word, among: words)
            let known = program.commands.filter {
                !$0.isHidden && $0.path.count > node.path.count && $0.path.starts(with: node.path)
            }.map { $0.path[node.path.count] }
            let path = near.map { (node.path + [$0]).joined(separator: " ") }
            return UsageError(
                .unknownCommand, message,
                hint: path.map { "Did you mean \"\($0)\"?" }
                    ?? "Use one of: \(Set(known).sorted().joined(separator: ", ")).")
        }
        // The last word of a longer name, such as `promote` for `deployment promote`, takes precedence
        // over a typo.
        let longer = program.commands.filter { !$0.isHidden && $0.path.count > 1 }
        let ending = Suggestion.nearest(to: word, among: longer.compactMap(\.path.last))
        let near =
            longer.contains { $0.path.last == word }
            ? nil : Suggestion.nearest(to: word, among: words + [helpWord])
        let found =
            (program.synonym(of: word, next).map { [$0] } ?? [])
            + (near.map { [$0] } ?? longer.filter { $0.path.last == ending }.map(\.name))
        guard !found.isEmpty else {
            return UsageError(.unknownCommand, message, hint: seeHelp(node, program))
        }
        let names = found.prefix(3).map { "\"\($0)\"" }.joined(separator: " or ")
        return UsageError(.unknownCommand, message, hint: "Did you mean \(names)?")
    }

    /// Whether a word is short and has only letters, hyphens and underscores, unlike tokens and
    /// assignments.
    private static func isSafeToRepeat(_ word: String) -> Bool {
        (1...32).contains(word.utf8.count)
            && word.utf8.allSatisfy(isLetterOrDash)
    }

    private static func isLetterOrDash(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

/// A command with its options and arguments, checked against its description.
package struct ParsedCommand: Sendable {
    /// The description.
    package let spec: CommandSpec
    /// Positional arguments in order, without those after `--` if the command takes them apart.
    package let positionals: [String]
    /// All after `--` for a command with ``ArgumentSpec/Arity/restAfterDashes``, untouched.
    package let rest: [String]
    /// Where ``rest`` begins in the arguments given to the parser. A caller that passes the rest on
    /// takes the bytes from there: text replaces what is not UTF-8.
    package let restIndex: Int?

    let declaredOptions: [OptionSpec]
    /// Names and values in the order given; the value of a flag is nil. Commas are parted.
    let occurrences: [(name: String, value: String?)]
    let arguments: [(name: String, values: [String])]

    /// Whether an option was given.
    package func has(_ option: String) -> Bool {
        assert(isDeclared(option), "no such option")
        return occurrences.contains { $0.name == option }
    }

    /// The value of an option, the last one if it is repeatable.
    package func value(_ option: String) -> String? {
        values(option).last
    }

    /// All values of an option in the order given, lists parted at commas.
    package func values(_ option: String) -> [String] {
        assert(isDeclared(option), "no such option")
        return occurrences.filter { $0.name == option }.compactMap(\.value)
    }

    /// The value of an option whose form names the raw values of a type.
    package func choice<Choice: RawRepresentable<String>>(_ option: String) -> Choice? {
        value(option).flatMap { Choice(rawValue: $0) }
    }

    /// The number given to an option of the form ``ValueForm/integer(_:)``.
    package func integer(_ option: String) -> Int? {
        value(option).flatMap { Int($0) }
    }

    /// The time given to an option of the form ``ValueForm/duration``.
    package func duration(_ option: String) -> Duration? {
        value(option).flatMap { DurationText.duration($0) }
    }

    /// The word given for an argument, the first one if it takes several.
    package func argument(_ name: String) -> String? {
        arguments(name).first
    }

    /// The word given for an argument that the description requires, as the parser has made sure of.
    package func required(_ name: String) -> String {
        assert(
            spec.arguments.contains { $0.name == name && $0.minimum > 0 }, "not required")
        return arguments(name)[0]
    }

    /// All words given for an argument.
    package func arguments(_ name: String) -> [String] {
        assert(spec.arguments.contains { $0.name == name }, "no such argument")
        return arguments.first { $0.name == name }?.values ?? []
    }

    private func isDeclared(_ option: String) -> Bool {
        declaredOptions.contains { $0.name == option }
    }
}

/// What the arguments ask for.
package enum ParseResult: Sendable {
    /// A command.
    case command(ParsedCommand)
    /// `help`, `help COMMAND` or `COMMAND --help`.
    case help(HelpTopic)
    /// `--version`.
    case version
}

/// What help is about.
package enum HelpTopic: Sendable, Equatable {
    /// The program as a whole.
    case program
    /// The commands below these words.
    case group([String])
    /// One command.
    case command(CommandSpec)
}

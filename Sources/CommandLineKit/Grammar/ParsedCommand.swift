/// A command with its options and arguments, checked against its spec.
package struct ParsedCommand: Sendable {
    package let spec: CommandSpec
    /// Positional arguments in order, without ``rest``.
    package let positionals: [String]
    /// The arguments after `--` of a command with ``ArgumentSpec/Arity/restAfterDashes``, unchanged.
    package let rest: [String]
    /// The index of ``rest`` in the parser's arguments. A caller that passes the rest on must take
    /// the bytes from there: these strings have replacement characters for invalid UTF-8.
    package let restIndex: Int?

    let declaredOptions: [OptionSpec]
    /// Names and values in the order given, with lists split. The value of a flag is nil.
    let occurrences: [(name: String, value: String?)]
    let arguments: [(name: String, values: [String])]

    package func has(_ option: String) -> Bool {
        assert(isDeclared(option), "no such option")
        return occurrences.contains { $0.name == option }
    }

    /// Returns the value of an option; the last one if it is repeatable.
    package func value(_ option: String) -> String? {
        values(option).last
    }

    /// Returns all values of an option in the order given, with lists split.
    package func values(_ option: String) -> [String] {
        assert(isDeclared(option), "no such option")
        return occurrences.filter { $0.name == option }.compactMap(\.value)
    }

    /// Returns the value of an option as a case of an enum.
    package func choice<Choice: RawRepresentable<String>>(_ option: String) -> Choice? {
        value(option).flatMap { Choice(rawValue: $0) }
    }

    /// Returns the value of an option with the form ``ValueForm/integer(_:)``.
    package func integer(_ option: String) -> Int? {
        value(option).flatMap { Int($0) }
    }

    /// Returns the value of an option with the form ``ValueForm/duration``.
    package func duration(_ option: String) -> Duration? {
        value(option).flatMap { DurationText.duration($0) }
    }

    /// Returns the word given for an argument; the first one if it takes several.
    package func argument(_ name: String) -> String? {
        arguments(name).first
    }

    /// Returns the word given for a required argument. The parser guarantees that there is one.
    package func required(_ name: String) -> String {
        assert(
            spec.arguments.contains { $0.name == name && $0.minimum > 0 }, "not required")
        return arguments(name)[0]
    }

    package func arguments(_ name: String) -> [String] {
        assert(spec.arguments.contains { $0.name == name }, "no such argument")
        return arguments.first { $0.name == name }?.values ?? []
    }

    private func isDeclared(_ option: String) -> Bool {
        declaredOptions.contains { $0.name == option }
    }
}

package enum ParseResult: Sendable {
    case command(ParsedCommand)
    /// `help`, `help TOPIC`, `COMMAND --help` or, with `full`, `COMMAND --help-all`.
    case help(HelpTopic, full: Bool)
    case version
}

package enum HelpTopic: Sendable, Equatable {
    case program
    /// The commands whose path starts with these words.
    case group([String])
    case command(CommandSpec)
    /// The global options.
    case options
    case environment
    case exitCodes

    /// The topics other than commands: the word after `help`, and a line of help.
    static let words: [(word: String, topic: HelpTopic, summary: String)] = [
        ("options", .options, "List global options"),
        ("environment", .environment, "List environment variables"),
        ("exit-codes", .exitCodes, "List exit codes"),
    ]
}

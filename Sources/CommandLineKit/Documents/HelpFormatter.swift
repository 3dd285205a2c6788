/// Formats help texts from a program's spec.
package struct HelpFormatter: Sendable {
    package let program: ProgramSpec
    /// The line width, at least 40 columns. Longer words are not broken.
    package let width: Int
    package let style: Style

    /// The maximum width of a list's first column. The text of a longer entry starts below it.
    private var widestEntry: Int { min(28, width - 24) }

    package init(_ program: ProgramSpec, width: Int = 80, style: Style = .plain) {
        self.program = program
        self.width = max(40, width)
        self.style = style
    }

    /// Returns the help on a topic.
    ///
    /// - Parameter full: Includes every command of a program, or the global options and exit codes
    ///   of a command.
    package func text(on topic: HelpTopic, full: Bool = false) -> String {
        switch topic {
        case .program: programText(full: full)
        case .group(let path): groupText(path)
        case .command(let command): commandText(command, full: full)
        case .options:
            String(list("Global options", globalOptions.map(entry)).dropFirst())
        case .environment:
            String(list("Environment variables", program.environment).dropFirst())
        case .exitCodes:
            String(
                list("Exit codes", program.exitCodes.map { ("\($0.code)", $0.meaning) }).dropFirst()
            )
        }
    }

    private var globalOptions: [OptionSpec] { program.globalOptions.filter { !$0.isHidden } }

    private func programText(full: Bool) -> String {
        var text = "\(program.name) \(program.version): \(program.summary)\n\n"
        text += "Usage: \(program.name) <command> [options] [arguments]\n"
        text += discussion(program.discussion)
        text += list("Get started", program.firstSteps.map { ($0.line, $0.meaning) })
        var listedGroups: Set<[String]> = []
        for section in program.sections {
            var entries: [(String, String)] = []
            for command in section.commands where !command.isHidden {
                if !full,
                    let group = program.groups.first(where: { command.path.starts(with: $0.path) })
                {
                    guard listedGroups.insert(group.path).inserted else { continue }
                    entries.append((group.path.joined(separator: " ") + " …", group.summary))
                } else {
                    entries.append((command.name, command.summary))
                }
            }
            text += list(section.title, entries)
        }
        let name = program.name
        return text
            + list(
                "More help",
                [
                    ("\(name) help COMMAND", "Show help for a command (also COMMAND --help)"),
                    ("\(name) COMMAND --help-all", "Include global options and exit codes"),
                    ("\(name) --help-all", "List all commands"),
                ] + HelpTopic.words.map { ("\(name) help \($0.word)", $0.summary) })
    }

    private func groupText(_ path: [String]) -> String {
        let name = path.joined(separator: " ")
        let commands = program.commands.filter { !$0.isHidden && $0.path.starts(with: path) }
        var text = "Usage: \(program.name) \(name) <command> [options] [arguments]\n"
        if let group = program.groups.first(where: { $0.path == path }) {
            text += "\n\(group.summary)\n"
        }
        return text + list("Commands", commands.map { ($0.name, $0.summary) })
    }

    private func commandText(_ command: CommandSpec, full: Bool) -> String {
        var text = "Usage: \(program.usage(of: command))\n\n\(command.summary)\n"
        text += discussion(command.discussion)
        text += list("Arguments", command.arguments.map { ($0.usage, Self.summary(of: $0)) })
        text += list("Options", command.options.filter { !$0.isHidden }.map(entry))
        text += exampleText(command.examples)
        let aliases = command.aliases.map { ($0.joined(separator: " "), command.name) }
        text += list("Aliases", aliases)
        guard full else {
            return text
                + "\nGlobal options and exit codes: \(program.name) \(command.name) --help-all\n"
        }
        let globals = program.globalOptions(besides: command).filter { !$0.isHidden }
        text += list("Global options", globals.map(entry))
        let codes = program.exitCodes(of: command)
        return text + list("Exit codes", codes.map { ("\($0.code)", $0.meaning) })
    }

    private func exampleText(_ examples: [CommandSpec.Example]) -> String {
        guard !examples.isEmpty else { return "" }
        return examples.reduce(into: "\n\(heading("Examples"))\n") { text, example in
            text += "  \(example.line)\n"
            for line in DisplayText.wrapped(example.meaning, to: width - 6) {
                text += "      \(line)\n"
            }
        }
    }

    /// Returns the summary of an argument with its allowed words.
    static func summary(of argument: ArgumentSpec) -> String {
        guard case .oneOf(let words) = argument.form else { return argument.summary }
        return "\(argument.summary): \(words.joined(separator: ", "))"
    }

    private func entry(_ option: OptionSpec) -> (String, String) {
        // Aligns long names, with and without a short one.
        let indent = option.short == nil ? "    " : ""
        return (indent + option.usage, Self.summary(of: option))
    }

    /// Returns the summary of an option with its allowed words, repeatability and variable.
    static func summary(of option: OptionSpec) -> String {
        var text = option.summary
        if case .oneOf(let words) = option.form { text += ": \(words.joined(separator: ", "))" }
        var notes: [String] = []
        if option.isCommaSeparated {
            notes.append(option.isRepeatable ? "repeatable or comma-separated" : "comma-separated")
        } else if option.isRepeatable, !option.isFlag {
            notes.append("repeatable")
        }
        if let variable = option.environmentVariable { notes.append(variable) }
        return notes.isEmpty ? text : "\(text) (\(notes.joined(separator: "; ")))"
    }

    private func heading(_ title: String) -> String {
        style.text("\(title):", as: .heading)
    }

    private func discussion(_ text: String) -> String {
        guard !text.isEmpty else { return "" }
        return "\n" + DisplayText.wrapped(text, to: width).joined(separator: "\n") + "\n"
    }

    private func list(_ title: String, _ entries: [(String, String)]) -> String {
        guard !entries.isEmpty else { return "" }
        let widths = entries.map { DisplayText.width($0.0) }.filter { $0 <= widestEntry }
        let column = (widths.max() ?? 0) + 2
        let indent = String(repeating: " ", count: column + 2)
        var text = "\n\(heading(title))\n"
        for (entry, summary) in entries {
            let lines = DisplayText.wrapped(summary, to: max(20, width - column - 2))
            var rest = lines[...]
            if DisplayText.width(entry) <= widestEntry, let first = rest.popFirst() {
                text += "  " + DisplayText.padded(entry, to: column) + first + "\n"
            } else {
                text += "  \(entry)\n"
            }
            for line in rest { text += indent + line + "\n" }
        }
        return text
    }
}

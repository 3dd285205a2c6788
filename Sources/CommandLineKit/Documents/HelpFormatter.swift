/// Writes help texts from the description of a program.
package struct HelpFormatter: Sendable {
    /// The description.
    package let program: ProgramSpec
    /// Columns to stay within, at least 40. Words longer than a line are not broken.
    package let width: Int
    /// Colours of headings.
    package let style: Style

    /// Widest first column of a list. A longer entry has its text below it.
    private var widestEntry: Int { min(28, width - 24) }

    /// Makes a formatter.
    package init(_ program: ProgramSpec, width: Int = 80, style: Style = .plain) {
        self.program = program
        self.width = max(40, width)
        self.style = style
    }

    /// The help on a topic, ended by a line feed.
    package func text(on topic: HelpTopic) -> String {
        switch topic {
        case .program: programText()
        case .group(let path): groupText(path)
        case .command(let command): commandText(command)
        }
    }

    private func programText() -> String {
        var text = "\(program.name) \(program.version): \(program.summary)\n\n"
        text += "Usage: \(program.name) [global options] <command> [options] [arguments]\n"
        text += discussion(program.discussion)
        for section in program.sections {
            text += list(section.title, section.commands.map { ($0.name, $0.summary) })
        }
        text += list("Global options", program.globalOptions.filter { !$0.isHidden }.map(entry))
        text += list(
            "Help",
            [
                ("help [COMMAND]", "Show this text, or that of a command"),
                ("-h, --help", "The same, with any command"),
                ("--version", "Print the version"),
            ])
        text += list("Environment", program.variables.map { ($0.name, $0.meaning) })
        text += list("Exit codes", program.exitCodes.map { ("\($0.code)", $0.meaning) })
        return text
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

    private func commandText(_ command: CommandSpec) -> String {
        var text = "Usage: \(program.usage(of: command))\n\n\(command.summary)\n"
        text += discussion(command.discussion)
        text += list("Arguments", command.arguments.map { ($0.usage, summary(of: $0)) })
        text += list("Options", command.options.filter { !$0.isHidden }.map(entry))
        let globals = program.globalOptions(besides: command).filter { !$0.isHidden }
        text += list("Global options", globals.map(entry))
        text += exampleText(command.examples)
        let aliases = command.aliases.map { ($0.joined(separator: " "), command.name) }
        text += list("Other names", aliases)
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

    private func summary(of argument: ArgumentSpec) -> String {
        guard case .oneOf(let words) = argument.form else { return argument.summary }
        return "\(argument.summary): \(words.joined(separator: ", "))"
    }

    private func entry(_ option: OptionSpec) -> (String, String) {
        // Options without a letter stand where those with one have their long name.
        let indent = option.short == nil ? "    " : ""
        return (indent + option.usage, Self.summary(of: option))
    }

    /// The summary of an option and what its description adds to it.
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

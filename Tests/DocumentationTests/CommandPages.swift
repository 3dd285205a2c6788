@testable import CommandLineKit

/// The pages of `docs/commands`, made of the description that parsing, help, manual pages and
/// completions are made of.
struct CommandPages {
    let program: ProgramSpec

    /// File names below `docs/commands`, with what is in them.
    var all: [String: String] {
        var pages = ["README.md": index]
        for command in commands { pages[fileName(command)] = page(command) }
        return pages
    }

    private var commands: [CommandSpec] { program.commands.filter { !$0.isHidden } }

    private func fileName(_ command: CommandSpec) -> String {
        command.path.joined(separator: "-") + ".md"
    }

    private static let origin = "<!-- Generated: make docs -->"

    private var index: String {
        var text = "# Commands\n\n\(Self.origin)\n"
        for section in program.sections {
            let shown = section.commands.filter { !$0.isHidden }
            guard !shown.isEmpty else { continue }
            text += "\n## \(section.title)\n\n"
            for command in shown {
                text += "- [`\(command.name)`](\(fileName(command))): \(command.summary)\n"
            }
        }
        text +=
            "\n## Global options\n\nEvery command accepts these options, before or after its name.\n\n"
        text += list(program.globalOptions)
        text += "\n## Environment\n\n"
        for (name, meaning) in program.environment { text += "- `\(name)`: \(meaning)\n" }
        return text + "\n## Exit codes\n\nSee [exit codes](../exit-codes.md).\n"
    }

    private func page(_ command: CommandSpec) -> String {
        var text = "# zg-env \(command.name)\n\n\(Self.origin)\n\n\(command.summary).\n\n"
        text += "`\(program.usage(of: command))`\n"
        text += discussion(command.discussion)
        let options = command.options.filter { !$0.isHidden }
        if !command.arguments.isEmpty || !options.isEmpty { text += "\n" }
        for argument in command.arguments {
            text += "- `\(argument.usage)`: \(HelpFormatter.summary(of: argument))\n"
        }
        text += list(options)
        if !command.examples.isEmpty {
            text += "\n## Examples\n\n"
            for example in command.examples {
                text += "- `\(example.line)`: \(example.meaning)\n"
            }
        }
        let codes = program.exitCodes(of: command).map { "\($0.code)" }.joined(separator: ", ")
        return text + "\n[Exit codes](../exit-codes.md): \(codes)\n"
    }

    private func list(_ options: [OptionSpec]) -> String {
        options.filter { !$0.isHidden }.map {
            "- `\($0.usage)`: \(HelpFormatter.summary(of: $0))\n"
        }.joined()
    }

    /// Paragraphs; lines that begin with a blank are kept as they are.
    private func discussion(_ text: String) -> String {
        guard !text.isEmpty else { return "" }
        var lines: [String] = []
        var isLiteral = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let literal = line.first == " " || (isLiteral && line.isEmpty)
            if literal != isLiteral {
                lines.append("```" + (literal ? "text" : ""))
                isLiteral = literal
            }
            lines.append(String(line))
        }
        if isLiteral { lines.append("```") }
        return "\n" + lines.joined(separator: "\n") + "\n"
    }
}

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

    private static let origin =
        "Made from the commands' own description; `make docs` makes it anew."

    private var index: String {
        var text = "# Commands\n\n\(Self.origin)\n"
        for section in program.sections {
            text += "\n## \(section.title)\n\n| command | does |\n|---|---|\n"
            for command in section.commands {
                text += "| [`\(command.name)`](\(fileName(command))) | \(cell(command.summary)) |\n"
            }
        }
        text += "\n## Global options\n\nThey may stand before the command or after it.\n\n"
        text += table(program.globalOptions)
        let variables =
            program.globalOptions.compactMap { option in
                option.environmentVariable.map { ($0, "stands for `\(option.dashedName)`") }
            } + program.variables.map { ($0.name, cell($0.meaning)) }
        text += "\n## Environment\n\n| variable | meaning |\n|---|---|\n"
        for (name, meaning) in variables { text += "| `\(name)` | \(meaning) |\n" }
        return text + "\n## Exit codes\n\n" + table(program.exitCodes)
    }

    private func page(_ command: CommandSpec) -> String {
        var text = "# zg-env \(command.name)\n\n\(command.summary). (\(Self.origin))\n\n"
        text += "`\(program.usage(of: command))`\n"
        text += discussion(command.discussion)
        if !command.arguments.isEmpty {
            text += "\n## Arguments\n\n| argument | meaning |\n|---|---|\n"
            for argument in command.arguments {
                var meaning = argument.summary
                if case .oneOf(let words) = argument.form {
                    meaning += ": " + words.joined(separator: ", ")
                }
                text += "| `\(cell(argument.usage))` | \(cell(meaning)) |\n"
            }
        }
        if command.options.contains(where: { !$0.isHidden }) {
            text += "\n## Options\n\n" + table(command.options)
        }
        if !command.examples.isEmpty {
            text += "\n## Examples\n\n"
            for example in command.examples {
                text += "- `\(example.line)`: \(example.meaning)\n"
            }
        }
        text += "\n## Exit codes\n\n" + table(program.exitCodes(of: command))
        return text + "\n[Global options](README.md#global-options)\n"
    }

    private func table(_ options: [OptionSpec]) -> String {
        let lines = options.filter { !$0.isHidden }.map {
            "| `\(cell($0.usage))` | \(cell(HelpFormatter.summary(of: $0))) |\n"
        }
        return "| option | meaning |\n|---|---|\n" + lines.joined()
    }

    private func table(_ codes: [ProgramSpec.ExitCode]) -> String {
        "| code | meaning |\n|---|---|\n"
            + codes.map { "| \($0.code) | \(cell($0.meaning)) |\n" }.joined()
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

    private func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}

import TestSupport

@testable import CommandLineKit
@testable import ZGEnvCommands

/// The pages of `docs/commands`, made of the description that parsing, help, manual pages and
/// completions are made of.
struct CommandPages {
    let program: ProgramSpec

    /// File names below `docs/commands`, with what is in them.
    func all() throws -> [String: String] {
        var pages = ["README.md": try index()]
        for command in commands { pages[fileName(command)] = try page(command) }
        return pages
    }

    private var commands: [CommandSpec] { program.commands.filter { !$0.isHidden } }

    private func fileName(_ command: CommandSpec) -> String {
        command.path.joined(separator: "-") + ".md"
    }

    private static let origin = "<!-- Generated: make docs -->"

    private func index() throws -> String {
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
        text += """

            ## Fields of `--json`

            With `--json`, a command prints one object, whose members its page lists; a few \
            commands print several, one on each line. The notation:

            - `name?`: not always there
            - `NAME`: any name
            - `string`, `number`, `boolean`, `null`, `object`: as in JSON
            - `time`: a string such as `2026-11-21T09:30:00Z`, in UTC
            - `[…]`: an array
            - `A | B`: A or B
            - `{zg-env push}`: an object as `zg-env push` prints it
            - `{zg-env sync, groups}`: an object as in `groups` of `zg-env sync`

            New versions can add members. An [error](../exit-codes.md) is an object on stderr. \
            Every command can also have:


            """
        text += try fields(CommandTable.commonFields)
        return text + "\n## Exit codes\n\nSee [exit codes](../exit-codes.md).\n"
    }

    private func page(_ command: CommandSpec) throws -> String {
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
        if let fields = CommandTable.command(of: command)?.fields {
            text += "\n## Fields of `--json`\n\nSee the [notation](README.md#fields-of---json).\n\n"
            text += try self.fields(fields)
        }
        let codes = program.exitCodes(of: command).map { "\($0.code)" }.joined(separator: ", ")
        return text + "\n[Exit codes](../exit-codes.md): \(codes)\n"
    }

    private func list(_ options: [OptionSpec]) -> String {
        options.filter { !$0.isHidden }.map {
            "- `\($0.usage)`: \(HelpFormatter.summary(of: $0))\n"
        }.joined()
    }

    /// A block for each output. Options in the headings are code.
    private func fields(_ notation: String) throws -> String {
        try FieldNotation(notation).outputs.map { output in
            let heading = output.heading.replacing(#/--?[a-z][a-z-]*/#) { "`\($0.output)`" }
            return (heading.isEmpty ? "" : "\(heading):\n\n")
                + "```text\n\(output.lines.joined(separator: "\n"))\n```\n"
        }.joined(separator: "\n")
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

/// Generates mdoc manual pages from a program's spec: one for the program and one per command.
package struct ManPageGenerator: Sendable {
    package struct Page: Sendable, Equatable {
        /// Such as `tool-deployment-list.1`.
        package let fileName: String
        package let text: String
    }

    package let program: ProgramSpec
    /// The section of the manual: 1 for user commands, 8 for administration.
    package let section: Int
    /// The date of the pages. A parameter, for reproducible output.
    package let date: String

    /// - Parameter date: In the format of mdoc, such as `November 21, 2026`.
    package init(_ program: ProgramSpec, section: Int = 1, date: String) {
        self.program = program
        self.section = section
        self.date = date
    }

    /// Returns the program's page, then one for each visible command.
    package func pages() -> [Page] {
        [programPage()] + program.commands.filter { !$0.isHidden }.map(page)
    }

    private func programPage() -> Page {
        var text = head(program.name, program.summary)
        text += ".Sh SYNOPSIS\n.Nm\n.Op Ar global options\n.Ar command\n"
        text += ".Op Ar options\n.Op Ar arguments\n"
        text += ".Sh DESCRIPTION\n" + paragraphs(program.discussion, program.summary)
        text += optionSection("GLOBAL OPTIONS", program.globalOptions)
        text += ".Sh COMMANDS\n"
        for section in program.sections {
            let commands = section.commands.filter { !$0.isHidden }
            guard !commands.isEmpty else { continue }
            text += ".Ss \(Roff.argument(section.title))\n"
            text += items(commands) {
                "Ic \(Roff.arguments($0.path))"
            } meaning: {
                "\($0.summary). See \($0.pageName(of: program))(\(self.section))."
            }
        }
        text += self.section("ENVIRONMENT", program.environment) { "Ev \(Roff.argument($0))" }
        text += self.section("FILES", program.files.map { ($0.path, $0.meaning) }) {
            "Pa \(Roff.argument($0))"
        }
        text += exitStatus(program.exitCodes)
        return Page(fileName: "\(program.name).\(section)", text: text)
    }

    private func page(of command: CommandSpec) -> Page {
        let name = command.pageName(of: program)
        var text = head(name, command.summary)
        text += ".Sh SYNOPSIS\n.Nm \(Roff.arguments([program.name] + command.path))\n"
        for option in command.options where !option.isHidden { text += synopsis(option) }
        for argument in command.arguments { text += synopsis(argument) }
        text += ".Sh DESCRIPTION\n" + paragraphs(command.discussion, command.summary)
        if !command.arguments.isEmpty {
            text += ".Pp\nThe arguments are:\n"
            text += items(command.arguments) {
                "Ar \(Roff.argument($0.name))"
            } meaning: {
                HelpFormatter.summary(of: $0) + "."
            }
        }
        text += optionSection("OPTIONS", command.options)
        text +=
            ".Pp\nGlobal options are described in\n.Xr \(Roff.argument(program.name)) \(section) .\n"
        text += exitStatus(program.exitCodes(of: command))
        if !command.examples.isEmpty {
            text += ".Sh EXAMPLES\n"
            for (index, example) in command.examples.enumerated() {
                if index > 0 { text += ".Pp\n" }
                text += "\(Roff.line(example.meaning + ":"))\n"
                text += ".Bd -literal -offset indent\n\(Roff.line(example.line))\n.Ed\n"
            }
        }
        text += ".Sh SEE ALSO\n.Xr \(Roff.argument(program.name)) \(section)\n"
        return Page(fileName: "\(name).\(section)", text: text)
    }

    private func head(_ name: String, _ summary: String) -> String {
        """
        .Dd \(date)
        .Dt \(name.uppercased()) \(section)
        .Os
        .Sh NAME
        .Nm \(Roff.argument(name))
        .Nd \(Roff.argument(summary))

        """
    }

    private func paragraphs(_ discussion: String, _ summary: String) -> String {
        guard !discussion.isEmpty else { return Roff.line(summary + ".") + "\n" }
        var text = ""
        var isLiteral = false
        var needsBreak = false
        for source in discussion.split(separator: "\n", omittingEmptySubsequences: false) {
            let literal = source.first == " "
            if literal != isLiteral {
                text += literal ? ".Bd -literal -offset indent\n" : ".Ed\n"
                if !literal { needsBreak = true }
                isLiteral = literal
            }
            if source.isEmpty {
                needsBreak = !text.isEmpty
                continue
            }
            if needsBreak, !literal { text += ".Pp\n" }
            needsBreak = false
            text +=
                Roff.line(
                    literal
                        ? String(source.dropFirst(source.hasPrefix("  ") ? 2 : 1)) : String(source))
                + "\n"
        }
        return text + (isLiteral ? ".Ed\n" : "")
    }

    private func synopsis(_ option: OptionSpec) -> String {
        ".Op \(longForm(option))\n"
    }

    private func longForm(_ option: OptionSpec) -> String {
        let name = Roff.argument(option.dashedName.dropFirst().description)
        let value = option.valueName.map { " Ar \(Roff.argument($0))" } ?? ""
        return "Fl \(name)\(value)"
    }

    private func synopsis(_ argument: ArgumentSpec) -> String {
        let name = Roff.argument(argument.name)
        return switch argument.arity {
        case .one: ".Ar \(name)\n"
        case .optional: ".Op Ar \(name)\n"
        case .oneOrMore: ".Ar \(name) ...\n"
        case .zeroOrMore: ".Op Ar \(name) ...\n"
        case .restAfterDashes: ".Fl -\n.Ar \(name)\n"
        }
    }

    private func optionSection(_ title: String, _ options: [OptionSpec]) -> String {
        let visible = options.filter { !$0.isHidden }
        guard !visible.isEmpty else { return "" }
        return ".Sh \(title)\n"
            + items(visible) { option in
                let letter = option.short.map { "Fl \(Roff.argument(String($0))) , " } ?? ""
                return letter + longForm(option)
            } meaning: {
                HelpFormatter.summary(of: $0) + "."
            }
    }

    private func exitStatus(_ codes: [ProgramSpec.ExitCode]) -> String {
        section("EXIT STATUS", codes.map { ("\($0.code)", $0.meaning) }) { $0 }
    }

    private func section(
        _ title: String, _ entries: [(String, String)], _ tag: (String) -> String
    ) -> String {
        guard !entries.isEmpty else { return "" }
        return ".Sh \(title)\n"
            + items(entries) {
                tag($0.0)
            } meaning: {
                $0.1 + "."
            }
    }

    /// Returns a list. A tag is a text, or a macro without its dot.
    private func items<Element>(
        _ elements: [Element], tag: (Element) -> String, meaning: (Element) -> String
    ) -> String {
        var text = ".Bl -tag -width Ds\n"
        for element in elements {
            text += ".It \(tag(element))\n\(Roff.line(meaning(element)))\n"
        }
        return text + ".El\n"
    }
}

extension CommandSpec {
    /// Returns the name of the manual page, such as `tool-deployment-list`.
    package func pageName(of program: ProgramSpec) -> String {
        ([program.name] + path).joined(separator: "-")
    }
}

extension ProgramSpec {
    /// The environment variables with their meanings: those that set an option, then the others.
    package var environment: [(String, String)] {
        globalOptions.compactMap { option in
            option.environmentVariable.map { ($0, "Same as \(option.dashedName)") }
        } + variables.map { ($0.name, $0.meaning) }
    }

    /// Returns a command's own exit codes and the common ones, in ascending order.
    package func exitCodes(of command: CommandSpec) -> [ExitCode] {
        exitCodes.filter { $0.isCommon || command.exitCodes.contains($0.code) }
    }
}

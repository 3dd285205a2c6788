/// Writes manual pages in the mdoc language from the description of a program: one of the program,
/// one of each command.
package struct ManPageGenerator: Sendable {
    /// A page and the name of its file.
    package struct Page: Sendable, Equatable {
        /// As in `tool-deployment-list.1`.
        package let fileName: String
        /// The source, ended by a line feed.
        package let text: String
    }

    /// The description.
    package let program: ProgramSpec
    /// Section of the manual: 1 for what people run, 8 for what administrators do.
    package let section: Int
    /// Date of the pages. Handed in, so that the same sources make the same bytes.
    package let date: String

    /// Makes a generator.
    ///
    /// - Parameter date: As mdoc has it, as in `November 21, 2026`.
    package init(_ program: ProgramSpec, section: Int = 1, date: String) {
        self.program = program
        self.section = section
        self.date = date
    }

    /// All pages: that of the program, then those of the commands that are not hidden.
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
        for group in program.sections {
            text += ".Ss \(Roff.argument(group.title))\n"
            text += items(group.commands) {
                ".Ic \(Roff.arguments($0.path))"
            } meaning: {
                "\($0.summary). See \($0.pageName(of: program))(\(section))."
            }
        }
        let variables =
            program.globalOptions.compactMap { option in
                option.environmentVariable.map { ($0, "Stands for \(option.dashedName)") }
            } + program.variables.map { ($0.name, $0.meaning) }
        text += section("ENVIRONMENT", variables) { ".Ev \(Roff.argument($0))" }
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
                ".Ar \(Roff.argument($0.name))"
            } meaning: {
                argument in
                guard case .oneOf(let words) = argument.form else { return argument.summary + "." }
                return "\(argument.summary): \(words.joined(separator: ", "))."
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
        let name = Roff.argument(option.dashedName.dropFirst().description)
        let value = option.valueName.map { " Ar \(Roff.argument($0))" } ?? ""
        return ".Op Fl \(name)\(value)\n"
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
                let name = Roff.argument(option.dashedName.dropFirst().description)
                let value = option.valueName.map { " Ar \(Roff.argument($0))" } ?? ""
                return ".\(letter)Fl \(name)\(value)"
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
            + items(entries) { entry in
                let made = tag(entry.0)
                return made.hasPrefix(".") ? made : ".It \(made)"
            } meaning: {
                $0.1 + "."
            }
    }

    /// A list. A tag begins with a dot and a macro, which `.It` takes without the dot.
    private func items<Element>(
        _ elements: [Element], tag: (Element) -> String, meaning: (Element) -> String
    ) -> String {
        var text = ".Bl -tag -width Ds\n"
        for element in elements {
            let made = tag(element)
            text += made.hasPrefix(".It ") ? made : ".It \(made.dropFirst())"
            text += "\n\(Roff.line(meaning(element)))\n"
        }
        return text + ".El\n"
    }
}

extension CommandSpec {
    /// Name of its manual page, as in `tool-deployment-list`.
    package func pageName(of program: ProgramSpec) -> String {
        ([program.name] + path).joined(separator: "-")
    }
}

extension ProgramSpec {
    /// Exit codes of a command in ascending order: its own, and those that any command returns.
    package func exitCodes(of command: CommandSpec) -> [ExitCode] {
        exitCodes.filter { $0.isCommon || command.exitCodes.contains($0.code) }
    }
}

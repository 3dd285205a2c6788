/// Reads the arguments of a program by its description.
///
/// Global options stand before or after the command, those of the command after it.
/// `--name=value` and `--name value` are the same, and so are `-nvalue`, `-n=value` and `-n value`;
/// flags combine as in `-qy`. `--` ends the options. A separate value may begin with a dash unless
/// it is itself an option of the command or `--`.
package struct ArgumentParser: Sendable {
    /// The description.
    package let program: ProgramSpec

    /// Makes a parser.
    package init(_ program: ProgramSpec) {
        self.program = program
    }

    /// Reads arguments, without the program's own name, as the kernel handed them over.
    ///
    /// - Throws: ``UsageError``. Bytes that are not UTF-8 are one, except after `--` in a command
    ///   that passes those arguments on.
    package func parse(bytes arguments: [[UInt8]]) throws(UsageError) -> ParseResult {
        let firstInvalid = arguments.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        let result = try parse(arguments.map { String(decoding: $0, as: UTF8.self) })
        guard case .command(let command) = result, let firstInvalid else { return result }
        if let restIndex = command.restIndex, firstInvalid >= restIndex { return result }
        throw UsageError(.notUTF8, "Argument \(firstInvalid + 1) is not valid UTF-8.")
    }

    /// Reads arguments, without the program's own name.
    package func parse(_ arguments: [String]) throws(UsageError) -> ParseResult {
        let options = arguments.prefix { $0 != "--" }
        if options.contains(where: { $0 == "--help" || $0 == "-h" }) {
            if let topic = try helpTopic(options) { return .help(topic) }
        }
        var scan = ArgumentScan(program: program, arguments: arguments)
        switch try scan.run() {
        case .version: return .version
        case .help(let words): return .help(try helpTopic(named: words))
        case .command(let command):
            return .command(try ArgumentBinding(scan: scan, command: command).parsed())
        }
    }

    /// The topic of arguments that hold `--help`, or nil when that is the command's own option.
    private func helpTopic(_ arguments: ArraySlice<String>) throws(UsageError) -> HelpTopic? {
        var node = program.root
        var skipsValue = false
        for argument in arguments {
            if skipsValue {
                skipsValue = false
            } else if let word = OptionWord(argument) {
                let option = program.globalOptions.first { word.matches($0) }
                skipsValue = option.map { !$0.isFlag && word.takesNextAsValue } ?? false
            } else if let next = node.child(argument) {
                node = next
            } else if node.path.isEmpty && argument == ArgumentScan.helpWord {
                continue
            } else if node.command == nil {
                throw ArgumentScan.unknownCommand(argument, after: node, in: program)
            } else {
                break
            }
        }
        if let command = node.command, !arguments.contains("--help"),
            program.options(of: command).contains(where: { $0.short == "h" })
        {
            return nil
        }
        return topic(of: node)
    }

    private func helpTopic(named words: [String]) throws(UsageError) -> HelpTopic {
        var node = program.root
        for word in words {
            guard let next = node.child(word) else {
                throw ArgumentScan.unknownCommand(word, after: node, in: program)
            }
            node = next
        }
        return topic(of: node)
    }

    private func topic(of node: CommandNode) -> HelpTopic {
        if let command = node.command { return .command(command) }
        return node.path.isEmpty ? .program : .group(node.path)
    }
}

/// Parses a program's arguments by its spec.
///
/// Global options come before or after the command, the command's own options after it.
/// `--name=value` equals `--name value`, and `-nvalue` equals `-n=value` and `-n value`. Flags
/// combine, as in `-qy`. `--` ends the options. A separate value may start with a dash unless it is
/// `--` or an option of the command.
package struct ArgumentParser: Sendable {
    package let program: ProgramSpec

    package init(_ program: ProgramSpec) {
        self.program = program
    }

    /// Parses raw arguments, without the program's name.
    ///
    /// - Throws: ``UsageError``, also for invalid UTF-8, except after `--` in a command that passes
    ///   those arguments on.
    package func parse(bytes arguments: [[UInt8]]) throws(UsageError) -> ParseResult {
        let firstInvalid = arguments.firstIndex { String(validating: $0, as: UTF8.self) == nil }
        let result = try parse(arguments.map { String(decoding: $0, as: UTF8.self) })
        guard case .command(let command) = result, let firstInvalid else { return result }
        if let restIndex = command.restIndex, firstInvalid >= restIndex { return result }
        throw UsageError(.notUTF8, "Argument \(firstInvalid + 1) is not valid UTF-8.")
    }

    /// Parses arguments, without the program's name.
    package func parse(_ arguments: [String]) throws(UsageError) -> ParseResult {
        let options = arguments.prefix { $0 != "--" }
        if arguments.isEmpty { return .help(.program, full: false) }
        if options.contains(where: { $0 == "--help" || $0 == "-h" || $0 == "--help-all" }),
            let topic = try helpTopic(options)
        {
            return .help(topic, full: options.contains("--help-all"))
        }
        var scan = ArgumentScan(program: program, arguments: arguments)
        switch try scan.run() {
        case .version: return .version
        case .help(let words): return .help(try helpTopic(named: words), full: false)
        case .command(let command):
            return .command(try ArgumentBinding(scan: scan, command: command).parsed())
        }
    }

    /// Returns the topic of arguments with `--help` or `-h`, or nil if the command has its own `-h`.
    private func helpTopic(_ arguments: ArraySlice<String>) throws(UsageError) -> HelpTopic? {
        var node = program.root
        var skipsValue = false
        for argument in arguments {
            if skipsValue {
                skipsValue = false
            } else if let word = OptionWord(argument) {
                let option = program.globalOptions.first { word.matches($0) }
                skipsValue = option.map { !$0.isFlag && word.takesNextArgument } ?? false
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
        if let command = node.command,
            !arguments.contains(where: { $0 == "--help" || $0 == "--help-all" }),
            program.options(of: command).contains(where: { $0.short == "h" })
        {
            return nil
        }
        return topic(of: node)
    }

    private func helpTopic(named words: [String]) throws(UsageError) -> HelpTopic {
        if let topic = HelpTopic.words.first(where: { [$0.word] == words })?.topic { return topic }
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

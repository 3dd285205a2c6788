/// A program's commands, global options and help texts.
package struct ProgramSpec: Sendable {
    /// A first word of several commands, such as `deployment` in `deployment list`.
    package struct Group: Sendable, Equatable {
        package let path: [String]
        /// One line, without a full stop.
        package let summary: String

        package init(_ path: [String], _ summary: String) {
            self.path = path
            self.summary = summary
        }
    }

    /// The commands under one heading of the help, in order.
    package struct Section: Sendable {
        package let title: String
        package let commands: [CommandSpec]

        package init(_ title: String, _ commands: [CommandSpec]) {
            self.title = title
            self.commands = commands
        }
    }

    package struct ExitCode: Sendable, Equatable {
        package let code: Int32
        /// One line, without a full stop.
        package let meaning: String
        /// Whether any command can return it, so that commands need not list it.
        package let isCommon: Bool

        package init(_ code: Int32, _ meaning: String, common: Bool = false) {
            self.code = code
            self.meaning = meaning
            self.isCommon = common
        }
    }

    /// An environment variable that does not set an option.
    package struct Variable: Sendable, Equatable {
        package let name: String
        /// One line, without a full stop.
        package let meaning: String

        package init(_ name: String, _ meaning: String) {
            self.name = name
            self.meaning = meaning
        }
    }

    /// A file or directory that the program uses.
    package struct File: Sendable, Equatable {
        package let path: String
        /// One line, without a full stop.
        package let meaning: String

        package init(_ path: String, _ meaning: String) {
            self.path = path
            self.meaning = meaning
        }
    }

    package let name: String
    /// The version, without a leading `v`.
    package let version: String
    /// One line, without a full stop.
    package let summary: String
    /// Paragraphs, as in ``CommandSpec/discussion``.
    package let discussion: String
    package let globalOptions: [OptionSpec]
    package let sections: [Section]
    /// One word, or two, that people know from other programs, with the command to suggest.
    package let synonyms: [String: String]
    private let makeFirstSteps: @Sendable () -> [CommandSpec.Example]
    private let makeGroups: @Sendable () -> [Group]
    private let makeExitCodes: @Sendable () -> [ExitCode]
    private let makeVariables: @Sendable () -> [Variable]
    private let makeFiles: @Sendable () -> [File]

    let root: CommandNode

    package init(
        name: String, version: String, summary: String, discussion: String = "",
        firstSteps: @autoclosure @escaping @Sendable () -> [CommandSpec.Example] = [],
        globalOptions: [OptionSpec], sections: [Section], synonyms: [String: String] = [:],
        groups: @autoclosure @escaping @Sendable () -> [Group] = [],
        exitCodes: @autoclosure @escaping @Sendable () -> [ExitCode] = [],
        variables: @autoclosure @escaping @Sendable () -> [Variable] = [],
        files: @autoclosure @escaping @Sendable () -> [File] = []
    ) {
        self.name = name
        self.version = version
        self.summary = summary
        self.discussion = discussion
        self.globalOptions = globalOptions
        self.sections = sections
        self.synonyms = synonyms
        makeFirstSteps = firstSteps
        makeGroups = groups
        makeExitCodes = exitCodes
        makeVariables = variables
        makeFiles = files
        var root = CommandNode(path: [])
        for section in sections {
            for command in section.commands {
                root.insert(command, at: command.path[...])
                for alias in command.aliases { root.insert(command, at: alias[...]) }
            }
        }
        self.root = root
    }

    /// A new user's first command lines, for the top of the help.
    package var firstSteps: [CommandSpec.Example] { makeFirstSteps() }
    package var groups: [Group] { makeGroups() }
    /// The exit codes of all commands.
    package var exitCodes: [ExitCode] { makeExitCodes() }
    /// Environment variables that do not set an option.
    package var variables: [Variable] { makeVariables() }
    /// Files and directories, for the manual page.
    package var files: [File] { makeFiles() }

    /// All commands, in the order of the help.
    package var commands: [CommandSpec] { sections.flatMap(\.commands) }

    /// Returns the command to suggest for a word, which the next one may explain.
    func synonym(of word: String, _ next: String?) -> String? {
        let word = word.lowercased()
        return next.flatMap { synonyms["\(word) \($0.lowercased())"] } ?? synonyms[word]
    }

    /// Returns a command's own options, then the global ones it does not replace.
    package func options(of command: CommandSpec) -> [OptionSpec] {
        command.options + globalOptions(besides: command)
    }

    /// Returns the global options that a command does not replace.
    func globalOptions(besides command: CommandSpec) -> [OptionSpec] {
        let own = command.options
        return globalOptions.filter { global in !own.contains { $0.name == global.name } }
    }

    /// Returns the usage line of a command, such as `tool set [options] KEY`.
    package func usage(of command: CommandSpec) -> String {
        let options = command.options.contains { !$0.isHidden } ? ["[options]"] : []
        return ([name] + command.path + options + command.arguments.map(\.usage))
            .joined(separator: " ")
    }
}

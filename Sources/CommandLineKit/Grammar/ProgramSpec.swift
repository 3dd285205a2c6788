/// Describes a program: its commands, its global options, and what help says about all of it.
package struct ProgramSpec: Sendable {
    /// A word under which commands are gathered, as `deployment` in `deployment list`.
    package struct Group: Sendable, Equatable {
        /// Words that name it.
        package let path: [String]
        /// One line, without full stop.
        package let summary: String

        /// Describes a group.
        package init(_ path: [String], _ summary: String) {
            self.path = path
            self.summary = summary
        }
    }

    /// An exit code and what it says.
    package struct ExitCode: Sendable, Equatable {
        /// The code.
        package let code: Int32
        /// What it means, without full stop.
        package let meaning: String
        /// Whether any command can return it, so that commands need not list it.
        package let isCommon: Bool

        /// Describes an exit code.
        package init(_ code: Int32, _ meaning: String, common: Bool = false) {
            self.code = code
            self.meaning = meaning
            self.isCommon = common
        }
    }

    /// An environment variable that no option stands for.
    package struct Variable: Sendable, Equatable {
        /// Its name.
        package let name: String
        /// What it does, without full stop.
        package let meaning: String

        /// Describes a variable.
        package init(_ name: String, _ meaning: String) {
            self.name = name
            self.meaning = meaning
        }
    }

    /// Name as typed.
    package let name: String
    /// Version without a leading `v`.
    package let version: String
    /// One line, without full stop.
    package let summary: String
    /// Paragraphs as in ``CommandSpec/discussion``.
    package let discussion: String
    /// Options of every command.
    package let globalOptions: [OptionSpec]
    /// Commands in the order of help. Sections follow their first appearance.
    package let commands: [CommandSpec]
    /// Summaries of the groups of commands.
    package let groups: [Group]
    /// Exit codes of all commands.
    package let exitCodes: [ExitCode]
    /// Environment variables beside those of options.
    package let variables: [Variable]

    let root: CommandNode

    /// Describes a program.
    package init(
        name: String, version: String, summary: String, discussion: String = "",
        globalOptions: [OptionSpec], commands: [CommandSpec], groups: [Group] = [],
        exitCodes: [ExitCode] = [], variables: [Variable] = []
    ) {
        self.name = name
        self.version = version
        self.summary = summary
        self.discussion = discussion
        self.globalOptions = globalOptions
        self.commands = commands
        self.groups = groups
        self.exitCodes = exitCodes
        self.variables = variables
        var root = CommandNode(path: [])
        for command in commands {
            for path in [command.path] + command.aliases {
                root.insert(command, at: path[...])
            }
        }
        self.root = root
    }

    /// Options that may stand with a command: its own, then the global ones it does not replace.
    package func options(of command: CommandSpec) -> [OptionSpec] {
        command.options + globalOptions(besides: command)
    }

    /// Global options that a command does not replace by its own.
    func globalOptions(besides command: CommandSpec) -> [OptionSpec] {
        let own = command.options
        return globalOptions.filter { global in !own.contains { $0.name == global.name } }
    }

    /// How a command is called, as in `tool set [options] KEY`.
    package func usage(of command: CommandSpec) -> String {
        let options = command.options.contains { !$0.isHidden } ? ["[options]"] : []
        return ([name] + command.path + options + command.arguments.map(\.usage))
            .joined(separator: " ")
    }

    /// Commands that help shows, section by section.
    var sections: [(title: String, commands: [CommandSpec])] {
        var sections: [(title: String, commands: [CommandSpec])] = []
        for command in commands where !command.isHidden {
            if let index = sections.firstIndex(where: { $0.title == command.section }) {
                sections[index].commands.append(command)
            } else {
                sections.append((command.section, [command]))
            }
        }
        return sections
    }
}

/// A command's grammar and help texts, for the parser, help, manual pages and completions.
///
/// A program creates the specs of all its commands at each start and uses one of them, so the parts
/// of a spec are created lazily.
package struct CommandSpec: Sendable {
    package struct Example: Sendable, Equatable {
        /// The command line, with the program's name.
        package let line: String
        /// What the line does, without a full stop.
        package let meaning: String

        package init(_ line: String, _ meaning: String) {
            self.line = line
            self.meaning = meaning
        }
    }

    /// The words of the command, such as `["deployment", "list"]`.
    package let path: [String]
    /// One line, imperative, without a full stop.
    package let summary: String
    private let makeDiscussion: @Sendable () -> String
    private let makeArguments: @Sendable () -> [ArgumentSpec]
    private let makeOptions: @Sendable () -> [OptionSpec]
    private let makeExclusiveOptions: @Sendable () -> [[String]]
    private let makeExamples: @Sendable () -> [Example]
    private let makeExitCodes: @Sendable () -> [Int32]
    /// Alternative paths.
    package let aliases: [[String]]
    /// Whether help, manual pages and completions omit it.
    package let isHidden: Bool

    package init(
        _ path: [String], _ summary: String,
        discussion: @autoclosure @escaping @Sendable () -> String = "",
        arguments: @autoclosure @escaping @Sendable () -> [ArgumentSpec] = [],
        options: @autoclosure @escaping @Sendable () -> [OptionSpec] = [],
        exclusive exclusiveOptions: @autoclosure @escaping @Sendable () -> [[String]] = [],
        examples: @autoclosure @escaping @Sendable () -> [Example] = [],
        exitCodes: @autoclosure @escaping @Sendable () -> [Int32] = [],
        aliases: [[String]] = [], hidden: Bool = false
    ) {
        self.path = path
        self.summary = summary
        makeDiscussion = discussion
        makeArguments = arguments
        makeOptions = options
        makeExclusiveOptions = exclusiveOptions
        makeExamples = examples
        makeExitCodes = exitCodes
        self.aliases = aliases
        self.isHidden = hidden
    }

    /// Returns the command with more options.
    package func adding(
        _ options: @autoclosure @escaping @Sendable () -> [OptionSpec]
    ) -> CommandSpec {
        CommandSpec(
            path, summary, discussion: makeDiscussion(), arguments: makeArguments(),
            options: makeOptions() + options(), exclusive: makeExclusiveOptions(),
            examples: makeExamples(), exitCodes: makeExitCodes(), aliases: aliases,
            hidden: isHidden)
    }

    /// Paragraphs separated by blank lines. Lines that start with a blank are printed unchanged.
    package var discussion: String { makeDiscussion() }
    package var arguments: [ArgumentSpec] { makeArguments() }
    /// The command's own options. One with the name of a global option replaces it.
    package var options: [OptionSpec] { makeOptions() }
    /// Groups of option names of which at most one may be given.
    package var exclusiveOptions: [[String]] { makeExclusiveOptions() }
    package var examples: [Example] { makeExamples() }
    /// Exit codes in addition to those that every command can return.
    package var exitCodes: [Int32] { makeExitCodes() }

    /// The path as a string, such as `deployment list`.
    package var name: String { path.joined(separator: " ") }

    /// Whether the command takes another program's command line after `--`.
    var takesProgram: Bool { arguments.last?.arity == .restAfterDashes }

    /// The hidden command that completion scripts call for words that only the program knows:
    /// `PROGRAM [global options] __complete KIND -- PREFIX`. It prints one candidate per line, with
    /// an optional description after a tab.
    package static let completionCallback = CommandSpec(
        ["__complete"], "Print candidates for completion",
        arguments: [
            ArgumentSpec(
                "KIND", .one, "Kind of word to complete",
                form: .oneOf(DynamicCompletion.allCases.map(\.rawValue))),
            ArgumentSpec("PREFIX", .optional, "Typed so far", allowsEmpty: true),
        ], hidden: true)
}

extension CommandSpec: Equatable {
    /// Compares paths, which are unique in a program.
    package static func == (one: CommandSpec, other: CommandSpec) -> Bool { one.path == other.path }
}

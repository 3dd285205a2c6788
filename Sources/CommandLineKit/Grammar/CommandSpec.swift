/// Describes one command: what the parser takes, what help, man pages and completions say.
///
/// A program makes the descriptions of all of its commands at each start and looks into one, so that a
/// description holds how its parts are made, and makes them where they are asked for.
package struct CommandSpec: Sendable {
    /// An example of its use.
    package struct Example: Sendable, Equatable {
        /// The line as typed, with the program's name.
        package let line: String
        /// What it does, without full stop.
        package let meaning: String

        /// Describes an example.
        package init(_ line: String, _ meaning: String) {
            self.line = line
            self.meaning = meaning
        }
    }

    /// Words that name it, as in `["deployment", "list"]`.
    package let path: [String]
    /// One line, imperative, without full stop.
    package let summary: String
    private let makeDiscussion: @Sendable () -> String
    private let makeArguments: @Sendable () -> [ArgumentSpec]
    private let makeOptions: @Sendable () -> [OptionSpec]
    private let makeExclusiveOptions: @Sendable () -> [[String]]
    private let makeExamples: @Sendable () -> [Example]
    private let makeExitCodes: @Sendable () -> [Int32]
    /// Heading under which the program's help lists it.
    package let section: String
    /// Other paths that name it.
    package let aliases: [[String]]
    /// Whether help, man pages and completions leave it out.
    package let isHidden: Bool

    /// Describes a command.
    package init(
        _ path: [String], _ summary: String, section: String,
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
        self.section = section
        makeDiscussion = discussion
        makeArguments = arguments
        makeOptions = options
        makeExclusiveOptions = exclusiveOptions
        makeExamples = examples
        makeExitCodes = exitCodes
        self.aliases = aliases
        self.isHidden = hidden
    }

    /// Paragraphs parted by blank lines. Lines that begin with a blank are kept as they are.
    package var discussion: String { makeDiscussion() }
    /// Positional arguments in order.
    package var arguments: [ArgumentSpec] { makeArguments() }
    /// Options of its own. One with the name or letter of a global option replaces that.
    package var options: [OptionSpec] { makeOptions() }
    /// Names of options of which at most one may be given, group by group.
    package var exclusiveOptions: [[String]] { makeExclusiveOptions() }
    /// Examples for help and the man page.
    package var examples: [Example] { makeExamples() }
    /// Exit codes beside those every command can return.
    package var exitCodes: [Int32] { makeExitCodes() }

    /// The path as one text, as in `deployment list`.
    package var name: String { path.joined(separator: " ") }

    /// The hidden command that shells call for words only the program knows:
    /// `PROGRAM [global options] __complete KIND -- PREFIX`. It prints one candidate a line, and
    /// after a tab what it is.
    package static let completionCallback = CommandSpec(
        ["__complete"], "Print candidates for completion", section: "",
        arguments: [
            ArgumentSpec(
                "KIND", .one, "What is completed",
                form: .oneOf(DynamicCompletion.allCases.map(\.rawValue))),
            ArgumentSpec("PREFIX", .optional, "What was typed", allowsEmpty: true),
        ], hidden: true)
}

extension CommandSpec: Equatable {
    /// By the path: no program has two commands of one path.
    package static func == (one: CommandSpec, other: CommandSpec) -> Bool { one.path == other.path }
}

/// Describes one command: what the parser takes, what help, man pages and completions say.
package struct CommandSpec: Sendable, Equatable {
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
    /// Paragraphs parted by blank lines. Lines that begin with a blank are kept as they are.
    package let discussion: String
    /// Heading under which the program's help lists it.
    package let section: String
    /// Positional arguments in order.
    package let arguments: [ArgumentSpec]
    /// Options of its own. One with the name or letter of a global option replaces that.
    package let options: [OptionSpec]
    /// Names of options of which at most one may be given, group by group.
    package let exclusiveOptions: [[String]]
    /// Examples for help and the man page.
    package let examples: [Example]
    /// Exit codes beside those every command can return.
    package let exitCodes: [Int32]
    /// Other paths that name it.
    package let aliases: [[String]]
    /// Whether help, man pages and completions leave it out.
    package let isHidden: Bool

    /// Describes a command.
    package init(
        _ path: [String], _ summary: String, section: String, discussion: String = "",
        arguments: [ArgumentSpec] = [], options: [OptionSpec] = [],
        exclusive exclusiveOptions: [[String]] = [], examples: [Example] = [],
        exitCodes: [Int32] = [], aliases: [[String]] = [], hidden: Bool = false
    ) {
        self.path = path
        self.summary = summary
        self.discussion = discussion
        self.section = section
        self.arguments = arguments
        self.options = options
        self.exclusiveOptions = exclusiveOptions
        self.examples = examples
        self.exitCodes = exitCodes
        self.aliases = aliases
        self.isHidden = hidden
    }

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

internal import CommandLineKit
internal import JSON

protocol PostalCommand: Sendable {
    static var spec: CommandSpec { get }

    /// Runs the command and returns its output.
    static func run(_ command: ParsedCommand, _ context: PostalContext) throws -> PostalResult
}

/// The output of a command.
struct PostalResult {
    var json: JSONValue?
    var text: String
    var status: Int32 = 0
}

internal import CommandLineKit
internal import JSON

/// One command: its description, and what it does.
protocol PostalCommand: Sendable {
    static var spec: CommandSpec { get }

    /// Does the work and returns what is to be shown.
    static func run(_ command: ParsedCommand, _ context: PostalContext) throws -> PostalResult
}

/// What a command gives back.
struct PostalResult {
    /// For `--json`.
    var json: JSONValue?
    /// For people.
    var text: String
    var status: Int32 = 0

    /// Makes a result.
    init(json: JSONValue?, text: String, status: Int32 = 0) {
        (self.json, self.text, self.status) = (json, text, status)
    }
}

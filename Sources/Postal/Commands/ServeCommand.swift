internal import CommandLineKit

/// `serve`: the relay.
enum ServeCommand: PostalCommand {
    static let spec = CommandSpec(
        ["serve"], "Take webhooks, and hand events to devices", section: "Service")

    static func run(_ command: ParsedCommand, _ context: PostalContext) throws -> PostalResult {
        throw PostalError(.failed, "not built yet")
    }
}

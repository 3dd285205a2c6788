internal import DotEnv

/// What reads hostile bytes, with what must hold whatever they are: no trap, and the promises that
/// each function tells.
///
/// `make fuzz` tries each with inputs that reach new code; a test replays the corpus.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Header and slots of a vault file.
    case vault
    /// The decoder of an opened index.
    case vaultIndex = "vault-index"
    /// The readers and writers of `.env` files.
    case dotenv
    /// The reader of a relay's stream, and of what is in its events.
    case eventStream = "event-stream"
    /// The body of a webhook.
    case webhook
    /// The reader of JSON.
    case json

    /// Reads `input`.
    ///
    /// - Parameter scratch: Memory to work in, of one thread alone.
    /// - Throws: ``FuzzFinding`` and other errors when a promise is broken. That the input is refused
    ///   is no error.
    package func exercise(
        _ input: [UInt8], _ scratch: FuzzScratch = FuzzScratch()
    ) throws {
        switch self {
        case .vault: try VaultFuzzing.exerciseFile(input)
        case .vaultIndex: try VaultFuzzing.exerciseIndex(input, scratch)
        case .eventStream: try EventStreamFuzzing.exercise(input)
        case .json: try JSONFuzzing.exercise(input)
        case .webhook: try WebhookFuzzing.exercise(input)
        case .dotenv: try unsafe DotEnvFuzzing.exercise(input.span.bytes)
        }
    }
}

/// A promise that does not hold.
package struct FuzzFinding: Error, CustomStringConvertible {
    /// What was found.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

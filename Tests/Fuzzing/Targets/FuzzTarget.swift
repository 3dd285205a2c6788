internal import DotEnv

/// Parsers of hostile input, with the properties that must hold for any input: no trap, and those
/// that each function lists.
///
/// `make fuzz` tries each with inputs that reach new code; a test replays the corpus.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Header and slots of a vault file.
    case vault
    /// The decoder of the opened table of an index.
    case vaultTable = "vault-table"
    /// The decoder of an opened section of an index.
    case vaultSection = "vault-section"
    /// The parsers and writers of `.env` files.
    case dotenv
    /// The parser of a relay's stream, and of its events.
    case eventStream = "event-stream"
    /// The body of a webhook.
    case webhook
    /// The JSON parser.
    case json
    /// The parsers of schemas.
    case schema
    /// Types, patterns and the values that are checked against them.
    case schemaType = "schema-type"
    /// Entries, changes, invites and joins of groups.
    case groupObject = "group-object"
    /// The opened operations of a change.
    case groupOperations = "group-operations"

    /// Reads `input`.
    ///
    /// - Parameter scratch: Working memory, for one thread only.
    /// - Throws: ``FuzzFinding`` and other errors if a property is violated. Refused input is not
    /// an error.
    package func exercise(
        _ input: [UInt8], _ scratch: FuzzScratch = FuzzScratch()
    ) throws {
        switch self {
        case .vault: try VaultFuzzing.exerciseFile(input)
        case .vaultTable: try VaultFuzzing.exerciseTable(input, scratch)
        case .vaultSection: try VaultFuzzing.exerciseSection(input)
        case .eventStream: try EventStreamFuzzing.exercise(input)
        case .json: try JSONFuzzing.exercise(input)
        case .schema: try SchemaFuzzing.exercise(input)
        case .schemaType: try SchemaFuzzing.exerciseType(input)
        case .groupObject: try GroupFuzzing.exerciseObject(input)
        case .groupOperations: try GroupFuzzing.exerciseOperations(input)
        case .webhook: try WebhookFuzzing.exercise(input)
        case .dotenv: try unsafe DotEnvFuzzing.exercise(input.span.bytes)
        }
    }
}

/// A violated property.
package struct FuzzFinding: Error, CustomStringConvertible {
    /// What was found.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}

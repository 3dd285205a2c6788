internal import CommandLineKit
internal import EnvSchema

/// The options that select a schema.
struct SchemaOptions {
    static let file = OptionSpec(
        "schema", value: "FILE", "Use this schema instead of the linked directory's",
        completion: .file)
    static let notation = OptionSpec(
        "notation", value: "N", "Parse the schema as notation N instead of detecting the notation",
        form: .oneOf(Schema.Notation.allCases.map(\.rawValue)))

    let path: String?
    let notation: Schema.Notation?

    /// Reads both options of a command that has both.
    init(_ command: ParsedCommand) {
        path = command.value("schema")
        notation = command.choice("notation")
    }

    /// Selects the linked directory's schema.
    init() { (path, notation) = (nil, nil) }
}

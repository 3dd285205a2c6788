internal import CommandLineKit
internal import Vault

/// `--type`: how Vercel is to store a value.
enum TypeOption {
    static let spec = OptionSpec(
        "type", value: "TYPE", "Set the type on Vercel",
        form: .oneOf(["encrypted", "sensitive", "plain"]))

    /// Returns the type that was asked for; nil for none.
    static func kind(_ command: ParsedCommand) -> VariableAttributes.Kind? {
        command.value(spec.name).flatMap { VariableAttributes.Kind(name: $0) }
    }
}

internal import CommandLineKit

/// `config get`: one setting.
enum ConfigGet: Command {
    static let spec = CommandSpec(
        ["config", "get"], "Print a setting", section: "Vault",
        arguments: [Setting.argument])

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let setting = try Setting.named(invocation.command.argument("KEY") ?? "")
        let settings = try Settings(invocation.context)
        return CommandResult(
            json: setting.json(in: settings), text: settings[setting].text + "\n")
    }
}

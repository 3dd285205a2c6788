internal import CommandLineKit

/// `config get`: one setting.
struct ConfigGet: Command {
    static let spec = CommandSpec(
        ["config", "get"], "Print a setting", section: "Vault",
        arguments: [Setting.argument])

    private let setting: Setting

    init(_ command: ParsedCommand) throws { setting = try Setting.named(command.required("KEY")) }

    func run(in workspace: Workspace) throws -> CommandResult {
        let settings = try Settings(workspace.context)
        return CommandResult(
            json: setting.json(in: settings), text: settings[setting].text + "\n")
    }
}

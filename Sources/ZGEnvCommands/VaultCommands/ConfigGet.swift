internal import CommandLineKit

/// `config get`: one setting.
struct ConfigGet: Command {
    static let spec = CommandSpec(
        ["config", "get"], "Print a setting", section: "Vault",
        arguments: [Setting.argument])

    private let command: ParsedCommand

    init(_ command: ParsedCommand) { self.command = command }

    func run(in workspace: Workspace) throws -> CommandResult {
        let setting = try Setting.named(command.argument("KEY") ?? "")
        let settings = try Settings(workspace.context)
        return CommandResult(
            json: setting.json(in: settings), text: settings[setting].text + "\n")
    }
}

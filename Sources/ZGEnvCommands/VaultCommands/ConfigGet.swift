internal import CommandLineKit
internal import Vault

/// `config get`: prints one setting.
struct ConfigGet: Command {
    static let spec = CommandSpec(
        ["config", "get"], "Print a setting",
        arguments: [SettingName.argument], exitCodes: ExitCode.ofOpening)
    static let fields = "\(SettingName.fields)"

    private let name: SettingName

    init(_ command: ParsedCommand) throws { name = try SettingName(command.required("KEY")) }

    func run(in workspace: Workspace) throws -> CommandResult {
        switch name {
        case .user(let setting):
            let settings = try Settings(workspace.context)
            return CommandResult(
                json: setting.json(in: settings), text: settings[setting].text + "\n")
        case .vault(let setting):
            let value = setting.value(in: try workspace.session.index(.listing))
            return CommandResult(
                json: setting.json(value),
                text: (value ?? setting.standard).map { "\($0)\n" } ?? "")
        }
    }
}

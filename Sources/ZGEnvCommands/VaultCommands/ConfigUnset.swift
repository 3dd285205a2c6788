internal import CommandLineKit
internal import JSON
internal import Vault

/// `config unset`: returns one setting to its default.
struct ConfigUnset: Command {
    static let spec = CommandSpec(
        ["config", "unset"], "Reset a setting to its default",
        arguments: [SettingName.argument],
        examples: [.init("zg-env config unset default-target", "use development again")],
        exitCodes: ExitCode.ofOpening)
    static let fields = "key: string; dryRun: boolean"

    private let name: SettingName

    init(_ command: ParsedCommand) throws { name = try SettingName(command.required("KEY")) }

    func run(in workspace: Workspace) throws -> CommandResult {
        let isDryRun = workspace.options.dryRun
        let key: String
        switch name {
        case .user(let setting):
            key = setting.rawValue
            var settings = try Settings(workspace.context)
            if settings.values[setting] != nil, !isDryRun {
                settings.set(setting, to: nil)
                try settings.write(in: workspace.context.files)
            }
        case .vault(let setting):
            key = setting.name
            try workspace.session.keysForWriting()
            let index = try workspace.session.index(.listing)
            if setting.value(in: index) != nil, !isDryRun {
                try workspace.session.commit { transaction, _ in
                    transaction.index.metadata.set(setting.name, to: nil)
                }
            }
        }
        if !isDryRun { workspace.note("\(key) has its default value.") }
        return CommandResult(json: ["key": .string(key), "dryRun": .bool(isDryRun)])
    }
}

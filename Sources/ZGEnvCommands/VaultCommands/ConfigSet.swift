internal import CommandLineKit
internal import JSON

/// `config set`: changes one setting.
struct ConfigSet: Command {
    static let spec = CommandSpec(
        ["config", "set"], "Change a setting", section: "Vault",
        arguments: [Setting.argument, ArgumentSpec("VALUE", .one, "What it is to be")],
        examples: [
            .init("zg-env config set default-target production", "run with those of production"),
            .init("zg-env config set cache-for run,export", "have all others ask, even unlocked"),
        ])

    private let setting: Setting
    private let text: String

    init(_ command: ParsedCommand) throws {
        setting = try Setting.named(command.required("KEY"))
        text = command.required("VALUE")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let value = try setting.value(of: text, in: workspace.context.program)
        var settings = try Settings(workspace.context)
        settings.set(setting, to: value)
        if !workspace.options.dryRun {
            try settings.write(in: workspace.context.files)
            workspace.note("\(setting.rawValue) is \(value.text).")
        }
        return CommandResult(json: [
            "key": .string(setting.rawValue), "value": value.json,
            "dryRun": .bool(workspace.options.dryRun),
        ])
    }
}

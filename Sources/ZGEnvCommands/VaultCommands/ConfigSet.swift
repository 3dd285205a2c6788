internal import CommandLineKit
internal import JSON
internal import Vault

/// `config set`: changes one setting.
struct ConfigSet: Command {
    static let spec = CommandSpec(
        ["config", "set"], "Change a setting",
        discussion: """
            default-type and the schema settings (schema-check, schema-env.NAME) are stored in the \
            vault and require the values to be unlocked.

            \(SettingName.overview)
            """,
        arguments: [SettingName.argument, ArgumentSpec("VALUE", .one, "The new value")],
        examples: [
            .init(
                "zg-env config set default-target production", "use production unless -t is given"),
            .init(
                "zg-env config set cache-for run,export",
                "use an unlocked vault for run and export only"),
            .init(
                "zg-env config set schema-check on",
                "require a schema check before run, push and rotate"),
            .init(
                "zg-env config set default-type sensitive",
                "hide new variables on Vercel unless they are for development"),
        ], exitCodes: ExitCode.ofOpening)
    static let fields = "key: string; value: string | number | boolean; dryRun: boolean"

    private let name: SettingName
    private let text: String

    init(_ command: ParsedCommand) throws {
        name = try SettingName(command.required("KEY"))
        text = command.required("VALUE")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        switch name {
        case .user(let setting):
            let value = try setting.value(of: text, in: workspace.context.program)
            var settings = try Settings(workspace.context)
            settings.set(setting, to: value)
            if !workspace.options.dryRun { try settings.write(in: workspace.context.files) }
            return result(setting.rawValue, value.json, value.text, workspace)
        case .vault(let setting):
            let value = try setting.checked(text)
            if !workspace.options.dryRun {
                try workspace.session.commit { transaction, _ in
                    transaction.index.metadata.set(setting.name, to: value)
                }
            }
            return result(setting.name, .string(value), value, workspace)
        }
    }

    private func result(
        _ name: String, _ value: JSONValue, _ text: String, _ workspace: Workspace
    ) -> CommandResult {
        if !workspace.options.dryRun { workspace.note("Set \(name) to \(text).") }
        return CommandResult(json: [
            "key": .string(name), "value": value, "dryRun": .bool(workspace.options.dryRun),
        ])
    }
}

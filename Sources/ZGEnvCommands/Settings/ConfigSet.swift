internal import CommandLineKit
internal import JSON

/// `config set`: changes one setting.
enum ConfigSet: Command {
    static let spec = CommandSpec(
        ["config", "set"], "Change a setting", section: "Vault",
        arguments: [Setting.argument, ArgumentSpec("VALUE", .one, "What it is to be")],
        examples: [
            .init("zg-env config set default-target production", "run with those of production"),
            .init("zg-env config set cache-for run,export", "have all others ask, even unlocked"),
        ])

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let setting = try Setting.named(invocation.command.argument("KEY") ?? "")
        let value = try setting.value(of: invocation.command.argument("VALUE") ?? "")
        var settings = try Settings(invocation.context)
        settings.set(setting, to: value)
        if !invocation.options.dryRun {
            try settings.write(in: invocation.context.files)
            try invocation.note("\(setting.rawValue) is \(value.text).")
        }
        return CommandResult(json: [
            "key": .string(setting.rawValue), "value": value.json,
            "dryRun": .bool(invocation.options.dryRun),
        ])
    }
}

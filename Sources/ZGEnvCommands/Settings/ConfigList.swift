internal import CommandLineKit

/// `config list`: every setting with its value.
enum ConfigList: Command {
    static let spec = CommandSpec(
        ["config", "list"], "Show all settings", section: "Vault",
        discussion: "They are in $XDG_CONFIG_HOME/zg-env/config.json, which holds no secret.")

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let settings = try Settings(invocation.context)
        var table = Table([
            .init("SETTING"), .init("VALUE"), .init(""), .init("WHAT IT DOES", canShrink: true),
        ])
        for setting in Setting.allCases {
            table.append([
                .init(setting.rawValue), .init(settings[setting].text),
                .init(settings.values[setting] == nil ? "" : "set", as: .dim),
                .init(setting.summary, as: .dim),
            ])
        }
        let look = OutputLook(invocation.context)
        return CommandResult(
            json: [
                "file": .string(orNull: settings.path),
                "settings": .array(Setting.allCases.map { $0.json(in: settings) }),
            ], text: table.text(width: look.width, style: look.style))
    }
}

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

extension Setting {
    fileprivate static var argument: ArgumentSpec {
        ArgumentSpec(
            "KEY", .one, "The setting", completion: .words(allCases.map(\.rawValue)))
    }

    /// `{"key","value","default","set"}`.
    fileprivate func json(in settings: Settings) -> JSONValue {
        [
            "key": .string(rawValue), "value": settings[self].json, "default": standard.json,
            "set": .bool(settings.values[self] != nil),
        ]
    }
}

internal import CommandLineKit
internal import JSON

/// `config list`: every setting with its value.
struct ConfigList: Command {
    static let spec = CommandSpec(
        ["config", "list"], "Show all settings", section: "Vault",
        discussion: "They are in $XDG_CONFIG_HOME/zg-env/config.json, which holds no secret.")

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let settings = try Settings(workspace.context)
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
        let look = OutputLook(workspace.context)
        return CommandResult(
            json: [
                "file": .string(orNull: settings.path),
                "settings": .array(Setting.allCases.map { $0.json(in: settings) }),
            ], text: table.text(width: look.width, style: look.style))
    }
}

extension Setting {
    /// The argument that names a setting.
    static var argument: ArgumentSpec {
        ArgumentSpec(
            "KEY", .one, "The setting", completion: .words(allCases.map(\.rawValue)))
    }

    /// `{"key","value","default","set"}`.
    func json(in settings: Settings) -> JSONValue {
        [
            "key": .string(rawValue), "value": settings[self].json, "default": standard.json,
            "set": .bool(settings.values[self] != nil),
        ]
    }
}

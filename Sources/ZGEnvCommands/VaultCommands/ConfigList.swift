internal import CommandLineKit
internal import JSON
internal import Vault

/// `config list`: shows every setting with its value.
struct ConfigList: Command {
    static let spec = CommandSpec(
        ["config", "list"], "Show all settings",
        discussion: """
            Settings are stored in $XDG_CONFIG_HOME/zg-env/config.json, which contains no secrets; \
            schema settings are stored in the vault and listed only if it opens without a \
            passphrase.
            """, exitCodes: ExitCode.ofOpening)
    static let fields = "file: string | null; settings: [{zg-env config get}]"

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let settings = try Settings(workspace.context)
        let stored = try vaultSettings(workspace)
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
        for (setting, value) in stored {
            table.append([
                .init(setting.name), .init(value ?? setting.standard ?? ""),
                .init(value == nil ? "" : "set", as: .dim), .init(setting.summary, as: .dim),
            ])
        }
        let look = TerminalStyle(workspace.context)
        return CommandResult(
            json: [
                "file": .string(orNull: settings.path),
                "settings": .array(
                    Setting.allCases.map { $0.json(in: settings) }
                        + stored.map { $0.name.json($0.value) }),
            ], text: table.text(width: look.width, style: look.style))
    }

    /// Returns the settings in the vault; none if there is no vault, or it needs a passphrase.
    private func vaultSettings(
        _ workspace: Workspace
    ) throws -> [(name: VaultSettingName, value: String?)] {
        guard !workspace.session.path.isEmpty,
            let index = try workspace.session.indexWithoutPrompt()
        else { return [] }
        let always = [VaultSettingName.schemaCheck, .defaultType]
        return always.map { ($0, $0.value(in: index)) }
            + index.metadata.settings.compactMap { setting in
                guard let name = VaultSettingName(setting.name), !always.contains(name) else {
                    return nil
                }
                return (name, setting.value)
            }
    }
}

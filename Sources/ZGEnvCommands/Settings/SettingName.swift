internal import CommandLineKit
internal import JSON
internal import Vault

/// A setting of `config`: the user's own, or one of the vault.
enum SettingName {
    case user(Setting)
    case vault(VaultSettingName)

    /// - Throws: ``ExitCode/usage`` with a suggestion; without the name, which may be a misplaced secret.
    init(_ name: String) throws {
        if let setting = VaultSettingName(name) {
            self = .vault(setting)
        } else {
            self = .user(try Setting.named(name))
        }
    }

    static let fields = """
        key: string; value, default: string | number | boolean | null
        set: boolean (whether it has a value of its own); in: "file" | "vault"
        """

    /// Every setting with its summary, a line each, for the help.
    static var overview: String {
        let stored = [VaultSettingName.defaultType, .schemaCheck]
        let entries =
            Setting.allCases.map { ($0.rawValue, $0.summary) }
            + stored.map { ($0.name, $0.summary) }
            + [("schema-env.NAME", VaultSettingName.schemaEnvironment("").summary)]
        let width = entries.map { $0.0.utf8.count }.max() ?? 0
        return entries.map { name, summary in
            "  \(name)\(String(repeating: " ", count: width - name.utf8.count))  \(summary)"
        }.joined(separator: "\n")
    }

    static var argument: ArgumentSpec {
        ArgumentSpec(
            "KEY", .one, "The setting",
            completion: .words(
                Setting.allCases.map(\.rawValue)
                    + [VaultSettingName.schemaCheck, .defaultType].map(\.name)))
    }
}

extension Setting {
    func json(in settings: Settings) -> JSONValue {
        [
            "key": .string(rawValue), "value": settings[self].json, "default": standard.json,
            "set": .bool(settings.values[self] != nil), "in": "file",
        ]
    }
}

extension VaultSettingName {
    /// - Parameter value: Nil if it is not set.
    func json(_ value: String?) -> JSONValue {
        [
            "key": .string(name), "value": .string(orNull: value ?? standard),
            "default": .string(orNull: standard), "set": .bool(value != nil), "in": "vault",
        ]
    }
}

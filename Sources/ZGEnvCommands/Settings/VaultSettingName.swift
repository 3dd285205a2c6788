internal import CommandLineKit
internal import EnvOperations
internal import Vault

/// A setting that the vault stores, for all its projects: one that decides what a command requires before
/// values leave. Only somebody who can open the values can change it unseen.
enum VaultSettingName: Equatable {
    /// Whether `run`, `push` and `rotate` fail if the vault does not fit the project's schema.
    case schemaCheck
    /// The target that a schema means by a name of an environment; in lower case.
    case schemaEnvironment(String)

    /// The type of new variables that no option and no schema gives one.
    case defaultType

    /// The values of ``defaultType``.
    private static let types = [
        VariableAttributes.Kind.encrypted.name, VariableAttributes.Kind.sensitive.name,
    ]

    /// The values of ``schemaCheck``.
    enum Strictness: String, CaseIterable {
        case off, on, strict
    }

    private static let checkName = "schema-check"
    private static let environmentPrefix = "schema-env."
    /// The target that stands for no target at all.
    static let noTarget = "none"

    /// The name in the vault; nil if this is not one of them.
    init?(_ name: String) {
        if name == Self.checkName {
            self = .schemaCheck
            return
        }
        if name == DefaultType.settingName {
            self = .defaultType
            return
        }
        guard name.hasPrefix(Self.environmentPrefix) else { return nil }
        let environment = name.dropFirst(Self.environmentPrefix.count).lowercased()
        guard !environment.isEmpty, environment.utf8.count <= 256,
            environment.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != 0x2C && $0 != 0x3D })
        else { return nil }
        self = .schemaEnvironment(environment)
    }

    var name: String {
        switch self {
        case .schemaCheck: Self.checkName
        case .defaultType: DefaultType.settingName
        case .schemaEnvironment(let environment): Self.environmentPrefix + environment
        }
    }

    /// The value without a stored one; nil if it depends on the name.
    var standard: String? {
        switch self {
        case .schemaCheck: Strictness.off.rawValue
        case .defaultType: VariableAttributes.Kind.encrypted.name
        case .schemaEnvironment: nil
        }
    }

    var summary: String {
        switch self {
        case .schemaCheck: "check the schema before run, push, rotate: off, on, strict"
        case .defaultType: "type of new variables, encrypted or sensitive"
        case .schemaEnvironment: "target to use for the schema environment NAME"
        }
    }

    /// Checks a value of the command line.
    ///
    /// - Throws: ``ExitCode/usage`` with the valid values.
    func checked(_ text: String) throws -> String {
        switch self {
        case .schemaCheck:
            guard Strictness(rawValue: text) != nil else {
                throw CommandError(.usage, "\(name) must be off, on or strict.")
            }
        case .defaultType:
            guard Self.types.contains(text) else {
                throw CommandError(.usage, "\(name) must be encrypted or sensitive.")
            }
        case .schemaEnvironment:
            if text != Self.noTarget { try TargetName.check(text) }
        }
        return text
    }

    /// Returns the setting of the vault; nil if it is not set.
    func value(in index: VaultIndex) -> String? { index.metadata.setting(name) }
}

extension VaultIndex {
    /// What the vault requires of schemas.
    var schemaCheck: VaultSettingName.Strictness {
        // A value of a newer version counts as the strictest that this one knows.
        VaultSettingName.schemaCheck.value(in: self).map {
            VaultSettingName.Strictness(rawValue: $0) ?? .strict
        } ?? .off
    }

    /// The targets of environment names, by name in lower case.
    var schemaEnvironments: [String: String] {
        var targets: [String: String] = [:]
        for setting in metadata.settings {
            if case .schemaEnvironment(let name) = VaultSettingName(setting.name) {
                targets[name] = setting.value
            }
        }
        return targets
    }
}

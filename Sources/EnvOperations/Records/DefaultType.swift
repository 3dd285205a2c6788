package import Vault
internal import VercelAPI

/// The type of a variable that never had one and for which none was asked: encrypted, or what the
/// setting `default-type` says.
package enum DefaultType {
    /// The name of the setting in the vault.
    package static let settingName = "default-type"

    /// The type of a new variable in a scope. Vercel refuses Secrets for development and with a public
    /// name, so those stay encrypted.
    package static func kind(
        of key: String, in scope: Scope, _ index: VaultIndex
    ) -> VariableAttributes.Kind {
        let wanted = index.metadata.setting(settingName)
        guard wanted == VariableAttributes.Kind.sensitive.name,
            !scope.targets.contains(.development),
            PublicPrefix(of: key)?.isRefusedForSecrets != true
        else { return .encrypted }
        return .sensitive
    }

    /// The type of a new variable for production and preview.
    package static func deployed(
        _ key: String, _ index: VaultIndex
    ) -> VariableAttributes.Kind {
        kind(of: key, in: Scope(targets: [.production, .preview]), index)
    }
}

package import Sealing
import Testing
package import Vault

/// A keyring for tests that must not use one: every call records an issue and throws.
package struct FailingKeyring: Keyring {
    package let name = "the keyring nobody may ask"

    /// Makes a keyring without state.
    package init() {}

    package func isUnlocked() throws(KeyringError) -> Bool {
        throw unexpected("isUnlocked")
    }

    package func store(
        _ secret: borrowing SecretBytes, for item: KeyringItem
    ) throws(KeyringError) {
        throw unexpected("store")
    }

    package func secret(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes? {
        throw unexpected("secret")
    }

    package func remove(_ item: KeyringItem) throws(KeyringError) {
        throw unexpected("remove")
    }

    private func unexpected(_ call: String) -> KeyringError {
        Issue.record("the keyring was asked: \(call)")
        return KeyringError(.failed, "a test did not expect this call")
    }
}

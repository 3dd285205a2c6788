internal import Sealing
internal import Vault

/// The keys that a passphrase or a recovery code opened, with that secret, for recreating slots.
final class PassphraseOpening {
    /// Keys of both tiers.
    let keys: VaultKeys
    let slot: KeySlot
    /// The passphrase or code as given.
    let secret: SecretBytes

    init(_ opening: Vault.Opening, secret: consuming SecretBytes) {
        keys = opening.keys
        slot = opening.slot
        self.secret = secret
    }
}

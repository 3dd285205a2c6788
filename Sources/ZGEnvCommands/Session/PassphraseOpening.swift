internal import Sealing
internal import Vault

/// What a passphrase or a recovery code has opened, and that secret, for making slots anew.
final class PassphraseOpening {
    /// Both tiers.
    let keys: VaultKeys
    /// The slot that opened.
    let slot: KeySlot
    /// As it was given.
    let secret: SecretBytes

    init(_ opening: Vault.Opening, secret: consuming SecretBytes) {
        keys = opening.keys
        slot = opening.slot
        self.secret = secret
    }
}

package import Sealing

extension VaultKeys {
    /// Creates a slot for a passphrase. Takes the time and memory of `cost`.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked.
    package func passphraseSlot(
        _ passphrase: borrowing SecretBytes, cost: PassphraseCost, vault: Identifier,
        at time: UInt64
    ) throws(VaultError) -> KeySlot {
        let salt = Random.bytes(PassphraseDerivation.saltByteCount)
        let wrappingKey = try guarding { () throws(SealingError) in
            try PassphraseDerivation.deriveKey(from: passphrase, salt: salt, cost: cost)
        }
        return try slot(
            .passphrase, .values, under: wrappingKey, cost: cost, salt: salt, vault, time)
    }

    /// Creates a slot for a recovery code.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` while the values are locked.
    package func recoverySlot(
        _ code: RecoveryCode, vault: Identifier, at time: UInt64
    ) throws(VaultError) -> KeySlot {
        let salt = Random.bytes(PassphraseDerivation.saltByteCount)
        return try slot(
            .recovery, .values, under: try code.wrappingKey(salt: salt), cost: nil, salt: salt,
            vault, time)
    }

    /// Creates a slot for 32 random bytes stored in a keyring or a file.
    ///
    /// - Throws: ``VaultError/Code/wrongPassphrase`` for the value tier while the values are locked.
    package func storedKeySlot(
        _ kind: KeySlot.Kind, _ tier: KeySlot.Tier, slotKey: borrowing SecretBytes,
        vault: Identifier, at time: UInt64
    ) throws(VaultError) -> KeySlot {
        try slot(
            kind, tier, under: slotKey, cost: nil, salt: [UInt8](repeating: 0, count: 16), vault,
            time)
    }

    private func slot(
        _ kind: KeySlot.Kind, _ tier: KeySlot.Tier, under wrappingKey: borrowing SecretBytes,
        cost: PassphraseCost?, salt: [UInt8], _ vault: Identifier, _ time: UInt64
    ) throws(VaultError) -> KeySlot {
        let blank = KeySlot.Blank(
            kind: kind, tier: tier, cost: cost, salt: salt, vault: vault, createdAt: time)
        switch tier {
        case .index: return blank.wrapping(index.bytes, under: wrappingKey)
        case .values:
            guard let slot = root?.wrapped(in: blank, under: wrappingKey) else {
                throw VaultError(.wrongPassphrase, "adding a slot requires unlocked values")
            }
            return slot
        }
    }
}

extension RootKey {
    fileprivate borrowing func wrapped(
        in blank: KeySlot.Blank, under wrappingKey: borrowing SecretBytes
    ) -> KeySlot {
        blank.wrapping(bytes, under: wrappingKey)
    }
}

extension KeySlot {
    /// The fields of a slot without its key.
    fileprivate struct Blank {
        let kind: Kind
        let tier: Tier
        let cost: PassphraseCost?
        let salt: [UInt8]
        let vault: Identifier
        let createdAt: UInt64

        func wrapping(
            _ key: borrowing SecretBytes, under wrappingKey: borrowing SecretBytes
        ) -> KeySlot {
            KeySlot.wrapping(
                key, under: wrappingKey, vault: vault, id: .random(), kind: kind, tier: tier,
                cost: cost, salt: salt, createdAt: createdAt)
        }
    }
}

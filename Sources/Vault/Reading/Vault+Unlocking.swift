package import Sealing

extension Vault {
    /// The result of opening a vault with a passphrase or recovery code.
    package struct Opening {
        package let keys: VaultKeys
        package let slot: KeySlot
    }

    /// Unwraps the root with a passphrase or recovery code, trying all slots.
    ///
    /// Text in the form of a recovery code is tried as one first, which is cheap, then as a
    /// passphrase.
    ///
    /// - Parameter memoryLimitBytes: The memory available to Argon2id; nil if unknown.
    /// - Throws: ``VaultError/Code/wrongPassphrase`` if no slot opens. The reason distinguishes a
    ///   mistyped recovery code from a wrong one.
    package func open(
        with secret: borrowing SecretBytes, memoryLimitBytes: UInt64?
    ) throws(VaultError) -> Opening {
        if let opening = try openedSlot(
            of: header.slots, with: secret, memoryLimitBytes: memoryLimitBytes)
        {
            let slot = opening.slot
            return Opening(keys: try keys(root: RootKey(opening.root)), slot: slot)
        }
        throw try wrongSecret(secret)
    }

    /// Returns whether `secret` is the passphrase or recovery code of `slot`.
    ///
    /// - Throws: What ``open(with:memoryLimitBytes:)`` throws, except for a wrong secret.
    package func opens(
        _ slot: KeySlot, with secret: borrowing SecretBytes, memoryLimitBytes: UInt64?
    ) throws(VaultError) -> Bool {
        try openedSlot(of: [slot], with: secret, memoryLimitBytes: memoryLimitBytes) != nil
    }

    /// Unlocks with a root kept elsewhere, 32 bytes.
    package func unlock(root: consuming SecretBytes) throws(VaultError) -> VaultKeys {
        try keys(root: RootKey(root))
    }

    /// Unlocks with an index key kept elsewhere, 32 bytes. Whether it is correct shows only when
    /// the index is opened.
    package func unlock(indexKey: consuming SecretBytes) -> VaultKeys {
        VaultKeys(index: IndexKey(indexKey, epoch: header.indexEpoch), root: nil)
    }

    /// A slot with its unwrapped root.
    private struct OpenedSlot: ~Copyable {
        let slot: KeySlot
        let root: SecretBytes
    }

    private func openedSlot(
        of slots: [KeySlot], with secret: borrowing SecretBytes, memoryLimitBytes: UInt64?
    ) throws(VaultError) -> OpenedSlot? {
        if let code = try RecoveryCode(reading: secret) {
            for slot in slots where slot.kind == .recovery && slot.tier == .values {
                let wrappingKey = try code.wrappingKey(salt: slot.salt)
                if let root = try slot.unwrap(with: wrappingKey, vault: header.vaultID) {
                    return OpenedSlot(slot: slot, root: root)
                }
            }
        }
        for slot in slots where slot.kind == .passphrase && slot.tier == .values {
            if let limit = memoryLimitBytes, let cost = slot.cost, cost.memoryByteCount > limit {
                throw VaultError(
                    .outOfMemory,
                    "checking the passphrase requires \(cost.memoryByteCount >> 20) MiB of memory, but only "
                        + "\(limit >> 20) MiB is available")
            }
            let wrappingKey = try slot.wrappingKey(from: secret)
            if let root = try slot.unwrap(with: wrappingKey, vault: header.vaultID) {
                return OpenedSlot(slot: slot, root: root)
            }
        }
        return nil
    }

    private func wrongSecret(_ secret: borrowing SecretBytes) throws(VaultError) -> VaultError {
        let hasRecovery = header.slots.contains { $0.kind == .recovery }
        switch hasRecovery ? CodeText.form(of: secret) : .other {
        case .code:
            return VaultError(
                .wrongPassphrase,
                "the recovery code has no typos, but does not open \(path): it belongs to another "
                    + "vault, or its slot was removed")
        case .slip:
            return VaultError(
                .wrongPassphrase,
                "the recovery code has a typo: its check characters do not match")
        case .other:
            return VaultError(.wrongPassphrase, "wrong passphrase")
        }
    }
}

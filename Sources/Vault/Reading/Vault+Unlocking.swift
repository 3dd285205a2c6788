package import Sealing

extension Vault {
    /// What a secret that somebody typed or kept has opened.
    package struct Opening {
        /// Both tiers.
        package let keys: VaultKeys
        /// The slot that opened.
        package let slot: KeySlot
    }

    /// Unwraps the root with a passphrase or a recovery code; see ``open(with:memoryLimitBytes:)``.
    package func unlock(
        passphrase: borrowing SecretBytes, memoryLimitBytes: UInt64?
    ) throws(VaultError) -> VaultKeys {
        try open(with: passphrase, memoryLimitBytes: memoryLimitBytes).keys
    }

    /// Unwraps the root with a passphrase or a recovery code: tries the slots in turn.
    ///
    /// A text in the form of a recovery code is tried as one first, which costs nothing, and then as
    /// a passphrase, which it might be.
    ///
    /// - Parameter memoryLimitBytes: What Argon2id may take; nil where that is unknown.
    /// - Throws: ``VaultError/Code/wrongPassphrase`` when none opens; its reason tells a recovery code
    ///   with a slip from a wrong one.
    package func open(
        with secret: borrowing SecretBytes, memoryLimitBytes: UInt64?
    ) throws(VaultError) -> Opening {
        if let opening = try openedSlot(
            of: header.slots, with: secret, memoryLimitBytes: memoryLimitBytes)
        {
            return Opening(keys: try keys(root: RootKey(opening.root.take())), slot: opening.slot)
        }
        throw try wrongSecret(secret)
    }

    /// Tells whether `secret` is the passphrase or the recovery code of `slot`.
    ///
    /// - Throws: What ``open(with:memoryLimitBytes:)`` throws, but a wrong secret is no error.
    package func opens(
        _ slot: KeySlot, with secret: borrowing SecretBytes, memoryLimitBytes: UInt64?
    ) throws(VaultError) -> Bool {
        try openedSlot(of: [slot], with: secret, memoryLimitBytes: memoryLimitBytes) != nil
    }

    /// Takes a root that was kept elsewhere, of 32 bytes.
    package func unlock(root: consuming SecretBytes) throws(VaultError) -> VaultKeys {
        try keys(root: RootKey(root))
    }

    /// Takes an index key that was kept elsewhere, of 32 bytes. Whether it is the right one shows when
    /// the index is opened.
    package func unlock(indexKey: consuming SecretBytes) -> VaultKeys {
        VaultKeys(index: IndexKey(indexKey, epoch: header.indexEpoch), root: nil)
    }

    /// A root that was unwrapped, until somebody takes it.
    private final class OpenedSlot {
        let slot: KeySlot
        let root: Holder

        final class Holder {
            private var bytes: SecretBytes?

            init(_ bytes: consuming SecretBytes) {
                self.bytes = consume bytes
            }

            func take() throws(VaultError) -> SecretBytes {
                guard let bytes = bytes.take() else {
                    throw VaultError(damaged: .slot, "a key was taken twice")
                }
                return bytes
            }
        }

        init(_ slot: KeySlot, _ root: consuming SecretBytes) {
            self.slot = slot
            self.root = Holder(root)
        }
    }

    private func openedSlot(
        of slots: [KeySlot], with secret: borrowing SecretBytes, memoryLimitBytes: UInt64?
    ) throws(VaultError) -> OpenedSlot? {
        if let code = try RecoveryCode(reading: secret) {
            for slot in slots where slot.kind == .recovery && slot.tier == .values {
                let wrappingKey = try code.wrappingKey(salt: slot.salt)
                if let root = try slot.unwrap(with: wrappingKey, vault: header.vaultID) {
                    return OpenedSlot(slot, root)
                }
            }
        }
        for slot in slots where slot.kind == .passphrase && slot.tier == .values {
            if let limit = memoryLimitBytes, let cost = slot.cost, cost.memoryByteCount > limit {
                throw VaultError(
                    .outOfMemory,
                    "the passphrase takes \(cost.memoryByteCount >> 20) MiB of memory to check, and "
                        + "\(limit >> 20) MiB are available")
            }
            let wrappingKey = try slot.wrappingKey(from: secret)
            if let root = try slot.unwrap(with: wrappingKey, vault: header.vaultID) {
                return OpenedSlot(slot, root)
            }
        }
        return nil
    }

    private func wrongSecret(_ secret: borrowing SecretBytes) throws(VaultError) -> VaultError {
        let hasRecovery = header.slots.contains { $0.kind == .recovery }
        switch hasRecovery ? RecoveryCode.form(of: secret) : .other {
        case .code:
            return VaultError(
                .wrongPassphrase,
                "the recovery code has no slip in it, but it does not open \(path): it is of another "
                    + "vault, or its slot was removed")
        case .slip:
            return VaultError(
                .wrongPassphrase,
                "the recovery code has a slip in it: its check characters do not fit")
        case .other:
            return VaultError(.wrongPassphrase, "the passphrase does not open \(path)")
        }
    }
}

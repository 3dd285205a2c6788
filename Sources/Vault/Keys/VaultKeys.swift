package import Sealing

/// What a process holds of a vault's keys: the index key, and the root where the values are open too.
package final class VaultKeys {
    let index: IndexKey
    let root: RootKey?

    package init(index: consuming IndexKey, root: consuming RootKey?) {
        self.index = index
        self.root = root
    }

    /// Tells whether values can be read.
    package var opensValues: Bool { root != nil }

    /// A key that follows from the index key, and opens nothing of the vault.
    package func derivedKey(for purpose: IndexKey.Purpose) throws(VaultError) -> SecretBytes {
        try index.derivedKey(for: purpose)
    }

    /// The same keys without those of the values, for a process that runs for long and never needs
    /// them.
    package func indexTier() throws(VaultError) -> VaultKeys {
        let epoch = index.epoch
        let copy = try guarding { () throws(SealingError) in
            try index.bytes.withBytes { (bytes) throws(SealingError) in
                try SecretBytes(copying: bytes)
            }
        }
        return VaultKeys(index: IndexKey(copy, epoch: epoch), root: nil)
    }

    /// Lends the 32 bytes of the index key to what keeps them for a time.
    package func withIndexKey<R, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try index.bytes.withBytes(body)
    }

    /// Lends the 32 bytes of the root to what keeps them for a time; nil while the values are locked.
    package func withRoot<R, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
        try root?.withBytes(body)
    }
}

/// The key of everything: 32 random bytes from which every other key of the vault follows.
package struct RootKey: ~Copyable {
    let bytes: SecretBytes

    /// Takes 32 bytes, from a slot or the unlock cache.
    package init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    /// Makes a new one.
    static func random() throws(VaultError) -> RootKey {
        try guarding { () throws(SealingError) in RootKey(try SecretBytes.random(count: 32)) }
    }

    /// The index key of an epoch: label "zgv2indx", number = epoch.
    package borrowing func indexKey(epoch: UInt32) throws(VaultError) -> IndexKey {
        IndexKey(try derive(bytes, UInt64(epoch), "zgv2indx"), epoch: epoch)
    }

    /// The pair that values are sealed to while the vault is locked: label "zgv2root", number 1.
    borrowing func boxKeyPair() throws(VaultError) -> SealedBox.KeyPair {
        let seed = try derive(bytes, 1, "zgv2root")
        return try guarding { () throws(SealingError) in try SealedBox.KeyPair(seed: seed) }
    }

    /// Kb, which wraps data keys of writes with the root: label "zgv2root", number 2.
    borrowing func batchKey() throws(VaultError) -> SecretBytes {
        try derive(bytes, 2, "zgv2root")
    }

    /// Kc, which authenticates the checkpoint: label "zgv2root", number 3.
    borrowing func checkpointKey() throws(VaultError) -> SecretBytes {
        try derive(bytes, 3, "zgv2root")
    }

    fileprivate borrowing func withBytes<R, E>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R { try bytes.withBytes(body) }
}

/// The key of the index tier: names, metadata, tokens; no value.
package struct IndexKey: ~Copyable {
    let bytes: SecretBytes
    /// Which index key it is; a vault with another epoch does not open with it.
    package let epoch: UInt32

    /// Takes 32 bytes, from a slot or derived from the root.
    package init(_ bytes: consuming SecretBytes, epoch: UInt32) {
        self.bytes = bytes
        self.epoch = epoch
    }

    /// The key of the index itself: label "zgv2sub_", number 1.
    borrowing func sealingKey() throws(VaultError) -> SecretBytes {
        try derive(bytes, 1, "zgv2sub_")
    }

    /// What is kept beside the vault under a key that follows from the index key: label "zgv2sub_", and this
    /// number.
    package enum Purpose: UInt64 {
        /// The lines of the audit log.
        case auditLog = 2
        /// Answers of the platform.
        case answers = 3
        /// Choices of notifications, and how far the watching has come.
        case notifications = 4
    }

    borrowing func derivedKey(for purpose: Purpose) throws(VaultError) -> SecretBytes {
        try derive(bytes, purpose.rawValue, "zgv2sub_")
    }
}

private func derive(
    _ key: borrowing SecretBytes, _ id: UInt64, _ context: StaticString
) throws(VaultError) -> SecretBytes {
    do {
        return try KeyDerivation.derive(from: key, id: id, context: context)
    } catch { throw VaultError(error, damaged: .tag, "a key cannot be derived") }
}

package import Sealing

/// The keys of a vault: the index key and, if the values are unlocked, the root.
package final class VaultKeys {
    let index: IndexKey
    let root: RootKey?

    package init(index: consuming IndexKey, root: consuming RootKey?) {
        self.index = index
        self.root = root
    }

    /// Whether values can be read.
    package var opensValues: Bool { root != nil }

    /// Returns a key that is derived from the index key, and opens no part of the vault.
    package func derivedKey(for purpose: IndexKey.Purpose) throws(VaultError) -> SecretBytes {
        try index.derivedKey(for: purpose)
    }

    /// Returns a copy without the root, for long-running processes that do not need values.
    package func indexTier() throws(VaultError) -> VaultKeys {
        let epoch = index.epoch
        let copy = try guarding { () throws(SealingError) in
            try index.bytes.withBytes { (bytes) throws(SealingError) in
                try SecretBytes(copying: bytes)
            }
        }
        return VaultKeys(index: IndexKey(copy, epoch: epoch), root: nil)
    }

    /// Passes the 32 bytes of the index key to `body`, for caching.
    package func withIndexKey<R, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try index.bytes.withBytes(body)
    }

    /// Passes the 32 bytes of the root to `body`, for caching. Returns nil while the values are
    /// locked.
    package func withRoot<R, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
        try root?.withBytes(body)
    }
}

/// The root: 32 random bytes from which all other keys of the vault are derived.
package struct RootKey: ~Copyable {
    let bytes: SecretBytes

    /// - Parameter bytes: 32 bytes, from a slot or the unlock cache.
    package init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    static func random() throws(VaultError) -> RootKey {
        try guarding { () throws(SealingError) in RootKey(try SecretBytes.random(count: 32)) }
    }

    /// Derives the index key of an epoch: label "zgv3indx", number = epoch.
    package borrowing func indexKey(epoch: UInt32) throws(VaultError) -> IndexKey {
        IndexKey(try derive(bytes, UInt64(epoch), "zgv3indx"), epoch: epoch)
    }

    /// Derives the pair that signs the index: label "zgv3root", number 1.
    borrowing func signingPair() throws(VaultError) -> SigningKeyPair {
        let seed = try derive(bytes, 1, "zgv3root")
        return try guarding { () throws(SealingError) in try SigningKeyPair(seed: seed) }
    }

    /// Derives Kb, which wraps the data keys: label "zgv3root", number 2.
    borrowing func batchKey() throws(VaultError) -> SecretBytes {
        try derive(bytes, 2, "zgv3root")
    }

    /// Derives Km, which makes the code of the index: label "zgv3root", number 3.
    borrowing func indexCodeKey() throws(VaultError) -> SecretBytes {
        try derive(bytes, 3, "zgv3root")
    }

    /// Derives the key that seals a member's private keys: label "zgv3root", number 4.
    borrowing func groupKey() throws(VaultError) -> SecretBytes {
        try derive(bytes, 4, "zgv3root")
    }

    /// Derives the key that seals protected tokens: label "zgv3root", number 5.
    borrowing func tokenKey() throws(VaultError) -> SecretBytes {
        try derive(bytes, 5, "zgv3root")
    }

    fileprivate borrowing func withBytes<R, E>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R { try bytes.withBytes(body) }
}

/// The key of the index tier: names, metadata, tokens; no values.
package struct IndexKey: ~Copyable {
    let bytes: SecretBytes
    /// The number of the index key; it opens only vaults with the same epoch.
    package let epoch: UInt32

    /// - Parameter bytes: 32 bytes, from a slot or derived from the root.
    package init(_ bytes: consuming SecretBytes, epoch: UInt32) {
        self.bytes = bytes
        self.epoch = epoch
    }

    /// Derives the key of the index itself: label "zgv3sub_", number 1.
    borrowing func sealingKey() throws(VaultError) -> SecretBytes {
        try derive(bytes, 1, "zgv3sub_")
    }

    /// Files beside the vault with keys derived from the index key: label "zgv3sub_", and this
    /// number.
    package enum Purpose: UInt64 {
        /// The lines of the audit log.
        case auditLog = 2
        /// The response cache.
        case answers = 3
        /// Notification settings, and the progress of `watch`.
        case notifications = 4
    }

    borrowing func derivedKey(for purpose: Purpose) throws(VaultError) -> SecretBytes {
        try derive(bytes, purpose.rawValue, "zgv3sub_")
    }
}

private func derive(
    _ key: borrowing SecretBytes, _ id: UInt64, _ context: StaticString
) throws(VaultError) -> SecretBytes {
    do {
        return try KeyDerivation.derive(from: key, id: id, context: context)
    } catch { throw VaultError(error, damaged: .tag, "a key cannot be derived") }
}

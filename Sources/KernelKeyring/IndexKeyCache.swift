package import Sealing
package import Vault

/// Caches a vault's index key in the user keyring for ten minutes, so that names can be listed
/// without a prompt where no desktop keyring exists (docs/unlock-cache.md). It cannot open values.
package struct IndexKeyCache {
    /// How long a key is cached.
    package static let seconds: UInt32 = 600
    /// Index key (32), the vault's public key (32).
    private static let byteCount = 64
    private static let prefix = "zg-env:"
    private static let infix = ":index-key:"

    private let vault: Identifier
    private let epoch: UInt32
    private let publicKey: [UInt8]

    /// A cache for one vault in its current epoch. Does not access the keyring.
    ///
    /// - Parameter publicKey: 32 bytes. It is derived from the root, so it distinguishes a vault
    ///   with regenerated keys from one with the same epoch.
    package init(vault: Identifier, epoch: UInt32, publicKey: [UInt8]) {
        precondition(publicKey.count == 32)
        (self.vault, self.epoch, self.publicKey) = (vault, epoch, publicKey)
    }

    var description: String { "\(Self.prefix)\(vault.hexadecimal)\(Self.infix)\(epoch)" }

    /// Caches the index key (32 bytes) and removes those of other epochs.
    package func store(_ indexKey: RawSpan) throws(KernelKeyringError) {
        precondition(indexKey.byteCount == 32)
        try Self.forget(vault)
        var payload = try guarding { () throws(SealingError) in
            try SecretBytes(count: Self.byteCount)
        }
        payload.withMutableBytes { target in
            target.copy(from: indexKey)
            var tail = target._mutatingExtracting(droppingFirst: 32)
            publicKey.withBytes { tail.copy(from: $0) }
        }
        try payload.withBytes { (bytes) throws(KernelKeyringError) in
            _ = try KernelKey.put(
                bytes, description: description, seconds: Self.seconds, access: .owner, into: .user)
        }
    }

    /// Returns the index key, or nil if none is cached for the vault in its current state.
    package func find() throws(KernelKeyringError) -> SecretBytes? {
        guard
            let payload = try KernelKey.user.search(description)?.payload(count: Self.byteCount)
        else { return nil }
        let isOfThisVault = payload.withBytes { bytes in
            publicKey.withBytes {
                bytes.extracting(droppingFirst: 32).isEqualInConstantTime(to: $0)
            }
        }
        guard isOfThisVault else { return nil }
        return try guarding { () throws(SealingError) in
            try payload.withBytes { (bytes) throws(SealingError) in
                try SecretBytes(copying: bytes.extracting(first: 32))
            }
        }
    }

    /// Removes what is cached for a vault, in every epoch. ``UnlockCache/lock(_:)`` does so too.
    package static func forget(_ vault: Identifier) throws(KernelKeyringError) {
        let start = prefix + vault.hexadecimal + infix
        for key in try KernelKey.user.children() {
            guard let description = key.description, description.hasPrefix(start) else { continue }
            key.invalidate()
        }
    }
}

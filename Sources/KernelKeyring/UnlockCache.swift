internal import Sealing
package import Vault

/// Keeps a vault open for a time in the kernel's keyrings, without a daemon (docs/unlock-cache.md).
///
/// Two keys. U, 32 random bytes, is in the user keyring and for its uid alone; the root is in the
/// session keyring (or the user keyring), sealed under U. So it takes the same user and the same
/// session, and ending U ends all sessions. The kernel ends both by itself, and the end that is sealed
/// with the root holds where somebody puts a key back or changes its timeout. This is no boundary
/// against other programs of the same user.
package struct UnlockCache {
    /// Bytes of U's key: U 32, and when it ends, u64 in seconds since 1970.
    private static let keyByteCount = 40
    private static let sealedByteCount =
        AuthenticatedCipher.nonceByteCount + UnlockedRoot.byteCount
        + AuthenticatedCipher.tagByteCount
    private static let prefix = "zg-env:"

    let vault: Identifier
    private let epoch: UInt32

    /// The cache of one vault in one epoch of its index key. Nothing is looked up.
    package init(vault: Identifier, epoch: UInt32) {
        self.vault = vault
        self.epoch = epoch
    }

    /// The name of U's key.
    var keyDescription: String {
        "\(Self.prefix)\(vault.hexadecimal):unlock-key:\(epoch)"
    }
    /// The name of the key with the sealed root.
    var rootDescription: String {
        "\(Self.prefix)\(vault.hexadecimal):unlocked:\(epoch)"
    }

    /// Tells whether the root could be kept for `scope`, without keeping anything.
    ///
    /// - Throws: ``KernelKeyringError/Code/noSession`` and ``KernelKeyringError/Code/sessionEnded``
    ///   for ``UnlockScope/session`` only; ``KernelKeyringError/Code/unavailable`` for both.
    package static func check(_ scope: UnlockScope) throws(KernelKeyringError) {
        switch scope {
        case .session: _ = try SessionKeyring.own()
        case .user: _ = try KernelKey.user.search("\(prefix)none")
        }
    }

    /// Keeps the root for `seconds`, and reads it back.
    ///
    /// A U that is alive stays, so that other sessions stay open; its end is never brought forward.
    ///
    /// - Parameters:
    ///   - root: 32 bytes.
    ///   - seconds: At least one.
    ///   - now: Seconds since 1970.
    package func store(
        root: RawSpan, position: VaultPosition, seconds: UInt32, now: UInt64, scope: UnlockScope
    ) throws(KernelKeyringError) {
        let keyring = scope == .user ? KernelKey.user : try SessionKeyring.own()
        let endsAt = now &+ UInt64(seconds)
        // Another session may put its own U in between; then ours is sealed again, under that one.
        for _ in 0..<3 {
            let key = try sealingKey(until: endsAt, now: now)
            let sealed = try seal(root, position, endsAt, under: key)
            try sealed.withBytes { (bytes) throws(KernelKeyringError) in
                _ = try KernelKey.put(
                    bytes, description: rootDescription, seconds: seconds,
                    access: scope == .user ? .owner : .possessor, into: keyring)
            }
            if let current = try currentKey(), current.isEqualInConstantTime(to: key),
                try opened(
                    try keyring.search(rootDescription), under: key, scope, now: now) != nil
            {
                return
            }
        }
        throw KernelKeyringError(.notThere, "what was put into the kernel's keyring is not there")
    }

    /// The root where the vault is unlocked for this process; nil where it is not. Of a session's and
    /// a user's the one that ends later.
    ///
    /// That a key has ended, is another user's, or was sealed under an earlier U is not an error: it
    /// is locked.
    ///
    /// - Parameter now: Seconds since 1970.
    package func find(now: UInt64) throws(KernelKeyringError) -> UnlockedRoot? {
        guard let key = try currentKey() else { return nil }
        let shared = try KernelKey.user.search(rootDescription)
        // A revoked session keyring says so here; the user's may still be open.
        let own = try (try? SessionKeyring.own())?.search(rootDescription)
        var best = try opened(shared, under: key, .user, now: now)
        // A session keyring may link the user keyring, and then finds the same key there.
        if let own, own != shared,
            let found = try opened(own, under: key, .session, now: now)
        {
            let bestEnd = best?.endsAt ?? 0
            if found.endsAt >= bestEnd { best = consume found }
        }
        return best
    }

    /// Ends what is unlocked for `scope` here, and leaves other sessions alone.
    package func remove(_ scope: UnlockScope) throws(KernelKeyringError) {
        let keyring = scope == .user ? KernelKey.user : try SessionKeyring.own()
        try keyring.search(rootDescription)?.invalidate()
    }

    /// Locks a vault in all epochs and all sessions of the user, and looks whether it is locked.
    ///
    /// - Parameter vault: nil for every vault of the user.
    /// - Returns: Whether anything was unlocked.
    @discardableResult
    package static func lock(_ vault: Identifier?) throws(KernelKeyringError) -> Bool {
        try check(.user)
        let start = prefix + (vault.map { $0.hexadecimal + ":" } ?? "")
        var wasUnlocked = false
        let session = (try? SessionKeyring.own().children()) ?? []
        for key in try KernelKey.user.children() + session {
            guard let description = key.description, description.hasPrefix(start) else { continue }
            if description.contains(":unlock-key:") {
                wasUnlocked = try KernelKey.user.search(description) != nil || wasUnlocked
            }
            key.invalidate()
            guard try KernelKey.user.search(description) == nil else {
                throw KernelKeyringError(.failed, "a key in the user keyring cannot be ended")
            }
        }
        return wasUnlocked
    }

    // MARK: - U

    /// U where it is alive and ours.
    private func currentKey() throws(KernelKeyringError) -> SecretBytes? {
        try KernelKey.user.search(keyDescription)?.payload(count: Self.keyByteCount)
    }

    /// U, made where there is none, and kept at least until `endsAt`.
    private func sealingKey(
        until endsAt: UInt64, now: UInt64
    ) throws(KernelKeyringError) -> SecretBytes {
        var key: SecretBytes
        if let current = try currentKey() {
            let end = current.withBytes { $0.integer(at: 32) }
            if end >= endsAt { return current }
            key = consume current
        } else {
            key = try guarding { () throws(SealingError) in
                try SecretBytes.random(count: Self.keyByteCount)
            }
        }
        key.withMutableBytes {
            $0.storeBytes(of: endsAt.littleEndian, toByteOffset: 32, as: UInt64.self)
        }
        try key.withBytes { (bytes) throws(KernelKeyringError) in
            _ = try KernelKey.put(
                bytes, description: keyDescription,
                seconds: UInt32(clamping: endsAt &- now), access: .owner, into: .user)
        }
        return key
    }

    // MARK: - Sealing

    /// "zgv2/cache", the vault's id, the epoch as u32.
    private var associatedData: [UInt8] {
        Array("zgv2/cache".utf8) + vault.bytes
            + (0..<4).map { UInt8(truncatingIfNeeded: epoch >> (8 * UInt32($0))) }
    }

    private func seal(
        _ root: RawSpan, _ position: VaultPosition, _ endsAt: UInt64,
        under key: borrowing SecretBytes
    ) throws(KernelKeyringError) -> [UInt8] {
        let text = try UnlockedRoot.encoded(root: root, position: position, endsAt: endsAt)
        let nonce = AuthenticatedCipher.randomNonce()
        var sealed = nonce
        key.withBytes { key in
            text.withBytes {
                AuthenticatedCipher.seal(
                    $0, nonce: nonce, additionalData: associatedData,
                    key: key.extracting(first: 32), appendingTo: &sealed)
            }
        }
        return sealed
    }

    /// Opens what a key holds; nil where it is gone, was not sealed under this U for this vault, or
    /// has ended.
    private func opened(
        _ key: KernelKey?, under sealingKey: borrowing SecretBytes, _ scope: UnlockScope,
        now: UInt64
    ) throws(KernelKeyringError) -> UnlockedRoot? {
        guard let sealed = try key?.payload(count: Self.sealedByteCount) else { return nil }
        var text = try guarding { () throws(SealingError) in
            try SecretBytes(count: UnlockedRoot.byteCount)
        }
        let nonceCount = AuthenticatedCipher.nonceByteCount
        let nonce = sealed.withBytes { bytes in (0..<nonceCount).map { bytes.byte(at: $0) } }
        let isAuthentic = sealed.withBytes { sealed in
            sealingKey.withBytes { key in
                text.withMutableBytes { out in
                    do throws(SealingError) {
                        try AuthenticatedCipher.open(
                            sealed.extracting(droppingFirst: nonceCount), nonce: nonce,
                            additionalData: associatedData, key: key.extracting(first: 32),
                            into: &out)
                        return true
                    } catch { return false }
                }
            }
        }
        guard isAuthentic else { return nil }
        let root = try UnlockedRoot(decoding: text, scope: scope)
        guard root.endsAt > now else { return nil }
        return root
    }
}

internal import Sealing
package import Vault

/// Keeps a vault unlocked for a limited time in the kernel keyrings, without a daemon
/// (docs/unlock-cache.md).
///
/// There are two keys. U, 32 random bytes, is in the user keyring and accessible to its uid only.
/// The root is in the session keyring (or the user keyring), sealed under U. Reading it therefore
/// requires the same user and the same session, and removing U locks all sessions. The kernel
/// expires both; the expiry time sealed with the root holds even if someone restores a key or
/// changes its timeout. This does not protect against other programs of the same user.
package struct UnlockCache {
    /// U (32), expiry as u64 in seconds since 1970.
    private static let keyByteCount = 40
    private static let sealedByteCount =
        AuthenticatedCipher.nonceByteCount + UnlockedRoot.byteCount
        + AuthenticatedCipher.tagByteCount
    private static let prefix = "zg-env:"

    let vault: Identifier
    private let epoch: UInt32

    /// A cache for one vault in one epoch of its index key. Does not access the keyring.
    package init(vault: Identifier, epoch: UInt32) {
        self.vault = vault
        self.epoch = epoch
    }

    /// The description of U's key.
    var keyDescription: String {
        "\(Self.prefix)\(vault.hexadecimal):unlock-key:\(epoch)"
    }
    /// The description of the key with the sealed root.
    var rootDescription: String {
        "\(Self.prefix)\(vault.hexadecimal):unlocked:\(epoch)"
    }

    /// Checks that the root could be cached for `scope`, without caching anything.
    ///
    /// - Throws: ``KernelKeyringError/Code/noSession`` and ``KernelKeyringError/Code/sessionEnded``
    ///   for ``UnlockScope/session`` only; ``KernelKeyringError/Code/unavailable`` for both.
    package static func check(_ scope: UnlockScope) throws(KernelKeyringError) {
        switch scope {
        case .session: _ = try SessionKeyring.own()
        case .user: _ = try KernelKey.user.search("\(prefix)none")
        }
    }

    /// Caches the root for `seconds` and reads it back.
    ///
    /// A live U is kept, so that other sessions stay unlocked; its expiry is only ever extended.
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
        // Another session may store its own U in between; then this seals again under that one.
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
        throw KernelKeyringError(.notThere, "a key just added to the kernel keyring is missing")
    }

    /// Returns the root if the vault is unlocked for this process, otherwise nil. If both the
    /// session and the user have one, the later expiry wins.
    ///
    /// A key that has expired, belongs to another user or was sealed under an earlier U is not an
    /// error: the vault is locked.
    ///
    /// - Parameter now: Seconds since 1970.
    package func find(now: UInt64) throws(KernelKeyringError) -> UnlockedRoot? {
        guard let key = try currentKey() else { return nil }
        let shared = try KernelKey.user.search(rootDescription)
        // Fails if the session keyring was revoked; the user's may still be unlocked.
        let own = try (try? SessionKeyring.own())?.search(rootDescription)
        var best = try opened(shared, under: key, .user, now: now)
        // A session keyring may link the user keyring, in which case both searches find the same
        // key.
        if let own, own != shared,
            let found = try opened(own, under: key, .session, now: now)
        {
            let bestEnd = best?.endsAt ?? 0
            if found.endsAt >= bestEnd { best = consume found }
        }
        return best
    }

    /// Removes what is unlocked for `scope` here, without affecting other sessions.
    package func remove(_ scope: UnlockScope) throws(KernelKeyringError) {
        let keyring = scope == .user ? KernelKey.user : try SessionKeyring.own()
        try keyring.search(rootDescription)?.invalidate()
    }

    /// Locks a vault in all epochs and all of the user's sessions, and verifies that it is locked.
    ///
    /// - Parameter vault: nil for all of the user's vaults.
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
                throw KernelKeyringError(.failed, "a key in the user keyring cannot be invalidated")
            }
        }
        return wasUnlocked
    }

    // MARK: - U

    /// Returns U if it is live and accessible.
    private func currentKey() throws(KernelKeyringError) -> SecretBytes? {
        try KernelKey.user.search(keyDescription)?.payload(count: Self.keyByteCount)
    }

    /// Returns U, which it creates if necessary, with an expiry of at least `endsAt`.
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

    /// "zgv3/cache", vault id, epoch (u32).
    private var associatedData: [UInt8] {
        Array("zgv3/cache".utf8) + vault.bytes
            + (0..<4).map { UInt8(truncatingIfNeeded: epoch >> (8 * UInt32($0))) }
    }

    private func seal(
        _ root: RawSpan, _ position: VaultPosition, _ endsAt: UInt64,
        under key: borrowing SecretBytes
    ) throws(KernelKeyringError) -> [UInt8] {
        let text = try UnlockedRoot.encoded(root: root, position: position, endsAt: endsAt)
        return key.withBytes { key in
            text.withBytes {
                AuthenticatedCipher.sealed(
                    $0, additionalData: associatedData, key: key.extracting(first: 32))
            }
        }
    }

    /// Opens a key's payload. Returns nil if it is gone, was not sealed under this U for this
    /// vault, or has expired.
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

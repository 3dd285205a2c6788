import CSecret
package import Sealing
internal import Threads
package import Vault

/// The desktop's keyring: any Secret Service (gnome-keyring, KeePassXC, KWallet), through
/// libsecret.
///
/// The first call loads libsecret; one connection is kept for later calls. Items are base64 text,
/// stored in the default collection and searched in all. A call may make the service ask the user
/// to unlock, but never takes longer than the limit. libsecret starts GLib threads; it leaves
/// signal dispositions and masks alone, and its descriptors do not survive `execve`.
package final class SecretServiceKeyring: Keyring {
    private let busAddress: String?
    private let limitMilliseconds: UInt32
    private let session = Monitor<SecretServiceSession?>(nil)

    /// Creates a keyring without connecting.
    ///
    /// - Parameters:
    ///   - busAddress: The address of the session bus, from
    ///     ``SessionBus/address(configured:runtimeDirectory:)``. With nil, every call throws
    ///     `KeyringError.Code.noBus`.
    ///   - limit: The longest that one call may take, including the user's answer to a prompt:
    ///     about a minute where a screen can show one, a few seconds otherwise. The prompt itself
    ///     is not withdrawn: answered later, it unlocks the keyring for the next call.
    package init(busAddress: String?, limit: Duration) {
        // Filtered again, because libsecret must never see an address that would start a bus.
        self.busAddress = SessionBus.address(configured: busAddress, runtimeDirectory: nil)
        let (seconds, attoseconds) = limit.components
        let milliseconds = Double(seconds) * 1_000 + Double(attoseconds) / 1e15
        limitMilliseconds = UInt32(max(0, min(milliseconds, 3_600_000)))
    }

    package let name = "the desktop keyring"

    /// Stores `secret` in the default collection and reads it back.
    ///
    /// - Throws: ``KeyringError/Code/failed`` if the stored secret differs.
    package func store(
        _ secret: borrowing SecretBytes, for item: KeyringItem
    ) throws(KeyringError) {
        let text = try Self.encoded(secret)
        try withSession { (session) throws(SecretServiceFailure) in
            try session.store(text, for: item)
        }
    }

    /// Returns the first secret of `item` that satisfies `isWanted`. Once the collection is
    /// unlocked, finding none is not an error.
    ///
    /// - Throws: ``KeyringError/Code/malformed`` if none matches and one is not base64 text.
    package func secret(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes? {
        try withSession { (session) throws(SecretServiceFailure) in
            try session.secret(for: item, where: isWanted)
        }
    }

    /// Returns the first secret of `item` that satisfies `isWanted`, without unlocking anything.
    package func secretWithoutPrompting(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes? {
        try withSession { (session) throws(SecretServiceFailure) in
            try session.secretWithoutPrompting(for: item, where: isWanted)
        }
    }

    /// Removes `item` and verifies that it is gone.
    package func remove(_ item: KeyringItem) throws(KeyringError) {
        try withSession { (session) throws(SecretServiceFailure) in
            try session.remove(item)
        }
    }

    /// Returns the items of `vault` (a hexadecimal id) that are readable without a prompt, to find
    /// those that no slot uses.
    package func items(ofVault vault: String) throws(KeyringError) -> [KeyringItem] {
        try withSession { (session) throws(SecretServiceFailure) in
            try session.items(ofVault: vault)
        }
    }

    /// Whether a suitable libsecret is installed. Loads it.
    package static var isLibraryAvailable: Bool { zg_secret_load() }

    /// Queries the service without prompting the user.
    ///
    /// - Throws: ``KeyringError/Code/libraryMissing``, ``KeyringError/Code/noBus`` or
    ///   ``KeyringError/Code/noProvider`` if there is no usable keyring.
    package func status() throws(KeyringError) -> SecretServiceStatus {
        try withSession { (session) throws(SecretServiceFailure) in
            let process = try session.provider()
            let collection = try session.defaultCollection()
            return SecretServiceStatus(
                serviceName: ServiceName.name(ofProcess: process), collection: collection)
        }
    }

    /// Returns whether the default collection is unlocked.
    package func isUnlocked() throws(KeyringError) -> Bool {
        try withSession { (session) throws(SecretServiceFailure) in
            try session.defaultCollection() == .unlocked
        }
    }

    private static func encoded(
        _ secret: borrowing SecretBytes
    ) throws(KeyringError) -> SecretBytes {
        do {
            return try secret.withBytes { (bytes) throws(SealingError) in
                try Base64.encoded(bytes, .padded)
            }
        } catch {
            throw KeyringError(.failed, "cannot allocate guarded memory")
        }
    }

    /// Runs `body` with the kept session, or else a new one. If the kept session fails, the service
    /// may have restarted, so `body` runs once more with a new one.
    private func withSession<R: ~Copyable>(
        _ body: (inout SecretServiceSession) throws(SecretServiceFailure) -> R
    ) throws(KeyringError) -> R {
        guard let busAddress else {
            throw KeyringError(.noBus, "there is no session bus")
        }
        do throws(SecretServiceFailure) {
            if var kept = session.look({ $0.take() }) {
                kept.setLimit(milliseconds: limitMilliseconds)
                do throws(SecretServiceFailure) {
                    let result = try body(&kept)
                    keep(kept)
                    return result
                } catch {
                    if !error.mayBeStale { throw error }
                }
            }
            var opened = try SecretServiceSession(
                address: busAddress, limitMilliseconds: limitMilliseconds)
            let result = try body(&opened)
            keep(opened)
            return result
        } catch {
            throw error.keyringError
        }
    }

    private func keep(_ open: consuming SecretServiceSession) {
        var open: SecretServiceSession? = consume open
        session.look { kept in
            if kept == nil { kept = open.take() }
        }
    }
}

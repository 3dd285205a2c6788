import CSecret
package import Sealing
internal import Threads
package import Vault

/// The desktop's keyring: any Secret Service (gnome-keyring, KeePassXC, KWallet), through libsecret.
///
/// libsecret is opened with the first call, and one connection is kept for the calls after it. Items
/// are base64 text in the default collection, found again in any. A call may have the service ask
/// the user to unlock; it never waits longer than the limit given. Loading libsecret starts threads
/// of GLib; it leaves signal dispositions and masks alone, and its descriptors do not survive an
/// `execve`.
package final class SecretServiceKeyring: Keyring {
    private let busAddress: String?
    private let limitMilliseconds: UInt32
    private let session = Monitor<SecretServiceSession?>(nil)

    /// Makes a keyring; nothing is opened yet.
    ///
    /// - Parameters:
    ///   - busAddress: Where the session bus is, from ``SessionBus/address(configured:runtimeDirectory:)``;
    ///     nil where there is none, which every call then reports.
    ///   - limit: How long one call may take, the user's answer to a prompt included: about a minute
    ///     where there is a screen to ask on, a few seconds where there is none. The question
    ///     itself is not taken back: answered later, it unlocks the keyring for the next call.
    package init(busAddress: String?, limit: Duration) {
        // Again without what would start a bus: libsecret must never get to see that.
        self.busAddress = SessionBus.address(configured: busAddress, runtimeDirectory: nil)
        let (seconds, attoseconds) = limit.components
        let milliseconds = Double(seconds) * 1_000 + Double(attoseconds) / 1e15
        limitMilliseconds = UInt32(max(0, min(milliseconds, 3_600_000)))
    }

    package let name = "the desktop keyring"

    /// Stores `secret` in the default collection and reads it back.
    ///
    /// - Throws: ``KeyringError/Code/failed`` when what is read back is something else.
    package func store(
        _ secret: borrowing SecretBytes, for item: KeyringItem
    ) throws(KeyringError) {
        let text = try Self.encoded(secret)
        try withSession { (session) throws(SecretServiceFailure) in
            try session.store(text, for: item)
        }
    }

    /// Finds the first secret of `item` that `isWanted` takes. That there is none is not an error, once
    /// the collection is open.
    ///
    /// - Throws: ``KeyringError/Code/malformed`` when none was taken and one is not base64 text.
    package func secret(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes? {
        try withSession { (session) throws(SecretServiceFailure) in
            try session.secret(for: item, where: isWanted)
        }
    }

    /// Finds the first secret of `item` that `isWanted` takes, where nothing has to be unlocked for that.
    package func secretWithoutAsking(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes? {
        try withSession { (session) throws(SecretServiceFailure) in
            try session.secretWithoutAsking(for: item, where: isWanted)
        }
    }

    /// Removes `item`, and looks whether it is gone.
    package func remove(_ item: KeyringItem) throws(KeyringError) {
        try withSession { (session) throws(SecretServiceFailure) in
            try session.remove(item)
        }
    }

    /// The items of `vault` (its id in hexadecimal digits) that can be read without a prompt: for
    /// finding those that no slot refers to.
    package func items(ofVault vault: String) throws(KeyringError) -> [KeyringItem] {
        try withSession { (session) throws(SecretServiceFailure) in
            try session.items(ofVault: vault)
        }
    }

    /// Whether libsecret is installed and has what is used of it. Opens it.
    package static var isLibraryThere: Bool { zg_secret_load() }

    /// Looks at the service without asking the user for anything.
    ///
    /// - Throws: ``KeyringError/Code/libraryMissing``, ``KeyringError/Code/noBus`` or
    ///   ``KeyringError/Code/noProvider`` where there is no keyring to use.
    package func status() throws(KeyringError) -> SecretServiceStatus {
        try withSession { (session) throws(SecretServiceFailure) in
            let process = try session.provider()
            let collection = try session.defaultCollection()
            return SecretServiceStatus(
                serviceName: ServiceName.name(ofProcess: process), collection: collection)
        }
    }

    /// Tells whether the default collection is open.
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
            throw KeyringError(.failed, "guarded memory could not be had")
        }
    }

    /// Runs `body` on the session of the calls before, or on a new one. Where the kept one fails, the
    /// service may have been started anew meanwhile: `body` runs once more, on a new one.
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

package import Sealing

/// Names one secret of one vault in a keyring.
package struct KeyringItem: Hashable, Sendable {
    /// What the secret is for.
    package enum Purpose: String, Sendable {
        /// The random key of a slot: 32 bytes.
        case slotKey = "slot-key"
        /// The newest generation of a vault file that was seen, against an older copy: a line of
        /// ``VaultAnchor``.
        case anchor
    }

    /// The vault's id, 32 hexadecimal digits.
    package let vault: String
    /// What the secret is for.
    package let purpose: Purpose
    /// Tells items of one purpose apart: the slot's id in hexadecimal digits, for an
    /// anchor ``VaultAnchor/identifier(ofPath:)``, or empty.
    package let identifier: String

    /// Names an item; nothing is looked up.
    package init(vault: String, purpose: Purpose, identifier: String) {
        self.vault = vault
        self.purpose = purpose
        self.identifier = identifier
    }
}

/// Where slot keys live outside of the vault: the desktop's Secret Service.
///
/// Every call may block on another process, and may ask the user to unlock the keyring.
package protocol Keyring {
    /// What to call it in messages, such as "the desktop keyring".
    var name: String { get }

    /// Tells whether items can be stored and read without asking the user. Asks nobody.
    ///
    /// - Throws: Where there is no keyring to use.
    func isUnlocked() throws(KeyringError) -> Bool

    /// Stores `secret` under `item`, in place of what is there.
    func store(_ secret: borrowing SecretBytes, for item: KeyringItem) throws(KeyringError)

    /// Finds the first secret of `item` that `isWanted` takes. That there is none is not an error.
    ///
    /// Every program of the session can put further secrets under an item, so whoever looks for one
    /// tells it by what it opens.
    func secret(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes?

    /// Finds the first secret of `item` that `isWanted` takes, without asking the user. That there is
    /// none is not an error.
    ///
    /// - Throws: ``KeyringError/Code/locked`` where it, or what it may be in, is locked.
    func secretWithoutAsking(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes?

    /// Removes `item`. That there is none is not an error.
    func remove(_ item: KeyringItem) throws(KeyringError)
}

extension Keyring {
    /// Looks whether the keyring is unlocked first.
    package func secretWithoutAsking(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes? {
        guard try isUnlocked() else { throw KeyringError(.locked, "\(name) is locked") }
        return try secret(for: item, where: isWanted)
    }

    /// Finds a secret of `item`, whichever is found first.
    package func secret(for item: KeyringItem) throws(KeyringError) -> SecretBytes? {
        try secret(for: item) { _ in true }
    }

    /// Stores `secret` under `item` and reads it back, before anything relies on it.
    ///
    /// - Throws: ``KeyringError/Code/failed`` when something else comes back.
    package func storeConfirmed(
        _ secret: borrowing SecretBytes, for item: KeyringItem
    ) throws(KeyringError) {
        try store(secret, for: item)
        let stored = try self.secret(for: item) { $0.isEqualInConstantTime(to: secret) }
        guard stored != nil else {
            throw KeyringError(.failed, "\(name) did not keep the key it was given")
        }
    }
}

extension KeySlot {
    /// Where the keyring keeps the random key of this slot.
    package func keyringItem(vault: Identifier) -> KeyringItem {
        KeyringItem(vault: vault.hexadecimal, purpose: .slotKey, identifier: id.hexadecimal)
    }
}

package import Sealing

/// Identifies a vault's secret in a keyring.
package struct KeyringItem: Hashable, Sendable {
    package enum Purpose: String, Sendable {
        /// The random key of a slot: 32 bytes.
        case slotKey = "slot-key"
        /// The rollback guard of a vault file: a line of ``RollbackGuard``.
        case anchor
    }

    /// 32 hexadecimal digits.
    package let vault: String
    package let purpose: Purpose
    /// Distinguishes items with the same purpose: the slot's id in hexadecimal digits, or for a
    /// rollback guard ``RollbackGuard/identifier(ofPath:)``, or empty.
    package let identifier: String

    package init(vault: String, purpose: Purpose, identifier: String) {
        self.vault = vault
        self.purpose = purpose
        self.identifier = identifier
    }
}

/// Storage for slot keys outside of the vault: the desktop's Secret Service.
///
/// Every call may block on another process, and may ask the user to unlock the keyring.
package protocol Keyring {
    /// The name for messages, such as "the desktop keyring".
    var name: String { get }

    /// Returns whether items can be stored and read without prompting. Does not prompt.
    ///
    /// - Throws: If there is no usable keyring.
    func isUnlocked() throws(KeyringError) -> Bool

    /// Stores `secret` as `item`, replacing an existing one.
    func store(_ secret: borrowing SecretBytes, for item: KeyringItem) throws(KeyringError)

    /// Returns the first secret of `item` that satisfies `isWanted`, or nil.
    ///
    /// Any program of the session can add secrets to an item, so callers must recognize theirs by
    /// what it opens.
    func secret(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes?

    /// Returns the first secret of `item` that satisfies `isWanted`, or nil, without prompting.
    ///
    /// - Throws: ``KeyringError/Code/locked`` if the item, or a collection that may contain it, is
    ///   locked.
    func secretWithoutPrompting(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes?

    /// Removes `item`, if it exists.
    func remove(_ item: KeyringItem) throws(KeyringError)
}

extension Keyring {
    /// Checks first that the keyring is unlocked.
    package func secretWithoutPrompting(
        for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
    ) throws(KeyringError) -> SecretBytes? {
        guard try isUnlocked() else { throw KeyringError(.locked, "\(name) is locked") }
        return try secret(for: item, where: isWanted)
    }

    /// Returns any secret of `item`, or nil.
    package func secret(for item: KeyringItem) throws(KeyringError) -> SecretBytes? {
        try secret(for: item) { _ in true }
    }

    /// Stores `secret` as `item` and reads it back.
    ///
    /// - Throws: ``KeyringError/Code/failed`` if the stored secret differs.
    package func storeVerified(
        _ secret: borrowing SecretBytes, for item: KeyringItem
    ) throws(KeyringError) {
        try store(secret, for: item)
        let stored = try self.secret(for: item) { $0.isEqualInConstantTime(to: secret) }
        guard stored != nil else {
            throw KeyringError(.failed, "\(name) did not store the key")
        }
    }
}

extension KeySlot {
    /// Returns the keyring item of this slot's random key.
    package func keyringItem(vault: Identifier) -> KeyringItem {
        KeyringItem(vault: vault.hexadecimal, purpose: .slotKey, identifier: id.hexadecimal)
    }
}

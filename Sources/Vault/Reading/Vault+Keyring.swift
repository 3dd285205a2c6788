extension Vault {
    /// The result of unlocking from a keyring.
    package enum KeyringUnlocking {
        case opened(VaultKeys)
        /// The keyring has only other secrets for the slot.
        case otherKey
        /// The keyring has no secret for the slot.
        case noKey
    }

    /// Unwraps the key of a slot with a secret from the keyring.
    ///
    /// Any program of the session can add secrets for the slot, so all are tried.
    ///
    /// - Throws: ``KeyringError``; ``VaultError/Code/damaged`` if the key opens a vault whose
    ///   public key was replaced.
    package func unlock(_ slot: KeySlot, from keyring: any Keyring) throws -> KeyringUnlocking {
        var opened: Result<VaultKeys, VaultError>?
        var isThere = false
        _ = try keyring.secret(for: slot.keyringItem(vault: header.vaultID)) { slotKey in
            isThere = true
            do throws(VaultError) {
                guard let keys = try unlock(slot, slotKey: slotKey) else { return false }
                opened = .success(keys)
            } catch {
                opened = .failure(error)
            }
            return true
        }
        guard let opened else { return isThere ? .otherKey : .noKey }
        return .opened(try opened.get())
    }
}

extension Vault {
    /// What a keyring has for a slot.
    package enum KeyringUnlocking {
        case opened(VaultKeys)
        /// Only secrets that do not open it.
        case otherKey
        /// Nothing.
        case noKey
    }

    /// Unwraps the key of a slot with one of the secrets that the keyring holds for it.
    ///
    /// Every program of the session can put others beside ours, so each is tried.
    ///
    /// - Throws: ``KeyringError``; ``VaultError/Code/damaged`` where the key opens a vault whose public
    ///   key was exchanged.
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

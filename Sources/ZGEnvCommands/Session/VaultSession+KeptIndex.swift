internal import KernelKeyring
internal import Vault

/// The index key in the kernel's user keyring, for users with the setting `cache-index`.
extension VaultSession {
    /// Returns keys from the index key that `list` kept; nil without one, or if this command may not
    /// use it.
    func cachedIndexKeys() throws -> VaultKeys? {
        guard use.showsNamesOnly, try Settings(context).isOn(.cacheIndex) else { return nil }
        let vault = try opened()
        // Without kernel keyrings the command asks for the passphrase.
        guard let key = try? IndexKeyCache(of: vault).find() else { return nil }
        return vault.unlock(indexKey: key)
    }

    /// Keeps the index key that a passphrase opened, if the setting is on.
    ///
    /// - Returns: Why it could not be kept; nil without a failure.
    func cacheIndexKey() throws -> String? {
        guard let keys = keysByPassphrase, try Settings(context).isOn(.cacheIndex) else {
            return nil
        }
        do throws(KernelKeyringError) {
            let cache = IndexKeyCache(of: try openedOrFailed())
            try keys.withIndexKey { (key) throws(KernelKeyringError) in try cache.store(key) }
            return nil
        } catch { return error.reason }
    }

    private func openedOrFailed() throws(KernelKeyringError) -> Vault {
        do { return try opened() } catch {
            throw KernelKeyringError(.failed, "the vault cannot be reopened")
        }
    }
}

extension IndexKeyCache {
    /// The cache for the current file of a vault.
    init(of vault: Vault) {
        self.init(
            vault: vault.header.vaultID, epoch: vault.header.indexEpoch,
            publicKey: vault.header.publicKey)
    }
}

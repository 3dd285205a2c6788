internal import KernelKeyring
internal import Vault

/// The index key in the user keyring, for those who asked for it with `config set cache-index true`.
extension VaultSession {
    /// Keys from an index key that `list` kept; nil where none is, or this command may not use it.
    func keptIndexKeys() throws -> VaultKeys? {
        guard use.showsNamesOnly, try Settings(context).isOn(.cacheIndex) else { return nil }
        let vault = try opened()
        // A kernel without keyrings is no reason to fail: the passphrase is asked for.
        guard let key = try? IndexKeyCache(of: vault).find() else { return nil }
        return vault.unlock(indexKey: key)
    }

    /// Keeps the index key that a passphrase has opened, where the user wants that.
    ///
    /// - Returns: Why it could not be kept; nil where it was, or was not to be.
    func keepIndexKey() throws -> String? {
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
            throw KernelKeyringError(.failed, "the vault cannot be opened again")
        }
    }
}

extension IndexKeyCache {
    /// The cache of a vault as its file stands.
    init(of vault: Vault) {
        self.init(
            vault: vault.header.vaultID, epoch: vault.header.indexEpoch,
            publicKey: vault.header.publicKey)
    }
}

package import Sealing

extension Vault {
    /// What a new vault is made of.
    package struct Recipe {
        /// The cost of one guess at the passphrase.
        package var cost: PassphraseCost
        /// Where the random key of an index slot is kept; nil for none.
        package var keyring: (any Keyring)?
        /// Opens the values beside the passphrase; nil for none.
        package var recovery: RecoveryCode?
        /// Milliseconds since 1970.
        package var time: UInt64

        /// Names all parts.
        package init(
            cost: PassphraseCost, keyring: (any Keyring)?, recovery: RecoveryCode? = nil,
            time: UInt64
        ) {
            self.cost = cost
            self.keyring = keyring
            self.recovery = recovery
            self.time = time
        }
    }

    /// What came of making a vault.
    package struct Creation {
        /// The keys, open.
        package let keys: VaultKeys
        /// The vault's id.
        package let vaultID: Identifier
        /// The first generation.
        package let sighting: VaultSighting
        /// Why the keyring holds no slot key, where it was asked to.
        package let keyringError: KeyringError?
    }

    /// Makes a vault with a passphrase slot for the values and, where there is a keyring, a slot
    /// for the index.
    ///
    /// A keyring that fails does not fail the vault; the caller says so. File and keyring have no
    /// common transaction: the slot key is stored first, and taken back when the file fails.
    ///
    /// - Throws: ``VaultError/Code/exists`` when something is at `path`, which then stays as it is.
    package static func create(
        at path: String, in store: any FileStore, passphrase: borrowing SecretBytes,
        recipe: Recipe
    ) throws -> Creation {
        if try store.exists(path) { throw alreadyThere(path) }
        let root = try RootKey.random()
        let vaultID = Identifier.random()
        let indexKey = try root.indexKey(epoch: 1)
        let publicKey = try root.boxKeyPair().publicKey
        let keys = VaultKeys(index: indexKey, root: root)
        var slots = [
            try keys.passphraseSlot(
                passphrase, cost: recipe.cost, vault: vaultID, at: recipe.time)
        ]
        if let recovery = recipe.recovery {
            slots.append(try keys.recoverySlot(recovery, vault: vaultID, at: recipe.time))
        }
        let keyringSlot = addKeyringSlot(keys, vaultID, recipe)
        if let slot = keyringSlot.slot { slots.append(slot) }
        var header = VaultHeader(
            vaultID: vaultID, generation: 1, indexEpoch: 1, publicKey: publicKey, slots: slots,
            indexNonce: [], indexByteCount: 0, fileByteCount: 0)
        let sighting: VaultSighting
        do {
            try store.prepareDirectory(of: path)
            var index = VaultIndex(extent: .everything)
            try index.remakeCheckpoint(under: header, with: keys)
            let sealed = try header.sealing(index, keys: keys, chunksByteCount: 0)
            try store.withLock(path) {
                if try store.exists(path) { throw alreadyThere(path) }
                try store.replace(path, with: [.bytes(sealed.header), .bytes(sealed.index)])
            }
            sighting = header.sighting(
                sealed.index, checkpointGeneration: index.checkpointGeneration)
        } catch {
            // The file may stand after an unconfirmed rename; its slot key must then stay too.
            if let slot = keyringSlot.slot, (error as? VaultError)?.code != .notConfirmed {
                try? recipe.keyring?.remove(slot.keyringItem(vault: vaultID))
            }
            throw error
        }
        return Creation(
            keys: keys, vaultID: vaultID, sighting: sighting, keyringError: keyringSlot.error)
    }

    private static func alreadyThere(_ path: String) -> VaultError {
        VaultError(.exists, "there is something at \(path) already")
    }

    private static func addKeyringSlot(
        _ keys: VaultKeys, _ vaultID: Identifier, _ recipe: Recipe
    ) -> (slot: KeySlot?, error: KeyringError?) {
        guard let keyring = recipe.keyring else { return (nil, nil) }
        do {
            let slotKey = try SecretBytes.random(count: 32)
            let slot = try keys.storedKeySlot(
                .secretService, .index, slotKey: slotKey, vault: vaultID, at: recipe.time)
            try keyring.storeConfirmed(slotKey, for: slot.keyringItem(vault: vaultID))
            return (slot, nil)
        } catch let error as KeyringError {
            return (nil, error)
        } catch {
            return (nil, KeyringError(.failed, "no slot key could be made"))
        }
    }
}

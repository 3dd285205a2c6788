package import Sealing

extension Vault {
    /// How to create a vault.
    package struct Recipe {
        /// The key-derivation cost.
        package var cost: PassphraseCost
        /// Where to store the random key of an index slot; nil for no such slot.
        package var keyring: (any Keyring)?
        /// A code that opens the values besides the passphrase; nil for none.
        package var recovery: RecoveryCode?
        /// Milliseconds since 1970.
        package var time: UInt64

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

    /// A new vault.
    package struct Creation {
        /// Both tiers.
        package let keys: VaultKeys
        package let vaultID: Identifier
        package let sighting: VaultObservation
        /// Why the requested keyring slot could not be created.
        package let keyringError: KeyringError?
    }

    /// Creates a vault with a passphrase slot for the values and, if there is a keyring, a slot for
    /// the index.
    ///
    /// A keyring failure does not fail the call; the caller reports it. There is no transaction
    /// across file and keyring: the slot key is stored first, and removed again if the file cannot
    /// be written.
    ///
    /// - Throws: ``VaultError/Code/exists`` if `path` exists; it is left unchanged.
    package static func create(
        at path: String, in store: any FileStore, passphrase: borrowing SecretBytes,
        recipe: Recipe
    ) throws -> Creation {
        if try store.exists(path) { throw alreadyThere(path) }
        let root = try RootKey.random()
        let vaultID = Identifier.random()
        let indexKey = try root.indexKey(epoch: 1)
        let publicKey = try root.signingPair().publicKey
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
            tableNonce: [], tableByteCount: 0, fileByteCount: 0)
        let sighting: VaultObservation
        do {
            try store.prepareDirectory(of: path)
            let index = VaultIndex(extent: .everything)
            let blocks = try NextBlocks(of: index, from: nil, vault: vaultID, keys: keys)
            let sealed = try header.sealing(index, blocks, keys: keys)
            try store.withLock(path) {
                if try store.exists(path) { throw alreadyThere(path) }
                try store.replace(path, with: [.bytes(sealed.header), .bytes(sealed.table)])
            }
            sighting = header.sighting(sealed.table)
        } catch {
            // After an unconfirmed rename the file may be in place, so its slot key must be kept.
            if let slot = keyringSlot.slot, (error as? VaultError)?.code != .notConfirmed {
                try? recipe.keyring?.remove(slot.keyringItem(vault: vaultID))
            }
            throw error
        }
        return Creation(
            keys: keys, vaultID: vaultID, sighting: sighting, keyringError: keyringSlot.error)
    }

    private static func alreadyThere(_ path: String) -> VaultError {
        VaultError(.exists, "\(path) already exists")
    }

    private static func addKeyringSlot(
        _ keys: VaultKeys, _ vaultID: Identifier, _ recipe: Recipe
    ) -> (slot: KeySlot?, error: KeyringError?) {
        guard let keyring = recipe.keyring else { return (nil, nil) }
        do {
            let slotKey = try SecretBytes.random(count: 32)
            let slot = try keys.storedKeySlot(
                .secretService, .index, slotKey: slotKey, vault: vaultID, at: recipe.time)
            try keyring.storeVerified(slotKey, for: slot.keyringItem(vault: vaultID))
            return (slot, nil)
        } catch let error as KeyringError {
            return (nil, error)
        } catch {
            return (nil, KeyringError(.failed, "cannot create a slot key"))
        }
    }
}

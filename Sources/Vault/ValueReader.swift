package import Sealing

/// Opens values of one generation of a vault, each when it is asked for.
package final class ValueReader {
    private let vault: Vault
    private let index: VaultIndex
    private let keyPair: SealedBox.KeyPair
    private let settlingKey: SecretBytes
    private let keyArena = SecretArena(firstRegionByteCount: 4096)
    private var dataKeys: [Identifier: SecretSlice] = [:]
    /// Looked up by id: there is one for every write that is not settled.
    private lazy var batches = Dictionary(uniqueKeysWithValues: index.batches.map { ($0.id, $0) })

    /// - Parameter index: Decoded with current values at least.
    /// - Returns: nil while the values are locked.
    package init?(vault: Vault, index: VaultIndex, keys: VaultKeys) throws(VaultError) {
        guard let pair = try keys.root?.boxKeyPair(), let settling = try keys.root?.settlingKey()
        else { return nil }
        self.vault = vault
        self.index = index
        keyPair = pair
        settlingKey = settling
    }

    /// Opens one version of a variable's value into `arena`.
    ///
    /// - Throws: ``VaultError/Code/damaged`` when the chunk or its data key was changed, or belongs elsewhere.
    package func value(
        of variable: Variable, _ version: StoredVersion, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        let chunk = try vault.chunk(of: version)
        let key = try dataKey(of: version.batch)
        let data = ValueChunk.associatedData(
            vault: vault.header.vaultID, batch: version.batch, variable: variable.id,
            version: version.version, project: version.sealedName?.project ?? variable.project,
            name: version.sealedName?.name ?? variable.name)
        return try ValueChunk.open(
            chunk, associatedData: data, dataKey: key, in: arena, name: variable.name)
    }

    /// Opens the current value of a variable; nil where the vault holds none.
    package func currentValue(
        of variable: Variable, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice? {
        guard let version = index.currentVersions[variable.id] else { return nil }
        return try value(of: variable, version, in: arena)
    }

    /// The data key of a batch, of 32 bytes.
    func dataKey(of id: Identifier) throws(VaultError) -> SecretSlice {
        if let known = dataKeys[id] { return known }
        guard let batch = batches[id] else {
            throw VaultError(damaged: .layout, "a value has no data key")
        }
        let key = try batch.unwrapped(
            vault: vault.header.vaultID, keyPair: keyPair, settlingKey: settlingKey, in: keyArena)
        dataKeys[id] = key
        return key
    }
}

package import Sealing

/// One change of a vault, made under the lock on the newest generation.
///
/// Values go in with ``store(_:forVariableAt:at:)``; everything else by changing ``index``. Nothing
/// is on the disk before the transaction is written.
package struct VaultTransaction: ~Copyable {
    /// The index as it stands and will be written.
    package var index: VaultIndex
    /// The ways to open the vault as they stand and will be written; changed by
    /// ``add(_:)``, ``remove(slot:)`` and ``replace(slot:with:)``.
    package internal(set) var slots: [KeySlot]
    /// Opens accepted values of the generation before; nil while the values are locked.
    package let values: ValueReader?

    /// Where the audit log ends; kept with the next write, but no reason for one.
    package var auditPosition: AuditLog.Position?

    /// The vault's public key, 32 bytes.
    var publicKey: [UInt8] { header.publicKey }

    /// The key that all values of this write share.
    private struct DataKey: ~Copyable {
        let bytes: SecretBytes
        let batch: Identifier
    }

    let keys: VaultKeys
    let header: VaultHeader
    /// The index as it was found, or as it was when the checkpoint's entries were made last.
    private(set) var before: VaultIndex
    /// The ids of versions that were sealed since then.
    private(set) var sealedVersions: Set<Identifier> = []
    /// Generations that the next one must be higher than, and takes for its ancestors.
    private(set) var outlived: [VaultPosition] = []
    private var dataKey: DataKey?
    private var scratch: SecretBuffer
    private(set) var newChunks: [UInt8] = []
    /// Records that got a version.
    package private(set) var storedVariables: Set<Identifier> = []

    init(index: VaultIndex, vault: Vault, keys: VaultKeys) throws(VaultError) {
        let values = try ValueReader(vault: vault, index: index, keys: keys)
        let scratch = try guarding { () throws(SealingError) in
            try SecretBuffer(capacity: 8 << 10)
        }
        self.index = index
        before = index
        self.values = values
        self.keys = keys
        header = vault.header
        slots = vault.header.slots
        dataKey = nil
        self.scratch = scratch
    }

    /// Seals `value` as the next version of a variable and makes it the current one.
    ///
    /// - Parameters:
    ///   - value: At most 1 MiB; copied into the sealed chunk, nothing of it stays here.
    ///   - position: Where the variable stands in ``index``.
    ///   - time: Milliseconds since 1970.
    /// - Returns: The version's number, never one that the variable had before.
    @discardableResult
    package mutating func store(
        _ value: RawSpan, forVariableAt position: Int, at time: UInt64
    ) throws(VaultError) -> UInt64 {
        let stored = try seal(value, forVariableAt: position, at: time)
        if let old = index.currentVersions.updateValue(stored, forKey: stored.variable) {
            index.earlierVersions.append(old)
        }
        index.variables[position].currentVersion = stored.version
        index.variables[position].updatedAt = time
        return stored.version
    }

    /// Seals `value` as the next version of a variable, and leaves the current one current.
    package mutating func storeAside(
        _ value: RawSpan, forVariableAt position: Int, at time: UInt64
    ) throws(VaultError) -> UInt64 {
        let stored = try seal(value, forVariableAt: position, at: time)
        index.earlierVersions.append(stored)
        return stored.version
    }

    /// Makes a version that is there the current one, without a new number.
    ///
    /// - Returns: False where the vault does not have it.
    package mutating func makeCurrent(
        version: UInt64, ofVariableAt position: Int, at time: UInt64
    ) -> Bool {
        let id = index.variables[position].id
        if index.currentVersions[id]?.version == version { return true }
        let place = index.earlierVersions.firstIndex {
            $0.variable == id && $0.version == version
        }
        guard let place else { return false }
        let wanted = index.earlierVersions.remove(at: place)
        if let old = index.currentVersions.updateValue(wanted, forKey: id) {
            index.earlierVersions.append(old)
        }
        index.variables[position].currentVersion = version
        index.variables[position].updatedAt = time
        return true
    }

    private mutating func seal(
        _ value: RawSpan, forVariableAt position: Int, at time: UInt64
    ) throws(VaultError) -> StoredVersion {
        guard value.byteCount <= VaultFormat.valueLimit else {
            throw VaultError(.tooLarge, "a value is longer than 1 MiB")
        }
        let (number, overflow) = index.variables[position].highestVersion
            .addingReportingOverflow(1)
        guard !overflow else {
            throw VaultError(
                .tooLarge, "\(index.variables[position].name) has no version number left")
        }
        let stored = try sealed(value, as: number, forVariableAt: position, at: time)
        index.variables[position].highestVersion = number
        storedVariables.insert(stored.variable)
        return stored
    }

    /// Seals a value in the batch of this write, under a new id.
    mutating func sealed(
        _ value: RawSpan, as number: UInt64, forVariableAt position: Int, at time: UInt64
    ) throws(VaultError) -> StoredVersion {
        let variable = index.variables[position]
        let id = Identifier.random()
        let key = try takeDataKey()
        let batch = key.batch
        let start = newChunks.count
        let length = try ValueChunk.seal(
            value,
            associatedData: ValueChunk.associatedData(
                vault: header.vaultID, batch: batch, variable: variable.id, version: id,
                project: variable.project, name: variable.name),
            dataKey: key.bytes, scratch: &scratch, appendingTo: &newChunks)
        dataKey = consume key
        let checksum = Array(newChunks[start...]).withBytes { StoredVersion.Checksum(of: $0) }
        let stored = StoredVersion(
            variable: variable.id, version: number, id: id, batch: batch,
            offset: header.chunksByteCount + UInt64(start), length: UInt32(length),
            checksum: checksum, createdAt: time, sealedName: nil)
        sealedVersions.insert(id)
        return stored
    }

    /// The data key of this write, made with its first value. The caller puts it back.
    private mutating func takeDataKey() throws(VaultError) -> DataKey {
        if let key = dataKey.take() { return key }
        let id = Identifier.random()
        let key = try guarding { () throws(SealingError) in try SecretBytes.random(count: 32) }
        if let batchKey = try keys.root?.batchKey() {
            index.batches.append(
                key.withBytes {
                    Batch.root($0, id: id, vault: header.vaultID, batchKey: batchKey)
                })
        } else {
            index.batches.append(
                try Batch.sealed(
                    key, id: id, vault: header.vaultID, publicKey: header.publicKey))
        }
        return DataKey(bytes: key, batch: id)
    }

    /// Seals a token so that only the value tier opens it, and only as that of `account`, whose origin
    /// and name are final.
    package func protected(
        _ token: SecretSlice, for account: Account, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        try account.protected(token, vault: header.vaultID, publicKey: publicKey, in: arena)
    }

    /// Tells whether a version counts for the history that is kept: with the root, one that somebody
    /// accepted or that this write sealed.
    package borrowing func counts(_ version: StoredVersion) -> Bool {
        !keys.opensValues || sealedVersions.contains(version.id) || index.accepts(version)
    }

    /// Takes the index as it is now for the one that was found: the checkpoint's entries follow from it.
    mutating func takeForFound() {
        before = index
        sealedVersions = []
    }

    /// Goes on with an older copy: the next generation is higher than those that were seen, and who
    /// saw them takes it for theirs.
    package mutating func outlive(_ seen: [VaultPosition]) {
        outlived = seen
    }

    /// Drops data keys that no version needs any more.
    mutating func dropUnusedBatches() {
        var used: Set<Identifier> = []
        var last: Identifier?
        func keep(_ batch: Identifier) {
            // Values of one write lie together.
            if batch != last { used.insert(batch) }
            last = batch
        }
        let current = index.currentVersions.values
        for place in current.indices { keep(current[place].batch) }
        for place in index.earlierVersions.indices { keep(index.earlierVersions[place].batch) }
        index.batches.removeAll { !used.contains($0.id) }
    }
}

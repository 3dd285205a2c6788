internal import Sealing

extension Vault {
    /// A change of all keys, prepared before the lock is taken.
    package struct Rekeying {
        /// The keys of the vault as it is, both tiers.
        package let oldKeys: VaultKeys
        package let newKeys: VaultKeys
        /// The slots for which the change was planned.
        package let oldSlots: [KeySlot]
        /// Their replacements, made with the new keys.
        package let newSlots: [KeySlot]
        /// The end of the audit log; nil if unknown.
        package let auditPosition: AuditLog.Position?

        package init(
            oldKeys: VaultKeys, newKeys: VaultKeys, oldSlots: [KeySlot], newSlots: [KeySlot],
            auditPosition: AuditLog.Position? = nil
        ) {
            self.auditPosition = auditPosition
            self.oldKeys = oldKeys
            self.newKeys = newKeys
            self.oldSlots = oldSlots
            self.newSlots = newSlots
        }
    }

    /// Generates a new root, and derives the index key of the next epoch from it.
    package func newKeys() throws(VaultError) -> VaultKeys {
        let (epoch, overflow) = header.indexEpoch.addingReportingOverflow(1)
        guard !overflow else {
            throw VaultError(.tooLarge, "the vault has been rekeyed too many times")
        }
        let root = try RootKey.random()
        return VaultKeys(index: try root.indexKey(epoch: epoch), root: root)
    }

    /// Reseals everything under new keys: all versions of all values, the protected tokens, and the
    /// index. The vault keeps its id. The old file is replaced only after the new one was read back
    /// from disk and opened.
    ///
    /// - Parameters:
    ///   - seen: The vault's position when it was opened.
    ///   - written: Called with the new generation before the lock is released.
    /// - Returns: The new generation.
    /// - Throws: ``VaultError/Code/slotsChanged`` if the slots are no longer `oldSlots`,
    ///   ``VaultError/Code/damaged`` if a value does not open.
    package static func rekey(
        _ path: String, in store: any FileStore, vaultID: Identifier, _ rekeying: Rekeying,
        since seen: VaultPosition? = nil, written: (VaultObservation) -> Void = { _ in }
    ) throws -> UInt64 {
        guard rekeying.newSlots.contains(where: \.isForHumans),
            rekeying.newSlots.count <= VaultFormat.slotLimit
        else { throw VaultError(.lastSlot, "this would leave no passphrase or recovery code") }
        return try store.withLock(path) {
            let vault = try Vault(changing: path, in: store)
            guard vault.header.vaultID == vaultID else {
                throw VaultError(
                    .epochChanged,
                    "\(path) was replaced with another vault while the command was running")
            }
            // Who wrote the slots comes first: it must be someone with the root.
            let metadata = try vault.metadata(with: rekeying.oldKeys)
            if let seen { try vault.expect(toFollow: seen, metadata) }
            guard vault.header.slots == rekeying.oldSlots else {
                throw VaultError(
                    .slotsChanged, "the slots of \(path) were changed while the command was running"
                )
            }
            let sighting = try vault.rekey(rekeying, in: store)
            written(sighting)
            return sighting.position.generation
        }
    }

    private func rekey(
        _ rekeying: Rekeying, in store: any FileStore
    ) throws -> VaultObservation {
        let keys = rekeying.newKeys
        guard let publicKey = try keys.root?.signingPair().publicKey else {
            throw VaultError(.wrongPassphrase, "new keys require a new root")
        }
        var index = try self.index(with: rekeying.oldKeys, extent: .everything)
        let chunks = try resealedChunks(of: &index, rekeying)
        let tokens = SecretArena()
        try index.resealTokens(
            of: header.vaultID, from: rekeying.oldKeys, to: keys, in: tokens)
        try index.resealGroupSecrets(of: header.vaultID, from: rekeying.oldKeys, to: keys)
        index.formerLogKeys.append(try rekeying.oldKeys.index.logKey(in: tokens))
        if index.formerLogKeys.count > VaultIndex.formerLogKeyLimit {
            index.formerLogKeys.removeFirst()
        }
        index.metadata.remember(generation: header.generation, tag: try tableTag())
        if let end = rekeying.auditPosition { index.metadata.recordAudit(end) }
        var next = try header.successor()
        next.indexEpoch = keys.index.epoch
        next.publicKey = publicKey
        next.slots = rekeying.newSlots
        let blocks = try NextBlocks(
            of: index, from: self, reuses: false, vault: header.vaultID, keys: keys)
        let sealed = try next.sealing(index, blocks, keys: keys)
        let parts = [FilePart.bytes(sealed.header), .bytes(sealed.table)]
        try store.write(
            parts + blocks.parts(from: self, newChunks: chunks), to: path, replaces: true
        ) { [path] written in
            try Vault(path: path, file: written).verify(with: keys)
        }
        return next.sighting(sealed.table)
    }

    /// Opens and reseals all versions in the same order, under one data key with a batch for each
    /// project.
    ///
    /// - Returns: The chunks, to which the offsets beyond the blocks of this file refer.
    private func resealedChunks(
        of index: inout VaultIndex, _ rekeying: Rekeying
    ) throws(VaultError) -> [UInt8] {
        guard let reader = try ValueReader(vault: self, index: index, keys: rekeying.oldKeys),
            let batchKey = try rekeying.newKeys.root?.batchKey()
        else { throw VaultError(.wrongPassphrase, "rekeying requires unlocked values") }
        let variables = Dictionary(uniqueKeysWithValues: index.variables.map { ($0.id, $0) })
        let dataKey = try guarding { () throws(SealingError) in
            try SecretBytes.random(count: 32)
        }
        var scratch = try guarding { () throws(SealingError) in
            try SecretBuffer(capacity: 8 << 10)
        }
        var arenas = RotatingArena()
        var chunks: [UInt8] = []
        chunks.reserveCapacity(Int(header.blocksByteCount))
        var (current, earlier): (CurrentVersions, [StoredVersion]) = ([:], [])
        var batches: [Identifier: Batch] = [:]
        let all = (Array(index.currentVersions.values) + index.earlierVersions)
            .sorted { $0.offset < $1.offset }
        for old in all {
            guard let variable = variables[old.variable] else { continue }
            let batch =
                batches[variable.project]
                ?? Batch(dataKey, id: .random(), vault: header.vaultID, batchKey: batchKey)
            batches[variable.project] = batch
            let value = try reader.value(
                of: variable, old, in: arenas.arena(for: Int(old.length)))
            let start = chunks.count
            let length = try value.withBytes { (value) throws(VaultError) in
                try ValueChunk.seal(
                    value,
                    associatedData: ValueChunk.associatedData(
                        vault: header.vaultID, variable: variable.id, version: old.id),
                    dataKey: dataKey, scratch: &scratch, appendingTo: &chunks)
            }
            let new = StoredVersion(
                variable: old.variable, version: old.version, id: old.id, batch: batch.id,
                offset: header.blocksByteCount + UInt64(start), length: UInt32(length),
                checksum: Array(chunks[start...]).withBytes { Checksum(of: $0) },
                createdAt: old.createdAt, formerName: old.formerName)
            if index.currentVersions[old.variable]?.version == old.version {
                current[old.variable] = new
            } else {
                earlier.append(new)
            }
        }
        index.currentVersions = current
        index.earlierVersions = earlier
        index.batches = Array(batches.values)
        return chunks
    }
}

extension VaultIndex {
    /// Seals the tokens of the value tier again for a new root.
    fileprivate mutating func resealTokens(
        of vault: Identifier, from old: VaultKeys, to new: VaultKeys, in arena: SecretArena
    ) throws(VaultError) {
        for position in accounts.indices where accounts[position].protection == .values {
            let token = try old.token(of: accounts[position], vault: vault, in: arena)
            accounts[position].secret = try new.protected(
                token, for: accounts[position], vault: vault, in: arena)
        }
    }
}

extension IndexKey {
    /// Returns the audit log's key, which must remain known under later index keys.
    func logKey(in arena: SecretArena) throws(VaultError) -> SecretSlice {
        let key = try derivedKey(for: .auditLog)
        return try guarding { () throws(SealingError) in
            try key.withBytes { (key) throws(SealingError) in try arena.copy(key) }
        }
    }
}

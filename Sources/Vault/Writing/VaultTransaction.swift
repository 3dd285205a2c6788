package import Sealing

/// A change to a vault, made under the lock on the newest generation.
///
/// Store values with ``store(_:forVariableAt:at:)``; change ``index`` for everything else. Nothing
/// is on disk before the transaction is written.
package struct VaultTransaction: ~Copyable {
    /// The index to be written.
    package var index: VaultIndex
    /// The slots to be written. Changed by ``add(_:)``, ``remove(slot:)`` and
    /// ``replace(slot:with:)``.
    package internal(set) var slots: [KeySlot]
    /// Opens values of the previous generation.
    package let values: ValueReader

    /// The end of the audit log. Saved with the next write, but does not cause one.
    package var auditPosition: AuditLog.Position?

    let keys: VaultKeys
    let header: VaultHeader
    /// The index as it was read.
    let before: VaultIndex
    /// Generations that the next one must exceed, and records as its ancestors.
    private(set) var superseded: [VaultPosition] = []
    /// The key shared by all values of this write.
    private var dataKey: SecretBytes?
    /// The batches that wrap it, by project.
    private var batches: [Identifier: Identifier] = [:]
    private var scratch: SecretBuffer
    private(set) var newChunks: [UInt8] = []
    /// Records with a new version.
    package private(set) var storedVariables: Set<Identifier> = []
    /// The highest version number of each name by project, once more than one value is stored.
    private var highestVersions: [Identifier: [String: UInt64]]?

    init(index: VaultIndex, vault: Vault, keys: VaultKeys) throws(VaultError) {
        guard let values = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw VaultError(.wrongPassphrase, "changing the vault requires unlocked values")
        }
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

    /// Seals `value` as the next version of a variable and makes it current in some of its records.
    ///
    /// - Parameters:
    ///   - value: At most 1 MiB; only the sealed chunks keep it.
    ///   - wanted: The version of which this is the value, if the variable had it before. A record that
    ///     has that version gets no other chunk; if it has another value under that number, the value is
    ///     a new version of all of them.
    ///   - positions: Indices in ``index`` of records of one name; not empty.
    ///   - time: Milliseconds since 1970.
    /// - Returns: The version number: `wanted`, or one that no record of that name ever had.
    @discardableResult
    package mutating func store(
        _ value: RawSpan, as wanted: UInt64? = nil, forVariablesAt positions: [Int], at time: UInt64
    ) throws(VaultError) -> UInt64 {
        var number = wanted
        if let wanted, try !means(value, version: wanted, at: positions) { number = nil }
        let version: UInt64
        if let number {
            version = number
        } else {
            version = try nextVersion(ofVariableAt: positions[0])
        }
        for position in positions {
            if number != nil, makeCurrent(version: version, ofVariableAt: position, at: time) {
                continue
            }
            let stored = try seal(value, as: version, forVariableAt: position, at: time)
            if let old = index.currentVersions.updateValue(stored, forKey: stored.variable) {
                index.earlierVersions.append(old)
            }
            index.variables[position].currentVersion = version
            index.variables[position].updatedAt = time
        }
        return version
    }

    /// Returns whether no record has another value under a version number.
    private mutating func means(
        _ value: RawSpan, version number: UInt64, at positions: [Int]
    ) throws(VaultError) -> Bool {
        let arena = SecretArena()
        let copy = try guarding { () throws(SealingError) in try arena.copy(value) }
        for position in positions {
            let id = index.variables[position].id
            let known = try recordedValue(of: id, version: number, in: arena)
            if let known, !known.equals(copy) { return false }
        }
        return true
    }

    /// Seals `value` as a variable's next version and makes it current in one record.
    @discardableResult
    package mutating func store(
        _ value: RawSpan, forVariableAt position: Int, at time: UInt64
    ) throws(VaultError) -> UInt64 {
        try store(value, forVariablesAt: [position], at: time)
    }

    /// Seals `value` as the next version of a variable without making it current.
    ///
    /// - Parameter positions: Indices in ``index`` of records of one name; not empty.
    package mutating func storeAside(
        _ value: RawSpan, forVariablesAt positions: [Int], at time: UInt64
    ) throws(VaultError) -> UInt64 {
        let version = try nextVersion(ofVariableAt: positions[0])
        for position in positions {
            index.earlierVersions.append(
                try seal(value, as: version, forVariableAt: position, at: time))
        }
        return version
    }

    /// Makes an existing version current, without a new number.
    ///
    /// - Returns: False if the vault does not have it.
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

    /// Returns a version number that no record with a record's name ever had in its project, so that a
    /// number means one value of a variable.
    private mutating func nextVersion(ofVariableAt position: Int) throws(VaultError) -> UInt64 {
        let variable = index.variables[position]
        var highest = variable.highestVersion
        if highestVersions == nil, !storedVariables.isEmpty {
            var found: [Identifier: [String: UInt64]] = [:]
            for other in index.variables {
                found[other.project, default: [:]][other.name, default: 0].raise(
                    to: other.highestVersion)
            }
            highestVersions = found
        }
        if let highestVersions {
            highest.raise(to: highestVersions[variable.project]?[variable.name] ?? 0)
        } else {
            highest.raise(
                to: index.highestVersion(of: variable.project, named: variable.name))
        }
        let number = try VaultIndex.version(after: highest, of: variable.name)
        highestVersions?[variable.project, default: [:]][variable.name] = number
        return number
    }

    /// Has the version numbers counted again after records got another name or project.
    mutating func forgetHighestVersions() { highestVersions = nil }

    private mutating func seal(
        _ value: RawSpan, as number: UInt64, forVariableAt position: Int, at time: UInt64
    ) throws(VaultError) -> StoredVersion {
        guard value.byteCount <= VaultFormat.valueLimit else {
            throw VaultError(.tooLarge, "a value is longer than 1 MiB")
        }
        let stored = try sealed(value, as: number, forVariableAt: position, at: time)
        index.variables[position].highestVersion.raise(to: number)
        storedVariables.insert(stored.variable)
        return stored
    }

    /// Seals a value in this write's batch, under a new id.
    mutating func sealed(
        _ value: RawSpan, as number: UInt64, forVariableAt position: Int, at time: UInt64
    ) throws(VaultError) -> StoredVersion {
        let variable = index.variables[position]
        let id = Identifier.random()
        let batch = try batch(for: variable.project)
        let key = try takeDataKey()
        let start = newChunks.count
        let length = try ValueChunk.seal(
            value,
            associatedData: ValueChunk.associatedData(
                vault: header.vaultID, variable: variable.id, version: id),
            dataKey: key, scratch: &scratch, appendingTo: &newChunks)
        dataKey = consume key
        let checksum = Array(newChunks[start...]).withBytes { Checksum(of: $0) }
        return StoredVersion(
            variable: variable.id, version: number, id: id, batch: batch,
            offset: header.blocksByteCount + UInt64(start), length: UInt32(length),
            checksum: checksum, createdAt: time, formerName: nil)
    }

    /// Opens a version that this transaction sealed.
    mutating func newValue(
        _ version: StoredVersion, of variable: Variable, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        guard let key = dataKey.take() else {
            throw VaultError(damaged: .layout, "a value has no data key")
        }
        let start = Int(version.offset - header.blocksByteCount)
        let data = ValueChunk.associatedData(
            vault: header.vaultID, variable: variable.id, version: version.id)
        do throws(VaultError) {
            let copy = try guarding { () throws(SealingError) in
                try key.withBytes { (bytes) throws(SealingError) in try arena.copy(bytes) }
            }
            let value = try Array(newChunks[start..<start + Int(version.length)]).withBytes {
                (chunk) throws(VaultError) in
                try data.withBytes { (data) throws(VaultError) in
                    try ValueChunk.open(
                        chunk, associatedData: data, dataKey: copy, in: arena, name: variable.name)
                }
            }
            dataKey = consume key
            return value
        } catch {
            dataKey = consume key
            throw error
        }
    }

    /// Takes the data key of this write, generating it first if needed. The caller must return it.
    private mutating func takeDataKey() throws(VaultError) -> SecretBytes {
        if let key = dataKey.take() { return key }
        return try guarding { () throws(SealingError) in try SecretBytes.random(count: 32) }
    }

    /// Returns the batch of this write's data key for a project.
    private mutating func batch(for project: Identifier) throws(VaultError) -> Identifier {
        if let known = batches[project] { return known }
        let key = try takeDataKey()
        let id = try wrap(key)
        batches[project] = id
        dataKey = consume key
        return id
    }

    /// Adds a batch.
    private mutating func wrap(_ key: borrowing SecretBytes) throws(VaultError) -> Identifier {
        guard let batchKey = try keys.root?.batchKey() else {
            throw VaultError(.wrongPassphrase, "storing a value requires unlocked values")
        }
        let id = Identifier.random()
        index.batches.append(Batch(key, id: id, vault: header.vaultID, batchKey: batchKey))
        return id
    }

    /// Moves a record to another project, with its history. The other section gets the data keys
    /// that it needs, as batches of its own.
    package mutating func move(
        at position: Int, to project: Identifier, time: UInt64
    ) throws(VaultError) {
        index.variables[position].project = project
        index.variables[position].updatedAt = time
        forgetHighestVersions()
        let id = index.variables[position].id
        var moved: [Identifier: Identifier] = [:]
        if var current = index.currentVersions[id] {
            current.batch = try moveBatch(current.batch, &moved)
            index.currentVersions[id] = current
        }
        for place in index.earlierVersions.indices
        where index.earlierVersions[place].variable == id {
            index.earlierVersions[place].batch = try moveBatch(
                index.earlierVersions[place].batch, &moved)
        }
    }

    /// Returns another batch with the same data key.
    ///
    /// - Parameter moved: The batches that were moved before.
    private mutating func moveBatch(
        _ old: Identifier, _ moved: inout [Identifier: Identifier]
    ) throws(VaultError) -> Identifier {
        if let known = moved[old] { return known }
        guard let batch = index.batches.first(where: { $0.id == old }),
            let batchKey = try keys.root?.batchKey()
        else { throw VaultError(damaged: .layout, "a value has no data key") }
        let arena = SecretArena(firstRegionByteCount: 4_096)
        let bytes = try batch.unwrapped(vault: header.vaultID, batchKey: batchKey, in: arena)
        let key = try guarding { () throws(SealingError) in
            try bytes.withBytes { (bytes) throws(SealingError) in try SecretBytes(copying: bytes) }
        }
        let new = try wrap(key)
        moved[old] = new
        return new
    }

    /// Seals a token so that only the value tier opens it, and only as the token of `account`,
    /// whose origin and name must be final.
    package func protected(
        _ token: SecretSlice, for account: Account, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        try keys.protected(token, for: account, vault: header.vaultID, in: arena)
    }

    /// Continues from an older copy: the next generation exceeds those that were seen, and descends
    /// from them.
    package mutating func outlive(_ seen: [VaultPosition]) {
        superseded = seen
    }
}

extension UInt64 {
    fileprivate mutating func raise(to other: UInt64) { self = Swift.max(self, other) }
}

internal import Sealing

extension VaultTransaction {
    /// Returns the records whose unaccepted versions all open.
    borrowing func openableRecords(of records: Set<Identifier>) throws(VaultError) -> Set<
        Identifier
    > {
        guard let values else { return [] }
        var arenas = RotatingArena()
        var open = records
        let versions = index.versions(of: records)
        for variable in index.variables where records.contains(variable.id) {
            do throws(VaultError) {
                for version in versions[variable.id] ?? [] where !index.accepts(version) {
                    _ = try values.anyValue(
                        of: variable, version, in: arenas.arena(for: Int(version.length)))
                }
            } catch {
                guard error.code == .damaged else { throw error }
                open.remove(variable.id)
            }
        }
        return open
    }

    /// Reseals the sealed batches' versions of some records in this write's root batch.
    mutating func resealSealedVersions(of records: Set<Identifier>) throws(VaultError) {
        let sealed = Set(index.batches.lazy.filter(\.isSealed).map(\.id))
        guard let values, !sealed.isEmpty else { return }
        let places = Dictionary(
            uniqueKeysWithValues: index.variables.enumerated().map { ($0.element.id, $0.offset) })
        func position(of version: StoredVersion) -> Int? {
            guard sealed.contains(version.batch), records.contains(version.variable) else {
                return nil
            }
            return places[version.variable]
        }
        var arenas = RotatingArena()
        for place in index.currentVersions.values.indices {
            let old = index.currentVersions.values[place]
            guard let position = position(of: old) else { continue }
            index.currentVersions.values[place] = try resealed(
                old, at: position, values, arenas.arena(for: Int(old.length)))
        }
        for place in index.earlierVersions.indices {
            let old = index.earlierVersions[place]
            guard let position = position(of: old) else { continue }
            index.earlierVersions[place] = try resealed(
                old, at: position, values, arenas.arena(for: Int(old.length)))
        }
    }

    private mutating func resealed(
        _ old: StoredVersion, at position: Int, _ values: ValueReader, _ arena: SecretArena
    ) throws(VaultError) -> StoredVersion {
        let value = try values.anyValue(of: index.variables[position], old, in: arena)
        return try value.withBytes { (bytes) throws(VaultError) in
            try sealed(bytes, as: old.version, forVariableAt: position, at: old.createdAt)
        }
    }
}

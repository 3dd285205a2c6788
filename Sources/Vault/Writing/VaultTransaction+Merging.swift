internal import Sealing

extension VaultTransaction {
    /// Drops versions whose successor has the same value, if either was unaccepted: equality could
    /// not be detected while the values were locked. Called only when these records are accepted,
    /// because the result of comparing unaccepted values is for the user alone.
    ///
    /// The later version stays, so that no number shown to the user disappears; a push recorded for
    /// the earlier number moves to the later one.
    mutating func mergeEqualVersions(of records: Set<Identifier>) throws(VaultError) {
        // Unfinished work may need any version.
        guard let values, !index.hasOpenWork else { return }
        var arenas = RotatingArena()
        var dropped: Set<Identifier> = []
        var successors: [Identifier: [UInt64: UInt64]] = [:]
        let versions = index.versions(of: records)
        for variable in index.variables where records.contains(variable.id) {
            let all = versions[variable.id] ?? []
            for (earlier, later) in zip(all, all.dropFirst()) {
                // A restored version may be followed by later ones.
                guard earlier.version != variable.currentVersion, earlier.length == later.length,
                    earlier.version + 1 == later.version,
                    !index.accepts(earlier) || !index.accepts(later),
                    try values.areEqual(
                        earlier, later, of: variable, in: arenas.arena(for: 2 * Int(later.length)))
                else { continue }
                dropped.insert(earlier.id)
                successors[variable.id, default: [:]][earlier.version] = later.version
            }
        }
        guard !dropped.isEmpty else { return }
        index.earlierVersions.removeAll { dropped.contains($0.id) }
        for position in index.variables.indices {
            guard let next = successors[index.variables[position].id],
                let pushed = index.variables[position].remote?.pushedVersion
            else { continue }
            index.variables[position].remote?.pushedVersion = Self.last(from: pushed, in: next)
            if let earlier = index.variables[position].remote?.earlier {
                index.variables[position].remote?.earlier = .init(
                    version: Self.last(from: earlier.version, in: next), from: earlier.from,
                    until: earlier.until)
            }
        }
    }

    private static func last(from number: UInt64, in next: [UInt64: UInt64]) -> UInt64 {
        var number = number
        while let later = next[number], later > number { number = later }
        return number
    }
}

extension ValueReader {
    fileprivate func areEqual(
        _ left: StoredVersion, _ right: StoredVersion, of variable: Variable, in arena: SecretArena
    ) throws(VaultError) -> Bool {
        let left = try anyValue(of: variable, left, in: arena)
        let right = try anyValue(of: variable, right, in: arena)
        return left.equals(right)
    }
}

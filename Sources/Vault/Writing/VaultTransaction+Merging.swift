internal import Sealing

extension VaultTransaction {
    /// Drops versions whose value the next one repeats, where one of the two was not accepted so far:
    /// while the values were locked nobody could tell that they are equal. Called where somebody accepts
    /// these records, and nowhere else: what a comparison of unaccepted values shows is for the user alone.
    ///
    /// The later one stays, so that no number that was shown to somebody is gone; what was pushed under
    /// the earlier number now is under the later one.
    mutating func mergeEqualNeighbours(of records: Set<Identifier>) throws(VaultError) {
        // What is begun may need any version.
        guard let values, !index.hasOpenWork else { return }
        var arenas = RotatingArena()
        var dropped: Set<Identifier> = []
        var successors: [Identifier: [UInt64: UInt64]] = [:]
        let versions = index.versions(of: records)
        for variable in index.variables where records.contains(variable.id) {
            let all = versions[variable.id] ?? []
            for (earlier, later) in zip(all, all.dropFirst()) {
                // A version that was made current again may stand before later ones.
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
        return left.withBytes { left in
            right.withBytes { left.isEqualInConstantTime(to: $0) }
        }
    }
}

internal import Sealing

extension VaultTransaction {
    /// Drops versions whose value the next one repeats, where one of the two came in `batches`: while
    /// the values were locked nobody could tell that they are equal.
    ///
    /// The later one stays, so that no number that was shown to somebody is gone; what was pushed or
    /// accepted under the earlier number now is under the later one. A value that does not open is
    /// equal to none: `verify` names it.
    mutating func mergeEqualNeighbours(from batches: Set<Identifier>) throws(VaultError) {
        // What is begun may need any version.
        guard let values, !batches.isEmpty, !index.hasOpenWork else { return }
        var arenas = RotatingArena()
        var dropped: Set<VersionNumber> = []
        var successors: [Identifier: [UInt64: UInt64]] = [:]
        let variables = Dictionary(uniqueKeysWithValues: index.variables.map { ($0.id, $0) })
        for (earlier, later) in index.neighbours()
        where batches.contains(later.batch) || batches.contains(earlier.batch) {
            guard earlier.length == later.length, let variable = variables[later.variable],
                later.offset < header.chunksByteCount,
                try values.areEqual(
                    earlier, later, of: variable, in: arenas.arena(for: 2 * Int(later.length)))
            else { continue }
            dropped.insert(VersionNumber(earlier))
            successors[variable.id, default: [:]][earlier.version] = later.version
        }
        guard !dropped.isEmpty else { return }
        index.earlierVersions.removeAll { dropped.contains(VersionNumber($0)) }
        for position in index.variables.indices {
            guard let next = successors[index.variables[position].id],
                let pushed = index.variables[position].remote?.pushedVersion
            else { continue }
            index.variables[position].remote?.pushedVersion = Self.last(from: pushed, in: next)
        }
        guard let entries = index.checkpoint?.entries else { return }
        for position in entries.indices {
            guard let next = successors[entries[position].variable] else { continue }
            index.checkpoint?.entries[position].currentVersion = Self.last(
                from: entries[position].currentVersion, in: next)
        }
    }

    private static func last(from number: UInt64, in next: [UInt64: UInt64]) -> UInt64 {
        var number = number
        while let later = next[number], later > number { number = later }
        return number
    }

    private struct VersionNumber: Hashable {
        let variable: Identifier
        let version: UInt64

        init(_ version: StoredVersion) {
            variable = version.variable
            self.version = version.version
        }
    }
}

extension VaultIndex {
    /// Each version that another one of its record follows, with that one.
    fileprivate func neighbours() -> [(earlier: StoredVersion, later: StoredVersion)] {
        var found: [(StoredVersion, StoredVersion)] = []
        // In ascending order of variables, then versions.
        let ordered = (earlierVersions + currentVersions.values).sorted { $0.precedes($1) }
        for (earlier, later) in zip(ordered, ordered.dropFirst())
        where earlier.variable == later.variable {
            // A version that was made current again may stand before later ones.
            guard currentVersions[earlier.variable]?.version != earlier.version else { continue }
            found.append((earlier, later))
        }
        return found
    }
}

extension ValueReader {
    fileprivate func areEqual(
        _ left: StoredVersion, _ right: StoredVersion, of variable: Variable, in arena: SecretArena
    ) throws(VaultError) -> Bool {
        do throws(VaultError) {
            let left = try value(of: variable, left, in: arena)
            let right = try value(of: variable, right, in: arena)
            return left.withBytes { left in
                right.withBytes { left.isEqualInConstantTime(to: $0) }
            }
        } catch {
            guard error.code == .damaged else { throw error }
            return false
        }
    }
}

package import Vault

/// Selects the record of each key that a program sees in one target.
package enum EffectiveVariables {
    /// Returns the records that apply in `target`, one per key, sorted by the bytes of the name.
    ///
    /// Records of a branch apply only with that branch, and take precedence over the general ones.
    package static func inPlace(_ target: ValueTarget, among records: [Variable]) -> [Variable] {
        onePerKey(
            records.indices.filter {
                records[$0].isLive && records[$0].attributes.scope.applies(in: target)
            }.map { (SortableName(records[$0].name), $0) }
        ) {
            records[$0].name
        } branch: {
            records[$0].attributes.scope.branch
        }.map { records[$0] }
    }

    /// Returns the positions in an index of a project's records that apply in `target`, one per key,
    /// sorted by the bytes of the name.
    ///
    /// Like ``inPlace(_:among:)``, but copies no records, for thousands of them.
    ///
    /// - Parameter leftOut: Records that do not apply anywhere.
    package static func positions(
        in target: ValueTarget, of project: Identifier, in index: VaultIndex,
        without leftOut: Set<Identifier> = []
    ) -> [Int] {
        var found: [(name: SortableName, position: Int)] = []
        found.reserveCapacity(index.variables.count)
        for position in index.variables.indices
        where index.variables[position].project == project
            && index.variables[position].deletedAt == nil
            && index.variables[position].attributes.scope.applies(in: target)
            && (leftOut.isEmpty || !leftOut.contains(index.variables[position].id))
        {
            found.append((SortableName(index.variables[position].name), position))
        }
        return onePerKey(found) {
            index.variables[$0].name
        } branch: {
            index.variables[$0].attributes.scope.branch
        }
    }

    /// Returns the position of one record per key, sorted by name. Sorts name prefixes with
    /// positions, because moving whole records is slow.
    private static func onePerKey(
        _ found: [(name: SortableName, position: Int)], name: (Int) -> String,
        branch: (Int) -> String?
    ) -> [Int] {
        let found = found.sorted { left, right in
            SortableName.precedes(left.name, right.name) {
                (name(left.position), name(right.position))
            }
        }
        var chosen: [Int] = []
        chosen.reserveCapacity(found.count)
        for (number, entry) in found.enumerated() {
            // Compares the prefixes first, which is cheap, and then the names.
            guard number > 0, found[number - 1].name == entry.name, let last = chosen.last,
                name(last).utf8.elementsEqual(name(entry.position).utf8)
            else {
                chosen.append(entry.position)
                continue
            }
            if branch(last) == nil { chosen[chosen.count - 1] = entry.position }
        }
        return chosen
    }
}

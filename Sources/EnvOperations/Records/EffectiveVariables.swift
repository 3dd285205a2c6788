package import Vault

/// Selects the record of each key that a program sees in one environment.
package enum EffectiveVariables {
    /// A target or custom environment, and a branch.
    package struct Place: Equatable, Sendable {
        /// A fixed target or a custom environment.
        package enum Environment: Equatable, Sendable {
            /// One of Vercel's three targets.
            case target(Scope.Targets)
            /// A custom environment by id or slug, which sees only its own records.
            case custom(String)
        }

        package let environment: Environment
        /// The git branch, whose records take precedence.
        package let branch: String?

        package init(_ environment: Environment, branch: String? = nil) {
            self.environment = environment
            self.branch = branch
        }
    }

    /// Returns the records that apply in `place`, one per key, sorted by the bytes of the name.
    ///
    /// Records of a branch apply only with that branch, and take precedence over the general ones.
    package static func inPlace(_ place: Place, among records: [Variable]) -> [Variable] {
        onePerKey(
            records.indices.filter {
                records[$0].isLive && applies(records[$0].attributes.scope, in: place)
            }.map { (SortableName(records[$0].name), $0) }
        ) {
            records[$0].name
        } branch: {
            records[$0].attributes.scope.branch
        }.map { records[$0] }
    }

    /// Returns the positions in an index of a project's records that apply in `place`, one per key,
    /// sorted by the bytes of the name.
    ///
    /// Like ``inPlace(_:among:)``, but copies no records, for thousands of them.
    ///
    /// - Parameter leftOut: Records that do not apply anywhere.
    package static func positions(
        in place: Place, of project: Identifier, in index: VaultIndex,
        without leftOut: Set<Identifier> = []
    ) -> [Int] {
        var found: [(name: SortableName, position: Int)] = []
        found.reserveCapacity(index.variables.count)
        for position in index.variables.indices
        where index.variables[position].project == project
            && index.variables[position].deletedAt == nil
            && applies(index.variables[position].attributes.scope, in: place)
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

    /// Returns whether a record with that scope applies in `place`.
    package static func applies(_ scope: Scope, in place: Place) -> Bool {
        guard scope.branch == nil || scope.branch == place.branch else { return false }
        switch place.environment {
        case .target(let target): return scope.targets.isSuperset(of: target)
        case .custom(let name): return scope.customEnvironments.contains(name)
        }
    }
}

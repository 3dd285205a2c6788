package import Vault

/// Which record of each key a program sees that runs in one place.
package enum EffectiveVariables {
    /// One target, custom environment and branch.
    package struct Place: Equatable, Sendable {
        /// A fixed target or the name of a custom environment.
        package enum Environment: Equatable, Sendable {
            /// One of the platform's three.
            case target(Scope.Targets)
            /// A custom environment by id or slug, which sees its own records alone.
            case custom(String)
        }

        /// Where.
        package let environment: Environment
        /// The git branch, whose records then win.
        package let branch: String?

        /// Names a place.
        package init(_ environment: Environment, branch: String? = nil) {
            self.environment = environment
            self.branch = branch
        }
    }

    /// The records that apply in `place`, one a key, by the bytes of the name.
    ///
    /// Records of a branch apply with that branch only, and then win over the general ones.
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

    /// Where in an index the records of a project stand that apply in `place`, one a key, by the bytes of the name.
    ///
    /// The same as ``inPlace(_:among:)``, for thousands of records: none is copied.
    package static func positions(
        in place: Place, of project: Identifier, in index: VaultIndex
    ) -> [Int] {
        var found: [(name: SortableName, position: Int)] = []
        found.reserveCapacity(index.variables.count)
        for position in index.variables.indices
        where index.variables[position].project == project
            && index.variables[position].deletedAt == nil
            && applies(index.variables[position].attributes.scope, in: place)
        {
            found.append((SortableName(index.variables[position].name), position))
        }
        return onePerKey(found) {
            index.variables[$0].name
        } branch: {
            index.variables[$0].attributes.scope.branch
        }
    }

    /// The places of one record a key, by name. Beginnings of names are sorted, with places: a record is
    /// large, and costs wherever it moves.
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
            // The same beginning, which costs nothing to see, and then the same name.
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

    /// Whether a record of that scope applies there.
    package static func applies(_ scope: Scope, in place: Place) -> Bool {
        guard scope.branch == nil || scope.branch == place.branch else { return false }
        switch place.environment {
        case .target(let target): return scope.targets.isSuperset(of: target)
        case .custom(let name): return scope.customEnvironments.contains(name)
        }
    }
}

package import Vault

/// What the platform has, or has no more, and what serves production was built before: production gets it
/// with its next deployment. By what the vault has seen. Pure.
package struct PendingChanges: Equatable, Sendable {
    /// Variables that were set or changed.
    package let changed: [Variable]
    /// Variables that were removed.
    package let removed: [Variable]

    /// Judges the variables of a project.
    package init(of project: VaultProject, in index: VaultIndex) {
        func waiting(_ variables: [Variable]) -> [Variable] {
            variables.filter {
                SyncState(of: $0) == .synced && SyncState.isLive($0, in: project) == false
            }
        }
        changed = waiting(index.variables(of: project.id))
        removed = waiting(index.removedVariables(of: project.id))
    }

    /// One line each for a plan.
    package var lines: [String] {
        [("it gets to production", changed), ("it takes out of production", removed)].compactMap {
            $1.isEmpty ? nil : "\($0): \(Self.list(Self.names($1)))"
        }
    }

    /// Each name once, sorted.
    package static func names(_ variables: [Variable]) -> [String] {
        Set(variables.map(\.name)).sorted()
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(20).joined(separator: ", ")
            + (names.count > 20 ? " and \(names.count - 20) more" : "")
    }
}

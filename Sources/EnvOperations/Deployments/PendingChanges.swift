package import Vault

/// What the platform has, or has no more, and what serves production was built before: production gets it
/// with its next deployment. By what the vault has seen. Pure.
package struct PendingChanges: Equatable, Sendable {
    /// Variables that were set or changed.
    package let changed: [Variable]
    /// Variables that were removed, the latest of each name.
    package let removed: [Variable]
    /// All removed records that production was built with, also where one of that name has come back.
    package let removedRecords: Set<Identifier>

    /// Judges the variables of a project.
    ///
    /// - Parameter standing: Names that Vercel has for production now, the vault's or not: a deployment does not
    ///   take these out.
    package init(of project: VaultProject, in index: VaultIndex, standing: Set<String> = []) {
        changed = Self.waiting(index.variables(of: project.id), in: project)
        (removed, removedRecords) = Self.removed(of: project, in: index, standing: standing)
    }

    /// What was removed alone, the latest of each name, and all removed records that production was built with.
    package static func removed(
        of project: VaultProject, in index: VaultIndex, standing: Set<String> = []
    ) -> (latest: [Variable], records: Set<Identifier>) {
        let gone = waiting(index.removedVariables(of: project.id), in: project)
        if gone.isEmpty { return ([], []) }
        // What has come back to production is not taken out of it.
        var returned = standing
        for position in index.variables.indices {
            let variable = index.variables[position]
            guard variable.project == project.id, variable.isLive, let remote = variable.remote,
                !remote.isGone, remote.agreed.scope.targets.contains(.production)
            else { continue }
            returned.insert(variable.name)
        }
        var last: [String: Variable] = [:]
        for variable in gone where !returned.contains(variable.name) {
            func time(_ variable: Variable?) -> UInt64 { variable?.remote?.seenUpdatedAt ?? 0 }
            if time(variable) >= time(last[variable.name]) { last[variable.name] = variable }
        }
        return (gone.filter { last[$0.name]?.id == $0.id }, Set(gone.map(\.id)))
    }

    private static func waiting(
        _ variables: [Variable], in project: VaultProject
    ) -> [Variable] {
        variables.filter {
            SyncState(of: $0) == .synced && SyncState.isLive($0, in: project) == false
        }
    }

    /// One line each for a plan.
    package var lines: [String] {
        Self.lines([
            ("it gets to production", Self.names(changed)),
            ("it takes out of production", Self.names(removed)),
        ])
    }

    /// A sentence for each list that is not empty, with the first twenty of many names.
    package static func lines(_ lists: [(String, [String])]) -> [String] {
        lists.filter { !$1.isEmpty }.map { words, names in
            "\(words): " + names.prefix(20).joined(separator: ", ")
                + (names.count > 20 ? " and \(names.count - 20) more" : "")
        }
    }

    /// Each name once, sorted.
    package static func names(_ variables: [Variable]) -> [String] {
        Set(variables.map(\.name)).sorted()
    }
}

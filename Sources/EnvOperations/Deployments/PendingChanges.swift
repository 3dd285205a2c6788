package import Vault
package import VercelAPI

/// Changes on Vercel since the live deployment was built, which production gets with its next
/// deployment. Based on what the vault has seen.
package struct PendingChanges: Equatable, Sendable {
    /// Variables that were added or changed.
    package let changed: [Variable]
    /// Variables that were removed, the latest of each name.
    package let removed: [Variable]
    /// All removed records that production was built with, even if a variable of that name exists
    /// again.
    package let removedRecords: Set<Identifier>

    /// - Parameter standing: Names that Vercel has for production now, even if the vault does not.
    ///   A deployment does not remove these.
    package init(of project: VaultProject, in index: VaultIndex, standing: Set<String> = []) {
        changed = Self.waiting(index.variables(of: project.id), in: project)
        (removed, removedRecords) = Self.removed(of: project, in: index, standing: standing)
    }

    /// Returns only the removals: the latest of each name, and all removed records that production
    ///   was built with.
    package static func removed(
        of project: VaultProject, in index: VaultIndex, standing: Set<String> = []
    ) -> (latest: [Variable], records: Set<Identifier>) {
        let gone = waiting(index.removedVariables(of: project.id), in: project)
        if gone.isEmpty { return ([], []) }
        // A name that production has again is not removed from it.
        let returned = standing.union(index.namesInProduction(of: project.id))
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

    /// Returns the newest deployment that has all of these changes and only lacks a promotion: built
    /// for production after them, and never live.
    package static func staged(
        with variables: [Variable], in project: VaultProject, among deployments: [Deployment]
    ) -> Deployment? {
        deployments.first { deployment in
            guard deployment.target == "production", deployment.state == .ready,
                deployment.substate == .staged, deployment.id != project.live?.id,
                let created = deployment.createdAt
            else { return false }
            var then = project
            then.live = .init(
                id: deployment.id, createdAt: UInt64(clamping: created.milliseconds))
            return variables.allSatisfy { SyncState.isLive($0, in: then) != false }
        }
    }

    /// One line per list for a plan.
    package var lines: [String] {
        Self.lines([
            ("updates in production", Self.names(changed)),
            ("removes from production", Self.names(removed)),
        ])
    }

    /// Returns a line for each list that is not empty, with at most twenty names.
    package static func lines(_ lists: [(String, [String])]) -> [String] {
        lists.filter { !$1.isEmpty }.map { words, names in
            "\(words): " + names.prefix(20).joined(separator: ", ")
                + (names.count > 20 ? " and \(names.count - 20) more" : "")
        }
    }

    /// Returns each name once, sorted.
    package static func names(_ variables: [Variable]) -> [String] {
        Set(variables.map(\.name)).sorted()
    }
}

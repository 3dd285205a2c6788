package import Vault

/// The state of the variables of bound projects relative to Vercel as last seen, and how to bring
/// them in sync.
package struct SyncSummary: Equatable, Sendable {
    /// How to bring a variable in sync.
    package enum Remedy: Equatable, Hashable, Sendable {
        /// Send the vault's version.
        case push
        /// Take Vercel's version.
        case pull
        /// Let a pull ask about each variable at a terminal.
        case choose
        /// Replace the vault's version, which stays in the history, with Vercel's.
        case take
        /// Overwrite Vercel's version with the vault's.
        case overwrite
        /// Set a value in the vault.
        case set
        /// Rebuild production.
        case redeploy
        case rotate
    }

    /// The state of a variable, which may be in several.
    package enum Standing: String, CaseIterable, Sendable {
        /// Changed in the vault, or never sent.
        case ahead
        /// Changed on Vercel.
        case behind
        case diverged
        /// The vault has no value.
        case unreadable
        /// The change is on Vercel, but production was built before.
        case notLive
        /// The value is older than its rotation interval.
        case rotationDue

        /// Returns the ways to fix it for a variable, the safest first. Not empty.
        package func remedies(for variable: Variable) -> [Remedy] {
            // A pull cannot bring a hidden value: the right one has to be set here and sent.
            let isHidden =
                variable.remote.map { $0.agreed.kind == .sensitive && !$0.isGone } ?? false
            return switch self {
            case .ahead: [.push]
            case .behind: isHidden ? [.set, .overwrite] : [.pull]
            case .diverged where variable.remote?.isGone == true: [.choose, .overwrite, .take]
            case .diverged:
                isHidden && variable.isLive ? [.set, .overwrite] : [.choose, .take, .overwrite]
            case .unreadable: [.set]
            case .notLive: [.redeploy]
            case .rotationDue: [.rotate]
            }
        }
    }

    /// The variables by state, sorted by project and name.
    package let variables: [Standing: [Variable]]

    /// - Parameter rotationDue: The variables whose value is due for rotation.
    package init(of index: VaultIndex, rotationDue: [Variable]) {
        let projects = Dictionary(firstOf: index.projects.map { ($0.id, $0) })
        var found: [Standing: [Variable]] = [:]
        for variable in index.variables {
            guard let project = projects[variable.project] else { continue }
            for standing in Self.standings(of: variable, in: project) {
                found[standing, default: []].append(variable)
            }
        }
        found[.rotationDue] = rotationDue
        variables = found.mapValues { list in
            list.sorted {
                (projects[$0.project]?.name ?? "", $0.name, $0.attributes.scope.description)
                    < (projects[$1.project]?.name ?? "", $1.name, $1.attributes.scope.description)
            }
        }
    }

    private static func standings(of variable: Variable, in project: VaultProject) -> [Standing] {
        // A missing value always counts; the other states need a binding.
        let state = SyncState(of: variable)
        if variable.isLive, variable.currentVersion == 0, state != .behind { return [.unreadable] }
        guard project.binding != nil else { return [] }
        guard variable.isLive else {
            guard let remote = variable.remote else { return [] }
            guard !remote.isGone else {
                return SyncState.isLive(variable, in: project) == false ? [.notLive] : []
            }
            return remote.seenUpdatedAt > remote.agreedUpdatedAt ? [.diverged] : [.ahead]
        }
        switch state {
        case .local, .ahead: return [.ahead]
        case .behind: return [.behind]
        case .diverged: return [.diverged]
        case .unreadable: return [.unreadable]
        case .synced: return SyncState.isLive(variable, in: project) == false ? [.notLive] : []
        }
    }
}

package import Vault

/// How the variables of bound projects stand against the platform as last seen, and what would bring
/// each in step. Pure.
package struct SyncSummary: Equatable, Sendable {
    /// What would bring a variable in step.
    package enum Remedy: Equatable, Hashable, Sendable {
        /// Send what is here.
        case push
        /// Take what is there.
        case pull
        /// Take what is there in place of what is here, which stays in the history.
        case take
        /// Send what is here over what is there.
        case overwrite
        /// Give it a value here.
        case set
        /// Build production anew.
        case redeploy
        /// Replace the value.
        case rotate
    }

    /// How a variable stands. One may stand in several ways.
    package enum Standing: String, CaseIterable, Sendable {
        /// Changed here, or never sent.
        case ahead
        /// Changed there.
        case behind
        /// Changed on both sides.
        case diverged
        /// The vault holds no value.
        case unreadable
        /// The platform has the value, or has it no more, and production was built before.
        case notLive
        /// The value is older than it should get.
        case rotationDue

        /// What would mend it for a variable: what loses nothing first. Not empty.
        package func remedies(for variable: Variable) -> [Remedy] {
            // A pull does not bring a value that Vercel does not show: the right one is given here, and sent.
            let isHidden =
                variable.remote.map { $0.agreed.kind == .sensitive && !$0.isGone } ?? false
            return switch self {
            case .ahead: [.push]
            case .behind: isHidden ? [.set, .overwrite] : [.pull]
            case .diverged where variable.remote?.isGone == true: [.overwrite, .take]
            case .diverged: isHidden && variable.isLive ? [.set, .overwrite] : [.take, .overwrite]
            case .unreadable: [.set]
            case .notLive: [.redeploy]
            case .rotationDue: [.rotate]
            }
        }
    }

    /// The variables by how they stand, in the order of the projects' and their own names.
    package let variables: [Standing: [Variable]]

    /// Judges the variables of an index.
    ///
    /// - Parameter rotationDue: Those whose value is too old.
    package init(of index: VaultIndex, rotationDue: [Variable]) {
        let projects = Dictionary(
            index.projects.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
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
        // Without a value it is unreadable wherever it is; all else is said of what has a platform.
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

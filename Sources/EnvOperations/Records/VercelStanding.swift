package import Vault

/// Whether Vercel, and what is live there, has the value that a variable has now, or no longer has a
/// variable that was removed. As of the vault's last look.
package enum VercelStanding: String, CaseIterable, Sendable {
    /// The project has no link, or the variable was never there.
    case absent
    case notPushed
    /// Changed there since.
    case changed
    /// It has a variable of the name that this vault did not push.
    case foreign
    case notLive
    /// What is there, or live, was not seen.
    case unknown
    case live
    /// Vercel has it. Nothing with it is deployed to the production domains.
    case pushed

    /// Judges a variable of which someone knew a value.
    ///
    /// What this vault remembers of Vercel does not settle anything: the value may have got there from
    /// another vault, or by hand.
    ///
    /// - Parameter variable: The record of the vault; nil if it has none.
    package init(
        of variable: Variable?, named name: String, for scope: Scope,
        comparing comparison: VercelComparison
    ) {
        let project = comparison.project
        guard project.binding != nil else {
            self = .absent
            return
        }
        // What Vercel hides may have the value.
        guard let sight = comparison.sight, sight.records.isComplete else {
            self = .unknown
            return
        }
        let found = comparison.records(named: name, overlapping: scope)
        let owned = found.compactMap { comparison.owner(of: $0) }
        guard owned.count == found.count else {
            self = .foreign
            return
        }
        let own = variable.flatMap { $0.remote == nil ? nil : $0 }
        let states = ([own].compactMap(\.self) + owned).map {
            Self(of: $0, in: project, seeing: sight)
        }
        self =
            states.first(where: \.mayHaveOlderValue)
            ?? (comparison.isBuiltWithRemoved(name) ? .notLive : states.first) ?? .absent
    }

    private init(
        of variable: Variable, in project: VaultProject, seeing sight: VercelComparison.Sight
    ) {
        guard let remote = variable.remote else {
            self = .absent
            return
        }
        guard variable.isLive else {
            guard variable.isRemovedEverywhere else {
                self = .notPushed
                return
            }
            self = SyncState.isLive(variable, in: project) == false ? .notLive : .absent
            return
        }
        switch SyncState(of: variable) {
        case .synced where !remote.agreed.scope.targets.contains(.production): self = .pushed
        case .synced where sight.liveNames == nil: self = .pushed
        case .synced:
            switch SyncState.isLive(variable, in: project) {
            case true: self = .live
            case false: self = .notLive
            case nil: self = .unknown
            }
        case .behind, .diverged: self = .changed
        case .local, .ahead, .unreadable: self = .notPushed
        }
    }

    /// Whether Vercel, or what is live there, may still have an older value.
    package var mayHaveOlderValue: Bool {
        switch self {
        case .absent, .live, .pushed: false
        case .notPushed, .changed, .foreign, .notLive, .unknown: true
        }
    }
}

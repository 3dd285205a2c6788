package import Vault

/// Whether Vercel, and what is live there, has the value that a variable has now, or no longer has a
/// variable that was removed. As of the vault's last look.
package enum VercelStanding: String, Sendable {
    /// The project has no link, or the variable was never there.
    case absent
    case notPushed
    /// Changed there since.
    case changed
    case notLive
    /// What is live was never seen.
    case unknown
    case live
    /// Vercel has it. Nothing with it is deployed to the production domains.
    case pushed

    package init(of variable: Variable, in project: VaultProject) {
        guard project.binding != nil, let remote = variable.remote else {
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
        case .notPushed, .changed, .notLive, .unknown: true
        }
    }
}

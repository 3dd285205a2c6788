package import Vault

/// Whether Vercel, and what is live there, has the value that a variable has now, or no longer has a
/// variable that was removed. As of the vault's last look.
package enum VercelStanding: String, Sendable {
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

    /// What Vercel was just seen to have of a project.
    package struct Sight: Sendable {
        package let records: [VercelRecord]
        /// The names of the live deployment's variables; empty without one.
        package let liveNames: Set<String>

        package init(records: [VercelRecord], liveNames: Set<String>) {
            (self.records, self.liveNames) = (records, liveNames)
        }

        /// Whether production was built with a variable that Vercel no longer has for it.
        fileprivate func isBuiltWithRemoved(_ name: String) -> Bool {
            liveNames.contains(name)
                && !records.contains {
                    $0.key.utf8.elementsEqual(name.utf8)
                        && $0.attributes.scope.targets.contains(.production)
                }
        }
    }

    /// Judges a variable of which someone knew a value.
    ///
    /// What this vault remembers of Vercel does not settle anything: the value may have got there from
    /// another vault, or by hand.
    ///
    /// - Parameters:
    ///   - id: The record of the vault; nil if it has none.
    ///   - sight: nil if Vercel was not asked just now.
    package init(
        of id: Identifier?, named name: String, for scope: Scope, in project: VaultProject,
        among variables: [Variable], seeing sight: Sight?
    ) {
        guard project.binding != nil else {
            self = .absent
            return
        }
        guard let sight else {
            self = .unknown
            return
        }
        var owners: [String: Variable] = [:]
        for variable in variables where variable.project == project.id {
            guard let remote = variable.remote, !remote.isGone else { continue }
            owners[remote.id] = variable
        }
        let found = sight.records.filter {
            $0.key.utf8.elementsEqual(name.utf8) && $0.attributes.scope.overlaps(scope)
        }
        guard found.allSatisfy({ owners[$0.id] != nil }) else {
            self = .foreign
            return
        }
        var all = found.compactMap { owners[$0.id] }
        if let own = variables.first(where: { $0.id == id }), own.remote != nil {
            all = [own] + all
        }
        let states = all.map { Self(of: $0, in: project) }
        self =
            states.first(where: \.mayHaveOlderValue)
            ?? (sight.isBuiltWithRemoved(name) ? .notLive : states.first) ?? .absent
    }

    private init(of variable: Variable, in project: VaultProject) {
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

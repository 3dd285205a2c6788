internal import Vault

/// Where the platform is to lose a key: the vault took it from there after both sides had it, and has no
/// other record there. What somebody made in such a place is not what both sides had. Pure.
struct VacatedScopes: Equatable, Sendable {
    /// A place that one record of the vault left.
    struct Place {
        let key: String
        let scope: Scope
        /// The platform's time when it was seen without the record; nil where it was not yet.
        private let emptySince: UInt64?

        fileprivate init(of remote: RemoteState, _ scope: Scope) {
            (key, self.scope) = (remote.key, scope)
            emptySince = remote.isGone ? remote.seenUpdatedAt : nil
        }

        /// Tells whether a record of the platform that the vault has none of stands there. One that was made
        /// after the place was seen empty is an ordinary one.
        func isTaken(by record: PlatformRecord) -> Bool {
            record.key == key && record.attributes.scope.overlaps(scope)
                && record.attributes.kind != .system
                && emptySince.map { record.createdAt <= $0 } ?? true
        }
    }

    private let taken: [String: [Scope]]

    /// - Parameter variables: All records of one project.
    init(_ variables: some Sequence<Variable>) {
        taken = Dictionary(grouping: variables.filter(\.isLive), by: \.name)
            .mapValues { $0.map(\.attributes.scope) }
    }

    /// What one record left; nil where it left nothing.
    func place(of variable: Variable) -> Place? {
        guard let remote = variable.remote, !variable.isTrace,
            !variable.isLive || variable.name != remote.key
                || variable.attributes.scope != remote.agreed.scope
        else { return nil }
        let left = (taken[remote.key] ?? []).reduce(remote.agreed.scope) { $0.subtracting($1) }
        return left.isEmpty ? nil : Place(of: remote, left)
    }
}

extension Scope {
    /// What this scope shares with others of the same branch.
    func shared(with others: [Scope]) -> Scope {
        subtracting(others.reduce(self) { $0.subtracting($1) })
    }
}

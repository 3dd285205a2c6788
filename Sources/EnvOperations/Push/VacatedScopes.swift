internal import Vault

/// The scopes where Vercel is to lose a key, because the vault removed it after both sides had it
/// and has no other record there. A record that another user created there is not what both sides
/// had.
struct VacatedScopes: Equatable, Sendable {
    /// The key and scope that one record of the vault left.
    struct Place {
        let key: String
        let scope: Scope
        /// Vercel's time when it was first seen without the record; nil if not yet.
        private let emptySince: UInt64?

        fileprivate init(of remote: RemoteState, _ scope: Scope) {
            (key, self.scope) = (remote.key, scope)
            emptySince = remote.isGone ? remote.seenUpdatedAt : nil
        }

        /// Returns whether a record on Vercel, without a record in the vault, is there. One that
        /// was created after the place was seen empty is an ordinary one.
        func isTaken(by record: VercelRecord) -> Bool {
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

    /// Returns what one record left, or nil if nothing.
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
    /// Returns what this scope shares with others of the same branch.
    func shared(with others: [Scope]) -> Scope {
        subtracting(others.reduce(self) { $0.subtracting($1) })
    }
}

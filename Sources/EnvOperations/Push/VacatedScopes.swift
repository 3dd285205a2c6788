internal import Vault

/// Where the platform is to lose a key: the vault took it from there after both sides had it, and has no
/// other record there. What somebody made in such a place is not what both sides had. Pure.
struct VacatedScopes {
    private let taken: [String: [Scope]]

    /// - Parameter variables: All records of one project.
    init(_ variables: some Sequence<Variable>) {
        taken = Dictionary(grouping: variables.filter(\.isLive), by: \.name)
            .mapValues { $0.map(\.attributes.scope) }
    }

    /// What one record left; nil where it left nothing, and for a removed one that the platform was seen
    /// without.
    func scope(of variable: Variable) -> Scope? {
        guard let remote = variable.remote, variable.isLive || !remote.isGone,
            !variable.isLive || variable.name != remote.key
                || variable.attributes.scope != remote.agreed.scope
        else { return nil }
        let left = (taken[remote.key] ?? []).reduce(remote.agreed.scope) { $0.subtracting($1) }
        return left.isEmpty ? nil : left
    }
}

internal import Vault
internal import VercelAPI

/// Which shared variables a listing shows: what its options say of a project's own goes for them too.
struct SharedVariableFilter {
    let pattern: String?
    let scope: Scope?
    /// Only those not changed since, in milliseconds since 1970.
    let madeBefore: UInt64?
    /// Whether removed variables are listed; no shared one is known to be.
    let isDeleted: Bool

    /// Opens what is kept, where a project could have some.
    func answers(_ workspace: Workspace, _ index: VaultIndex) throws -> PlatformAnswers? {
        guard !isDeleted, index.projects.contains(where: { $0.binding?.teamID != nil }) else {
            return nil
        }
        return try PlatformAnswers(
            workspace, keys: try workspace.session.keys(.index), index: index)
    }

    /// Tells whether one is to be listed.
    func includes(_ variable: SharedVariable, _ matches: (String, String) -> Bool) -> Bool {
        if let madeBefore, let changed = variable.updatedAt ?? variable.createdAt,
            UInt64(clamping: changed.milliseconds) > madeBefore
        {
            return false
        }
        if let scope {
            let targets = Set(variable.targets.map(\.rawValue))
            let isThere =
                !targets.isDisjoint(with: scope.targets.names)
                || variable.appliesToAllCustomEnvironments && !scope.customEnvironments.isEmpty
            guard isThere, scope.branch == nil else { return false }
        }
        return pattern.map { matches(variable.key, $0) } ?? true
    }
}

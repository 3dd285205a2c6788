internal import Vault
internal import VercelAPI

/// Applies the options of `list` to shared variables.
struct SharedVariableFilter {
    let pattern: String?
    let scope: Scope?
    /// Only variables not changed since then, in milliseconds since 1970.
    let madeBefore: UInt64?
    /// Whether removed variables are listed, which shared variables never are.
    let isDeleted: Bool

    /// Returns the cached responses, or nil if no project is linked.
    func answers(_ workspace: Workspace, _ index: VaultIndex) throws -> VercelResponses? {
        guard !isDeleted, index.projects.contains(where: { $0.binding != nil }) else {
            return nil
        }
        return try VercelResponses(
            workspace, keys: try workspace.session.keys(.index), index: index)
    }

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

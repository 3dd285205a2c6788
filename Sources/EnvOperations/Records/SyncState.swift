package import Vault

/// The state of a variable relative to Vercel as last seen.
package enum SyncState: String, CaseIterable, Sendable {
    case local
    /// As last agreed on both sides.
    case synced
    /// Changed in the vault since.
    case ahead
    /// Changed on Vercel since.
    case behind
    /// Changed on both sides since.
    case diverged
    /// The vault has no value.
    case unreadable

    /// Returns the state of one record.
    package init(of variable: Variable) {
        if variable.isRemovedEverywhere {
            self = .synced
            return
        }
        guard variable.currentVersion > 0 else {
            self = Self.mayBringValue(variable) ? .behind : .unreadable
            return
        }
        guard let remote = variable.remote else {
            self = .local
            return
        }
        let changedHere = Self.isChangedHere(variable, remote)
        let changedThere = remote.isGone || remote.seenUpdatedAt > remote.agreedUpdatedAt
        switch (changedHere, changedThere) {
        case (false, false): self = .synced
        case (true, false): self = .ahead
        case (false, true): self = .behind
        case (true, true): self = .diverged
        }
    }

    /// Returns whether a pull may bring the value of a record without one: Vercel shows such values
    ///   and has a version that has not been seen.
    private static func mayBringValue(_ variable: Variable) -> Bool {
        guard variable.isLive, let remote = variable.remote, !remote.isGone else { return false }
        return remote.agreed.kind != .sensitive && remote.seenUpdatedAt > remote.agreedUpdatedAt
    }

    /// Returns whether the vault's side has changed since both agreed; false for a record that was never
    /// on Vercel.
    static func isChangedHere(_ variable: Variable) -> Bool {
        variable.remote.map { isChangedHere(variable, $0) } ?? false
    }

    private static func isChangedHere(_ variable: Variable, _ remote: RemoteState) -> Bool {
        !variable.isLive || variable.currentVersion != remote.pushedVersion
            || variable.attributes != remote.agreed || variable.name != remote.key
    }

    /// Returns whether a push would send or remove the variable, or report it as a conflict. Always
    /// false in a project without a link to Vercel.
    package static func isNotPushed(_ variable: Variable, in project: VaultProject?) -> Bool {
        guard project?.binding != nil else { return false }
        guard variable.isLive else {
            return variable.remote != nil && !variable.isRemovedEverywhere
        }
        return [.local, .ahead, .diverged].contains(SyncState(of: variable))
    }

    /// Returns whether the live deployment was built with the variable as it is; for a removed one,
    /// without it.
    ///
    /// Compares only Vercel's times.
    ///
    /// - Returns: Nil if the record is not for production or Vercel was never seen; for a removed
    ///   one, also if Vercel may still have it, or if it is known to have left production.
    package static func isLive(_ variable: Variable, in project: VaultProject) -> Bool? {
        guard variable.isLive else {
            guard variable.isRemovedEverywhere, variable.wasInProduction,
                let remote = variable.remote, let deployment = project.live
            else { return nil }
            return deployment.createdAt > remote.seenUpdatedAt ? nil : false
        }
        guard variable.attributes.scope.targets.contains(.production), project.seenAt > 0 else {
            return nil
        }
        guard let remote = variable.remote, !isChangedHere(variable, remote) else { return false }
        guard let deployment = project.live else { return nil }
        return remote.hadValue(at: deployment.createdAt)
    }
}

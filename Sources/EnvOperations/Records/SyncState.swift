package import Vault

/// How a variable stands against the platform as last seen.
package enum SyncState: String, Sendable {
    /// Never pushed.
    case local
    /// As last agreed on both sides.
    case synced
    /// Changed here since.
    case ahead
    /// Changed there since.
    case behind
    /// Changed on both sides since.
    case diverged
    /// The vault holds no value.
    case unreadable

    /// Judges one record.
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

    /// Tells of a record without a value that the platform shows such values, and was not seen as it is.
    private static func mayBringValue(_ variable: Variable) -> Bool {
        guard variable.isLive, let remote = variable.remote, !remote.isGone else { return false }
        return remote.agreed.kind != .sensitive && remote.seenUpdatedAt > remote.agreedUpdatedAt
    }

    private static func isChangedHere(_ variable: Variable, _ remote: RemoteState) -> Bool {
        !variable.isLive || variable.currentVersion != remote.pushedVersion
            || variable.attributes != remote.agreed || variable.name != remote.key
    }

    /// Tells whether the deployment that serves production was made with the variable as it is; of a removed
    /// one, without it.
    ///
    /// Only the platform's times are compared.
    ///
    /// - Returns: nil where the record is not of production, or the platform was never seen; and for a
    ///   removed one that the platform may still have, or that is known to have left production.
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

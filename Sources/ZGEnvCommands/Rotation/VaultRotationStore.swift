internal import EnvOperations
internal import Vault

/// Stores a rotation in the vault's journal.
struct VaultRotationStore: RotationStore {
    let workspace: Workspace

    func keep(_ rotation: RotationEntry) throws {
        let session = workspace.session
        try session.commit { transaction, _ in
            if rotation.isUnused { Self.drop(rotation.plan, from: &transaction) }
            try transaction.keep(rotation)
        }
    }

    /// Deletes new versions that were never used.
    private static func drop(_ plan: RotationPlan, from transaction: inout VaultTransaction) {
        let records = plan.members.flatMap(\.records).keyed(by: \.variable)
        transaction.erase(
            transaction.index.earlierVersions.filter {
                records[$0.variable]?.newVersion == $0.version
            })
    }

    func makeCurrent(
        _ side: RotationAction.Side, ofMember member: Int, _ rotation: RotationEntry
    ) throws -> RotationProgress.Failure? {
        let session = workspace.session
        let (plan, time) = (rotation.plan, workspace.context.now())
        let project = plan.members[member]
        return try session.commit { transaction, _ in
            var changes: [(position: Int, version: UInt64)] = []
            for record in project.records {
                let (wanted, other) =
                    side == .new
                    ? (record.newVersion, record.oldVersion)
                    : (record.oldVersion, record.newVersion)
                guard let position = transaction.position(of: record.variable),
                    transaction.index.variables[position].isLive,
                    transaction.index.variables[position].name == plan.key,
                    transaction.index.variables[position].project == project.project
                else {
                    return .init(
                        .changedHere, "\(plan.key) was removed or renamed in the vault")
                }
                guard wanted > 0 else {
                    return .init(.noOldValue, "the vault has no old value for \(plan.key)")
                }
                let current = transaction.index.variables[position].currentVersion
                guard current == wanted || current == other else {
                    return .init(
                        .changedHere, "\(plan.key) was set to a different value in the vault")
                }
                changes.append((position, wanted))
            }
            for change in changes {
                guard
                    transaction.makeCurrent(
                        version: change.version, ofVariableAt: change.position, at: time)
                else {
                    return .init(
                        .changedHere, "the vault no longer has version \(change.version)")
                }
            }
            return nil
        }
    }
}

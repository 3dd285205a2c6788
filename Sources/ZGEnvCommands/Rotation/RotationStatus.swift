internal import JSON
internal import Vault

/// `rotate --status` and `rotate --close`.
enum RotationStatus {
    /// Returns the rotations of a key, or all of them, newest first.
    static func result(_ key: String?, _ workspace: Workspace) throws -> CommandResult {
        let index = try workspace.session.index(.everything)
        let project =
            workspace.options.namesProject
            ? try ProjectResolver(workspace).existing(in: index).id : nil
        let reports = try index.rotations().filter { rotation in
            (key == nil || rotation.plan.key == key)
                && (project == nil || rotation.plan.members.contains { $0.project == project })
        }.map { RotationReport($0) }
        let others = try RotationNotices(workspace).all(of: key, in: project)
        return CommandResult(
            json: [
                "rotations": .array(reports.map { .object($0.members) }),
                "colleagues": .array(others.json),
            ],
            text: reports.isEmpty && others.lines.isEmpty
                ? "No rotations.\n" : (reports.map(\.text) + others.lines).joined()
        ).folded(workspace)
    }

    /// Closes an open rotation. Values, Vercel and deployments stay as they are.
    static func close(_ found: RotationEntry, _ workspace: Workspace) throws -> CommandResult {
        var closed = found
        let answer = try workspace.confirm(
            ["close the unfinished rotation of \(found.plan.key); nothing is restored"],
            "Close it?")
        if answer {
            let lock = try RotationLock(found, workspace)
            defer { withExtendedLifetime(lock) {} }
            let time = max(workspace.context.now(), 1)
            closed = try workspace.session.commit { transaction, _ in
                try close(found, at: time, in: &transaction)
            }
            workspace.note("Closed the rotation of \(found.plan.key).")
            RotationNotices(workspace).exchange(about: found)
        }
        return CommandResult(
            json: .object(
                RotationReport(closed).members + [.init("dryRun", .bool(!answer))]))
    }

    /// Closes the rotation as it is in the file now. An entry that cannot be authenticated is deleted,
    /// since storing it again would authenticate it.
    private static func close(
        _ found: RotationEntry, at time: UInt64, in transaction: inout VaultTransaction
    ) throws -> RotationEntry {
        do throws(VaultError) {
            var rotation = try transaction.rotation(found.id) ?? found
            guard rotation.isOpen else { return rotation }
            rotation.endedAt = time
            try transaction.keep(rotation)
            return rotation
        } catch {
            guard error.code == .damaged else { throw error }
            transaction.forget(rotation: found.id)
            var gone = found
            gone.endedAt = time
            return gone
        }
    }
}

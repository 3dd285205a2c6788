internal import JSON
internal import Vault

/// `rotate --status` and `--close`: what the vault knows of rotations.
enum RotationStatus {
    /// The rotations of a key, or all, newest first.
    static func result(_ key: String?, _ workspace: Workspace) throws -> CommandResult {
        let index = try workspace.session.index(.everything)
        let reports = try index.rotations().filter { key == nil || $0.plan.key == key }
            .map { RotationReport($0) }
        return CommandResult(
            json: ["rotations": .array(reports.map { .object($0.members) })],
            text: reports.isEmpty
                ? "No rotation is known.\n" : reports.map(\.text).joined())
    }

    /// Ends an open rotation as it stands. Values, platform and deployments stay as they are.
    static func close(_ key: String?, _ workspace: Workspace) throws -> CommandResult {
        let found = try RotationWork(workspace: workspace).open(key)
        var closed = found
        let answer = try workspace.confirm(
            ["close the open rotation of \(found.plan.key) as it stands; nothing is put back"],
            "Close it?")
        if answer {
            let lock = try RotationLock(
                found.id, key: found.plan.key, besides: workspace.session.path)
            defer { withExtendedLifetime(lock) {} }
            let time = max(workspace.context.now(), 1)
            closed = try workspace.session.update(with: try workspace.session.keys(.values)) {
                try close(found, at: time, in: &$0)
            }
            workspace.note("The rotation of \(found.plan.key) is closed.")
        }
        return CommandResult(
            json: .object(
                RotationReport(closed).members + [.init("dryRun", .bool(!answer))]))
    }

    /// Closes it as it stands in the file now; one that nobody with the root has made goes without a trace,
    /// since keeping it would vouch for it.
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

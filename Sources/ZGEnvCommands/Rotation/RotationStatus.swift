internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `rotate --status` and `--close`: what the vault knows of rotations.
enum RotationStatus {
    /// The rotations of a key, or all, newest first.
    static func result(_ key: String?, _ invocation: Invocation) throws -> CommandResult {
        let index = try invocation.session.index(.everything)
        let reports = try index.rotations().filter { key == nil || $0.plan.key == key }
            .map { RotationReport($0) }
        return CommandResult(
            json: ["rotations": .array(reports.map { .object($0.members) })],
            text: reports.isEmpty
                ? "No rotation is known.\n" : reports.map(\.text).joined())
    }

    /// Ends an open rotation as it stands. Values, platform and deployments stay as they are.
    static func close(_ key: String?, _ invocation: Invocation) throws -> CommandResult {
        let found = try RotationWork(invocation: invocation).open(key)
        var closed = found
        let name = DisplayText.safe(found.plan.key)
        let answer = try Confirmation.ask(
            invocation,
            plan: ["close the open rotation of \(name) as it stands; nothing is put back"],
            question: "Close it?")
        if answer == .goOn {
            let lock = try RotationLock(
                found.id, key: found.plan.key, besides: invocation.session.path)
            defer { withExtendedLifetime(lock) {} }
            let time = max(invocation.context.now(), 1)
            closed = try invocation.session.update(with: try invocation.session.valueKeys()) {
                try close(found, at: time, in: &$0)
            }
            try invocation.note("The rotation of \(name) is closed.")
        }
        return CommandResult(
            json: .object(
                RotationReport(closed).members + [.init("dryRun", .bool(answer != .goOn))]))
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

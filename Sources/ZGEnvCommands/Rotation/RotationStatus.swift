internal import CommandLineKit
internal import EnvOperations
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

    /// Forgets an open rotation. Values, platform and deployments stay as they are.
    static func close(_ key: String?, _ invocation: Invocation) throws -> CommandResult {
        let found = try RotationWork(invocation).open(key)
        let report = RotationReport(found)
        let name = DisplayText.safe(found.plan.key)
        let answer = try Confirmation.ask(
            invocation, plan: ["forget the open rotation of \(name); nothing is put back"],
            question: "Forget it?")
        if answer == .goOn {
            let lock = try RotationLock(
                found.id, key: found.plan.key, besides: invocation.session.path)
            defer { withExtendedLifetime(lock) {} }
            try invocation.session.update(with: try invocation.session.valueKeys()) {
                $0.forget(rotation: found.id)
            }
            try invocation.note("The rotation of \(name) is forgotten.")
        }
        return CommandResult(
            json: .object(report.members + [.init("dryRun", .bool(answer != .goOn))]))
    }
}

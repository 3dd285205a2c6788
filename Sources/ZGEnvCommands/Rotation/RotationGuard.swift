internal import CommandLineKit
internal import EnvOperations
internal import Vault

/// Refuses a change of variables that an open rotation is working on, except by `rotate` itself and
/// by a sync: a rotation finds what a sync changed, and stops.
struct RotationGuard: WriteStage {
    func recorded(
        _ transaction: inout VaultTransaction, _ news: inout News, by writer: VaultWriter
    ) throws {
        guard !writer.session.use.changesRotated, news[SyncedChanges.self] == nil,
            let open = try transaction.affectedRotation()
        else { return }
        let projects = open.plan.members.map(\.name)
        throw CommandError(
            .conflict,
            "The rotation of \(open.plan.key) in \(projects.joined(separator: ", ")) is not finished.",
            hint: "Continue it with: zg-env rotate \(word: open.plan.key) --resume, or revert it "
                + "with: zg-env rotate \(word: open.plan.key) --abort")
    }
}

/// Refuses a change of variables that a colleague rotates, except by a sync.
struct RotationNoticeGuard: WriteStage {
    func recorded(
        _ transaction: inout VaultTransaction, _ news: inout News, by writer: VaultWriter
    ) throws {
        if news[SyncedChanges.self] == nil { try RotationNoticeGate.check(transaction) }
    }
}

extension GlobalLock: RotationWorkers {}

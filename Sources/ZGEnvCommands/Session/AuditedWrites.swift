internal import Vault

/// Names for the audit log that a change reports although the vault's variables stay the same, such
/// as an accepted change of a colleague.
struct AuditedNames: NewsPart {
    var project: String?
    var names: [String]

    mutating func add(_ other: AuditedNames) {
        if project != other.project { project = nil }
        names += other.names
    }
}

/// Records each write in the audit log: a line before the file is replaced, without which nothing
/// is written, and one after.
struct AuditedWrites: WriteStage {
    /// The lines that this write began.
    private struct Begun: NewsPart {
        var lines: [UInt64]
        mutating func add(_ other: Begun) { lines += other.lines }
    }

    func recorded(
        _ transaction: inout VaultTransaction, _ news: inout News, by writer: VaultWriter
    ) throws {
        // Before the lines of this write: they are not synced to disk, and the vault must not know
        // of a line that a power failure takes away.
        writer.session.recordAudit(in: &transaction)
        var changes = transaction.auditedChanges()
        if let named = news[AuditedNames.self] {
            changes.append((named.project, named.names.map { .init($0) }))
        }
        for change in changes {
            for part in AuditEntry.parts(of: change.subjects) {
                let line = try writer.session.audit(
                    AuditEntry.Outcome.begun, part, project: change.project,
                    with: writer.keys, seen: transaction.index.metadata)
                news.add(Begun(lines: [line]))
            }
        }
    }

    func ended(_ error: (any Error)?, _ news: News, by writer: VaultWriter) {
        // Written, but perhaps not on disk: the outcome is unknown.
        if (error as? VaultError)?.code == .notConfirmed { return }
        for line in news[Begun.self]?.lines ?? [] {
            writer.session.auditEnd(
                error == nil ? AuditEntry.Outcome.done : AuditEntry.Outcome.failed, of: line,
                with: writer.keys)
        }
    }
}

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
    private static let namesPerLine = 500

    /// The lines that this write began.
    private struct Begun: NewsPart {
        var lines: [UInt64]
        mutating func add(_ other: Begun) { lines += other.lines }
    }

    func recorded(
        _ transaction: inout VaultTransaction, _ news: inout News, by writer: VaultWriter
    ) throws {
        var changes = transaction.auditedChanges()
        if let named = news[AuditedNames.self] {
            changes.append((named.project, named.names.map { .init($0) }))
        }
        for change in changes {
            // A line has room for about 1,000 names; what does not fit would only be counted.
            for start in stride(from: 0, to: max(change.subjects.count, 1), by: Self.namesPerLine) {
                let part = change.subjects.dropFirst(start).prefix(Self.namesPerLine)
                let line = try writer.session.audit(
                    AuditEntry.Outcome.begun, Array(part), project: change.project,
                    with: writer.keys, seen: transaction.index.metadata)
                news.add(Begun(lines: [line]))
            }
        }
        writer.session.recordAudit(in: &transaction)
    }

    func ended(_ error: (any Error)?, _ news: News, by writer: VaultWriter) {
        for line in news[Begun.self]?.lines ?? [] {
            writer.session.auditEnd(
                error == nil ? AuditEntry.Outcome.done : AuditEntry.Outcome.failed, of: line,
                with: writer.keys)
        }
    }
}

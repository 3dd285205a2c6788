extension IndexMetadata {
    /// Records the end of the audit log, unless the vault knows of a later line.
    mutating func recordAudit(_ end: AuditLog.Position) {
        if end.sequence > (audit?.sequence ?? 0) { audit = end }
    }
}

extension VaultTransaction {
    /// Sets the audit log's recorded end to `position`, discarding the earlier record: after a
    /// person with the passphrase accepted the log, or for a vault that arrived without its log
    /// (nil).
    package mutating func acceptAuditLog(endingAt position: AuditLog.Position?) {
        index.metadata.audit = position
    }
}

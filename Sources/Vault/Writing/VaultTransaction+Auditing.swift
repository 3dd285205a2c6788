extension IndexMetadata {
    /// Keeps where the audit log ends, unless the vault knows of a later line.
    mutating func recordAudit(_ end: AuditLog.Position) {
        if end.sequence > (audit?.sequence ?? 0) { audit = end }
    }
}

extension VaultTransaction {
    /// Keeps where the audit log ends, unless the vault knows of a later line.
    mutating func recordAuditPosition() {
        if let auditPosition { index.metadata.recordAudit(auditPosition) }
    }

    /// Takes the audit log for whole up to `position`, whatever the vault knew of it: after somebody
    /// with the passphrase said so, or for a vault that came here without its log (nil).
    package mutating func acceptAuditLog(endingAt position: AuditLog.Position?) {
        index.metadata.audit = position
    }
}

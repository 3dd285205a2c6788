extension VaultTransaction {
    /// Keeps where the audit log ends, unless the vault knows of a later line.
    mutating func recordAuditPosition() {
        guard let auditPosition,
            auditPosition.sequence > (index.metadata.audit?.sequence ?? 0)
        else { return }
        index.metadata.audit = auditPosition
    }

    /// Takes the audit log for whole up to `position`, whatever the vault knew of it: after somebody
    /// with the passphrase said so, or for a vault that came here without its log (nil).
    package mutating func acceptAuditLog(endingAt position: AuditLog.Position?) {
        index.metadata.audit = position
    }
}

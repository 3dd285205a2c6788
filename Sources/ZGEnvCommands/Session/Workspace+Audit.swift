internal import Vault

extension Workspace {
    /// Adds a line to the audit log. Whoever gives values out calls this before, and gives nothing out
    /// when it throws.
    ///
    /// - Parameters:
    ///   - names: Keys of variables, or what else it is about; never a value.
    ///   - command: The command's words, where they are not those of this command.
    ///   - durably: Whether the line must be on the disk first: changes of slots, and rotations.
    /// - Throws: ``VaultError/Code/auditLog``.
    func audit(
        _ outcome: String, _ names: [String], project: String? = nil, place: String? = nil,
        command: String? = nil, seen metadata: IndexMetadata, durably: Bool = false
    ) throws {
        let user = context.user()
        let entry = AuditEntry(
            time: context.now(), userID: user.number, user: user.name,
            command: command ?? self.command, project: project, place: place,
            names: names, outcome: outcome)
        let keys = try session.keys(.index)
        try session.auditLog().append(
            entry, keys: keys, recorded: metadata.audit, durably: durably)
    }

    /// Does something between two lines of the audit log: that it was begun, and how it ended.
    ///
    /// Where the second line cannot be written the work stands, and a warning says so.
    func audited<R>(
        _ names: [String], project: String? = nil, command: String? = nil,
        seen metadata: IndexMetadata, durably: Bool = false, _ work: () throws -> R,
        failed: (R) -> Bool = { _ in false }
    ) throws -> R {
        func line(_ outcome: String) throws {
            try audit(
                outcome, names, project: project, command: command, seen: metadata,
                durably: durably)
        }
        func end(_ outcome: String) {
            do {
                try line(outcome)
            } catch {
                context.warn(
                    "audit-log",
                    "The end of this is not in the audit log. "
                        + CommandError(mapping: error).message)
            }
        }
        try line(AuditEntry.Outcome.begun)
        do {
            let result = try work()
            end(failed(result) ? AuditEntry.Outcome.failed : AuditEntry.Outcome.done)
            return result
        } catch {
            end(AuditEntry.Outcome.failed)
            throw error
        }
    }

    /// A change of the slots between two lines that are on the disk before it goes on.
    func auditedSlotChange<R>(_ names: [String], _ work: () throws -> R) throws -> R {
        try audited(
            names, seen: try session.index(.listing).metadata, durably: true, work)
    }
}

extension VaultSession {
    /// The audit log of the vault, wherever it is to be.
    func auditLog() throws -> AuditLog {
        let vaultID = try opened().header.vaultID
        let path =
            try options.auditLogPath
            ?? Directories(context).state + "/\(vaultID.hexadecimal).log"
        return AuditLog(path: path, vaultID: vaultID)
    }

    /// Notes in the audit log that a passphrase was wrong, where `body` finds that.
    func notingWrongPassphrase<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as VaultError where error.code == .wrongPassphrase {
            do {
                try auditLog().appendWrongPassphrase(
                    time: context.now(), userID: context.user().number)
            } catch let problem {
                // Nothing is given out either way.
                context.warn(
                    "audit-log",
                    "This is not in the audit log. " + CommandError(mapping: problem).message)
            }
            throw error
        }
    }

    /// Has a write of the vault keep where the log ends. A log that cannot be read changes nothing.
    func recordAudit(in transaction: inout VaultTransaction) {
        transaction.auditPosition = try? auditLog().position(
            following: transaction.index.metadata.audit)
    }
}

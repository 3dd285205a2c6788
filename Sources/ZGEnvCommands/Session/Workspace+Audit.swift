internal import Vault

extension Workspace {
    /// Adds a line to the audit log. Called before values are revealed; if it throws, none must be.
    ///
    /// - Parameters:
    ///   - names: Keys of variables or other objects; never a value.
    ///   - command: The command's words, if different from this command's.
    ///   - durably: Whether to wait until the line is on disk, as for changes of slots and rotations.
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

    /// Does work between two lines of the audit log, for its beginning and its outcome.
    ///
    /// If the second line cannot be written, the work stays done and a warning is shown.
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
                    "The outcome could not be added to the audit log. "
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

    /// Changes slots between two durable lines of the audit log.
    func auditedSlotChange<R>(_ names: [String], _ work: () throws -> R) throws -> R {
        try audited(
            names, seen: try session.table().metadata, durably: true, work)
    }
}

extension VaultSession {
    /// Returns the audit log of the vault, at its usual path or the one in the options.
    func auditLog() throws -> AuditLog {
        let vaultID = try opened().header.vaultID
        let path =
            try options.auditLogPath
            ?? Directories(context).state + "/\(vaultID.hexadecimal).log"
        return AuditLog(path: path, vaultID: vaultID)
    }

    /// Adds a line to the audit log if `body` throws because of a wrong passphrase.
    func recordingWrongPassphrase<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch let error as VaultError where error.code == .wrongPassphrase {
            do {
                try auditLog().appendWrongPassphrase(
                    time: context.now(), userID: context.user().number)
            } catch let problem {
                // No value is revealed either way.
                context.warn(
                    "audit-log",
                    "The failed attempt could not be added to the audit log. "
                        + CommandError(mapping: problem).message)
            }
            throw error
        }
    }

    /// Stores the end of the log in a write of the vault. Ignores a log that cannot be read.
    func recordAudit(in transaction: inout VaultTransaction) {
        transaction.auditPosition = try? auditLog().position(
            following: transaction.index.metadata.audit)
    }
}

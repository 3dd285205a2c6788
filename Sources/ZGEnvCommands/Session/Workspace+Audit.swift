internal import Vault

extension Workspace {
    /// Adds a line to the audit log. Called before values are revealed; if it throws, none must be.
    ///
    /// - Parameters:
    ///   - names: Keys of variables or other objects; never a value.
    ///   - command: The command's words, if different from this command's.
    ///   - durably: Whether to wait until the line is on disk, as for changes of slots and rotations.
    /// - Returns: The line's number.
    /// - Throws: ``VaultError/Code/auditLog``.
    @discardableResult
    func audit(
        _ outcome: String, _ names: [String], project: String? = nil, place: String? = nil,
        command: String? = nil, seen metadata: IndexMetadata, durably: Bool = false
    ) throws -> UInt64 {
        try session.audit(
            outcome, names.map { .init($0) }, project: project, place: place,
            command: command ?? self.command, with: session.keys(.index), seen: metadata,
            durably: durably)
    }

    /// Does work between two lines of the audit log, for its beginning and its outcome.
    ///
    /// If the second line cannot be written, the work stays done and a warning is shown.
    func audited<R>(
        _ names: [String], project: String? = nil, command: String? = nil,
        seen metadata: IndexMetadata, durably: Bool = false, _ work: () throws -> R,
        failed: (R) -> Bool = { _ in false }
    ) throws -> R {
        // For the second line if the session has no keys any more; after a rekey it has new ones.
        let keys = try session.keys(.index)
        let line = try audit(
            AuditEntry.Outcome.begun, names, project: project, command: command, seen: metadata,
            durably: durably)
        func end(_ outcome: String) {
            session.auditEnd(
                outcome, of: line, command: command ?? self.command,
                with: (try? session.keys(.index)) ?? keys, durably: durably)
        }
        do {
            let result = try work()
            end(failed(result) ? AuditEntry.Outcome.failed : AuditEntry.Outcome.done)
            return result
        } catch {
            end(AuditEntry.Outcome.failed)
            throw error
        }
    }

    /// Does something outside of the vault between two lines of the audit log, if there is a vault
    /// that opens without a prompt. Commands with a token from the environment need none.
    func recordingAct<R>(
        _ names: [String], project: String?, _ work: () throws -> R,
        failed: (R) -> Bool = { _ in false }
    ) throws -> R {
        guard let metadata = try session.tableWithoutPrompt()?.metadata else { return try work() }
        return try audited(names, project: project, seen: metadata, work, failed: failed)
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

    /// Adds a line to the audit log.
    ///
    /// - Parameter begunAt: The line of the beginning that this one ends; 0 for none.
    /// - Returns: The line's number.
    func audit(
        _ outcome: String, _ subjects: [AuditEntry.Subject], project: String? = nil,
        place: String? = nil, begunAt: UInt64 = 0, command: String? = nil, with keys: VaultKeys,
        seen metadata: IndexMetadata?, durably: Bool = false
    ) throws -> UInt64 {
        let user = context.user()
        let entry = AuditEntry(
            time: context.now(), userID: user.number, user: user.name,
            command: command ?? self.command, project: project, place: place,
            subjects: subjects, begunAt: begunAt, outcome: outcome)
        return try auditLog().append(
            entry, keys: keys, recorded: metadata?.audit, durably: durably
        ).sequence
    }

    /// Records how something ended. If that fails, the work stays done and a warning is shown.
    func auditEnd(
        _ outcome: String, of line: UInt64, command: String? = nil, with keys: VaultKeys,
        durably: Bool = false
    ) {
        do {
            _ = try audit(
                outcome, [], begunAt: line, command: command, with: keys, seen: nil,
                durably: durably)
        } catch {
            context.warn(
                "audit-log",
                "The outcome could not be added to the audit log. "
                    + CommandError(mapping: error).message)
        }
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

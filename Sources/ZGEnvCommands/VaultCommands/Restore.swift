internal import CommandLineKit
internal import JSON
internal import Vault

/// `restore`: replaces the vault with a backup.
struct Restore: Command {
    // The current vault may be the older copy that this replaces.
    static let vaultUse = VaultUse(checksRollback: false)
    static let spec = CommandSpec(
        ["restore"], "Replace the vault with a backup",
        discussion: """
            The backup is opened and checked first, with its own passphrase, recovery code, key \
            file or keyring slot. The replaced vault is kept in the same directory, with a \
            timestamp in its name. The restored vault has the backup's slots.
            """,
        arguments: [ArgumentSpec("FILE", .one, "The backup", completion: .file)],
        options: [
            OptionSpec(flag: "other-vault", "Allow a backup of a different vault")
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields = """
        file, vault: string; id?: string; generation?: number
        kept: string | null (the replaced vault); otherVault: boolean; plan?: [string]
        valuesOpened?: boolean; auditLog?: \(oneOf: Vault.AuditLogOutcome.self)
        auditLogWhole?: boolean; anchor?: "behind" | "absent" | "moved" (the rollback guard)
        dryRun?: true
        """

    private let file: String
    private let acceptsOther: Bool

    init(_ command: ParsedCommand) {
        file = command.required("FILE")
        acceptsOther = command.has("other-vault")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let (options, context) = (workspace.options, workspace.context)
        guard !FileKind.areSame(file, options.vaultPath) else {
            throw CommandError(
                .usage, "\(file) is the vault itself.", hint: "Specify the path of a backup.")
        }
        let backup = try opened(context)
        let replaced = try Replaced(options.vaultPath, context)
        let isOther = replaced.vault.map { $0.header.vaultID != backup.header.vaultID } ?? false
        if isOther, options.yes, !options.dryRun, !acceptsOther {
            throw CommandError(
                .conflict, "\(file) is a backup of a different vault than \(options.vaultPath).",
                hint: "Use --other-vault to restore the backup anyway.")
        }
        try checkRotations(replaced.vault, backup, workspace)
        let session = VaultSession(
            options: options, context: context, use: Self.vaultUse, stages: [], vault: backup)
        let keys = try session.keys(.values)
        let inspection = try backup.inspection(with: keys)
        try inspection.throwFirstProblem()
        let kept = try dated(options.vaultPath, context)
        let places = try session.guardPlaces()
        let seen = workspace.session.seenPositions(of: backup.header.vaultID, places)
        // An audit log that was here and is gone is missing; one that never was here is not.
        let isNewHere =
            try seen.isEmpty && (!replaced.exists || isOther)
            && !context.files.exists(session.auditLog().path)
        var plan = plan(
            backup, replaced, kept: kept, isOther: isOther, variables: inspection.variableCount ?? 0
        )
        let recorded = try backup.index(with: keys, extent: .listing).metadata.audit
        if let recorded, isNewHere {
            plan.append(
                "start a new audit log, because the old log (\(DisplayText.count(recorded.sequence, "line"))) is not on this machine"
            )
        }
        let question =
            isOther
            ? "Replace this vault with a different one?"
            : replaced.exists ? "Replace the vault with the backup?" : "Restore the backup?"
        if try !workspace.confirm(plan, question) {
            return CommandResult(
                json: [
                    "file": .string(file), "vault": .string(options.vaultPath),
                    "kept": .string(orNull: replaced.exists ? kept : nil),
                    "otherVault": .bool(isOther), "plan": .strings(plan), "dryRun": true,
                ], text: DisplayText.lines(plan, after: "Would "))
        }
        var isAnchorKept = true
        let restoration = try backup.restore(
            to: options.vaultPath, in: context.files, keys: keys,
            currentKeys: currentKeys(replaced.vault, keys, workspace), keepingAt: kept,
            acceptsOther: isOther, seen: seen, isNewHere: isNewHere,
            written: {
                isAnchorKept = workspace.session.updateGuards(
                    $0, of: backup.header.vaultID, places)
            })
        if replaced.exists, !isOther, !restoration.continuesVersions {
            context.warn(
                "versions-may-repeat",
                "The replaced vault could not be opened, so version numbers that it assigned since "
                    + "the backup may be used again.")
        }
        try workspace.lockAllSessions(of: backup.header.vaultID)
        workspace.note("Restored \(file) as generation \(restoration.generation).")
        if seen.isEmpty {
            workspace.note(
                "This machine has not seen this vault before, so the age of the backup is unknown."
            )
        }
        if restoration.auditLog == .reset {
            context.warn(
                "audit-log-not-here",
                "The audit log of this vault is not on this machine. A new log starts with this "
                    + "restore, and missing lines of the old log can no longer be detected.")
        }
        let auditProblem = auditProblem(workspace, keys)
        if let auditProblem {
            context.warn(
                "audit-log-not-whole",
                "The audit log does not match the restored vault: \(auditProblem). Show the log "
                    + "with: zg-env log. If you know the reason, accept the log with: zg-env log "
                    + "--accept")
        }
        warnAboutMissingKeys(backup, context)
        if let kept = restoration.kept { workspace.note("The replaced vault is now \(kept).") }
        return CommandResult(json: [
            "file": .string(file), "vault": .string(options.vaultPath),
            "id": .string(backup.header.vaultID.hexadecimal),
            "generation": .integer(Int64(clamping: restoration.generation)),
            "kept": .string(orNull: restoration.kept), "otherVault": .bool(isOther),
            "valuesOpened": .bool(inspection.opensValues),
            "auditLog": .string(restoration.auditLog.rawValue),
            "auditLogWhole": .bool(auditProblem == nil),
            "anchor": .string(!isAnchorKept ? "behind" : seen.isEmpty ? "absent" : "moved"),
        ])
    }

    /// Returns the first problem of the audit log for the restored vault. Lines written with later keys
    /// cannot be read where nothing opened the replaced vault.
    private func auditProblem(_ workspace: Workspace, _ keys: VaultKeys) -> String? {
        do {
            let restored = try Vault(
                opening: workspace.options.vaultPath, in: workspace.context.files)
            let session = VaultSession(
                options: workspace.options, context: workspace.context, use: Self.vaultUse,
                stages: [],
                vault: restored)
            return try session.auditReport(
                with: keys, index: try restored.index(with: keys, extent: .listing)
            ).problems.first?.message
        } catch {
            return CommandError(mapping: error).message
        }
    }

    /// Warns about keyring slots whose key is not in this machine's keyring, if that is unlocked, and
    /// about a vault without a keyring slot.
    private func warnAboutMissingKeys(_ vault: Vault, _ context: Context) {
        let slots = vault.header.slots.filter { $0.kind == .secretService }
        guard let keyring = context.keyring(), let isUnlocked = try? keyring.isUnlocked() else {
            return
        }
        if slots.isEmpty {
            context.warn(
                "no-keyring-slot",
                "The restored vault has no slot for \(keyring.name), so listing needs the "
                    + "passphrase. Create one: zg-env slot add secret-service")
        }
        guard isUnlocked else { return }
        for slot in slots {
            do {
                if case .opened = try vault.unlock(slot, from: keyring) { continue }
            } catch {
                continue
            }
            context.warn(
                "keyring-key-missing",
                "\(keyring.name) has no key for \(slot.title) of the restored vault, so "
                    + "listing needs the passphrase. Create a new slot: zg-env slot add "
                    + "secret-service, then "
                    + "zg-env slot remove \(word: slot.shortID)")
        }
    }

    private func opened(_ context: Context) throws -> Vault {
        do throws(VaultError) {
            return try Vault(path: file, file: try context.files.openCopy(file))
        } catch  where error.code == .notFound {
            throw CommandError(.notFound, CommandError.sentence(error.reason))
        } catch  where error.code == .damaged {
            throw CommandError(
                .damaged, CommandError.sentence(error.reason),
                hint: "The vault was not changed. Try another backup.")
        }
    }

    /// The file at the vault's path.
    private struct Replaced {
        let exists: Bool
        /// nil for a file that is not a readable vault.
        let vault: Vault?

        init(_ path: String, _ context: Context) throws {
            exists = try context.files.exists(path)
            vault = exists ? try? Vault(path: path, file: try context.files.openCopy(path)) : nil
        }
    }

    /// Returns keys for the replaced vault if those of the backup do not open it, as after a rekey.
    private func currentKeys(
        _ replaced: Vault?, _ keys: VaultKeys, _ workspace: Workspace
    ) -> VaultKeys? {
        guard let replaced, (try? replaced.index(with: keys, extent: .listing)) == nil else {
            return nil
        }
        // Without them the restore continues and warns about the consequences.
        return try? workspace.session.keysWithoutPrompt()
    }

    /// Refuses a backup without a rotation that is open in the vault: the new value, which Vercel may
    /// already have, would be lost.
    private func checkRotations(
        _ replaced: Vault?, _ backup: Vault, _ workspace: Workspace
    ) throws {
        // A vault that does not open cannot be checked; it is kept next to the restored one.
        guard let replaced, let keys = try? workspace.session.keysWithoutPrompt(),
            let open = try? replaced.index(with: keys, extent: .everything).rotations()
                .filter(\.isOpen), !open.isEmpty
        else { return }
        let kept = (try? backup.index(with: keys, extent: .everything).rotations()) ?? []
        let lost = open.first { rotation in
            !kept.contains { $0.id == rotation.id && $0.progress == rotation.progress }
        }
        guard let lost else { return }
        throw CommandError(
            .conflict,
            "The rotation of \(lost.plan.key) is not finished, and the backup does not contain it.",
            hint:
                "Finish it with: zg-env rotate \(word: lost.plan.key) --resume, or revert it with: "
                + "zg-env rotate \(word: lost.plan.key) --abort")
    }

    private func plan(
        _ backup: Vault, _ replaced: Replaced, kept: String, isOther: Bool, variables: Int
    ) -> [String] {
        let source =
            "generation \(backup.header.generation) of \(backup.path) (\(DisplayText.count(variables, "variable")))"
        guard replaced.exists else { return ["restore \(source)"] }
        var plan: [String] = []
        if let vault = replaced.vault {
            plan.append(
                "replace generation \(vault.header.generation) of \(vault.path) with \(source)")
            if isOther {
                plan.append(
                    "replace the vault with a DIFFERENT one: \(vault.header.vaultID.hexadecimal) with "
                        + backup.header.vaultID.hexadecimal)
            }
            if vault.header.slots != backup.header.slots {
                plan.append("restore the slots of the backup: its passphrases, codes and keys")
            }
        } else {
            plan.append("replace the current file, which is not a readable vault, with \(source)")
        }
        plan.append("keep the replaced file as \(kept)")
        return plan
    }

    /// Returns a free path next to the vault with the time in it.
    private func dated(_ path: String, _ context: Context) throws -> String {
        let time = TimeText.utc(Int64(clamping: context.now())).filter { $0 != "-" && $0 != ":" }
        let name = "\(path).replaced-\(time)"
        var (candidate, number) = (name, 1)
        while try context.files.exists(candidate) {
            number += 1
            candidate = "\(name)-\(number)"
        }
        return candidate
    }
}

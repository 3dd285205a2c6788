internal import CommandLineKit
internal import DotEnv
internal import JSON
internal import Vault

/// `restore`: puts a backup in the place of the vault.
struct Restore: Command {
    static let spec = CommandSpec(
        ["restore"], "Put a backup in the place of the vault", section: "Vault",
        discussion: """
            The backup must open first, with its own passphrase, recovery code, key file or key in the \
            keyring. The replaced vault is kept beside, under a name with the time. The ways to open \
            the vault are those of the backup from then on.
            """,
        arguments: [ArgumentSpec("FILE", .one, "The backup", completion: .file)],
        options: [
            OptionSpec(flag: "other-vault", "Replace the vault even by a backup of another one")
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    private let file: String
    private let acceptsOther: Bool

    init(_ command: ParsedCommand) {
        file = command.required("FILE")
        acceptsOther = command.has("other-vault")
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let (options, context) = (workspace.options, workspace.context)
        guard !FileKind.areSame(file, options.vaultPath) else {
            throw CommandError(.usage, "\(file) is the vault itself.", hint: "Name a backup.")
        }
        let backup = try opened(context)
        let replaced = try Replaced(options.vaultPath, context)
        let isOther = replaced.vault.map { $0.header.vaultID != backup.header.vaultID } ?? false
        if isOther, options.yes, !options.dryRun, !acceptsOther {
            throw CommandError(
                .conflict, "\(file) is a backup of another vault than \(options.vaultPath).",
                hint: "Nothing was changed. Say --other-vault if that is meant.")
        }
        try checkRotations(replaced.vault, backup, workspace)
        let session = VaultSession(options: options, context: context, vault: backup)
        let keys = try session.keys(session.unattendedTier)
        let inspection = try backup.inspection(with: keys)
        try inspection.expectWhole()
        let kept = try dated(options.vaultPath, context)
        // The vault that is there may be the older copy that this is to mend.
        workspace.session.holdsToAnchors = false
        let places = try session.anchorPlaces()
        let seen = workspace.session.seenPositions(of: backup.header.vaultID, places)
        // What was here and is gone is missing; what never was here is not.
        let isNewHere =
            try seen.isEmpty && (!replaced.exists || isOther)
            && !context.files.exists(session.auditLog().path)
        var plan = plan(
            backup, replaced, kept: kept, isOther: isOther, variables: inspection.variableCount ?? 0
        )
        let recorded = try backup.index(with: keys, extent: .listing).metadata.audit
        if let recorded, isNewHere {
            plan.append(
                "forget the audit log, which is not on this machine: it had \(recorded.sequence) lines"
            )
        }
        let question =
            isOther
            ? "Replace this vault by another one?"
            : replaced.exists ? "Replace the vault by its backup?" : "Restore the backup?"
        if try !workspace.confirm(plan, question) {
            return CommandResult(
                json: [
                    "file": .string(file), "vault": .string(options.vaultPath),
                    "kept": .string(orNull: replaced.exists ? kept : nil),
                    "otherVault": .bool(isOther), "plan": .strings(plan), "dryRun": true,
                ], text: plan.map { "Would \(DisplayText.safe(sentence: $0))\n" }.joined())
        }
        var isAnchorKept = true
        let restoration = try backup.restore(
            to: options.vaultPath, in: context.files, keys: keys,
            currentKeys: currentKeys(replaced.vault, keys, workspace), keepingAt: kept,
            acceptsOther: isOther, seen: seen, isNewHere: isNewHere,
            written: {
                isAnchorKept = workspace.session.keepAnchors(
                    $0, of: backup.header.vaultID, places)
            })
        if replaced.exists, !isOther, !restoration.continuesVersions {
            context.warn(
                "versions-may-repeat",
                "The replaced vault did not open: numbers of versions that it gave out since the "
                    + "backup may be given out again.")
        }
        try workspace.endUnlocks(of: backup.header.vaultID)
        workspace.note("Restored \(file) as generation \(restoration.generation).")
        if seen.isEmpty {
            workspace.note(
                "This vault was not seen here before, so nothing tells how old the backup is.")
        }
        if restoration.auditLog == .reset {
            context.warn(
                "audit-log-not-here",
                "The audit log of this vault is not on this machine. A new one begins here; lines of "
                    + "the old one cannot be missed any more.")
        }
        let auditProblem = auditProblem(workspace, keys)
        if let auditProblem {
            context.warn(
                "audit-log-not-whole",
                "The audit log does not hold for the restored vault: \(auditProblem). See it with: "
                    + "zg-env log. If you know why, zg-env log --accept takes it for whole.")
        }
        warnOfMissingKeys(backup, context)
        if let kept = restoration.kept { workspace.note("The replaced vault is \(kept).") }
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

    /// The first thing that is wrong with the audit log for the vault as it is now: lines that were
    /// written with later keys, where nothing opened the replaced vault, cannot be read any more.
    private func auditProblem(_ workspace: Workspace, _ keys: VaultKeys) -> String? {
        do {
            let restored = try Vault(
                opening: workspace.options.vaultPath, in: workspace.context.files)
            let session = VaultSession(
                options: workspace.options, context: workspace.context, vault: restored)
            return try session.auditReport(
                with: keys, index: try restored.index(with: keys, extent: .listing)
            ).problems.first?.message
        } catch {
            return CommandError(mapping: error).message
        }
    }

    /// Warns of slots of the keyring whose key is not in the keyring of this machine. A keyring that is
    /// not there, or locked, says nothing of them.
    private func warnOfMissingKeys(_ vault: Vault, _ context: Context) {
        let slots = vault.header.slots.filter { $0.kind == .secretService }
        guard !slots.isEmpty, let keyring = context.keyring(),
            (try? keyring.isUnlocked()) == true
        else { return }
        for slot in slots {
            do {
                if case .opened = try vault.unlock(slot, from: keyring) { continue }
            } catch {
                continue
            }
            context.warn(
                "keyring-key-missing",
                "\(keyring.name) has no key for \(slot.title) of the restored vault, so listing needs "
                    + "the passphrase. Make a new one: zg-env slot add secret-service, then "
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
                hint: "The vault was left as it is. Try another backup.")
        }
    }

    /// What is at the vault's path.
    private struct Replaced {
        let exists: Bool
        /// nil where it does not read as a vault.
        let vault: Vault?

        init(_ path: String, _ context: Context) throws {
            exists = try context.files.exists(path)
            vault = exists ? try? Vault(path: path, file: try context.files.openCopy(path)) : nil
        }
    }

    /// Keys of the replaced vault, where those of the backup do not open it: new keys were made since.
    private func currentKeys(
        _ replaced: Vault?, _ keys: VaultKeys, _ workspace: Workspace
    ) -> VaultKeys? {
        guard let replaced, (try? replaced.index(with: keys, extent: .listing)) == nil else {
            return nil
        }
        // Without them the restoration goes on, and says what that means.
        return try? workspace.session.keysAtHand()
    }

    /// A rotation that is open in the vault and not in the backup would be forgotten, with the new value
    /// that the platform may have.
    private func checkRotations(
        _ replaced: Vault?, _ backup: Vault, _ workspace: Workspace
    ) throws {
        // A vault that does not open cannot be asked; it is kept beside.
        guard let replaced, let keys = try? workspace.session.keysAtHand(),
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
            "A rotation of \(lost.plan.key) has begun and not ended, which the backup does not know.",
            hint:
                "Nothing was changed. Go on with: zg-env rotate \(word: lost.plan.key) --resume, or go back with: zg-env rotate \(word: lost.plan.key) --abort"
        )
    }

    private func plan(
        _ backup: Vault, _ replaced: Replaced, kept: String, isOther: Bool, variables: Int
    ) -> [String] {
        let source =
            "generation \(backup.header.generation) of \(backup.path) (\(variables) variables)"
        guard replaced.exists else { return ["put \(source) where no vault is"] }
        var plan: [String] = []
        if let vault = replaced.vault {
            plan.append(
                "replace generation \(vault.header.generation) of \(vault.path) by \(source)")
            if isOther {
                plan.append(
                    "replace a vault by ANOTHER one: \(vault.header.vaultID.hexadecimal) by "
                        + backup.header.vaultID.hexadecimal)
            }
            if vault.header.slots != backup.header.slots {
                plan.append("go back to the slots of the backup: its passphrases, codes and keys")
            }
        } else {
            plan.append("replace what does not read as a vault by \(source)")
        }
        plan.append("keep the replaced file at \(kept)")
        return plan
    }

    /// A free name beside the vault that says when it was replaced.
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

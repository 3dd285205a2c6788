internal import CommandLineKit
internal import JSON
internal import SharedProjects
internal import Vault

/// `rekey`: replaces the vault's keys and re-encrypts everything.
struct Rekey: Command {
    static let spec = CommandSpec(
        ["rekey"], "Replace the vault's keys and re-encrypt everything",
        discussion: """
            Keeps the desktop keyring slot, the key file slot, and each slot whose passphrase or \
            recovery code you give; on a terminal, prompts for each passphrase and code. All other \
            slots are removed; the plan lists them. Existing copies of the vault still open with \
            the old keys, and values that someone has seen stay valid: replace those with zg-env \
            rotate.
            """,
        options: [
            OptionSpec(
                "slot-secret-file", value: "FILE",
                "Read the passphrase or code of another slot from this file", repeatable: true,
                completion: .file)
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields = """
        generation?, versions?: number; slots?, kept?, removed: [{zg-env slot list, slots}]
        dryRun?: true
        """

    private let slotSecretFiles: [String]

    init(_ command: ParsedCommand) { slotSecretFiles = command.values("slot-secret-file") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let session = workspace.session
        let vault = try session.opened()
        let opening = try session.openedByPassphrase()
        let inspection = try vault.inspection(with: opening.keys)
        try inspection.throwFirstProblem()
        let plan = try SlotRenewalPlan(slotSecretFiles, workspace, vault, opening)
        let lines =
            [
                "create a new root key and index key, and re-encrypt "
                    + DisplayText.count(inspection.versionCount, "value")
            ] + plan.lines
        let answer = try workspace.confirm(lines, "Replace the keys?")
        if !answer {
            return CommandResult(
                json: [
                    "kept": .array(plan.kept.map { .object($0.slot.members) }),
                    "removed": .array(plan.removed.map { .object($0.slot.members) }),
                    "dryRun": true,
                ], text: DisplayText.lines(lines, after: "Would "))
        }
        let notifications = SavedNotifications(workspace, opening.keys)
        let newKeys = try vault.newKeys()
        var renewal = SlotRenewal(workspace, vault.header.vaultID, newKeys)
        let generation: UInt64
        do {
            for entry in plan.kept { try renewal.renew(entry) }
            let names = ["new keys"] + plan.removed.map { "without \($0.slot.title)" }
            generation = try workspace.auditedSlotChange(names) {
                try replaceKeys(opening.keys, by: newKeys, renewal.slots, workspace)
            }
        } catch {
            // The file may be in place: both it and the one before need their keys.
            if (error as? VaultError)?.code != .notConfirmed { renewal.removeNewKeys() }
            throw error
        }
        renewal.removeOldKeys(plan)
        notifications.keep(under: newKeys, workspace)
        try workspace.lockAllSessions(of: vault.header.vaultID)
        workspace.note("Replaced the keys. The vault is now generation \(generation).")
        for entry in plan.removed { workspace.note("Removed \(entry.slot.title).") }
        workspace.note("Copies of the vault can still be opened with the old keys.")
        try warnOfGroups(newKeys, workspace)
        return CommandResult(json: [
            "generation": .integer(Int64(clamping: generation)),
            "versions": .integer(Int64(inspection.versionCount)),
            "slots": .array(renewal.slots.map { .object($0.members) }),
            "removed": .array(plan.removed.map { .object($0.slot.members) }),
        ])
    }

    /// The keys of this member in a group are random and stay the same: who had the old keys of the
    /// vault has them, too.
    private func warnOfGroups(_ keys: VaultKeys, _ workspace: Workspace) throws {
        let index = try workspace.session.opened().index(with: keys, extent: .everything)
        for membership in try GroupMembership.all(in: index)
        where membership.standing == .active {
            workspace.context.warn(
                "group-keys",
                "This machine's keys in \(membership.name) stay the same. If someone had the "
                    + "vault's old keys, ask an admin on another machine to remove this machine "
                    + "(zg-env group remove \(membership.member.hexadecimal.prefix(8))), then "
                    + "join again.")
        }
    }

    /// Writes the vault with the new keys, which the session uses from then on.
    private func replaceKeys(
        _ old: VaultKeys, by new: VaultKeys, _ slots: [KeySlot], _ workspace: Workspace
    ) throws -> UInt64 {
        let session = workspace.session
        let places = try session.guardPlaces()
        try session.checkRollback(places, with: old)
        let vault = try session.opened()
        let vaultID = vault.header.vaultID
        let recorded = try vault.index(with: old, extent: .listing).metadata.audit
        let generation = try Vault.rekey(
            vault.path, in: workspace.context.files, vaultID: vaultID,
            .init(
                oldKeys: old, newKeys: new, oldSlots: vault.header.slots, newSlots: slots,
                auditPosition: try? session.auditLog().position(following: recorded)),
            since: try vault.position(),
            written: { session.updateGuards($0, of: vaultID, places) })
        session.adopt(new)
        return generation
    }
}

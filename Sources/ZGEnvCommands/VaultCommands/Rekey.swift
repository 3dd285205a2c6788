internal import CommandLineKit
internal import JSON
internal import Vault

/// `rekey`: new keys, and everything sealed anew.
struct Rekey: Command {
    static let spec = CommandSpec(
        ["rekey"], "Make new keys and seal everything anew", section: "Vault",
        discussion: """
            After this nothing that opened the vault before opens it any more, but the passphrases and \
            codes given here, the desktop's keyring and the named key file, which get new keys. A slot \
            whose secret is not given is removed; the plan says which. On a terminal each one is asked \
            for. Copies of the vault stay as they are, and so do values that somebody has seen: \
            zg-env rotate makes new ones.
            """,
        options: [
            OptionSpec(
                "slot-secret-file", value: "FILE",
                "A file with the passphrase or recovery code of another slot", repeatable: true,
                completion: .file)
        ],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    private let slotSecretFiles: [String]

    init(_ command: ParsedCommand) { slotSecretFiles = command.values("slot-secret-file") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let session = workspace.session
        let vault = try session.opened()
        let opening = try session.openedByPassphrase()
        let inspection = try vault.inspection(with: opening.keys)
        try inspection.expectWhole()
        let plan = try SlotRenewalPlan(slotSecretFiles, workspace, vault, opening)
        let lines =
            ["make a new root key and index key, and seal \(inspection.versionCount) values anew"]
            + plan.lines
        let answer = try workspace.confirm(lines, "Make new keys?")
        if !answer {
            return CommandResult(
                json: [
                    "kept": .array(plan.kept.map { .object($0.slot.members) }),
                    "removed": .array(plan.removed.map { .object($0.slot.members) }),
                    "dryRun": true,
                ], text: lines.map { "Would \(DisplayText.safe(sentence: $0))\n" }.joined())
        }
        let notifications = KeptNotifications(workspace, opening.keys)
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
            // A file that may stand needs its keys, and the one before it too.
            if (error as? VaultError)?.code != .notConfirmed { renewal.takeBack() }
            throw error
        }
        renewal.dropOld(plan)
        notifications.keep(under: newKeys, workspace)
        try workspace.endUnlocks(of: vault.header.vaultID)
        workspace.note("Made new keys; the vault is generation \(generation).")
        for entry in plan.removed { workspace.note("Removed \(entry.slot.title).") }
        workspace.note("Copies of the vault still open with the old keys.")
        return CommandResult(json: [
            "generation": .integer(Int64(clamping: generation)),
            "versions": .integer(Int64(inspection.versionCount)),
            "slots": .array(renewal.slots.map { .object($0.members) }),
            "removed": .array(plan.removed.map { .object($0.slot.members) }),
        ])
    }

    /// Writes the vault with the new keys, which the session goes on with.
    private func replaceKeys(
        _ old: VaultKeys, by new: VaultKeys, _ slots: [KeySlot], _ workspace: Workspace
    ) throws -> UInt64 {
        let session = workspace.session
        let places = try session.anchorPlaces()
        try session.checkAnchors(places, with: old)
        let vault = try session.opened()
        let vaultID = vault.header.vaultID
        let recorded = try vault.index(with: old, extent: .listing).metadata.audit
        let generation = try Vault.rekey(
            vault.path, in: workspace.context.files, vaultID: vaultID,
            .init(
                oldKeys: old, newKeys: new, oldSlots: vault.header.slots, newSlots: slots,
                auditPosition: try? session.auditLog().position(following: recorded)),
            since: try vault.position(),
            written: { session.keepAnchors($0, of: vaultID, places) })
        session.adopt(new)
        return generation
    }
}

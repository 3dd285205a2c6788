internal import CommandLineKit
internal import JSON
internal import Vault

/// `slot remove`: takes away a way to open the vault.
struct SlotRemove: Command {
    static let spec = CommandSpec(
        ["slot", "remove"], "Take away a way to open the vault", section: "Vault",
        discussion: """
            Copies of the vault keep the slot. Whoever may have used it should not get anywhere \
            afterwards: then make new keys with zg-env rekey.
            """,
        arguments: [ArgumentSpec("ID", .one, "The slot, or the front of its id")],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    private let id: String

    init(_ command: ParsedCommand) { id = command.required("ID") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let session = workspace.session
        let header = try session.opened().header
        let slot = try KeySlot.named(id, in: header.slots)
        try VaultHeader.checkRemoval(of: slot, among: header.slots)
        let plan = ["remove \(slot.title), which opens \(slot.tierText)"]
        let keys = workspace.options.dryRun ? nil : try session.keys(.values)
        let answer = try workspace.confirm(plan, "Remove the slot?")
        guard answer, let keys else {
            return CommandResult(
                json: .object(slot.members + [.init("dryRun", true)]),
                text: plan.map { "Would \($0)\n" }.joined())
        }
        try workspace.auditedSlotChange([slot.title]) {
            try session.update(with: keys) { try $0.remove(slot: slot.id) }
        }
        if slot.kind == .secretService {
            KeyringItems(workspace).remove([slot], vault: header.vaultID)
            session.dropUnusedAnchor(
                of: header.vaultID, slots: header.slots.filter { $0.id != slot.id })
        }
        workspace.note("Removed \(slot.title). Copies of the vault still have it.")
        if slot.kind == .file { workspace.note("Its key file opens nothing any more.") }
        return CommandResult(json: .object(slot.members))
    }
}

/// Items of the desktop's keyring that no slot needs any more.
struct KeyringItems {
    private let context: Context

    init(_ workspace: Workspace) {
        context = workspace.context
    }

    /// Removes the keys of slots that are gone. One that stays is harmless, and warned about.
    func remove(_ slots: [KeySlot], vault: Identifier) {
        guard !slots.isEmpty else { return }
        do {
            guard let keyring = context.keyring() else {
                throw KeyringError(.noBus, "there is no session bus")
            }
            for slot in slots { try keyring.remove(slot.keyringItem(vault: vault)) }
        } catch {
            let reason = (error as? KeyringError)?.reason ?? "it failed"
            context.warn(
                "orphan-key",
                "A key that opens nothing any more stayed in the keyring: \(reason).")
        }
    }
}

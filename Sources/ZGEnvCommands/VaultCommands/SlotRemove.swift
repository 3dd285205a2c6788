internal import CommandLineKit
internal import JSON
internal import Vault

/// `slot remove`: removes a way to open the vault.
struct SlotRemove: Command {
    static let spec = CommandSpec(
        ["slot", "remove"], "Remove a way to open the vault",
        discussion: """
            Copies of the vault keep the slot. If someone else may have used the slot, replace the \
            keys too: zg-env rekey
            """,
        arguments: [ArgumentSpec("ID", .one, "The slot's ID or a prefix of it")],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields = "\(KeySlot.fields); dryRun?: true"

    private let id: String

    init(_ command: ParsedCommand) { id = command.required("ID") }

    func run(in workspace: Workspace) throws -> CommandResult {
        let session = workspace.session
        let header = try session.opened().header
        let slot: KeySlot
        do {
            slot = try KeySlot.named(id, in: header.slots)
            try VaultHeader.checkRemoval(of: slot, among: header.slots)
        } catch {
            // Someone else can have written the slots, which the index shows when it opens.
            _ = try session.table()
            throw error
        }
        let plan = ["remove \(slot.title), which unlocks \(slot.tierText)"]
        if !workspace.options.dryRun { _ = try session.keys(.values, asking: .always) }
        guard try workspace.confirm(plan, "Remove the slot?") else {
            return CommandResult(
                json: .object(slot.members + [.init("dryRun", true)]),
                text: plan.map { "Would \($0)\n" }.joined())
        }
        try workspace.auditedSlotChange([slot.title]) {
            try session.changeKeys { try $0.remove(slot: slot.id) }
        }
        if slot.kind == .secretService {
            workspace.removeKeyringItems(of: [slot], vault: header.vaultID)
            session.removeUnusedGuard(
                of: header.vaultID, slots: header.slots.filter { $0.id != slot.id })
        }
        workspace.note("Removed \(slot.title). Copies of the vault still have it.")
        if slot.kind == .file { workspace.note("Its key file no longer unlocks anything.") }
        return CommandResult(json: .object(slot.members))
    }
}

extension Workspace {
    /// Removes the keys of slots that are gone from the desktop keyring. A failure is harmless and
    /// only a warning.
    func removeKeyringItems(of slots: [KeySlot], vault: Identifier) {
        guard !slots.isEmpty else { return }
        do {
            guard let keyring = context.keyring() else {
                throw KeyringError(.noBus, "there is no session bus")
            }
            for slot in slots { try keyring.remove(slot.keyringItem(vault: vault)) }
        } catch {
            let reason = (error as? KeyringError)?.reason ?? "the keyring failed"
            context.warn(
                "orphan-key",
                "An unused key could not be removed from the keyring: \(reason).")
        }
    }
}

internal import CommandLineKit
internal import JSON
internal import Vault

/// `slot remove`: takes away a way to open the vault.
enum SlotRemove: Command {
    static let spec = CommandSpec(
        ["slot", "remove"], "Take away a way to open the vault", section: "Vault",
        discussion: """
            Copies of the vault keep the slot. Whoever may have used it should not get anywhere \
            afterwards: then make new keys with zg-env rekey.
            """,
        arguments: [ArgumentSpec("ID", .one, "The slot, or the front of its id")],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let session = invocation.session
        let header = try session.opened().header
        let slot = try KeySlot.named(invocation.command.argument("ID") ?? "", in: header.slots)
        try VaultHeader.checkRemoval(of: slot, among: header.slots)
        let plan = ["remove \(slot.title), which opens \(slot.tierText)"]
        let keys = invocation.options.dryRun ? nil : try session.valueKeys()
        let answer = try Confirmation.ask(invocation, plan: plan, question: "Remove the slot?")
        guard answer == .goOn, let keys else {
            return CommandResult(
                json: .object(slot.members + [.init("dryRun", true)]),
                text: plan.map { "Would \($0)\n" }.joined())
        }
        try invocation.auditedSlotChange([slot.title]) {
            try session.update(with: keys) { try $0.remove(slot: slot.id) }
        }
        if slot.kind == .secretService {
            KeyringItems(invocation).remove([slot], vault: header.vaultID)
            session.dropUnusedAnchor(
                of: header.vaultID, slots: header.slots.filter { $0.id != slot.id })
        }
        try invocation.note("Removed \(slot.title). Copies of the vault still have it.")
        if slot.kind == .file { try invocation.note("Its key file opens nothing any more.") }
        return CommandResult(json: .object(slot.members))
    }
}

/// Items of the desktop's keyring that no slot needs any more.
struct KeyringItems {
    private let context: Context

    init(_ invocation: Invocation) {
        context = invocation.context
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

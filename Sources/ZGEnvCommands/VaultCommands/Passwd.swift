internal import CommandLineKit
internal import JSON
internal import Sealing
internal import Vault

/// `passwd`: another passphrase for a slot.
struct Passwd: Command {
    static let spec = CommandSpec(
        ["passwd"], "Change the passphrase", section: "Vault",
        discussion: """
            Changes the passphrase of the slot that the given one opens; the cost of a guess stays \
            unless --kdf changes it. A recovery code sets a new passphrase where the old one is lost. \
            Copies of the vault keep the old passphrase. An unlocked vault is locked.
            """,
        options: NewPassphrase.options + [
            KdfOption.spec,
            OptionSpec("slot", value: "ID", "Change this slot, whichever one the passphrase opens"),
        ],
        exclusive: [NewPassphrase.exclusive],
        exitCodes: ExitCode.ofOpening(and: .conflict))

    private let slot: String?
    private let cost: String?
    private let newPassphrase: NewPassphrase

    init(_ command: ParsedCommand) {
        slot = command.value("slot")
        cost = command.value(KdfOption.spec.name)
        newPassphrase = NewPassphrase(command)
    }

    func run(in workspace: Workspace) throws -> CommandResult {
        let session = workspace.session
        let header = try session.opened().header
        let source = try newPassphrase.source(workspace)
        let opening = try session.openedByPassphrase()
        let old = try target(workspace, opening.slot, header.slots)
        let cost = try KdfOption.cost(cost, workspace, or: old.cost ?? .moderate)
        if workspace.options.dryRun {
            return CommandResult(
                json: .object(old.members + [.init("dryRun", true)]),
                text: "Would change the passphrase of \(old.title).\n")
        }
        let passphrase = try source.newPassphrase(workspace.context)
        let new = try opening.keys.passphraseSlot(
            passphrase, cost: cost, vault: header.vaultID, at: workspace.context.now())
        // One file takes the place of the other, so the old slot goes when the new one is durable.
        try workspace.auditedSlotChange([old.title]) {
            try session.update(with: opening.keys) { try $0.replace(slot: old.id, with: new) }
        }
        try workspace.endUnlocks(of: header.vaultID)
        workspace.note(
            "Changed the passphrase. Copies of the vault still open with the old one.")
        return CommandResult(
            json: .object(new.members + [.init("replaced", .string(old.id.hexadecimal))]))
    }

    /// The slot to change: the named one, the one that was opened, or after a recovery code the only
    /// passphrase there is.
    private func target(
        _ workspace: Workspace, _ opened: KeySlot, _ slots: [KeySlot]
    ) throws -> KeySlot {
        let passphrases = slots.filter { $0.kind == .passphrase }
        if let slot {
            let slot = try KeySlot.named(slot, in: slots)
            guard slot.kind == .passphrase else {
                throw CommandError(
                    .usage, CommandError.sentence("\(slot.title) has no passphrase"),
                    hint: "Nothing was changed.")
            }
            return slot
        }
        if opened.kind == .passphrase { return opened }
        guard let only = passphrases.first else {
            throw CommandError(
                .notFound, "The vault has no passphrase to change.",
                hint: "Add one with: zg-env slot add passphrase")
        }
        guard passphrases.count == 1 else {
            throw CommandError(
                .usage, "A recovery code opened the vault, and there are several passphrases.",
                hint: "Say which one to change: --slot ID (see zg-env slot list).")
        }
        return only
    }
}

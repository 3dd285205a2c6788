internal import CommandLineKit
internal import JSON
internal import Sealing
internal import Vault

/// `passwd`: another passphrase for a slot.
enum Passwd: Command {
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

    static func run(_ invocation: Invocation) throws -> CommandResult {
        let session = invocation.session
        let header = try session.opened().header
        let source = try NewPassphrase.source(invocation)
        let opening = try session.openedByPassphrase()
        let old = try target(invocation, opening.slot, header.slots)
        let cost = try KdfOption.cost(invocation, or: old.cost ?? .moderate)
        if invocation.options.dryRun {
            return CommandResult(
                json: .object(old.members + [.init("dryRun", true)]),
                text: "Would change the passphrase of \(old.title).\n")
        }
        let passphrase = try source.newPassphrase(invocation.context)
        let new = try opening.keys.passphraseSlot(
            passphrase, cost: cost, vault: header.vaultID, at: invocation.context.now())
        // One file takes the place of the other, so the old slot goes when the new one is durable.
        try invocation.auditedSlotChange([old.title]) {
            try session.update(with: opening.keys) { try $0.replace(slot: old.id, with: new) }
        }
        try invocation.endUnlocks(of: header.vaultID)
        try invocation.note(
            "Changed the passphrase. Copies of the vault still open with the old one.")
        return CommandResult(
            json: .object(new.members + [.init("replaced", .string(old.id.hexadecimal))]))
    }

    /// The slot to change: the named one, the one that was opened, or after a recovery code the only
    /// passphrase there is.
    private static func target(
        _ invocation: Invocation, _ opened: KeySlot, _ slots: [KeySlot]
    ) throws -> KeySlot {
        let passphrases = slots.filter { $0.kind == .passphrase }
        if let id = invocation.command.value("slot") {
            let slot = try KeySlot.named(id, in: slots)
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

internal import CommandLineKit
internal import JSON
internal import Sealing
internal import Vault

/// `passwd`: changes the passphrase of a slot.
struct Passwd: Command {
    static let spec = CommandSpec(
        ["passwd"], "Change the passphrase",
        discussion: """
            Changes only the slot that the current passphrase opens. If you have lost the \
            passphrase, enter a recovery code instead. Copies of the vault keep the old \
            passphrase. Locks the vault if it is unlocked.
            """,
        options: NewPassphrase.options + [
            KdfOption.spec,
            OptionSpec("slot", value: "ID", "Change the passphrase of this slot"),
        ],
        exclusive: [NewPassphrase.exclusive],
        exitCodes: ExitCode.ofOpening(and: .conflict))
    static let fields =
        "\(KeySlot.fields); replaced?: string (the ID of the old slot); dryRun?: true"

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
        let opening = try session.openedByPassphrase("Current passphrase")
        let old = try target(workspace, opening.slot, header.slots)
        let cost = try KdfOption.cost(cost, workspace, or: old.cost ?? .moderate)
        if workspace.options.dryRun {
            return CommandResult(
                json: .object(old.members + [.init("dryRun", true)]),
                text: "Would change the passphrase of \(old.title).\n")
        }
        var silence: EchoSuspension?
        defer { silence?.end() }
        let passphrase = try source.newPassphrase(
            workspace.context, keepingEchoOff: &silence)
        PassphraseStrength.warn(of: passphrase, workspace)
        let new = try opening.keys.passphraseSlot(
            passphrase, cost: cost, vault: header.vaultID, at: workspace.context.now())
        // One file replaces the other, so the old slot goes when the new one is durable.
        try workspace.auditedSlotChange([old.title]) {
            try session.changeKeys { try $0.replace(slot: old.id, with: new) }
        }
        try workspace.lockAllSessions(of: header.vaultID)
        workspace.note(
            "Changed the passphrase. Copies of the vault can still be opened with the old one.")
        return CommandResult(
            json: .object(new.members + [.init("replaced", .string(old.id.hexadecimal))]))
    }

    /// Returns the slot to change: the one given, the one that was opened, or after a recovery code
    /// the only passphrase slot.
    private func target(
        _ workspace: Workspace, _ opened: KeySlot, _ slots: [KeySlot]
    ) throws -> KeySlot {
        let passphrases = slots.filter { $0.kind == .passphrase }
        if let slot {
            let slot = try KeySlot.named(slot, in: slots)
            guard slot.kind == .passphrase else {
                throw CommandError(
                    .usage, CommandError.sentence("\(slot.title) has no passphrase"))
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
                .usage, "The vault has several passphrases, and a recovery code opened it.",
                hint: "Choose the passphrase to change with --slot ID (see zg-env slot list).")
        }
        return only
    }
}

internal import CommandLineKit
internal import JSON
internal import Vault

/// `slot list`: shows the ways to open the vault.
struct SlotList: Command {
    static let spec = CommandSpec(
        ["slot", "list"], "Show the ways to open the vault",
        discussion:
            "Never asks for a passphrase: the list of slots is not encrypted, but their keys are.",
        exitCodes: ExitCode.ofOpening)
    static let fields = "slots: [{ \(KeySlot.fields) }]"

    init(_ command: ParsedCommand) {}

    func run(in workspace: Workspace) throws -> CommandResult {
        let slots = try workspace.session.opened().header.slots
        var table = Table([
            .init("ID"), .init("KIND"), .init("OPENS"), .init("CREATED"), .init("KDF COST"),
        ])
        for slot in slots {
            table.append([
                .init(slot.shortID), .init(slot.kind.name), .init(slot.tierText),
                .init(TimeText.utc(Int64(clamping: slot.createdAt))), .init(slot.costText),
            ])
        }
        return CommandResult(
            json: ["slots": .array(slots.map { .object($0.members) })],
            text: table.text())
    }
}

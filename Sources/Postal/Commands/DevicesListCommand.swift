internal import CommandLineKit
internal import JSON

/// `devices list`: lists the registered devices.
enum DevicesListCommand: PostalCommand {
    static let spec = CommandSpec(
        ["devices", "list"], "List the registered devices",
        discussion: """
            Shows each device's name, when it joined, the accounts whose events it gets, and the \
            numbers of the last event it acknowledged and of the newest event.
            """)

    static func run(_ command: ParsedCommand, _ context: PostalContext) throws -> PostalResult {
        let store = try StoreLocation(command, context).open(for: .managing, context)
        defer { store.close() }
        let (devices, newest) = (try store.devices(), try store.newest())
        var table = Table([
            .init("device"), .init("joined"), .init("accounts"), .init("acknowledged"),
        ])
        for device in devices {
            let cells = [
                device.id, TimeText.utc(device.joinedAt), device.accounts.joined(separator: " "),
                "\(device.acknowledged) of \(newest)",
            ]
            table.append(cells.map { Table.Cell($0) })
        }
        return PostalResult(
            json: [
                "newest": .integer(newest),
                "devices": .array(
                    devices.map { device in
                        [
                            "device": .string(device.id), "accounts": .strings(device.accounts),
                            "joinedAt": .integer(device.joinedAt),
                            "acknowledged": .integer(device.acknowledged),
                        ]
                    }),
            ],
            text: devices.isEmpty ? "No registered devices.\n" : table.text())
    }
}

internal import CommandLineKit
internal import JSON
internal import PostalProtocol

/// `devices remove`: removes a device.
enum DevicesRemoveCommand: PostalCommand {
    static let spec = CommandSpec(
        ["devices", "remove"], "Remove a device and its undelivered events",
        discussion: "Ends the device's stream within a second. Its token no longer works.",
        arguments: [ArgumentSpec("ID", .one, "The device's name, as shown by `devices list`")])

    static func run(_ command: ParsedCommand, _ context: PostalContext) throws -> PostalResult {
        let id = command.argument("ID") ?? ""
        let missing = PostalError(
            .notFound, "No such device.",
            hint: "List the devices with: zg-env-postal devices list")
        guard PostalName.isHookOrDevice(id) else { throw missing }
        let store = try StoreLocation(command, context).open(for: .managing, context)
        defer { store.close() }
        guard try store.removeDevice(id: id) else { throw missing }
        return PostalResult(json: ["removed": .string(id)], text: "Removed \(id).\n")
    }
}

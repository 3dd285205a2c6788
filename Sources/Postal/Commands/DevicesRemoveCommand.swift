internal import CommandLineKit
internal import JSON
internal import PostalProtocol

/// `devices remove`: a device is none any more.
enum DevicesRemoveCommand: PostalCommand {
    static let spec = CommandSpec(
        ["devices", "remove"], "Forget a device and what is kept for it", section: "Devices",
        discussion: "Its stream ends within a second, and its token is refused from now on.",
        arguments: [ArgumentSpec("ID", .one, "The device's name, as in `devices list`")])

    static func run(_ command: ParsedCommand, _ context: PostalContext) throws -> PostalResult {
        let id = command.argument("ID") ?? ""
        let missing = PostalError(
            .notFound, "There is no such device.",
            hint: "See them with: zg-env-postal devices list")
        guard PostalName.isHookOrDevice(id) else { throw missing }
        let store = try StoreLocation(command, context).open(for: .managing, context)
        defer { store.close() }
        guard try store.removeDevice(id: id) else { throw missing }
        return PostalResult(json: ["removed": .string(id)], text: "Removed \(id).\n")
    }
}

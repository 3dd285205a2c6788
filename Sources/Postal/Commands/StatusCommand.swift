internal import CommandLineKit
internal import JSON

/// `status`: shows figures of the store.
enum StatusCommand: PostalCommand {
    static let spec = CommandSpec(
        ["status"], "Show what the store contains",
        discussion: "For metrics of the running server, see /metrics at its address.")

    static func run(_ command: ParsedCommand, _ context: PostalContext) throws -> PostalResult {
        let store = try StoreLocation(command, context).open(for: .managing, context)
        defer { store.close() }
        let status = try store.status()
        var lines = [
            "devices: \(status.devices)", "open invites: \(status.invites)",
            "stored events: \(status.events)", "newest event: \(status.newest)",
        ]
        if let bytes = status.byteCount { lines.append("bytes: \(bytes)") }
        if let replicas = status.replicas {
            lines.append(
                "replicas: \(replicas.current) of \(replicas.count) are up to date"
                    + (replicas.count < replicas.wanted ? ", fewer than \(replicas.wanted)" : ""))
        }
        let warning = store.warning
        if let warning { lines.append("warning: \(warning)") }
        return PostalResult(
            json: [
                "devices": .integer(Int64(status.devices)),
                "invites": .integer(Int64(status.invites)),
                "events": .integer(Int64(status.events)), "newest": .integer(status.newest),
                "bytes": .integer(orNull: status.byteCount),
                "replicas": status.replicas.map { replicas in
                    [
                        "count": .integer(Int64(replicas.count)),
                        "current": .integer(Int64(replicas.current)),
                        "wanted": .integer(Int64(replicas.wanted)),
                    ]
                } ?? .null,
                "warning": .string(orNull: warning),
            ],
            text: lines.joined(separator: "\n") + "\n")
    }
}

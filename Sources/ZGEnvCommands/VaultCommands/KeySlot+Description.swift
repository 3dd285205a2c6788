internal import CommandLineKit
internal import JSON
internal import Sealing
internal import Vault

extension KeySlot.Kind {
    /// The name in commands, messages and JSON.
    var name: String {
        switch self {
        case .passphrase: "passphrase"
        case .secretService: "secret-service"
        case .file: "file"
        case .recovery: "recovery"
        }
    }
}

extension KeySlot {
    var tierText: String { tier == .index ? "names and tokens" : "everything" }

    /// The key-derivation cost; empty for slots without one.
    var costText: String {
        cost.map {
            "\($0.memoryByteCount >> 20) MiB, \($0.operations) pass\($0.operations == 1 ? "" : "es")"
        } ?? ""
    }

    /// The first 8 digits of the id, which nearly always identify a slot.
    var shortID: String { String(id.hexadecimal.prefix(8)) }

    var title: String { "the \(kind.name) slot \(shortID)" }

    static let fields = """
        id: string; kind: \(oneOf: Kind.allCases.map(\.name)); opens: "index" | "values"
        createdAt: time; memoryBytes, operations: number | null
        """

    /// The members for `--json`.
    var members: [JSONValue.Member] {
        [
            .init("id", .string(id.hexadecimal)), .init("kind", .string(kind.name)),
            .init("opens", .string(tier == .index ? "index" : "values")),
            .init("createdAt", .time(orNull: Int64(clamping: createdAt))),
            .init(
                "memoryBytes", .integer(orNull: cost.map { Int64(clamping: $0.memoryByteCount) })),
            .init("operations", .integer(orNull: cost.map { Int64($0.operations) })),
        ]
    }

    /// Returns the one slot whose id begins with `prefix`.
    ///
    /// - Throws: ``ExitCode/notFound``, or ``ExitCode/usage`` for an ambiguous prefix.
    static func named(_ prefix: String, in slots: [KeySlot]) throws -> KeySlot {
        let found = slots.filter { $0.id.hexadecimal.hasPrefix(prefix.lowercased()) }
        guard let slot = found.first else {
            throw CommandError(
                .notFound, "There is no slot whose ID starts with \(prefix).",
                hint: "List the slots with: zg-env slot list")
        }
        guard found.count == 1 else {
            throw CommandError(
                .usage, "Several slot IDs start with \(prefix).",
                hint: "Use a longer prefix of the ID; see: zg-env slot list")
        }
        return slot
    }
}

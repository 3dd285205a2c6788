internal import CommandLineKit
internal import JSON
internal import Sealing
internal import Vault

extension KeySlot.Kind {
    /// What people and scripts call it.
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
    /// What it opens, for people.
    var tierText: String { tier == .index ? "names and tokens" : "everything" }

    /// The cost of one guess, for people; empty where there is nothing to guess.
    var costText: String {
        cost.map {
            "\($0.memoryByteCount >> 20) MiB, \($0.operations) pass\($0.operations == 1 ? "" : "es")"
        } ?? ""
    }

    /// The front of the id, which is enough to name a slot almost always.
    var shortID: String { String(id.hexadecimal.prefix(8)) }

    /// Kind and id, for plans and messages.
    var title: String { "the \(kind.name) slot \(shortID)" }

    /// The members of the slot with `--json`.
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

    /// The one slot whose id begins with `prefix`.
    ///
    /// - Throws: ``ExitCode/notFound``, ``ExitCode/usage`` when several do.
    static func named(_ prefix: String, in slots: [KeySlot]) throws -> KeySlot {
        let found = slots.filter { $0.id.hexadecimal.hasPrefix(prefix.lowercased()) }
        guard let slot = found.first else {
            throw CommandError(
                .notFound, "There is no slot \(prefix).",
                hint: "See the slots with: zg-env slot list")
        }
        guard found.count == 1 else {
            throw CommandError(
                .usage, "Several slots begin with \(prefix).",
                hint: "Give more of the id; see: zg-env slot list")
        }
        return slot
    }
}

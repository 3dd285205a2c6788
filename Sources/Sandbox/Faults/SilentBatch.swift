internal import JSON

/// A creation response that does not tell which records were stored.
struct SilentBatch: Sendable, Equatable {
    /// The content of `created`; `failed` is always empty.
    enum Shape: String, Sendable {
        /// All but the last one.
        case some
        /// The first one, as an object.
        case one
        case all
        /// The response is an empty object.
        case empty
    }

    let shape: Shape
    /// Whether the last record is stored too.
    let keepsAll: Bool
    let status: Int

    /// Parses `[SHAPE][,keeps=all|most][,status=N]`.
    init?(_ text: String) {
        guard let arguments = Arguments(text, names: ["keeps", "status"]),
            let shape = arguments.first.isEmpty ? .some : Shape(rawValue: arguments.first),
            let status = Int(arguments.named["status"] ?? "201"), (200...299).contains(status),
            let keeps = ["most": false, "all": true][arguments.named["keeps"] ?? "most"]
        else { return nil }
        self.shape = shape
        self.status = status
        keepsAll = keeps
    }

    /// Returns the response for the records that appear stored.
    func answer(_ records: [EnvironmentVariable], isArray: Bool) -> HTTPAnswer {
        let shown: JSONValue =
            switch shape {
            case .some: .array(records.dropLast().map(\.json))
            case .one: records.first?.json ?? .members([:])
            case .all where !isArray: records.first?.json ?? .members([:])
            case .all: .array(records.map(\.json))
            case .empty: .null
            }
        guard shape != .empty else { return .json([:], status: status) }
        return .json(["created": shown, "failed": []], status: status)
    }
}

internal import EnvOperations
internal import EnvSchema
internal import Sealing
internal import Vault

/// What one side has for one target: names, and how to learn more about each.
struct SchemaLook {
    let side: SchemaResult.Side
    let target: String
    /// The keys that are there.
    let keys: Set<String>
    let presence: (SchemaItem) throws -> SchemaCheck.Presence

    /// Compares it with what the schema declares.
    ///
    /// - Parameter only: The keys to compare; nil for all.
    func results(
        _ schema: ProjectSchema, _ mapping: EnvironmentMapping, only: Set<String>? = nil,
        isStrict: Bool = false
    ) throws -> [SchemaResult] {
        try SchemaCheck(
            try schema.schema(for: target), target: target, on: side, mapping: mapping,
            isStrict: isStrict
        ).results(of: only, there: keys, presence: presence)
    }
}

extension SchemaLook {
    /// Returns how a value fits what is declared. Keeps nothing of it.
    static func content(
        of value: SecretSlice, _ item: SchemaItem
    ) -> SchemaCheck.Presence.Content {
        value.withBytes { content(of: $0, item) }
    }

    static func content(of value: RawSpan, _ item: SchemaItem) -> SchemaCheck.Presence.Content {
        if value.byteCount == 0 { return .empty }
        if case .placeholder(let text) = item.value,
            Array(text.utf8).withBytes({ value.isEqualInConstantTime(to: $0) })
        {
            return .placeholder
        }
        return item.type.map { .read($0.fit(of: value)) } ?? .unread
    }
}

package import Vault

/// An operation with its record and with the assignments that it replaces.
package struct RecordOperation: Equatable, Sendable {
    /// Nil for operations on the project, and for settlements.
    package let record: Identifier?
    /// Ascending.
    package let replaces: [ChangeReference]
    package let operation: Operation

    package init(
        record: Identifier?, replaces: [ChangeReference] = [], _ operation: Operation
    ) {
        self.record = record
        self.replaces = replaces
        self.operation = operation
    }

    func encode(into writer: inout ByteWriter) {
        writer.byte(operation.kind)
        if let record { writer.identifier(record) }
        switch operation {
        case .create, .settle: break
        default: writer.list(replaces) { $1.encode(into: &$0) }
        }
        switch operation {
        case .create(let creation):
            writer.text(creation.name)
            writer.byte(creation.type.rawValue)
            creation.scope.encode(into: &writer)
            writer.optionalText(creation.comment)
            writer.uint64(creation.reminder)
        case .value(let value):
            writer.identifier(value.seed)
            writer.text(value.sealedName)
            writer.uint32(UInt32(clamping: value.chunkByteCount))
        case .choose(let version): version.encode(into: &writer)
        case .remove: break
        case .comment(let comment): writer.optionalText(comment)
        case .reminder(let seconds): writer.uint64(seconds)
        case .type(let type): writer.byte(type.rawValue)
        case .scope(let scope): scope.encode(into: &writer)
        case .name(let name), .projectName(let name): writer.text(name)
        case .binding(let binding): writer.optional(binding) { $1.encode(into: &$0) }
        case .claim(let claim):
            claim.version.encode(into: &writer)
            writer.text(claim.remoteID)
            writer.text(claim.key)
            writer.byte(claim.type.rawValue)
            claim.scope.encode(into: &writer)
            writer.uint64(claim.updatedAt)
        case .rotation(let begins): writer.flag(begins)
        case .settle(let settlement):
            writer.byte(settlement.matter.rawValue)
            writer.identifier(settlement.subject)
            writer.identifier(settlement.object)
            writer.text(settlement.reason)
        }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> RecordOperation {
        let kind = try reader.byte()
        try reader.require((1...14).contains(kind), .encoding, "an operation is unknown")
        let hasRecord = ![10, 11, 14].contains(kind)
        let record = hasRecord ? try reader.identifier() : nil
        var replaces: [ChangeReference] = []
        if kind != 1, kind != 14 {
            replaces = try reader.ascending(
                limit: GroupLimits.replaced, least: ChangeReference.byteCount,
                of: "replaced assignments", by: { $0 }, ChangeReference.decode(from:))
            try reader.require(
                !replaces.isEmpty || !(7...9).contains(kind), .layout,
                "an operation replaces nothing")
        }
        return RecordOperation(
            record: record, replaces: replaces, try operation(kind, from: &reader))
    }

    private static func operation(
        _ kind: UInt8, from reader: inout ByteReader
    ) throws(VaultError) -> Operation {
        switch kind {
        case 1:
            return .create(
                Operation.Creation(
                    name: try reader.filledText(limit: GroupLimits.name),
                    type: try VariableAttributes.Kind.decode(from: &reader),
                    scope: try scope(from: &reader),
                    comment: try reader.optionalText(limit: GroupLimits.text),
                    reminder: try reader.uint64()))
        case 2: return .value(try value(from: &reader))
        case 3: return .choose(try ChangeReference.decode(from: &reader))
        case 4: return .remove
        case 5: return .comment(try reader.optionalText(limit: GroupLimits.text))
        case 6: return .reminder(try reader.uint64())
        case 7: return .type(try VariableAttributes.Kind.decode(from: &reader))
        case 8: return .scope(try scope(from: &reader))
        case 9: return .name(try reader.filledText(limit: GroupLimits.name))
        case 10: return .projectName(try reader.filledText(limit: GroupLimits.name))
        case 11: return .binding(try reader.optional(GroupBinding.decode(from:)))
        case 12:
            return .claim(
                Operation.Claim(
                    version: try ChangeReference.decode(from: &reader),
                    remoteID: try reader.filledText(limit: GroupLimits.text),
                    key: try reader.filledText(limit: GroupLimits.name),
                    type: try VariableAttributes.Kind.decode(from: &reader),
                    scope: try scope(from: &reader), updatedAt: try reader.uint64()))
        case 13: return .rotation(try reader.flag())
        default: return .settle(try settlement(from: &reader))
        }
    }

    private static func scope(from reader: inout ByteReader) throws(VaultError) -> Scope {
        let scope = try Scope.decode(from: &reader)
        try reader.require(!scope.isEmpty, .layout, "a scope is empty")
        return scope
    }

    private static func value(
        from reader: inout ByteReader
    ) throws(VaultError) -> Operation.NewValue {
        let seed = try reader.identifier()
        let name = try reader.filledText(limit: GroupLimits.name)
        let count = Int(try reader.uint32())
        let padded = count - 40
        let most = Padding.paddedByteCount(ofValue: 4 + VaultFormat.valueLimit)
        try reader.require(
            (128...most).contains(padded) && Padding.paddedByteCount(ofValue: padded) == padded,
            .layout, "a chunk has an invalid length")
        return Operation.NewValue(seed: seed, sealedName: name, chunkByteCount: count)
    }

    private static func settlement(
        from reader: inout ByteReader
    ) throws(VaultError) -> Settlement {
        guard let matter = Settlement.Matter(rawValue: try reader.byte()) else {
            throw VaultError(damaged: .encoding, "a settlement is unknown")
        }
        return Settlement(
            matter: matter, subject: try reader.identifier(), object: try reader.identifier(),
            reason: try reader.text(limit: GroupLimits.name))
    }
}

package import Vault

/// What a change seals under the index key.
package struct ChangeContent: Equatable, Sendable {
    /// Milliseconds since 1970, by the author's clock: a claim.
    package let createdAt: UInt64
    /// Names the change's data key; nil without values.
    package let batch: Identifier?
    package let operations: [RecordOperation]

    package init(createdAt: UInt64, batch: Identifier?, operations: [RecordOperation]) {
        self.createdAt = createdAt
        self.batch = batch
        self.operations = operations
    }

    /// The sizes of the chunks, in their order.
    package var chunkByteCounts: [Int] {
        operations.compactMap {
            guard case .value(let value) = $0.operation else { return nil }
            return value.chunkByteCount
        }
    }

    func padded() -> [UInt8] {
        var writer = ByteWriter(reserving: 1_024)
        writer.section { writer in
            writer.uint64(createdAt)
            writer.optional(batch) { $0.identifier($1) }
            writer.list(operations) { $1.encode(into: &$0) }
        }
        let count = Padding.paddedByteCount(ofValue: writer.count)
        writer.raw([UInt8](repeating: 0, count: count - writer.count))
        return writer.bytes
    }

    /// Decodes opened bytes.
    ///
    /// - Parameter valuesByteCount: The size of the change's values.
    package static func decode(
        padded: [UInt8], valuesByteCount: Int
    ) throws(GroupError) -> ChangeContent {
        let length = padded.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard padded.count >= 4, length <= padded.count - 4,
            Padding.paddedByteCount(ofValue: 4 + length) == padded.count,
            padded[(4 + length)...].allSatisfy({ $0 == 0 })
        else { throw GroupError(.padding, "the sealed operations have invalid padding") }
        return try ByteReader.decode(Array(padded[4..<4 + length]), of: "operations") {
            (reader) throws(VaultError) in
            let createdAt = try reader.uint64()
            let batch = try reader.optionalIdentifier()
            try reader.require(
                (batch != nil) == (valuesByteCount > 0), .layout, "a change has no values or batch")
            let count = try reader.count(
                limit: GroupLimits.operations, minimumByteCount: 6, of: "operations")
            var operations: [RecordOperation] = []
            operations.reserveCapacity(count)
            for _ in 0..<count { operations.append(try RecordOperation.decode(from: &reader)) }
            let content = ChangeContent(createdAt: createdAt, batch: batch, operations: operations)
            let chunks = content.chunkByteCounts
            let expected =
                chunks.isEmpty ? 0 : GroupLimits.dataKeyByteCount + chunks.reduce(0, +)
            try reader.require(
                expected == valuesByteCount, .layout,
                "the values have a different length than the operations declare")
            return content
        }
    }
}

/// Something begun and not yet known to be finished, such as a push whose answer never came.
package struct JournalEntry: Equatable, Sendable {
    /// Names the entry for ever.
    package let id: Identifier
    /// What kind of work it is; the reader of the payload knows.
    package let kind: UInt8
    /// Milliseconds since 1970.
    package let createdAt: UInt64
    /// At most 1 MiB, without values.
    package let payload: [UInt8]

    static let payloadLimit = 1 << 20

    func encode(into writer: inout ByteWriter) {
        writer.identifier(id)
        writer.byte(kind)
        writer.uint64(createdAt)
        writer.uint32(UInt32(payload.count))
        writer.raw(payload)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> JournalEntry {
        let id = try reader.identifier()
        let kind = try reader.byte()
        let createdAt = try reader.uint64()
        let count = try reader.count(limit: payloadLimit, minimumByteCount: 1, of: "journal bytes")
        return JournalEntry(
            id: id, kind: kind, createdAt: createdAt, payload: try reader.bytes(count))
    }
}

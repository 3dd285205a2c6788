internal import Sealing

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

    /// Sees that the payload is one of its kind, where the kind is known.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    func checkPayload() throws(VaultError) {
        _ = try SendEntry(self)
        _ = try RotationEntry(self)
    }
}

/// An entry of the journal whose payload is a secret, which stays in guarded memory.
struct SecretJournalEntry {
    /// Names the entry for ever.
    let id: Identifier
    /// Milliseconds since 1970.
    let createdAt: UInt64
    /// As long as any other's.
    let payload: SecretSlice

    /// Writes everything but the payload's bytes, which follow as u32 length and bytes.
    func encodeFront(into writer: inout ByteWriter) {
        writer.identifier(id)
        writer.byte(RelayRegistration.kind)
        writer.uint64(createdAt)
        writer.uint32(UInt32(payload.count))
    }
}

/// What stands in the journal, by where its payload may be.
enum AnyJournalEntry {
    case open(JournalEntry)
    case secret(SecretJournalEntry)

    var id: Identifier {
        switch self {
        case .open(let entry): entry.id
        case .secret(let entry): entry.id
        }
    }

    /// Reads an entry whose payload, where its kind is known, is one that a writer makes.
    ///
    /// - Parameter index: The opened index, of which a secret payload stays a part.
    static func decode(
        from reader: inout ByteReader, in index: SecretSlice
    ) throws(VaultError) -> AnyJournalEntry {
        var ahead = reader
        let id = try ahead.identifier()
        guard try ahead.byte() == RelayRegistration.kind else {
            let entry = try JournalEntry.decode(from: &reader)
            try entry.checkPayload()
            return .open(entry)
        }
        let createdAt = try ahead.uint64()
        let count = try ahead.count(
            limit: JournalEntry.payloadLimit, minimumByteCount: 1, of: "journal bytes")
        let start = ahead.offset
        _ = try ahead.section(count)
        reader = ahead
        let entry = SecretJournalEntry(
            id: id, createdAt: createdAt, payload: index.part(start..<start + count))
        _ = try RelayRegistration(entry)
        return .secret(entry)
    }
}

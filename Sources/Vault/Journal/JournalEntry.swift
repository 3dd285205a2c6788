internal import Sealing

/// An unfinished operation, such as a push whose response never came.
package struct JournalEntry: Equatable, Sendable {
    /// Permanent.
    package let id: Identifier
    /// The kind of operation, which determines the payload's format.
    package let kind: UInt8
    /// Milliseconds since 1970.
    package let createdAt: UInt64
    /// At most 1 MiB, or 64 MiB for what belongs to groups; without values.
    package let payload: [UInt8]
    /// The section that it is in: that of its project, or one of entries only; nil for the table,
    /// which every command opens.
    package let section: Identifier?

    static let payloadLimit = 1 << 20

    /// The most bytes of a payload.
    static func payloadLimit(of kind: UInt8) -> Int {
        GroupEntryKind(rawValue: kind) == nil ? payloadLimit : GroupEntryKind.payloadLimit
    }

    static let minimumByteCount = 29

    package init(
        id: Identifier = .random(), kind: UInt8, createdAt: UInt64, payload: [UInt8],
        section: Identifier?
    ) {
        (self.id, self.kind, self.section) = (id, kind, section)
        (self.createdAt, self.payload) = (createdAt, payload)
    }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(id)
        writer.byte(kind)
        writer.uint64(createdAt)
        writer.uint32(UInt32(payload.count))
        writer.raw(payload)
    }

    /// - Parameter section: That it is read from; nil for the table.
    static func decode(
        from reader: inout ByteReader, in section: Identifier?
    ) throws(VaultError) -> JournalEntry {
        let id = try reader.identifier()
        let kind = try reader.byte()
        let createdAt = try reader.uint64()
        let count = try reader.count(
            limit: payloadLimit(of: kind), minimumByteCount: 1, of: "journal bytes")
        return JournalEntry(
            id: id, kind: kind, createdAt: createdAt, payload: try reader.bytes(count),
            section: section)
    }

    /// Checks that a payload of a known kind is well-formed.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    func checkPayload() throws(VaultError) {
        _ = try SendEntry(self)
        _ = try RotationEntry(self)
    }

    /// Checks that an entry of a known kind is in a section where it may be.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    func checkPlace() throws(VaultError) {
        let isRight =
            switch kind {
            case SendEntry.kind, GroupEntryKind.sharedProject.rawValue: section != nil
            case RotationEntry.openKind, RelayRegistration.kind: section == nil
            case RotationEntry.endedKind: section == RotationEntry.endedSection
            case GroupEntryKind.membership.rawValue, GroupEntryKind.sharedState.rawValue,
                GroupEntryKind.outgoingChange.rawValue:
                section == id
            default: true
            }
        guard isRight else {
            throw VaultError(damaged: .layout, "a journal entry is in the wrong section")
        }
    }
}

/// A journal entry whose payload is secret and stays in guarded memory.
struct SecretJournalEntry {
    /// Permanent.
    let id: Identifier
    /// Milliseconds since 1970.
    let createdAt: UInt64
    /// At most ``JournalEntry/payloadLimit`` bytes.
    let payload: SecretSlice

    /// Writes everything up to the payload's u32 length; the payload's bytes must follow.
    func encodeFront(into writer: inout ByteWriter) {
        writer.identifier(id)
        writer.byte(RelayRegistration.kind)
        writer.uint64(createdAt)
        writer.uint32(UInt32(payload.count))
    }
}

/// A journal entry of either sort.
enum AnyJournalEntry {
    case open(JournalEntry)
    case secret(SecretJournalEntry)

    var id: Identifier {
        switch self {
        case .open(let entry): entry.id
        case .secret(let entry): entry.id
        }
    }

    /// Checks that a payload of a known kind is well-formed.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    func checkPayload() throws(VaultError) {
        switch self {
        case .open(let entry): try entry.checkPayload()
        case .secret(let entry): _ = try RelayRegistration(entry)
        }
    }

    /// Decodes an entry of the table, without its payload.
    ///
    /// - Parameter table: The opened table; a secret payload refers to a part of it.
    static func decode(
        from reader: inout ByteReader, in table: SecretSlice
    ) throws(VaultError) -> AnyJournalEntry {
        var ahead = reader
        let id = try ahead.identifier()
        guard try ahead.byte() == RelayRegistration.kind else {
            return .open(try JournalEntry.decode(from: &reader, in: nil))
        }
        let createdAt = try ahead.uint64()
        let count = try ahead.count(
            limit: JournalEntry.payloadLimit, minimumByteCount: 1, of: "journal bytes")
        let start = ahead.offset
        _ = try ahead.section(count)
        reader = ahead
        return .secret(
            SecretJournalEntry(
                id: id, createdAt: createdAt, payload: table.part(start..<start + count)))
    }
}

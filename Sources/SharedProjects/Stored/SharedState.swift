package import Groups
package import Vault

/// What this vault last told the group about a shared project, or learned from it: the basis for the
/// next change. In a journal entry of kind `GroupEntryKind.sharedState`. Layout:
/// `docs/group-format.md`, section 9.
package struct SharedState: Sendable {
    /// The candidates of one thing: what the next assignment replaces.
    package typealias Candidates = [Assigned: [ChangeReference]]

    /// A version of the vault that the group knows.
    package struct Version: Equatable, Sendable {
        /// The vault's number.
        package let number: UInt64
        /// The operation that introduced it.
        package let reference: ChangeReference
        /// The group's id of the version.
        package let id: Identifier
        package let author: Identifier
    }

    /// A record that the group knows.
    package struct Record: Equatable, Sendable {
        /// The id in the group.
        package let id: Identifier
        /// The id in this vault.
        package var variable: Identifier
        package var name: String
        package var scope: Scope
        package var kind: VariableAttributes.Kind
        package var comment: String?
        package var rotationSeconds: UInt64
        package var isInUse: Bool
        /// The number of the version in use; 0 for none.
        package var version: UInt64
        package var candidates: Candidates
        /// Ascending by number.
        package var versions: [Version]
        /// The numbers of the versions that are the value: several if it is contested.
        package var choices: [UInt64]
        /// The numbers of versions that writers offer.
        package var offers: [UInt64]

        package func version(_ number: UInt64) -> Version? {
            versions.first { $0.number == number }
        }
    }

    /// The id of the journal entry.
    package let id: Identifier
    package let compartment: Identifier
    package let group: GroupHash
    /// The chain of changes that this vault continues.
    package var chain: Identifier
    package var counter: UInt64
    /// The last change of the chain; zero for none.
    package var last: GroupHash
    /// The changes that count and that nothing builds on yet.
    package var heads: [GroupHash]
    /// The candidates of project name and binding.
    package var candidates: Candidates
    /// Ascending by `id`.
    package var records: [Record]
    /// Late and waiting changes, as of the last sync.
    package var lateCount: UInt32
    package var waitingCount: UInt32
    package let createdAt: UInt64

    package init(compartment: Identifier, group: GroupHash, createdAt: UInt64) {
        id = .random()
        (self.compartment, self.group) = (compartment, group)
        (chain, counter, last) = (.random(), 0, .zero)
        (heads, candidates, records) = ([], [:], [])
        (lateCount, waitingCount) = (0, 0)
        self.createdAt = createdAt
    }

    /// - Throws: ``VaultError/Code/damaged``.
    package init(_ entry: JournalEntry) throws(VaultError) {
        (id, createdAt) = (entry.id, entry.createdAt)
        let parts = try StoredBytes.decode(entry.payload, of: "a shared project's state") {
            (reader) throws(VaultError) in
            let compartment = try reader.identifier()
            let group = try GroupHash.decode(from: &reader)
            let (chain, counter) = (try reader.identifier(), try reader.uint64())
            let last = try GroupHash.decode(from: &reader)
            let heads = try reader.hashes(limit: 1_000_000, of: "heads")
            let candidates = try Self.candidates(from: &reader)
            let records = try reader.ascending(
                limit: 1_000_000, least: 80, of: "shared records", by: \Record.id, Self.record)
            return (
                compartment, group, chain, counter, last, heads, candidates, records,
                try reader.uint32(), try reader.uint32()
            )
        }
        (compartment, group) = (parts.0, parts.1)
        (chain, counter, last) = (parts.2, parts.3, parts.4)
        (heads, candidates, records) = (parts.5, parts.6, parts.7)
        (lateCount, waitingCount) = (parts.8, parts.9)
    }

    private static func candidates(from reader: inout ByteReader) throws(VaultError) -> Candidates {
        let count = try reader.count(
            limit: Assigned.allCases.count, minimumByteCount: 5, of: "candidates")
        var found: Candidates = [:]
        for _ in 0..<count {
            guard let thing = Assigned(rawValue: try reader.byte()) else {
                throw VaultError(damaged: .encoding, "a candidate is of an unknown kind")
            }
            found[thing] = try reader.ascending(
                limit: 1_000_000, least: 34, of: "candidates", by: { $0 },
                ChangeReference.decode)
        }
        return found
    }

    private static func encode(_ candidates: Candidates, into writer: inout ByteWriter) {
        writer.list(
            candidates.filter { !$0.value.isEmpty }.keys.sorted { $0.rawValue < $1.rawValue }
        ) {
            writer, thing in
            writer.byte(thing.rawValue)
            writer.list((candidates[thing] ?? []).sorted()) { $1.encode(into: &$0) }
        }
    }

    private static func record(from reader: inout ByteReader) throws(VaultError) -> Record {
        Record(
            id: try reader.identifier(), variable: try reader.identifier(),
            name: try reader.filledText(limit: VaultFormat.nameLimit),
            scope: try Scope.decode(from: &reader),
            kind: try VariableAttributes.Kind.decode(from: &reader),
            comment: try reader.optionalText(limit: VaultFormat.commentLimit),
            rotationSeconds: try reader.uint64(), isInUse: try reader.flag(),
            version: try reader.uint64(), candidates: try candidates(from: &reader),
            versions: try reader.ascending(
                limit: 100_000, least: 74, of: "shared versions", by: \Version.number
            ) { (reader) throws(VaultError) in
                Version(
                    number: try reader.uint64(),
                    reference: try ChangeReference.decode(from: &reader),
                    id: try reader.identifier(), author: try reader.identifier())
            }, choices: try numbers(from: &reader), offers: try numbers(from: &reader))
    }

    private static func numbers(from reader: inout ByteReader) throws(VaultError) -> [UInt64] {
        try reader.ascending(limit: 100_000, least: 8, of: "version numbers", by: { $0 }) {
            (reader) throws(VaultError) in try reader.uint64()
        }
    }

    package var entry: JournalEntry {
        var writer = ByteWriter(reserving: 256 + 512 * records.count)
        writer.identifier(compartment)
        group.encode(into: &writer)
        writer.identifier(chain)
        writer.uint64(counter)
        last.encode(into: &writer)
        writer.hashes(heads.sorted())
        Self.encode(candidates, into: &writer)
        writer.list(records.sorted { $0.id < $1.id }) { writer, record in
            writer.identifier(record.id)
            writer.identifier(record.variable)
            writer.text(record.name)
            record.scope.encode(into: &writer)
            writer.byte(record.kind.rawValue)
            writer.optionalText(record.comment)
            writer.uint64(record.rotationSeconds)
            writer.flag(record.isInUse)
            writer.uint64(record.version)
            Self.encode(record.candidates, into: &writer)
            writer.list(record.versions.sorted { $0.number < $1.number }) { writer, version in
                writer.uint64(version.number)
                version.reference.encode(into: &writer)
                writer.identifier(version.id)
                writer.identifier(version.author)
            }
            writer.list(record.choices.sorted()) { $0.uint64($1) }
            writer.list(record.offers.sorted()) { $0.uint64($1) }
        }
        writer.uint32(lateCount)
        writer.uint32(waitingCount)
        return JournalEntry(
            id: id, kind: GroupEntryKind.sharedState.rawValue, createdAt: createdAt,
            payload: writer.bytes)
    }
}

/// A finished, signed change that no place was seen to hold, in a journal entry of kind
/// `GroupEntryKind.outgoingChange`: the hash of the group, then the object.
package struct OutgoingChange: Sendable {
    package let id: Identifier
    package let group: GroupHash
    package let object: [UInt8]
    package let createdAt: UInt64

    package init(group: GroupHash, object: [UInt8], createdAt: UInt64) {
        id = .random()
        (self.group, self.object, self.createdAt) = (group, object, createdAt)
    }

    /// - Throws: ``VaultError/Code/damaged``.
    package init(_ entry: JournalEntry) throws(VaultError) {
        (id, createdAt) = (entry.id, entry.createdAt)
        (group, object) = try StoredBytes.decode(entry.payload, of: "an outgoing change") {
            (reader) throws(VaultError) in
            (
                try GroupHash.decode(from: &reader), try reader.bytes(reader.remaining)
            )
        }
    }

    package var entry: JournalEntry {
        JournalEntry(
            id: id, kind: GroupEntryKind.outgoingChange.rawValue, createdAt: createdAt,
            payload: group.bytes + object)
    }
}

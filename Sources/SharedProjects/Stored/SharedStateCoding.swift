internal import Groups
internal import Vault

/// The bytes of a ``SharedState``. Every command decrypts them with the index, so hashes of changes and
/// ids of authors, which many records have in common, are written once.
struct SharedStateCoding {
    /// Ascending; records name them by their places.
    private let changes: [GroupHash]
    private let authors: [Identifier]

    /// What a record's bits say.
    private struct Traits: OptionSet {
        let rawValue: UInt8

        static let isInUse = Traits(rawValue: 1)
        static let hasReminder = Traits(rawValue: 2)
        /// Otherwise the version is the newest one that the group knows, or 0.
        static let namesVersion = Traits(rawValue: 4)
        /// Otherwise the only choice is the version, if there is one, and nothing is offered.
        static let namesChoices = Traits(rawValue: 8)
        static let hasClaims = Traits(rawValue: 16)
        static let isRotating = Traits(rawValue: 32)
        static let isTakenOver = Traits(rawValue: 64)
        static let all: Traits = [
            .isInUse, .hasReminder, .namesVersion, .namesChoices, .hasClaims, .isRotating,
            .isTakenOver,
        ]
    }

    // MARK: Encoding

    static func bytes(of state: SharedState) -> [UInt8] {
        let all =
            state.candidates.values.joined().map(\.change)
            + state.records.flatMap { record in
                record.candidates.values.joined().map(\.change)
                    + record.versions.map(\.reference.change)
            }
        let coding = SharedStateCoding(
            changes: Set(all).sorted(),
            authors: Set(state.records.flatMap { $0.versions.map(\.author) }).sorted())
        return coding.bytes(of: state)
    }

    private func bytes(of state: SharedState) -> [UInt8] {
        var writer = ByteWriter(reserving: 512 + 192 * state.records.count)
        writer.identifier(state.compartment)
        state.group.encode(into: &writer)
        writer.identifier(state.chain)
        writer.uint64(state.counter)
        state.last.encode(into: &writer)
        writer.hashes(state.heads.sorted())
        writer.uint32(state.lateCount)
        writer.uint32(state.waitingCount)
        writer.hashes(state.ownLate.sorted())
        writer.hashes(changes)
        writer.list(authors) { $0.identifier($1) }
        let changePlaces = Self.places(changes)
        let authorPlaces = Self.places(authors)
        func encode(_ reference: ChangeReference, into writer: inout ByteWriter) {
            writer.uint32(changePlaces[reference.change] ?? 0)
            writer.uint16(reference.operation)
        }
        func encode(_ candidates: SharedState.Candidates, into writer: inout ByteWriter) {
            var things: [ChangeReference: UInt16] = [:]
            for (thing, references) in candidates {
                for reference in references {
                    things[reference, default: 0] |= 1 << UInt16(thing.rawValue)
                }
            }
            writer.list(things.sorted { $0.key < $1.key }) { writer, item in
                encode(item.key, into: &writer)
                writer.uint16(item.value)
            }
        }
        encode(state.candidates, into: &writer)
        writer.list(state.records.sorted { $0.id < $1.id }) { writer, record in
            let traits = Self.traits(of: record)
            writer.identifier(record.id)
            writer.identifier(record.variable)
            writer.text(record.name)
            record.scope.encode(into: &writer)
            writer.byte(record.kind.rawValue)
            writer.optionalText(record.comment)
            writer.byte(traits.rawValue)
            if traits.contains(.hasReminder) { writer.uint64(record.rotationSeconds) }
            encode(record.candidates, into: &writer)
            writer.list(record.versions.sorted { $0.number < $1.number }) { writer, version in
                writer.uint64(version.number)
                encode(version.reference, into: &writer)
                writer.identifier(version.id)
                writer.uint32(authorPlaces[version.author] ?? 0)
            }
            if traits.contains(.namesVersion) { writer.uint64(record.version) }
            if traits.contains(.namesChoices) {
                writer.list(record.choices.sorted()) { $0.uint64($1) }
                writer.list(record.offers.sorted()) { $0.uint64($1) }
            }
            if traits.contains(.hasClaims) {
                writer.list(Set(record.claims).sorted()) { $1.encode(into: &$0) }
            }
        }
        return writer.bytes
    }

    private static func places<T: Hashable>(_ items: [T]) -> [T: UInt32] {
        Dictionary(
            items.enumerated().map { ($0.element, UInt32($0.offset)) },
            uniquingKeysWith: { first, _ in first })
    }

    private static func traits(of record: SharedState.Record) -> Traits {
        var traits: Traits = record.isInUse ? .isInUse : []
        if record.rotationSeconds != 0 { traits.insert(.hasReminder) }
        if record.version != newest(of: record.versions) { traits.insert(.namesVersion) }
        if record.choices != choices(record.version) || !record.offers.isEmpty {
            traits.insert(.namesChoices)
        }
        if !record.claims.isEmpty { traits.insert(.hasClaims) }
        if record.isRotating { traits.insert(.isRotating) }
        if record.isTakenOver { traits.insert(.isTakenOver) }
        return traits
    }

    private static func newest(of versions: [SharedState.Version]) -> UInt64 {
        versions.map(\.number).max() ?? 0
    }

    private static func choices(_ version: UInt64) -> [UInt64] { version == 0 ? [] : [version] }

    // MARK: Decoding

    static func decode(
        _ entry: JournalEntry, from reader: inout ByteReader
    ) throws(VaultError) -> SharedState {
        var state = SharedState(
            entry, compartment: try reader.identifier(),
            group: try GroupHash.decode(from: &reader))
        (state.chain, state.counter) = (try reader.identifier(), try reader.uint64())
        state.last = try GroupHash.decode(from: &reader)
        state.heads = try reader.hashes(limit: 1_000_000, of: "heads")
        (state.lateCount, state.waitingCount) = (try reader.uint32(), try reader.uint32())
        state.ownLate = try reader.hashes(limit: 1_000_000, of: "late changes")
        let coding = SharedStateCoding(
            changes: try reader.hashes(limit: 1_000_000, of: "changes"),
            authors: try reader.identifiers(limit: 1_000_000, of: "authors"))
        state.candidates = try coding.candidates(from: &reader)
        state.records = try reader.ascending(
            limit: 1_000_000, least: 52, of: "shared records", by: \SharedState.Record.id
        ) { (reader) throws(VaultError) in try coding.record(from: &reader) }
        return state
    }

    private func reference(from reader: inout ByteReader) throws(VaultError) -> ChangeReference {
        let place = Int(try reader.uint32())
        guard place < changes.count else {
            throw VaultError(damaged: .bounds, "a shared project refers to an unknown change")
        }
        return ChangeReference(change: changes[place], operation: try reader.uint16())
    }

    private func candidates(
        from reader: inout ByteReader
    ) throws(VaultError) -> SharedState.Candidates {
        let items = try reader.ascending(
            limit: 1_000_000, least: 8, of: "candidates",
            by: { (item: (reference: ChangeReference, things: UInt16)) in item.reference }
        ) { (reader) throws(VaultError) in
            (reference: try self.reference(from: &reader), things: try reader.uint16())
        }
        var found: SharedState.Candidates = [:]
        for item in items {
            guard item.things >> UInt16(Assigned.allCases.count) == 0 else {
                throw VaultError(damaged: .encoding, "a candidate is of an unknown kind")
            }
            for thing in Assigned.allCases where item.things >> UInt16(thing.rawValue) & 1 == 1 {
                found[thing, default: []].append(item.reference)
            }
        }
        return found
    }

    private func record(from reader: inout ByteReader) throws(VaultError) -> SharedState.Record {
        let (id, variable) = (try reader.identifier(), try reader.identifier())
        let name = try reader.filledText(limit: VaultFormat.nameLimit)
        let scope = try Scope.decode(from: &reader)
        let kind = try VariableAttributes.Kind.decode(from: &reader)
        let comment = try reader.optionalText(limit: VaultFormat.commentLimit)
        let traits = Traits(rawValue: try reader.byte())
        guard traits.isSubset(of: .all) else {
            throw VaultError(damaged: .encoding, "a shared record has an unknown property")
        }
        let reminder = traits.contains(.hasReminder) ? try reader.uint64() : 0
        let candidates = try self.candidates(from: &reader)
        let versions = try reader.ascending(
            limit: 100_000, least: 34, of: "shared versions", by: \SharedState.Version.number
        ) { (reader) throws(VaultError) in try self.version(from: &reader) }
        let version =
            traits.contains(.namesVersion) ? try reader.uint64() : Self.newest(of: versions)
        var (choices, offers) = (Self.choices(version), [UInt64]())
        if traits.contains(.namesChoices) {
            (choices, offers) = (try Self.numbers(from: &reader), try Self.numbers(from: &reader))
        }
        var claims: [SharedState.Claim] = []
        if traits.contains(.hasClaims) {
            claims = try reader.ascending(
                limit: 100_000, least: 24, of: "claims", by: { $0 }, SharedState.Claim.init(from:))
        }
        return SharedState.Record(
            id: id, variable: variable, name: name, scope: scope, kind: kind, comment: comment,
            rotationSeconds: reminder, isInUse: traits.contains(.isInUse), version: version,
            candidates: candidates, versions: versions, choices: choices, offers: offers,
            claims: claims, isRotating: traits.contains(.isRotating),
            isTakenOver: traits.contains(.isTakenOver))
    }

    private func version(from reader: inout ByteReader) throws(VaultError) -> SharedState.Version {
        let (number, reference) = (try reader.uint64(), try self.reference(from: &reader))
        let id = try reader.identifier()
        let place = Int(try reader.uint32())
        guard place < authors.count else {
            throw VaultError(
                damaged: .bounds, "a shared version refers to an unknown author")
        }
        return SharedState.Version(
            number: number, reference: reference, id: id, author: authors[place])
    }

    private static func numbers(from reader: inout ByteReader) throws(VaultError) -> [UInt64] {
        try reader.ascending(limit: 100_000, least: 8, of: "version numbers", by: { $0 }) {
            (reader) throws(VaultError) in try reader.uint64()
        }
    }
}

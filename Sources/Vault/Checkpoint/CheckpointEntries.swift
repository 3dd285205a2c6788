internal import Sealing

/// The entries of a checkpoint in encoded form: comparing entries means comparing bytes, and most
/// commands need few of thousands.
struct CheckpointEntries: Equatable, Sendable {
    /// Without the number of entries.
    private let bytes: [UInt8]
    /// The offset of each entry.
    private let starts: [Int]
    /// The indices of the entries of variables.
    let records: Range<Int>
    /// The indices of the entries of the journal's entries.
    let journalEntries: Range<Int>
    /// The indices of the entries of settings, which are the last ones.
    let settings: Range<Int>

    static let limit = 1_032_000
    private static let frontByteCount = 5

    init() {
        self.init(bytes: [], starts: [])
    }

    /// - Parameters:
    ///   - bytes: The checked entries.
    ///   - starts: The offset of each entry.
    private init(bytes: [UInt8], starts: [Int]) {
        (self.bytes, self.starts) = (bytes, starts)
        func first(_ precedes: (UInt8) -> Bool) -> Int {
            starts.indices.firstIndex(notPreceding: { precedes(bytes[starts[$0]]) })
        }
        func range(_ kind: CoveredObject.Kind) -> Range<Int> {
            first { $0 < kind.rawValue }..<first { $0 <= kind.rawValue }
        }
        records = range(.variable)
        journalEntries = range(.journalEntry)
        settings = range(.setting)
    }

    var count: Int { starts.count }
    /// The size including the number of entries.
    var byteCount: Int { 4 + bytes.count }

    /// Passes the encoded entries, without their number, to `body`.
    func withBytes<R, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try bytes.withBytes(body)
    }

    /// Writes the number of entries and the entries, as in the index and in the data that the MAC
    /// covers.
    func encode(into writer: inout ByteWriter) {
        writer.uint32(UInt32(starts.count))
        writer.raw(bytes)
    }

    // MARK: Decoding

    static func decode(from reader: inout ByteReader) throws(VaultError) -> CheckpointEntries {
        let count = try reader.count(
            limit: limit, minimumByteCount: 14, of: "checkpoint entries")
        var (starts, last): ([Int], CoveredObject?) = ([], nil)
        starts.reserveCapacity(count)
        var all = reader
        for _ in 0..<count {
            starts.append(reader.offset - all.offset)
            guard let kind = CoveredObject.Kind(rawValue: try reader.byte()) else {
                throw VaultError(
                    damaged: .encoding, "the checkpoint has an entry of an unknown kind")
            }
            var content = try reader.section(Int(try reader.uint32()))
            let object = try check(&content, kind)
            if let last, !(last < object) {
                throw VaultError(damaged: .order, "the checkpoint's entries are not in order")
            }
            last = object
        }
        let bytes = try all.bytes(reader.offset - all.offset)
        return CheckpointEntries(bytes: bytes, starts: starts)
    }

    /// Checks the content of an entry.
    private static func check(
        _ content: inout ByteReader, _ kind: CoveredObject.Kind
    ) throws(VaultError) -> CoveredObject {
        switch kind {
        case .variable: return .variable(try AcceptedRecord.check(&content))
        case .project, .account, .directory, .journalEntry, .setting:
            let object = try AcceptedObject.decode(from: &content, kind)
            try content.expectEnd(of: "a checkpoint entry")
            if case .project(let project) = object, project.name.isEmpty {
                throw VaultError(damaged: .encoding, "the checkpoint has a project without a name")
            }
            return object.object
        }
    }

    // MARK: Lookup

    /// Returns the index of an object's entry, or where it would be inserted.
    private func find(_ object: CoveredObject) -> (place: Int, isThere: Bool) {
        let place = starts.indices.firstIndex(notPreceding: { self.object(at: $0) < object })
        return (place, place < starts.count && self.object(at: place) == object)
    }

    /// Returns the object of the entry at an index.
    func object(at place: Int) -> CoveredObject {
        let object = try? read(place) { (reader) throws(VaultError) in
            let kind = kind(at: place)
            switch kind {
            case .project, .variable, .journalEntry:
                return CoveredObject(kind, id: try reader.identifier())
            case .account:
                return .account(try reader.text(limit: VaultFormat.nameLimit))
            case .setting:
                return .setting(try reader.text(limit: VaultFormat.nameLimit))
            case .directory:
                return .directory(try reader.text(limit: VaultFormat.textLimit))
            }
        }
        guard let object else { preconditionFailure("entries were checked when they were decoded") }
        return object
    }

    private func kind(at place: Int) -> CoveredObject.Kind {
        guard let kind = CoveredObject.Kind(rawValue: bytes[starts[place]]) else {
            preconditionFailure("entries were checked when they were decoded")
        }
        return kind
    }

    private func range(at place: Int) -> Range<Int> {
        starts[place]..<(place + 1 < starts.count ? starts[place + 1] : bytes.count)
    }

    /// Passes a reader for the content of the entry at an index to `body`.
    func read<R>(
        _ place: Int, _ body: (inout ByteReader) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        let range = range(at: place)
        return try bytes.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(
                bytes.extracting((range.lowerBound + Self.frontByteCount)..<range.upperBound), body)
        }
    }

    /// Returns the variable of the entry at an index, which must be a variable's.
    func recordID(at place: Int) -> Identifier {
        identifier(at: starts[place] + Self.frontByteCount)
    }

    private func identifier(at start: Int) -> Identifier {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe Identifier(
                high: UInt64(
                    bigEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)),
                low: UInt64(
                    bigEndian: bytes.loadUnaligned(fromByteOffset: start + 8, as: UInt64.self)))
        }
    }

    /// Returns the project of the variable's entry at an index.
    func project(at place: Int) -> Identifier {
        identifier(at: starts[place] + Self.frontByteCount + 16)
    }

    /// Returns the index of a variable's entry, or nil.
    ///
    /// - Parameter guess: A likely index among the variables, which have the same order.
    func place(ofRecord id: Identifier, guess: Int? = nil) -> Int? {
        if let guess, guess < records.count, recordID(at: records.lowerBound + guess) == id {
            return records.lowerBound + guess
        }
        let place = records.firstIndex(notPreceding: { recordID(at: $0) < id })
        return place < records.upperBound && recordID(at: place) == id ? place : nil
    }

    /// Returns the encoded content of an object's entry, or nil.
    func content(of object: CoveredObject) -> ArraySlice<UInt8>? {
        let found = find(object)
        guard found.isThere else { return nil }
        return bytes[range(at: found.place)].dropFirst(Self.frontByteCount)
    }

    /// Returns the content of an object's entry, or nil.
    func accepted(_ object: CoveredObject) -> AcceptedObject? {
        let found = find(object)
        return found.isThere ? accepted(at: found.place) : nil
    }

    /// Returns the content of the entry at an index.
    func accepted(at place: Int) -> AcceptedObject {
        let object = try? read(place) { (reader) throws(VaultError) in
            try AcceptedObject.decode(from: &reader, kind(at: place))
        }
        guard let object else { preconditionFailure("entries were checked when they were decoded") }
        return object
    }

    /// Returns the content of a variable's entry, or nil.
    func record(_ id: Identifier) -> AcceptedRecord? {
        guard case .variable(let record) = accepted(.variable(id)) else { return nil }
        return record
    }

    /// Returns whether a variable's entry lists a version.
    ///
    /// - Parameter guess: A likely index among the variables, which have the same order.
    func accepts(_ version: StoredVersion, guess: Int? = nil) -> Bool {
        guard let place = place(ofRecord: version.variable, guess: guess) else { return false }
        return
            (try? read(place) { (reader) throws(VaultError) in
                try AcceptedRecord.accepts(&reader, version)
            }) ?? false
    }

    // MARK: Changes

    /// Returns the entries with some replaced, added, or removed (nil).
    func replacing(_ contents: [CoveredObject: [UInt8]?]) -> CheckpointEntries {
        if contents.isEmpty { return self }
        var writer = ByteWriter(
            reserving: bytes.count
                + contents.values.reduce(0) { $0 + ($1?.count ?? 0) + Self.frontByteCount })
        var next: [Int] = []
        next.reserveCapacity(starts.count + contents.count)
        var place = 0
        func keep(until end: Int, _ writer: inout ByteWriter) {
            guard place < end else { return }
            let (first, shift) = (starts[place], writer.count - starts[place])
            next += starts[place..<end].lazy.map { $0 + shift }
            let last = end < starts.count ? starts[end] : bytes.count
            writer.raw(Array(bytes[first..<last]))
            place = end
        }
        for (object, content) in contents.sorted(by: { $0.key < $1.key }) {
            let found = find(object)
            keep(until: found.place, &writer)
            if found.isThere { place += 1 }
            guard let content else { continue }
            next.append(writer.count)
            writer.byte(object.kind.rawValue)
            writer.uint32(UInt32(content.count))
            writer.raw(content)
        }
        keep(until: starts.count, &writer)
        return CheckpointEntries(bytes: writer.bytes, starts: next)
    }
}

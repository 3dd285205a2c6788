internal import Sealing

/// The entries of a checkpoint, as they stand in the file: comparing one is comparing bytes, and most
/// commands need few of thousands.
struct CheckpointEntries: Equatable, Sendable {
    /// Without their number.
    private let bytes: [UInt8]
    /// Where each entry begins.
    private let starts: [Int]
    /// The places of the entries of records.
    let records: Range<Int>

    static let limit = 1_031_000
    private static let frontByteCount = 5

    /// None.
    init() {
        self.init(bytes: [], starts: [])
    }

    /// - Parameters:
    ///   - bytes: The entries, which were checked.
    ///   - starts: Where each begins.
    private init(bytes: [UInt8], starts: [Int]) {
        (self.bytes, self.starts) = (bytes, starts)
        func first(_ precedes: (UInt8) -> Bool) -> Int {
            var (low, high) = (0, starts.count)
            while low < high {
                let middle = (low + high) / 2
                if precedes(bytes[starts[middle]]) { low = middle + 1 } else { high = middle }
            }
            return low
        }
        let kind = CoveredObject.Kind.variable.rawValue
        records = first { $0 < kind }..<first { $0 <= kind }
    }

    var count: Int { starts.count }
    /// Bytes with their number.
    var byteCount: Int { 4 + bytes.count }

    /// Lends the entries as they stand in the index, behind their number.
    func withBytes<R, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try bytes.withBytes(body)
    }

    /// Writes them behind their number, as they stand in the index and in what the code covers.
    func encode(into writer: inout ByteWriter) {
        writer.uint32(UInt32(starts.count))
        writer.raw(bytes)
    }

    // MARK: Decoding

    static func decode(from reader: inout ByteReader) throws(VaultError) -> CheckpointEntries {
        let count = try reader.count(
            limit: limit, minimumByteCount: 26, of: "checkpoint entries")
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

    /// Sees that the content of an entry is one.
    private static func check(
        _ content: inout ByteReader, _ kind: CoveredObject.Kind
    ) throws(VaultError) -> CoveredObject {
        switch kind {
        case .variable: return .variable(try AcceptedRecord.check(&content))
        case .project, .account, .directory, .journalEntry:
            let object = try AcceptedObject.decode(from: &content, kind)
            try content.expectEnd(of: "an entry of the checkpoint")
            if case .project(let project) = object, project.name.isEmpty {
                throw VaultError(damaged: .encoding, "the checkpoint has a project without a name")
            }
            return object.object
        }
    }

    // MARK: Looking up

    /// The place of an object's entry, or where it would be.
    private func find(_ object: CoveredObject) -> (place: Int, isThere: Bool) {
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            if self.object(at: middle) < object { low = middle + 1 } else { high = middle }
        }
        return (low, low < starts.count && self.object(at: low) == object)
    }

    /// The object that the entry at a place is of.
    func object(at place: Int) -> CoveredObject {
        let object = try? read(place) { (reader) throws(VaultError) in
            let kind = kind(at: place)
            switch kind {
            case .project, .variable, .journalEntry:
                return CoveredObject(kind, id: try reader.identifier())
            case .account:
                return .account(try reader.text(limit: VaultFormat.nameLimit))
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

    /// Lends a reader of the content of the entry at a place.
    func read<R>(
        _ place: Int, _ body: (inout ByteReader) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        let range = range(at: place)
        return try bytes.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(
                bytes.extracting((range.lowerBound + Self.frontByteCount)..<range.upperBound), body)
        }
    }

    /// The record that the entry at a place is of, which is an entry of a record.
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

    /// The project that the record of an entry is in.
    func project(at place: Int) -> Identifier {
        identifier(at: starts[place] + Self.frontByteCount + 16)
    }

    /// The place of a record's entry; nil where it has none.
    ///
    /// - Parameter guess: Among the records, where it may be: both are in the same order.
    func place(ofRecord id: Identifier, guess: Int? = nil) -> Int? {
        if let guess, guess < records.count, recordID(at: records.lowerBound + guess) == id {
            return records.lowerBound + guess
        }
        var (low, high) = (records.lowerBound, records.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if recordID(at: middle) < id { low = middle + 1 } else { high = middle }
        }
        return low < records.upperBound && recordID(at: low) == id ? low : nil
    }

    /// The content of an object's entry; nil where it has none.
    func content(of object: CoveredObject) -> ArraySlice<UInt8>? {
        let found = find(object)
        guard found.isThere else { return nil }
        return bytes[range(at: found.place)].dropFirst(Self.frontByteCount)
    }

    /// What an object's entry says; nil where it has none.
    func accepted(_ object: CoveredObject) -> AcceptedObject? {
        let found = find(object)
        return found.isThere ? accepted(at: found.place) : nil
    }

    /// What the entry at a place says.
    func accepted(at place: Int) -> AcceptedObject {
        let object = try? read(place) { (reader) throws(VaultError) in
            try AcceptedObject.decode(from: &reader, kind(at: place))
        }
        guard let object else { preconditionFailure("entries were checked when they were decoded") }
        return object
    }

    /// What the entry of a record says; nil where it has none.
    func record(_ id: Identifier) -> AcceptedRecord? {
        guard case .variable(let record) = accepted(.variable(id)) else { return nil }
        return record
    }

    /// Tells whether a record's entry lists a version.
    ///
    /// - Parameter guess: Where the entry may be: records and entries are in the same order.
    func accepts(_ version: StoredVersion, guess: Int? = nil) -> Bool {
        guard let place = place(ofRecord: version.variable, guess: guess) else { return false }
        return
            (try? read(place) { (reader) throws(VaultError) in
                try AcceptedRecord.accepts(&reader, version)
            }) ?? false
    }

    // MARK: Changing

    /// These entries with others in the place of some objects' own; nil takes one out.
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

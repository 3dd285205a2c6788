internal import Sealing

extension VaultIndex {
    static let projectLimit = 10_000
    static let accountLimit = 1_000
    static let formerLogKeyLimit = 1_000
    static let journalLimit = 10_000

    /// Decodes an opened index.
    ///
    /// Only the canonical encoding is valid: sorted, without duplicates or trailing bytes. Sections
    /// outside of `extent` are skipped.
    ///
    /// - Parameters:
    ///   - opened: The padded index, without its proof. Accounts refer to parts of it.
    ///   - chunksByteCount: The size of all chunks, which the versions must cover exactly.
    ///   - decoded: The result of decoding the same slice before, unmodified; its variables are
    ///     reused.
    /// - Throws: ``VaultError/Code/damaged``.
    static func decode(
        _ opened: SecretSlice, extent: Extent, chunksByteCount: UInt64,
        reusing decoded: VaultIndex? = nil
    ) throws(VaultError) -> VaultIndex {
        try opened.withBytes { (bytes) throws(VaultError) in
            try ByteReader.read(bytes) { (reader) throws(VaultError) in
                guard opened.count >= 4 else {
                    throw VaultError(damaged: .padding, "the index is too short")
                }
                let length = Int(try reader.uint32())
                guard 4 + length <= opened.count,
                    Padding.paddedByteCount(ofIndex: 4 + length) == opened.count
                else {
                    throw VaultError(
                        damaged: .padding, "the index's length does not match its padding")
                }
                var content = try reader.section(length)
                try reader.expectZeros(reader.remaining, else: .padding)
                var index = VaultIndex(extent: extent)
                try index.decodeSections(&content, opened, reusing: decoded)
                try content.expectEnd(of: "the index")
                if extent == .everything { try index.checkCoherence(chunksByteCount) }
                return index
            }
        }
    }

    private mutating func decodeSections(
        _ content: inout ByteReader, _ opened: SecretSlice, reusing decoded: VaultIndex?
    ) throws(VaultError) {
        metadata = try IndexMetadata.decode(frontOf: &content)
        projects = try content.list(
            "projects", Self.projectLimit, 38, VaultProject.decode, key: { $0.id }, <)
        variables = try content.list(
            "variables", VaultFormat.recordLimit, 93, skipping: decoded != nil, Variable.decode,
            key: { $0.id }, <)
        if let decoded { variables = decoded.variables }
        let values = extent.hasCurrentValues
        let current = try content.list(
            "current versions", VaultFormat.recordLimit, StoredVersion.minimumByteCount,
            skipping: !values, StoredVersion.decode, key: { $0.variable }, <)
        currentVersions = CurrentVersions(ascending: current)
        earlierVersions = try content.list(
            "earlier versions", .max, StoredVersion.minimumByteCount,
            skipping: extent != .everything, StoredVersion.decode,
            key: { ($0.variable, $0.version) }, <)
        batches = try content.list(
            "data keys", .max, Batch.byteCount, skipping: !values, Batch.decode, key: { $0.id }, <)
        var heads = content
        let entries = try content.list(
            "journal entries", Self.journalLimit, 29, skipping: extent != .everything,
            { (reader) throws(VaultError) in try AnyJournalEntry.decode(from: &reader, in: opened)
            },
            key: { $0.id }, <)
        if extent != .everything { journal = try heads.sharedProjects() }
        for entry in entries {
            switch entry {
            case .open(let entry): journal.append(entry)
            case .secret(let entry): secretJournal.append(entry)
            }
        }
        accounts = try content.list(
            "accounts", Self.accountLimit, 40,
            { (reader) throws(VaultError) in try Account.decode(from: &reader, in: opened) },
            key: { $0.name }, bytesPrecede)
        formerLogKeys = try content.list(
            "log keys", Self.formerLogKeyLimit, 32,
            { (reader) throws(VaultError) in
                let start = reader.offset
                _ = try reader.section(32)
                return opened.part(start..<start + 32)
            }, key: { _ in 0 }, { _, _ in true })
    }
}

extension IndexMetadata {
    /// Decodes what precedes all other sections.
    ///
    /// - Throws: ``VaultError/Code/newerFormat`` for a vault that shares projects with other
    ///   people.
    static func decode(frontOf content: inout ByteReader) throws(VaultError) -> IndexMetadata {
        guard try !content.flag() else {
            throw VaultError(
                .newerFormat,
                "the vault shares projects with a group, which requires a newer version of zg-env")
        }
        var section = try content.section(Int(try content.uint32()))
        let metadata = try decode(from: &section)
        try section.expectEnd(of: "the metadata")
        return metadata
    }
}

extension StoredVersion {
    /// Returns whether this version comes first in the index: by variable, then version.
    func precedes(_ other: StoredVersion) -> Bool {
        variable == other.variable ? version < other.version : variable < other.variable
    }
}

extension ByteReader {
    /// Reads only the entries of shared projects from the journal's section.
    fileprivate mutating func sharedProjects() throws(VaultError) -> [JournalEntry] {
        var section = try section(Int(try uint32()))
        let count = try section.count(
            limit: VaultIndex.journalLimit, minimumByteCount: 29, of: "journal entries")
        var found: [JournalEntry] = []
        for _ in 0..<count {
            var ahead = section
            _ = try ahead.identifier()
            let kind = try ahead.byte()
            if kind == GroupEntryKind.sharedProject.rawValue {
                found.append(try JournalEntry.decode(from: &section))
                continue
            }
            _ = try ahead.uint64()
            _ = try ahead.section(Int(try ahead.uint32()))
            section = ahead
        }
        return found
    }

    /// Reads a section: u32 length, u32 number of items, the items in strictly ascending order.
    ///
    /// - Parameters:
    ///   - skipping: Skips the section and returns no items.
    ///   - key: The sort key.
    fileprivate mutating func list<T, Key>(
        _ what: StaticString, _ limit: Int, _ minimumByteCount: Int, skipping: Bool = false,
        _ decode: (inout ByteReader) throws(VaultError) -> T, key: (T) -> Key,
        _ precedes: (Key, Key) -> Bool
    ) throws(VaultError) -> [T] {
        var section = try section(Int(try uint32()))
        if skipping { return [] }
        let items = try section.ascending(
            what, limit: limit, minimumByteCount: minimumByteCount, decode, by: key, precedes,
            else: "the \(what) are not in order")
        try section.expectEnd(of: what)
        return items
    }
}

internal import Sealing

extension VaultIndex {
    static let projectLimit = 10_000
    static let sectionLimit = 20_000
    static let accountLimit = 1_000
    static let formerLogKeyLimit = 1_000
    static let journalLimit = 10_000

    /// Decodes an opened table, and checks it. No section is opened yet.
    ///
    /// Only the canonical encoding is valid: sorted, without duplicates or trailing bytes.
    ///
    /// - Parameters:
    ///   - table: Padded, without its proof. Accounts refer to parts of it.
    ///   - extent: What will be decoded of sections.
    ///   - blocksByteCount: The size of all blocks, which the sections must cover exactly.
    /// - Throws: ``VaultError/Code/damaged``; ``VaultError/Code/newerFormat`` for a vault that shares
    ///   projects with other people.
    static func decode(
        table: SecretSlice, extent: Extent, blocksByteCount: UInt64
    ) throws(VaultError) -> VaultIndex {
        try table.withBytes { (bytes) throws(VaultError) in
            try ByteReader.readPadded(bytes, of: "the table") { (reader) throws(VaultError) in
                var index = VaultIndex(extent: extent)
                try index.decode(&reader, in: table)
                try index.checkTable(blocksByteCount)
                return index
            }
        }
    }

    private mutating func decode(
        _ content: inout ByteReader, in table: SecretSlice
    ) throws(VaultError) {
        metadata = try IndexMetadata.decode(frontOf: &content)
        projects = try content.list(
            "projects", Self.projectLimit, VaultProject.minimumByteCount, VaultProject.decode,
            key: { $0.id }, <)
        sections = try content.list(
            "sections", Self.sectionLimit, SectionExtent.byteCount, SectionExtent.decode,
            key: { $0.id }, <)
        let entries = try content.list(
            "journal entries", Self.journalLimit, JournalEntry.minimumByteCount,
            { (reader) throws(VaultError) in
                let entry = try AnyJournalEntry.decode(from: &reader, in: table)
                // A command that needs no entry works whatever they hold.
                if extent == .everything { try entry.checkPayload() }
                return entry
            }, key: { $0.id }, <)
        for entry in entries {
            switch entry {
            case .open(let entry): journal.append(entry)
            case .secret(let entry): secretJournal.append(entry)
            }
        }
        accounts = try content.list(
            "accounts", Self.accountLimit, 40,
            { (reader) throws(VaultError) in try Account.decode(from: &reader, in: table) },
            key: { $0.name }, bytesPrecede)
        formerLogKeys = try content.list(
            "log keys", Self.formerLogKeyLimit, 32,
            { (reader) throws(VaultError) in
                let start = reader.offset
                _ = try reader.section(32)
                return table.part(start..<start + 32)
            }, key: { _ in 0 }, { _, _ in true })
    }

    /// Checks the parts of the table against each other and against the file, and places the
    /// sections in it.
    private mutating func checkTable(_ blocksByteCount: UInt64) throws(VaultError) {
        guard Set(projects.map(\.name)).count == projects.count else {
            throw VaultError(damaged: .layout, "two projects have the same name")
        }
        if extent == .everything {
            for entry in journal { try entry.checkPlace() }
            _ = try relays()
        }
        try sections.place(in: blocksByteCount)
    }

    /// Checks what no section can check alone: that ids are not used twice. Two sections suffice for
    /// that to be possible.
    func checkSections() throws(VaultError) {
        guard openedSections.count > 1 || !openedSections.isEmpty && !journal.isEmpty else {
            return
        }
        var (variables, keys, entries): (Set<Identifier>, Set<Identifier>, Set<Identifier>)
        (variables, keys, entries) = ([], [], [])
        variables.reserveCapacity(self.variables.count)
        for place in self.variables.indices { variables.insert(self.variables[place].id) }
        for place in batches.indices { keys.insert(batches[place].id) }
        for entry in allJournalEntries { entries.insert(entry.id) }
        guard variables.count == self.variables.count, keys.count == batches.count,
            entries.count == journal.count + secretJournal.count
        else { throw VaultError(damaged: .layout, "two sections have the same entry") }
    }
}

extension IndexMetadata {
    /// Decodes what precedes all other parts of the table.
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
    /// Returns whether this version comes first in its section: by variable, then version.
    func precedes(_ other: StoredVersion) -> Bool {
        variable == other.variable ? version < other.version : variable < other.variable
    }
}

extension ByteReader {
    /// Passes the content of a padded table or section to `body`, which must read all of it.
    static func readPadded<R>(
        _ padded: RawSpan, of what: StaticString,
        _ body: (inout ByteReader) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        try read(padded) { (reader) throws(VaultError) in
            guard padded.byteCount >= 4 else {
                throw VaultError(damaged: .padding, "\(what) of the index is too short")
            }
            let length = Int(try reader.uint32())
            guard 4 + length <= padded.byteCount,
                Padding.paddedByteCount(ofIndex: 4 + length) == padded.byteCount
            else {
                throw VaultError(
                    damaged: .padding,
                    "the length of \(what) of the index does not match its padding")
            }
            var content = try reader.section(length)
            try reader.expectZeros(reader.remaining, else: .padding)
            let result = try body(&content)
            try content.expectEnd(of: what)
            return result
        }
    }

    /// Skips a part of the index.
    mutating func skipPart() throws(VaultError) {
        _ = try section(Int(try uint32()))
    }

    /// Reads a part of the index: u32 length, u32 number of items, the items in strictly ascending
    /// order.
    ///
    /// - Parameters:
    ///   - skipping: Skips the part and returns no items.
    ///   - key: The sort key.
    mutating func list<T, Key>(
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

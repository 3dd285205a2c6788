internal import Sealing

extension VaultIndex {
    static let projectLimit = 10_000
    static let accountLimit = 1_000
    static let formerLogKeyLimit = 1_000

    /// Decodes an opened index.
    ///
    /// Only one encoding of an index is valid: everything is in order, there are no doubles, and
    /// nothing is left over. Sections that `extent` leaves out are skipped unread.
    ///
    /// - Parameters:
    ///   - opened: The padded index. Accounts stay parts of it.
    ///   - chunksByteCount: Bytes of all chunks together, which the versions must cover exactly.
    /// - Throws: ``VaultError/Code/damaged``.
    static func decode(
        _ opened: SecretSlice, extent: Extent, chunksByteCount: UInt64
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
                        damaged: .padding, "the index's length contradicts its padding")
                }
                var content = try reader.section(length)
                try reader.expectZeros(reader.remaining, else: .padding)
                var index = VaultIndex(extent: extent)
                try index.decodeSections(&content, opened)
                try content.expectEnd(of: "the index")
                if extent == .everything { try index.checkCoherence(chunksByteCount) }
                return index
            }
        }
    }

    private mutating func decodeSections(
        _ content: inout ByteReader, _ opened: SecretSlice
    ) throws(VaultError) {
        var section = try content.section(Int(try content.uint32()))
        metadata = try IndexMetadata.decode(from: &section)
        try section.expectEnd(of: "the metadata")
        projects = try content.list(
            "projects", Self.projectLimit, 38, VaultProject.decode, { $0.id < $1.id })
        variables = try content.list(
            "variables", VaultFormat.recordLimit, 93, Variable.decode, { $0.id < $1.id })
        let values = extent.hasCurrentValues
        let current = try content.list(
            "current versions", VaultFormat.recordLimit, StoredVersion.minimumByteCount,
            skipping: !values, StoredVersion.decode, { $0.variable < $1.variable })
        currentVersions = Dictionary(uniqueKeysWithValues: current.map { ($0.variable, $0) })
        earlierVersions = try content.list(
            "earlier versions", .max, StoredVersion.minimumByteCount,
            skipping: extent != .everything, StoredVersion.decode, { $0.precedes($1) })
        batches = try content.list(
            "data keys", .max, 89, skipping: !values, Batch.decode, { $0.id < $1.id })
        journal = try content.list(
            "journal entries", 10_000, 29, skipping: extent != .everything, JournalEntry.decode,
            { $0.id < $1.id })
        accounts = try content.list(
            "accounts", Self.accountLimit, 40,
            { (reader) throws(VaultError) in try Account.decode(from: &reader, in: opened) },
            { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
        formerLogKeys = try content.list(
            "log keys", Self.formerLogKeyLimit, 32,
            { (reader) throws(VaultError) in
                let start = reader.offset
                _ = try reader.section(32)
                return opened.part(start..<start + 32)
            }, { _, _ in true })
        section = try content.section(Int(try content.uint32()))
        guard extent.hasCheckpoint else { return }
        if try section.flag() { checkpoint = try Checkpoint.decode(from: &section) }
        try section.expectEnd(of: "the checkpoint")
    }

    /// Holds the sections against each other.
    private func checkCoherence(_ chunksByteCount: UInt64) throws(VaultError) {
        let projectIDs = Set(projects.map(\.id))
        guard Set(projects.map(\.name)).count == projects.count,
            variables.allSatisfy({ projectIDs.contains($0.project) })
        else {
            throw VaultError(
                damaged: .layout, "a variable belongs to no project, or two have one name")
        }
        var held = 0
        for variable in variables where variable.currentVersion > 0 {
            guard currentVersions[variable.id]?.version == variable.currentVersion else {
                throw VaultError(
                    damaged: .layout, "the value of \(variable.name) is not in the vault")
            }
            held += 1
        }
        guard held == currentVersions.count else {
            throw VaultError(damaged: .layout, "a value belongs to no variable")
        }
        let byID = Dictionary(uniqueKeysWithValues: variables.map { ($0.id, $0) })
        var perVariable: [Identifier: Int] = [:]
        for version in earlierVersions {
            guard let variable = byID[version.variable], version.version != variable.currentVersion,
                version.version > 0, version.version <= variable.highestVersion
            else { throw VaultError(damaged: .layout, "an earlier value belongs to no variable") }
            perVariable[version.variable, default: 0] += 1
        }
        guard perVariable.values.allSatisfy({ $0 <= VaultFormat.versionLimit }) else {
            throw VaultError(damaged: .layout, "a variable has too many versions")
        }
        let batchIDs = Set(batches.map(\.id))
        let all = (Array(currentVersions.values) + earlierVersions).sorted { $0.offset < $1.offset }
        var end: UInt64 = 0
        for version in all {
            guard version.offset == end, version.length > 0, batchIDs.contains(version.batch) else {
                throw VaultError(
                    damaged: .layout, "the values overlap, leave gaps or have no data key")
            }
            end += UInt64(version.length)
        }
        guard end == chunksByteCount else {
            throw VaultError(damaged: .layout, "the values do not end where the file ends")
        }
    }
}

extension StoredVersion {
    /// The order of the index: by variable, then version.
    func precedes(_ other: StoredVersion) -> Bool {
        variable == other.variable ? version < other.version : variable < other.variable
    }
}

extension ByteReader {
    /// Reads a section: u32 length, u32 number of items, the items in strictly ascending order.
    ///
    /// - Parameter skipping: Passes over the section and returns no items.
    fileprivate mutating func list<T>(
        _ what: StaticString, _ limit: Int, _ minimumByteCount: Int, skipping: Bool = false,
        _ decode: (inout ByteReader) throws(VaultError) -> T, _ precedes: (T, T) -> Bool
    ) throws(VaultError) -> [T] {
        var section = try section(Int(try uint32()))
        if skipping { return [] }
        let count = try section.count(limit: limit, minimumByteCount: minimumByteCount, of: what)
        var items: [T] = []
        items.reserveCapacity(count)
        for _ in 0..<count {
            let item = try decode(&section)
            if let last = items.last, !precedes(last, item) {
                throw VaultError(damaged: .order, "the \(what) are not in order")
            }
            items.append(item)
        }
        try section.expectEnd(of: what)
        return items
    }
}

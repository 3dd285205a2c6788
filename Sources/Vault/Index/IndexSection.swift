internal import Sealing

/// What one section of the index holds.
struct IndexSection {
    /// Ascending by id. All belong to the section's project.
    var variables: [Variable] = []
    /// Ascending by variable. Empty for ``VaultIndex/Extent/listing``.
    var currentVersions: [StoredVersion] = []
    /// Ascending by variable, then number. Empty unless everything was decoded.
    var earlierVersions: [StoredVersion] = []
    /// Ascending by id.
    var batches: [Batch] = []
    /// Those that are not the state of a variable; nil if none were decoded.
    var otherAgreements: [Agreement]?
    /// Ascending by id.
    var journal: [JournalEntry] = []

    /// What need not be decoded a second time.
    struct Decoded {
        let variables: [Variable]
        /// Nil if no agreements were decoded.
        let otherAgreements: [Agreement]?
    }

    var decoded: Decoded { Decoded(variables: variables, otherAgreements: otherAgreements) }

    /// Decodes an opened section.
    ///
    /// - Parameters:
    ///   - content: Padded.
    ///   - known: The variables of the same content, decoded before, and the other agreements if
    ///     these were.
    /// - Throws: ``VaultError/Code/damaged``.
    static func decode(
        _ content: RawSpan, of place: SectionExtent, extent: VaultIndex.Extent,
        reusing known: Decoded? = nil
    ) throws(VaultError) -> IndexSection {
        try ByteReader.readPadded(content, of: "a section") { (reader) throws(VaultError) in
            var section = IndexSection()
            try section.decode(&reader, place, extent, known)
            return section
        }
    }

    private mutating func decode(
        _ reader: inout ByteReader, _ place: SectionExtent, _ extent: VaultIndex.Extent,
        _ known: Decoded?
    ) throws(VaultError) {
        variables = try reader.list(
            "variables", VaultFormat.recordLimit, Variable.minimumByteCount,
            skipping: known != nil,
            { (reader) throws(VaultError) in
                try Variable.decode(from: &reader, project: place.id)
            }, key: { $0.id }, <)
        if let known { variables = known.variables }
        let version = { (reader: inout ByteReader) throws(VaultError) in
            try StoredVersion.decode(from: &reader, in: place)
        }
        currentVersions = try reader.list(
            "current versions", VaultFormat.recordLimit, StoredVersion.minimumByteCount,
            skipping: !extent.hasCurrentValues, version, key: { $0.variable }, <)
        earlierVersions = try reader.list(
            "earlier versions", .max, StoredVersion.minimumByteCount,
            skipping: extent != .everything, version, key: { ($0.variable, $0.version) }, <)
        batches = try reader.list(
            "data keys", .max, Batch.byteCount, skipping: !extent.hasCurrentValues, Batch.decode,
            key: { $0.id }, <)
        otherAgreements = known?.otherAgreements
        if extent.hasAgreements, otherAgreements == nil {
            otherAgreements = try reader.agreements(into: &variables)
        } else {
            try reader.skipPart()
        }
        journal = try reader.list(
            "journal entries", VaultIndex.journalLimit, JournalEntry.minimumByteCount,
            { (reader) throws(VaultError) in
                let entry = try JournalEntry.decode(from: &reader, in: place.id)
                if extent == .everything { try entry.checkPayload() }
                return entry
            }, key: { $0.id }, <)
    }

    /// Checks the parts of a section that was decoded completely against each other. They are
    /// sorted, so two can be walked in parallel, and nothing large has to be copied or hashed.
    ///
    /// - Parameter isProject: Whether the vault has a project with the section's id.
    func check(in place: SectionExtent, isProject: Bool) throws(VaultError) {
        let hasOtherAgreements = otherAgreements?.isEmpty == false
        guard !variables.isEmpty || hasOtherAgreements || !journal.isEmpty else {
            throw VaultError(damaged: .layout, "a section is empty")
        }
        guard isProject || variables.isEmpty && batches.isEmpty && !hasOtherAgreements else {
            throw VaultError(damaged: .layout, "a variable belongs to no project")
        }
        for entry in journal { try entry.checkPlace() }
        try checkCurrentVersions()
        try checkEarlierVersions()
        try checkChunks(place)
    }

    private func checkCurrentVersions() throws(VaultError) {
        var next = currentVersions.startIndex
        for place in variables.indices where variables[place].currentVersion > 0 {
            guard next < currentVersions.endIndex,
                currentVersions[next].variable == variables[place].id,
                currentVersions[next].version == variables[place].currentVersion
            else {
                throw VaultError(
                    damaged: .layout,
                    "the value of \(variables[place].name) is not in the vault")
            }
            next += 1
        }
        guard next == currentVersions.endIndex else {
            throw VaultError(damaged: .layout, "a value belongs to no variable")
        }
    }

    private func checkEarlierVersions() throws(VaultError) {
        var (variable, number) = (variables.startIndex, 0)
        for place in earlierVersions.indices {
            let (id, version) = (earlierVersions[place].variable, earlierVersions[place].version)
            let isNext = place == 0 || earlierVersions[place - 1].variable != id
            number = isNext ? 1 : number + 1
            while variable < variables.endIndex, variables[variable].id < id { variable += 1 }
            guard variable < variables.endIndex, variables[variable].id == id,
                version != variables[variable].currentVersion, version > 0,
                version <= variables[variable].highestVersion
            else { throw VaultError(damaged: .layout, "an earlier value belongs to no variable") }
            guard number <= VaultFormat.versionLimit else {
                throw VaultError(damaged: .layout, "a variable has too many versions")
            }
        }
    }

    private func checkChunks(_ place: SectionExtent) throws(VaultError) {
        guard usedBatches.isSubset(of: batches.map(\.id)) else {
            throw VaultError(damaged: .layout, "a value has no data key")
        }
        var chunks: [Range<UInt64>] = []
        chunks.reserveCapacity(currentVersions.count + earlierVersions.count)
        for position in currentVersions.indices { chunks.append(currentVersions[position].chunk) }
        for position in earlierVersions.indices { chunks.append(earlierVersions[position].chunk) }
        chunks.sort { $0.lowerBound < $1.lowerBound }
        var end = place.chunksOffset
        for chunk in chunks {
            guard chunk.lowerBound == end, !chunk.isEmpty else {
                throw VaultError(damaged: .layout, "the values overlap or leave gaps")
            }
            end = chunk.upperBound
        }
        guard end == place.end else {
            throw VaultError(damaged: .layout, "the values do not end where their section ends")
        }
    }

    private var usedBatches: Set<Identifier> {
        var used = UsedBatches()
        for place in currentVersions.indices { used.insert(currentVersions[place].batch) }
        for place in earlierVersions.indices { used.insert(earlierVersions[place].batch) }
        return used.identifiers
    }
}

/// The batches that versions need.
struct UsedBatches {
    private(set) var identifiers: Set<Identifier> = []
    private var last: Identifier?

    mutating func insert(_ batch: Identifier) {
        // Many values of one write follow each other.
        if batch != last { identifiers.insert(batch) }
        last = batch
    }
}

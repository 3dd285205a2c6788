internal import Sealing

extension VaultIndex {
    /// Returns the canonical encoding of the table, padded, in secret memory because it contains
    /// tokens. It has room for the proof.
    ///
    /// u32 content length, the group flag, then the parts, each preceded by its u32 length:
    /// metadata, projects, sections, journal, accounts, former log keys; then zeros to a multiple of
    /// 4 KiB.
    ///
    /// - Throws: ``VaultError/Code/tooLarge`` beyond the limits of the format.
    func encodedTable() throws(VaultError) -> SecretBuffer {
        precondition(extent == .everything)
        try checkLimits()
        var front = ByteWriter(reserving: 4_096)
        front.flag(false)
        front.section { metadata.encode(into: &$0) }
        front.list(projects.sorted { $0.id < $1.id }) { $0.encode(into: &$1) }
        front.list(sections) { $0.encode(into: &$1) }
        let secrets = try encodedSecrets()
        let content = front.count + secrets.count
        let padded = Padding.paddedByteCount(ofIndex: 4 + content)
        guard padded <= VaultFormat.indexLimit else {
            throw VaultError(.tooLarge, "the vault's index would be larger than 256 MiB")
        }
        let padding = [UInt8](repeating: 0, count: padded - 4 - content)
        return try guarding { () throws(SealingError) in
            var all = try SecretBuffer(capacity: padded + IndexProof.byteCount)
            try all.append(uint32: content)
            try front.withBytes { (part) throws(SealingError) in try all.append(part) }
            try all.append(secrets)
            try all.append(padding)
            return all
        }
    }

    /// Appends the table's part of the journal, in which secret entries are among the others.
    private func append(journalTo parts: inout SecretBuffer) throws(SealingError) {
        let entries =
            journal.filter { $0.section == nil }.map(AnyJournalEntry.open)
            + secretJournal.map(AnyJournalEntry.secret)
        var body = try SecretBuffer()
        try body.append(uint32: entries.count)
        for entry in entries.sorted(by: { $0.id < $1.id }) {
            var front = ByteWriter()
            switch entry {
            case .open(let entry):
                entry.encode(into: &front)
                try front.withBytes { (part) throws(SealingError) in try body.append(part) }
            case .secret(let entry):
                entry.encodeFront(into: &front)
                try front.withBytes { (part) throws(SealingError) in try body.append(part) }
                try body.append(entry.payload)
            }
        }
        try parts.append(uint32: body.count)
        try parts.append(body)
    }

    /// Returns the parts with secrets: journal, accounts and former log keys.
    private func encodedSecrets() throws(VaultError) -> SecretBuffer {
        let sorted = accounts.sorted { bytesPrecede($0.name, $1.name) }
        return try guarding { () throws(SealingError) in
            var body = try SecretBuffer()
            try body.append(uint32: sorted.count)
            for account in sorted {
                var front = ByteWriter()
                account.encodeFront(into: &front)
                try front.withBytes { (part) throws(SealingError) in try body.append(part) }
                try body.append(account.secret)
            }
            var parts = try SecretBuffer(capacity: body.count + 4_096)
            try append(journalTo: &parts)
            try parts.append(uint32: body.count)
            try parts.append(body)
            try parts.append(uint32: 4 + formerLogKeys.count * 32)
            try parts.append(uint32: formerLogKeys.count)
            for key in formerLogKeys { try parts.append(key) }
            return parts
        }
    }

    private func checkLimits() throws(VaultError) {
        guard projects.count <= VaultIndex.projectLimit, accounts.count <= VaultIndex.accountLimit
        else {
            throw VaultError(
                .tooLarge, "a vault can hold at most 10,000 projects and 1,000 accounts")
        }
        guard sections.count <= VaultIndex.sectionLimit else {
            throw VaultError(.tooLarge, "a vault can hold at most 20,000 sections")
        }
        guard
            journal.count(where: { $0.section == nil }) + secretJournal.count
                <= VaultIndex.journalLimit
        else { throw SectionContent.tooManyEntries }
    }
}

/// What one section is to hold, as places in an index.
struct SectionContent {
    /// Whose agreements it has; nil for a section without.
    private var project: Identifier?
    private(set) var variables: [Int] = []
    /// The first ones are current.
    private(set) var versions: [Version] = []
    private(set) var currentCount = 0
    private(set) var journal: [Int] = []

    /// A version and where its chunk will be, relative to the section's chunks.
    struct Version {
        let isCurrent: Bool
        /// In the index's current or earlier versions.
        let place: Int
        var offset: UInt64 = 0
    }

    /// Returns the contents of all sections that were opened or are new.
    static func all(of index: VaultIndex) throws(VaultError) -> [Identifier: SectionContent] {
        var (contents, numbers): ([SectionContent], [Identifier: Int]) = ([], [:])
        func number(_ section: Identifier) -> Int {
            if let known = numbers[section] { return known }
            numbers[section] = contents.count
            contents.append(SectionContent())
            return contents.count - 1
        }
        var (last, current): (Identifier?, Int) = (nil, 0)
        for place in index.variables.indices {
            let project = index.variables[place].project
            if project != last { (last, current) = (project, number(project)) }
            contents[current].variables.append(place)
        }
        // Most vaults that a command opens have one section, and then no version has to be looked up.
        var owners: [Identifier: Int] = [:]
        if contents.count > 1 {
            owners.reserveCapacity(index.variables.count)
            for number in contents.indices {
                for place in contents[number].variables {
                    owners[index.variables[place].id] = number
                }
            }
        }
        func owner(_ variable: Identifier) -> Int {
            contents.count == 1 ? 0 : owners[variable] ?? 0
        }
        let (values, earlier) = (index.currentVersions.values, index.earlierVersions)
        guard !contents.isEmpty || values.isEmpty && earlier.isEmpty else {
            throw VaultError(.tooLarge, "a value belongs to no variable")
        }
        for place in values.indices {
            contents[owner(values[place].variable)].versions.append(
                Version(isCurrent: true, place: place))
        }
        for number in contents.indices {
            contents[number].currentCount = contents[number].versions.count
        }
        for place in earlier.indices {
            contents[owner(earlier[place].variable)].versions.append(
                Version(isCurrent: false, place: place))
        }
        for place in index.journal.indices {
            guard let section = index.journal[place].section else { continue }
            contents[number(section)].journal.append(place)
        }
        for id in index.otherAgreements.keys where index.project(id) != nil { _ = number(id) }
        for (id, number) in numbers {
            // Agreements end with their project.
            if contents[number].variables.isEmpty, index.project(id) == nil { continue }
            contents[number].project = id
        }
        return numbers.mapValues { contents[$0] }
    }

    /// Arranges the chunks without gaps, in their order.
    ///
    /// - Returns: Where they are now, relative to the first block of the old file; beyond its blocks
    ///   are the new ones.
    mutating func pack(_ index: VaultIndex) -> [Range<UInt64>] {
        let (current, earlier) = (index.currentVersions.values, index.earlierVersions)
        var chunks: [(chunk: Range<UInt64>, number: Int)] = []
        chunks.reserveCapacity(versions.count)
        for number in versions.indices {
            let place = versions[number].place
            chunks.append(
                (versions[number].isCurrent ? current[place].chunk : earlier[place].chunk, number))
        }
        chunks.sort { $0.chunk.lowerBound < $1.chunk.lowerBound }
        var (ranges, end): ([Range<UInt64>], UInt64) = ([], 0)
        for (chunk, number) in chunks {
            versions[number].offset = end
            end += chunk.upperBound - chunk.lowerBound
            if let last = ranges.last, last.upperBound == chunk.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound..<chunk.upperBound
            } else {
                ranges.append(chunk)
            }
        }
        return ranges
    }

    /// Returns the canonical encoding, padded: u32 content length, then the parts, each preceded by
    /// its u32 length: variables, current versions, earlier versions, batches, agreements, journal;
    /// then zeros to a multiple of 4 KiB.
    ///
    /// - Parameter batches: Their places in the index, by id.
    /// - Throws: ``VaultError/Code/tooLarge`` beyond the limits of the format.
    func encoded(
        _ index: VaultIndex, batches: [Identifier: Int]
    ) throws(VaultError) -> ByteWriter {
        guard journal.count <= VaultIndex.journalLimit else { throw Self.tooManyEntries }
        guard variables.count <= VaultFormat.recordLimit else {
            throw VaultError(.tooLarge, "a project can hold at most 1,000,000 variables")
        }
        let agreements = project.map { index.agreements(of: $0, variables: self.variables) } ?? []
        guard agreements.count <= VaultFormat.recordLimit else {
            throw VaultError(.tooLarge, "a project can hold at most 1,000,000 agreements")
        }
        let variables = Self.ordered(variables.map { (index.variables[$0].id, $0) })
        let (current, earlier) = (index.currentVersions.values, index.earlierVersions)
        // There is at most one current version per variable.
        let currentOrder = Self.ordered(
            versions[..<currentCount].map { (current[$0.place].variable, $0) })
        let earlierOrder = versions[currentCount...].sorted {
            earlier[$0.place].precedes(earlier[$1.place])
        }
        var used = UsedBatches()
        for version in currentOrder { used.insert(current[version.place].batch) }
        for version in earlierOrder { used.insert(earlier[version.place].batch) }
        var writer = ByteWriter(reserving: 256 * (variables.count + versions.count) + 4_096)
        writer.uint32(0)
        writer.list(variables) { index.variables[$0].encode(into: &$1) }
        writer.list(currentOrder) { current[$0.place].encode(into: &$1, at: $0.offset) }
        writer.list(earlierOrder) { earlier[$0.place].encode(into: &$1, at: $0.offset) }
        let keys = used.identifiers.compactMap { batches[$0] }.map { index.batches[$0] }
        writer.list(keys.sorted { $0.id < $1.id }) { $0.encode(into: &$1) }
        writer.list(agreements) { $0.encode(into: &$1) }
        writer.list(journal.map { index.journal[$0] }.sorted { $0.id < $1.id }) {
            $0.encode(into: &$1)
        }
        let padded = Padding.paddedByteCount(ofIndex: writer.count)
        guard padded <= VaultFormat.indexLimit - SectionExtent.addedByteCount else {
            throw VaultError(.tooLarge, "the index of a project would be larger than 256 MiB")
        }
        writer.setLength(writer.count - 4, at: 0)
        writer.raw([UInt8](repeating: 0, count: padded - writer.count))
        return writer
    }

    static var tooManyEntries: VaultError {
        VaultError(.tooLarge, "a section of the journal can hold at most 10,000 entries")
    }

    /// Returns the places in the order of their identifiers.
    private static func ordered<Place>(_ places: [(id: Identifier, place: Place)]) -> [Place] {
        let isOrdered = places.indices.dropFirst().allSatisfy {
            places[$0 - 1].id < places[$0].id
        }
        if isOrdered { return places.map(\.place) }
        return places.sorted { $0.id < $1.id }.map(\.place)
    }
}

extension ByteWriter {
    /// Writes a part of the index: u32 number of items, then the items.
    fileprivate mutating func list<T>(_ items: [T], _ encode: (T, inout ByteWriter) -> Void) {
        section { writer in
            writer.uint32(UInt32(items.count))
            for item in items { encode(item, &writer) }
        }
    }
}

extension SecretBuffer {
    fileprivate mutating func append(uint32 value: Int) throws(SealingError) {
        var writer = ByteWriter()
        writer.uint32(UInt32(value))
        try writer.withBytes { (part) throws(SealingError) in try append(part) }
    }
}

internal import Sealing

extension VaultIndex {
    /// Returns the canonical encoding, padded, in secret memory because it contains tokens. It has
    /// room for the proof.
    ///
    /// u32 content length, the group flag, then the sections, each preceded by its u32 length:
    /// metadata, projects, variables, current versions, earlier versions, batches, journal,
    /// accounts, former log keys; then zeros to a multiple of 4 KiB.
    ///
    /// - Throws: ``VaultError/Code/tooLarge`` beyond the limits of the format.
    func encoded() throws(VaultError) -> SecretBuffer {
        precondition(extent == .everything)
        try checkLimits()
        let front = encodedFront()
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

    private func encodedFront() -> ByteWriter {
        var front = ByteWriter(reserving: 256 * variables.count + 4096)
        front.flag(false)
        front.section { metadata.encode(into: &$0) }
        // Sorts indices, because moving records and versions is expensive.
        front.list(Self.ordered(projects.indices.map { (projects[$0].id, $0) })) {
            projects[$0].encode(into: &$1)
        }
        front.list(Self.ordered(variables.indices.map { (variables[$0].id, $0) })) {
            variables[$0].encode(into: &$1)
        }
        // There is at most one current version per variable.
        let current = currentVersions.values
        front.list(Self.ordered(current.indices.map { (current[$0].variable, $0) })) {
            current[$0].encode(into: &$1)
        }
        let earlier = earlierVersions.indices.sorted {
            earlierVersions[$0].precedes(earlierVersions[$1])
        }
        front.list(earlier) { earlierVersions[$0].encode(into: &$1) }
        front.list(batches.sorted { $0.id < $1.id }) { $0.encode(into: &$1) }
        return front
    }

    /// Returns the places in the order of their identifiers.
    private static func ordered<Place>(_ places: [(id: Identifier, place: Place)]) -> [Place] {
        let isOrdered = places.indices.dropFirst().allSatisfy {
            places[$0 - 1].id < places[$0].id
        }
        if isOrdered { return places.map(\.place) }
        return places.sorted { $0.id < $1.id }.map(\.place)
    }

    /// Appends the journal's section, in which secret entries are among the others.
    private func append(journalTo sections: inout SecretBuffer) throws(SealingError) {
        let entries = allJournalEntries.sorted { $0.id < $1.id }
        var body = try SecretBuffer()
        try body.append(uint32: entries.count)
        for entry in entries {
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
        try sections.append(uint32: body.count)
        try sections.append(body)
    }

    /// Returns the sections with secrets: journal, accounts and former log keys.
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
            var sections = try SecretBuffer(capacity: body.count + 4_096)
            try append(journalTo: &sections)
            try sections.append(uint32: body.count)
            try sections.append(body)
            try sections.append(uint32: 4 + formerLogKeys.count * 32)
            try sections.append(uint32: formerLogKeys.count)
            for key in formerLogKeys { try sections.append(key) }
            return sections
        }
    }

    private func checkLimits() throws(VaultError) {
        guard variables.count <= VaultFormat.recordLimit else {
            throw VaultError(.tooLarge, "a vault can hold at most 1,000,000 variables")
        }
        guard projects.count <= VaultIndex.projectLimit, accounts.count <= VaultIndex.accountLimit
        else {
            throw VaultError(
                .tooLarge, "a vault can hold at most 10,000 projects and 1,000 accounts")
        }
        guard journal.count + secretJournal.count <= VaultIndex.journalLimit else {
            throw VaultError(.tooLarge, "a vault's journal can hold at most 10,000 entries")
        }
        var counts: [Identifier: Int] = [:]
        if earlierVersions.count > VaultFormat.versionLimit {
            for place in earlierVersions.indices {
                counts[earlierVersions[place].variable, default: 0] += 1
            }
        }
        guard counts.values.max() ?? 0 <= VaultFormat.versionLimit else {
            throw VaultError(.tooLarge, "a variable has more than 10,000 earlier versions")
        }
        for place in variables.indices {
            guard variables[place].name.utf8.count <= VaultFormat.nameLimit else {
                throw VaultError(.tooLarge, "a name is longer than 1 KiB")
            }
            let comment = variables[place].attributes.comment
            guard (comment?.utf8.count ?? 0) <= VaultFormat.commentLimit else {
                throw VaultError(
                    .tooLarge, "the comment of \(variables[place].name) is longer than 4 KiB")
            }
        }
    }
}

extension ByteWriter {
    /// Writes a section: u32 number of items, then the items.
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

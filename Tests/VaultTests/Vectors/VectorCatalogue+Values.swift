@testable import Vault

/// Errors among the parts of a section, with data keys, and with sealed values.
extension VectorCatalogue {
    private static let record = VectorVault.records[0]

    /// Two records of equal length in one batch, and an earlier version.
    private static func three() throws -> VectorVault {
        var vault = try VectorVault.small()
        let batch = vault.index.batches[0].id
        vault.addRecord("OTHER", VectorVault.records[1])
        try vault.store(Array("the other".utf8), in: VectorVault.records[1], batch: batch)
        try vault.store(
            Array("before".utf8), in: record, batch: batch, .init(version: 2, isCurrent: false))
        return vault
    }

    mutating func addLayouts() throws {
        let three = try Self.three()
        let record = Self.record
        let rows: [(String, String, (inout VectorVault) throws -> Void)] = [
            (
                "project-missing", "a record of no project",
                { vault in
                    vault.index.projects = []
                    vault.addProject("api", VectorVault.api)
                }
            ),
            (
                "project-names", "two projects of one name",
                { $0.addProject("web", VectorVault.api) }
            ),
            (
                "project-names-equivalent", "two names that are one by canonical equivalence",
                { vault in
                    vault.addProject("caf\u{E9}", VectorVault.api)
                    vault.addProject("cafe\u{301}", VectorVault.identifier(0x12))
                }
            ),
            (
                "current-missing", "a current version without a record that has it",
                { $0.index.variables[1].currentVersion = 0 }
            ),
            (
                "current-number", "another number of a current version than the record's",
                { vault in
                    vault.index.variables[1].currentVersion = 1
                    vault.index.variables[1].highestVersion = 2
                    vault.index.currentVersions[VectorVault.records[1]] = vault.moved(
                        VectorVault.records[1], version: 2)
                }
            ),
            (
                "current-absent", "a record with a version that nothing stands for",
                { vault in
                    vault.addRecord("NEW", VectorVault.records[2])
                    vault.index.variables[2].currentVersion = 1
                    vault.index.variables[2].highestVersion = 1
                }
            ),
            (
                "earlier-record", "an earlier version of no record",
                { $0.changeEarlier(record: VectorVault.records[5]) }
            ),
            (
                "earlier-current", "an earlier version with the current one's number",
                { $0.changeEarlier(version: 1) }
            ),
            (
                "earlier-above", "an earlier version above the highest",
                { $0.changeEarlier(version: 3) }
            ),
            ("earlier-0", "an earlier version 0", { $0.changeEarlier(version: 0) }),
            (
                "batch-missing", "a version whose data key is not there",
                { $0.changeEarlier(batch: VectorVault.identifier(0x4F)) }
            ),
            (
                "gap", "a gap in front of the last chunk",
                { vault in
                    vault.index.earlierVersions[0].offset += 1
                    vault.chunks.append(0)
                }
            ),
            (
                "gap-front", "a gap in front of the first chunk",
                { vault in
                    vault.index.currentVersions[record]?.offset += 1
                    vault.index.currentVersions[VectorVault.records[1]]?.offset += 1
                    vault.index.earlierVersions[0].offset += 1
                    vault.chunks.insert(0, at: 0)
                }
            ),
            (
                "overlap", "two versions at one place",
                { $0.index.earlierVersions[0].offset = 0 }
            ),
            (
                "end-early", "a byte behind the last chunk, inside of the file's length",
                { $0.chunks.append(0) }
            ),
            (
                "end-late", "a chunk that ends behind its section",
                { vault in vault.chunks.removeLast() }
            ),
            (
                "offset-max", "the highest offset",
                { $0.index.earlierVersions[0].offset = .max }
            ),
            ("length-0", "a chunk of no bytes", { $0.changeEarlier(length: 0) }),
            ("length-max", "the highest length", { $0.changeEarlier(length: .max) }),
        ]
        for (name, description, change) in rows {
            try add("layout", name, description, three, change: change)
        }
    }

    mutating func addValues() throws {
        try addBatches()
        try addChunks()
        let value = Array("the value".utf8)
        func storing(_ how: VectorVault.Storing) throws -> VectorVault {
            var vault = try VectorVault.empty()
            vault.addProject("web", VectorVault.web)
            vault.addProject("api", VectorVault.api)
            vault.addRecord("KEY", Self.record)
            let batch = try vault.addBatch(1)
            try vault.store(value, in: Self.record, batch: batch, how)
            return vault
        }
        let rows: [(String, String, VectorVault.Storing)] = [
            (
                "vault", "sealed for another vault",
                .init(associatedVault: VectorVault.identifier(0x71))
            ),
            (
                "record", "sealed for another record",
                .init(associatedRecord: VectorVault.records[1])
            ),
            (
                "version", "sealed as another version",
                .init(associatedVersion: VectorVault.version(9))
            ),
            (
                "length-beyond", "a value longer than its padding",
                .init(changePadded: { $0.write(UInt32(125), at: 0) })
            ),
            (
                "length-max", "the highest length of a value",
                .init(changePadded: { $0.write(UInt32.max, at: 0) })
            ),
            (
                "padding-long", "128 zeros more than there should be",
                .init(changePadded: { $0 += [UInt8](repeating: 0, count: 128) })
            ),
            (
                "padding-short", "no zeros behind the value",
                .init(changePadded: { $0.removeLast($0.count - 13) })
            ),
            (
                "padding-first", "a bit in the first zero behind the value",
                .init(changePadded: { $0[13] = 1 })
            ),
            (
                "padding-last", "a bit in the last zero behind the value",
                .init(changePadded: { $0[$0.count - 1] = 0x80 })
            ),
            ("empty", "a chunk of an empty text", .init(changePadded: { $0 = [] })),
            (
                "three-bytes", "a chunk of three bytes of text",
                .init(changePadded: { $0 = [0, 0, 0] })
            ),
            ("short", "a chunk of 39 bytes", .init(changeChunk: { $0 = Array($0[..<39]) })),
            ("one-byte", "a chunk of one byte", .init(changeChunk: { $0 = [7] })),
            ("seal", "a bit in the sealed value", .init(changeChunk: { $0[30] ^= 1 })),
            ("nonce", "a bit in the nonce", .init(changeChunk: { $0[0] ^= 1 })),
            ("tag", "a bit in the tag", .init(changeChunk: { $0[$0.count - 1] ^= 1 })),
        ]
        for (name, description, how) in rows {
            try add("value", name, description, try storing(how))
        }
        try add("value", "moved", "two values that changed places", try Self.three()) { vault in
            let ids = (Self.record, VectorVault.records[1])
            guard let first = vault.index.currentVersions[ids.0],
                let second = vault.index.currentVersions[ids.1]
            else { return }
            vault.index.currentVersions[ids.0] = second.of(ids.0)
            vault.index.currentVersions[ids.1] = first.of(ids.1)
        }
        try add("value", "batch", "a value under another data key", try Self.three()) { vault in
            let batch = try vault.addBatch(2)
            vault.changeEarlier(batch: batch)
        }
        try add(
            "value", "versions", "two versions of a record that changed places", try Self.three()
        ) { vault in
            guard let current = vault.index.currentVersions[Self.record] else { return }
            let earlier = vault.index.earlierVersions[0]
            vault.index.currentVersions[Self.record] = earlier.of(
                version: current.version, id: current.id)
            vault.index.earlierVersions[0] = current.of(version: earlier.version, id: earlier.id)
        }
        var names = try storing(.init(associatedRecord: VectorVault.records[1]))
        try names.addSlot(.secretService, .index)
        names.values = Self.namesAlone(names.values)
        try add(
            "ok", "value-names", "a value sealed for another record, which names alone do not show",
            names, secret: .slotKey(2))
    }

    private mutating func addBatches() throws {
        let other = [UInt8](repeating: 3, count: 32)
        let rows: [(String, String, (inout VectorVault) throws -> Void)] = [
            ("root", "wrapped under another root", { try $0.addBatch(2, underRoot: other) }),
            (
                "vault", "wrapped for another vault",
                { try $0.addBatch(2, vault: VectorVault.identifier(0x71)) }
            ),
            (
                "id", "wrapped as another batch",
                { try $0.addBatch(2, named: VectorVault.identifier(0x45)) }
            ),
            ("nonce", "a bit in the nonce of a data key", Self.unneeded(0)),
            ("bit", "a bit in a wrapped data key", Self.unneeded(40)),
            ("tag", "a bit in the tag of a data key", Self.unneeded(71)),
            (
                "swapped", "two data keys that changed places",
                { vault in
                    try vault.addBatch(2)
                    let batches = vault.index.batches
                    vault.index.batches = [
                        Batch(id: batches[0].id, wrapped: batches[1].wrapped),
                        Batch(id: batches[1].id, wrapped: batches[0].wrapped),
                    ]
                }
            ),
            ("needed", "the one data key that is needed", { $0.changeBatch(at: 0, byte: 40) }),
            (
                "before-value", "a data key that nothing needs, and a value that does not open",
                { vault in
                    try vault.addBatch(2, underRoot: other)
                    vault.changeCurrent(Self.record, id: VectorVault.version(9))
                }
            ),
            (
                "before-chunk", "a data key that nothing needs, and a changed chunk",
                { vault in
                    try vault.addBatch(2, underRoot: other)
                    vault.changeFile = { $0[$0.count - 1] ^= 1 }
                }
            ),
        ]
        for (name, description, change) in rows {
            try add("batch", name, description, try .small(), change: change)
        }
        var names = try VectorVault.small()
        try names.addSlot(.secretService, .index)
        names.values = Self.namesAlone(names.values)
        try add(
            "ok", "batch-names", "a data key under another root, which names alone do not show",
            names, secret: .slotKey(2)
        ) { try $0.addBatch(2, underRoot: other) }
    }

    /// Adds a data key that nothing needs, with one bit flipped.
    private static func unneeded(_ byte: Int) -> (inout VectorVault) throws -> Void {
        { vault in
            try vault.addBatch(2)
            vault.changeBatch(at: 1, byte: byte)
        }
    }

    private mutating func addChunks() throws {
        let three = try Self.three()
        let rows: [(String, String, (inout [UInt8]) -> Void)] = [
            ("first", "a bit in the first chunk", { $0[VectorVault.firstChunk] ^= 1 }),
            ("last", "a bit in the last chunk", { $0[$0.count - 1] ^= 0x80 }),
            (
                "swapped", "two chunks that changed places",
                { file in
                    let front = VectorVault.firstChunk
                    let first = Array(file[front..<(front + 168)])
                    file.replaceSubrange(
                        front..<(front + 168), with: file[(front + 168)..<(front + 336)])
                    file.replaceSubrange((front + 168)..<(front + 336), with: first)
                }
            ),
        ]
        for (name, description, change) in rows {
            try add("chunk", name, description, three) { $0.changeFile = change }
        }
        try add("chunk", "checksum", "another checksum than the chunk's", three) { vault in
            vault.changeEarlier(checksum: [UInt8](repeating: 0, count: 32))
        }
        var names = three
        try names.addSlot(.secretService, .index)
        try add(
            "chunk", "names", "a changed chunk, with the names alone", names, secret: .slotKey(2)
        ) { $0.changeFile = { $0[$0.count - 1] ^= 1 } }
        try add("chunk", "before-value", "a changed chunk behind a value that does not open", three)
        {
            vault in
            // Current versions come first, whatever their order in the file.
            vault.changeEarlier(batch: vault.index.batches[0].id)
            vault.changeFile = { $0[VectorVault.firstChunk + 168 + 40] ^= 1 }
        }
    }
}

extension StoredVersion {
    /// The same chunk as another record's.
    fileprivate func of(
        _ record: Identifier? = nil, version: UInt64? = nil, id: Identifier? = nil,
        batch: Identifier? = nil, length: UInt32? = nil, checksum: [UInt8]? = nil
    ) -> StoredVersion {
        StoredVersion(
            variable: record ?? variable, version: version ?? self.version, id: id ?? self.id,
            batch: batch ?? self.batch, offset: offset, length: length ?? self.length,
            checksum: checksum.map { .init($0) } ?? self.checksum, createdAt: createdAt,
            formerName: formerName)
    }
}

extension VectorVault {
    fileprivate func moved(_ record: Identifier, version: UInt64) -> StoredVersion? {
        index.currentVersions[record]?.of(version: version)
    }

    fileprivate mutating func changeCurrent(_ record: Identifier, id: Identifier) {
        index.currentVersions[record] = index.currentVersions[record]?.of(id: id)
    }

    /// Changes the first of the earlier versions.
    fileprivate mutating func changeEarlier(
        record: Identifier? = nil, version: UInt64? = nil, batch: Identifier? = nil,
        length: UInt32? = nil, checksum: [UInt8]? = nil
    ) {
        index.earlierVersions[0] = index.earlierVersions[0].of(
            record, version: version, batch: batch, length: length, checksum: checksum)
    }
}

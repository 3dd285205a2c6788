import Sealing

@testable import Vault

/// Errors of sections: their hashes and seals, what they hold, and where they are.
extension VectorCatalogue {
    private typealias Change = (inout VectorVault) throws -> Void
    private static let (web, api) = (VectorVault.web, VectorVault.api)

    private mutating func add(_ kind: String, _ rows: [(String, String, Change)]) throws {
        for (name, description, change) in rows {
            try add(kind, name, description, try .rich(), change: change)
        }
    }

    mutating func addSections() throws {
        try addWholeSections()
        let first = VectorVault.firstChunk - 4_136 + 192
        try add(
            "section",
            [
                (
                    "nonce", "a bit in the nonce of a section",
                    { $0.changeFile = { $0[first] ^= 1 } }
                ),
                (
                    "seal", "a bit in a sealed section",
                    { $0.changeFile = { $0[first + 2_000] ^= 1 } }
                ),
                (
                    "tag", "a bit in the tag of a section",
                    { $0.changeFile = { $0[first + 4_135] ^= 1 } }
                ),
                (
                    "hash", "another hash than the section's",
                    {
                        $0.changeRows = {
                            $0[1] = $0[1].of(checksum: Checksum([UInt8](repeating: 1, count: 32)))
                        }
                    }
                ),
                (
                    "hashes", "the hashes of two sections exchanged",
                    { vault in
                        vault.changeRows = { rows in
                            let hashes = rows.map(\.checksum)
                            rows[0] = rows[0].of(checksum: hashes[1])
                            rows[1] = rows[1].of(checksum: hashes[0])
                        }
                    }
                ),
                (
                    "before-seal", "a wrong hash of a section that does not open",
                    { vault in
                        vault.sealedAs[Self.web] = (VectorVault.identifier(0x71), Self.web)
                        vault.changeFile = { $0[first + 30] ^= 1 }
                    }
                ),
            ])
        try add(
            "tag",
            [
                (
                    "section-vault", "a section sealed for another vault",
                    { $0.sealedAs[Self.web] = (VectorVault.identifier(0x71), Self.web) }
                ),
                (
                    "section-id", "a section sealed for another project",
                    { $0.sealedAs[Self.web] = (VectorVault.vaultID, Self.api) }
                ),
                (
                    "section-seal", "a section with its hash that does not open",
                    { $0.changeSealed[Self.web] = { $0[100] ^= 1 } }
                ),
            ])
        try add(
            "padding",
            [
                (
                    "section-first", "a bit in the first zero of a section",
                    { vault in
                        vault.changeSectionPadded[Self.api] = { padded in
                            let count = padded[..<4].reversed().reduce(0) { $0 << 8 | Int($1) }
                            padded[4 + count] = 1
                        }
                    }
                ),
                (
                    "section-last", "a bit in the last zero of a section",
                    { $0.changeSectionPadded[Self.api] = { $0[$0.count - 1] = 0x80 } }
                ),
                (
                    "section-long", "4,096 zeros more than there should be in a section",
                    {
                        $0.changeSectionPadded[Self.api] = {
                            $0 += [UInt8](repeating: 0, count: 4_096)
                        }
                    }
                ),
                (
                    "section-length", "the highest content length of a section",
                    { $0.changeSectionPadded[Self.api] = { $0.write(UInt32.max, at: 0) } }
                ),
            ])
        try addPlaces()
    }

    private mutating func addWholeSections() throws {
        try add("ok", "section-entries", "entries of two sections without a project", .rich()) {
            vault in
            let id = VectorVault.identifier(0x05)
            vault.index.journal += [
                JournalEntry(
                    id: VectorVault.identifier(0x66), kind: 200, createdAt: 1, payload: [1],
                    section: id),
                JournalEntry(
                    id: VectorVault.identifier(0x67), kind: 200, createdAt: 1, payload: [],
                    section: VectorVault.identifier(0x77)),
            ]
        }
        try add("ok", "section-send", "a send of a project that was removed", .rich()) { vault in
            vault.index.journal.append(
                SendEntry(
                    createdAt: 1, action: .create, project: VectorVault.identifier(0x12),
                    variable: nil, vercelProject: "prj_1", author: "", target: nil, key: "KEY",
                    attributes: .init(kind: .plain, scope: Scope(targets: .all)), version: 0,
                    sendsValue: false, sentAfter: 1
                ).entry)
        }
        try add("ok", "section-none", "a project without a section", .rich()) {
            $0.addProject("empty", VectorVault.identifier(0x12))
        }
        try add("ok", "section-agreement", "a project with nothing but an agreement", .rich()) {
            let id = VectorVault.identifier(0x12)
            $0.addProject("agreed", id)
            $0.index.otherAgreements[id] = [VectorVault.agreement()]
        }
        try add("ok", "section-long", "a section of several steps", .rich()) { vault in
            let comment = String(repeating: "c", count: 4_096)
            for number in 0..<3 as Range<UInt8> {
                vault.addRecord(
                    "LONG_\(number)", VectorVault.identifier(0x30 + number), comment: comment)
            }
        }
    }

    private mutating func addPlaces() throws {
        func entry(_ kind: UInt8, _ payload: [UInt8] = [], in section: Identifier?) -> Change {
            { vault in
                vault.index.journal.append(
                    JournalEntry(
                        id: VectorVault.identifier(0x66), kind: kind, createdAt: 1,
                        payload: payload, section: section))
            }
        }
        let open = try RotationEntryTests.sample(isFull: true, isOpen: true).entry().payload
        let ended = try RotationEntryTests.sample(isFull: true, isOpen: false).entry().payload
        let send = SendEntry(
            createdAt: 1, action: .create, project: Self.web, variable: nil, vercelProject: "prj_1",
            author: "", target: nil, key: "KEY",
            attributes: .init(kind: .plain, scope: Scope(targets: .all)), version: 0,
            sendsValue: false, sentAfter: 1
        ).entry.payload
        let relay = RelayRegistrationTests.bytes(try VectorVault.relay(1).payload)
        // The order of checks.
        try add(
            "encoding",
            [
                (
                    "place-send-payload", "a send of action 9 in the table",
                    entry(1, [9] + send.dropFirst(), in: nil)
                )
            ])
        try add(
            "order",
            [
                (
                    "place-send", "a send in the table, and accounts out of order",
                    { vault in
                        try entry(1, send, in: nil)(&vault)
                        let items = try vault.items(of: .accounts)
                        vault.change(.accounts) { $0 = list([items[1], items[0]]) }
                    }
                )
            ])
        try add(
            "bounds",
            [
                (
                    "place-payload", "a payload that is cut, and entries out of order behind it",
                    { vault in
                        try entry(2, Array(open.dropLast()), in: nil)(&vault)
                        let items = try vault.items(of: .journal)
                        vault.change(.journal) { $0 = list([items[2], items[0], items[1]]) }
                    }
                )
            ])
        try add(
            "layout",
            [
                (
                    "offset-batches", "a chunk outside of its section, and data keys out of order",
                    { vault in
                        vault.index.earlierVersions[0].offset = 1 << 20
                        let items = try vault.items(of: .batches)
                        vault.change(.batches) { $0 = list([items[1], items[0]]) }
                    }
                ),
                (
                    "section-empty", "a section without anything",
                    { $0.emptySections = [.init(high: 5, low: 5)] }
                ),
                (
                    "section-batch", "a data key in a section of no project",
                    { vault in
                        let id = VectorVault.identifier(0x05)
                        try entry(200, in: id)(&vault)
                        try vault.addBatch(9, in: id)
                    }
                ),
                (
                    "section-agreement", "an agreement in a section of no project",
                    { vault in
                        let id = VectorVault.identifier(0x05)
                        try entry(200, in: id)(&vault)
                        vault.index.otherAgreements[id] = [VectorVault.agreement()]
                    }
                ),
                ("place-send", "a send in the table", entry(1, send, in: nil)),
                ("place-open", "an open rotation in a section", entry(2, open, in: Self.web)),
                ("place-ended-table", "an ended rotation in the table", entry(3, ended, in: nil)),
                (
                    "place-ended", "an ended rotation in a project's section",
                    entry(3, ended, in: Self.web)
                ),
                ("place-relay", "a relay in a section", entry(4, relay, in: Self.web)),
                ("place-shared", "a shared project in the table", entry(6, in: nil)),
                ("place-member-table", "a membership in the table", entry(5, in: nil)),
                ("place-member", "a membership in another section", entry(5, in: Self.web)),
                ("place-state", "a shared state in another section", entry(7, in: Self.web)),
                ("place-change", "an outgoing change in another section", entry(8, in: Self.web)),
                (
                    "section-length-short", "a section of 40 bytes",
                    { $0.changeRows = { $0[0] = $0[0].of(sealed: 40) } }
                ),
                (
                    "section-length-step", "a section of 4,137 bytes",
                    { $0.changeRows = { $0[0] = $0[0].of(sealed: 4_137) } }
                ),
                (
                    "section-length-long", "a section that ends in the next one",
                    { $0.changeRows = { $0[0] = $0[0].of(sealed: 8_232) } }
                ),
                (
                    "section-length-max", "the highest length of a section",
                    { $0.changeRows = { $0[0] = $0[0].of(sealed: .max) } }
                ),
                (
                    "section-length-chunks", "chunks that end in the next section",
                    { $0.changeRows = { $0[0] = $0[0].of(chunks: $0[0].chunksByteCount + 1) } }
                ),
                (
                    "section-length-chunks-max", "the highest length of chunks",
                    { $0.changeRows = { $0[0] = $0[0].of(chunks: .max) } }
                ),
                (
                    "section-length-wraps", "lengths whose sum is right beyond 64 bits",
                    { vault in
                        vault.changeRows = { rows in
                            rows[0] = rows[0].of(chunks: rows[0].chunksByteCount &- 4_136)
                            rows[1] = rows[1].of(sealed: rows[1].sealedByteCount + 4_136)
                            rows[0] = rows[0].of(chunks: rows[0].chunksByteCount &- 1 << 63)
                            rows[1] = rows[1].of(chunks: rows[1].chunksByteCount &- 1 << 63)
                        }
                    }
                ),
                (
                    "row-none", "a section that the table does not name",
                    { $0.changeRows = { $0.removeLast() } }
                ),
                (
                    "twice-record", "a record in two sections",
                    { $0.addRecord("AGAIN", VectorVault.records[1], in: Self.api) }
                ),
                (
                    "twice-entry", "an entry in two sections",
                    { vault in
                        vault.index.journal.append(
                            JournalEntry(
                                id: VectorVault.identifier(0x6A), kind: 200, createdAt: 1,
                                payload: [], section: Self.api))
                    }
                ),
                (
                    "twice-entry-table", "an entry in the table and in a section",
                    { vault in
                        vault.index.journal.append(
                            JournalEntry(
                                id: VectorVault.identifier(0x60), kind: 200, createdAt: 1,
                                payload: [], section: Self.api))
                    }
                ),
            ])
    }
}

extension SectionExtent {
    fileprivate func of(
        sealed: UInt64? = nil, chunks: UInt64? = nil, checksum: Checksum? = nil
    ) -> SectionExtent {
        SectionExtent(
            id: id, offset: offset, sealedByteCount: sealed ?? sealedByteCount,
            chunksByteCount: chunks ?? chunksByteCount, checksum: checksum ?? self.checksum)
    }
}

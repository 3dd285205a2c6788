import Sealing

@testable import Vault

/// Intact vaults.
extension VectorCatalogue {
    mutating func addWhole() throws {
        try add("ok", "empty", "a new vault: one passphrase, no records", try .empty()) {
            $0.generation = 1
        }
        try add("ok", "small", "one record, all optional members absent", try .small())
        try add("ok", "rotations", "a rotation that is open, and one that has ended", try .small())
        {
            vault in
            for isOpen in [true, false] {
                vault.index.journal.append(
                    try RotationEntryTests.sample(isFull: isOpen, isOpen: isOpen).entry())
            }
        }
        try add("ok", "relays", "two relays, between other entries of the journal", try .small()) {
            vault in
            for number in [1, 2] as [UInt8] {
                vault.index.journal.append(
                    JournalEntry(
                        id: VectorVault.identifier(0x60 + 2 * number), kind: 200, createdAt: 6,
                        payload: [number], section: nil))
                vault.index.secretJournal.append(try VectorVault.relay(number))
            }
        }
        try add("ok", "rich", "every list filled, optional members there and absent", try .rich())
        try add(
            "ok", "rich-names", "the same, opened for its names alone", try .rich(),
            secret: .slotKey(2)
        ) { $0.values = Self.namesAlone($0.values) }
        try addWholeSlots()
        try add("ok", "epoch", "the third index key", try .empty()) { vault in
            vault = VectorVault()
            vault.epoch = 3
            try vault.addSlot(.passphrase, .values)
            vault.index.formerLogKeys = [
                try VectorVault.secretSlice(32, 1), try VectorVault.secretSlice(32, 1),
            ]
        }
        try add("ok", "generation", "the highest generation", try .small()) {
            $0.generation = .max
        }
        try add("ok", "history", "1,024 generations are remembered", try .empty()) { vault in
            vault.generation = 5_000
            vault.index.metadata.generationTags = (3_976..<5_000).map {
                .init(generation: $0, tag: [UInt8](repeating: UInt8($0 & 0xFF), count: 16))
            }
        }
        try add("ok", "audit", "the place of the audit log's last line", try .small()) {
            $0.index.metadata.audit = .init(
                sequence: VectorVault.auditSequence, tag: [UInt8](repeating: 4, count: 16))
        }
    }

    private mutating func addWholeSlots() throws {
        func with(_ kind: KeySlot.Kind, _ tier: KeySlot.Tier) throws -> VectorVault {
            var vault = try VectorVault.small()
            try vault.addSlot(kind, tier)
            if tier == .index { vault.values = Self.namesAlone(vault.values) }
            return vault
        }
        try add(
            "ok", "slot-recovery", "opened with the recovery code",
            try with(.recovery, .values), secret: .recoveryCode)
        try add(
            "ok", "slot-recovery-typed", "the code in lower case, with O, I, L and blanks",
            try with(.recovery, .values),
            secret: .init(recoveryCode: "olo8 ig8I 86ow 4oj2 gbLg 6gw3 rgh3"))
        try add(
            "ok", "slot-keyring-names", "a keyring slot of the names",
            try with(.secretService, .index), secret: .slotKey(2))
        try add(
            "ok", "slot-keyring-values", "a keyring slot of the values",
            try with(.secretService, .values), secret: .slotKey(2))
        try add(
            "ok", "slot-file-names", "a key file slot of the names", try with(.file, .index),
            secret: .keyFile(2))
        try add(
            "ok", "slot-file-values", "a key file slot of the values", try with(.file, .values),
            secret: .keyFile(2))
        try add(
            "ok", "slot-salt-ignored",
            "bytes in the salt of a key file slot, which nobody looks at",
            try with(.file, .values), secret: .keyFile(2)
        ) { vault in
            let key = try VectorVault.secret(vault.root)
            let wrapping = try VectorVault.secret(VectorVault.slotKey)
            vault.slots[1] = KeySlot.wrapping(
                key, under: wrapping, vault: VectorVault.vaultID, id: vault.slots[1].id,
                kind: .file, tier: .values, cost: nil, salt: [UInt8](repeating: 9, count: 16),
                createdAt: 0)
        }
        try add("ok", "slot-second-passphrase", "the second of two passphrases", try .small()) {
            vault in
            vault.slots = []
            try vault.addSlot(.passphrase, .values, passphrase: "another one")
            try vault.addSlot(.passphrase, .values)
        }
        try add("ok", "slots-16", "sixteen slots, four of them passphrases", try .small()) {
            vault in
            for _ in 0..<3 { try vault.addSlot(.passphrase, .values, passphrase: "another one") }
            for _ in 0..<12 { try vault.addSlot(.secretService, .index) }
        }
        let long = String(repeating: "p", count: 1_024)
        try add(
            "ok", "passphrase-long", "a passphrase of 1,024 bytes", try .small(),
            secret: .init(passphrase: long)
        ) { vault in
            vault.slots = []
            try vault.addSlot(.passphrase, .values, passphrase: long)
        }
    }

    mutating func addWholeValues() throws {
        let lengths: [(String, [Int])] = [
            ("steps", [0, 1, 123, 124, 125, 251, 252, 253]), ("step-end", [1_019, 1_020]),
            ("padme", [1_021, 1_084, 1_085, 2_044, 2_045, 4_095, 4_096, 4_097]),
        ]
        for (name, lengths) in lengths {
            try add(
                "ok", "lengths-\(name)",
                "values of \(lengths.map(String.init).joined(separator: ", ")) bytes",
                try .empty()
            ) { vault in
                vault.addProject("web", VectorVault.web)
                let batch = try vault.addBatch(1)
                for (place, length) in lengths.enumerated() {
                    vault.addRecord("KEY_\(length)", VectorVault.records[place])
                    try vault.store(
                        (0..<length).map { UInt8(0x61 + $0 % 26) }, in: VectorVault.records[place],
                        batch: batch)
                }
            }
        }
        try add("ok", "value-bytes", "a value that is not UTF-8", try .small()) { vault in
            vault.addRecord("BYTES", VectorVault.records[1])
            try vault.store(
                [0xFF, 0x00, 0xC0, 0x80], in: VectorVault.records[1],
                batch: vault.index.batches[0].id)
        }
        try add("ok", "batch-unused", "a data key that nothing needs", try .small()) {
            try $0.addBatch(2)
        }
        try add("ok", "renamed", "a value that was stored before a rename", try .empty()) { vault in
            vault.addProject("web", VectorVault.web)
            vault.addRecord("NEW", VectorVault.records[0])
            let batch = try vault.addBatch(1)
            try vault.store(
                Array("kept".utf8), in: VectorVault.records[0], batch: batch,
                .init(formerName: "OLD"))
        }
        try add("ok", "moved-within", "chunks in another order than records", try .empty()) {
            vault in
            vault.addProject("web", VectorVault.web)
            let batch = try vault.addBatch(1)
            for place in [2, 0, 1] {
                vault.addRecord("KEY_\(place)", VectorVault.records[place])
                try vault.store(
                    Array("value \(place)".utf8), in: VectorVault.records[place], batch: batch)
            }
        }
        try add("ok", "removed", "a removed record with its history", try .small()) { vault in
            vault.index.variables[0].deletedAt = 1_700_000_002_000
            vault.values[0].removed = true
        }
        try add("ok", "without-value", "a record that the vault holds no value of", try .small()) {
            $0.addRecord("NONE", VectorVault.records[1])
        }
        try add("ok", "version-gap", "numbers that were dropped do not come again", try .small()) {
            vault in
            let batch = vault.index.batches[0].id
            vault.index.currentVersions = [:]
            vault.chunks = []
            vault.values = []
            for (version, isCurrent) in [(7, false), (1_000_000, true)] as [(UInt64, Bool)] {
                try vault.store(
                    Array("version \(version)".utf8), in: VectorVault.records[0], batch: batch,
                    .init(version: version, isCurrent: isCurrent))
            }
        }
        try addWholeNames()
        try addWholeAgreements()
    }

    private mutating func addWholeAgreements() throws {
        let (first, second) = (VectorVault.records[0], VectorVault.records[1])
        let custom = Scope(targets: [], customEnvironments: ["env-a", "env-b"])
        let agreements = [
            VectorVault.agreement("KEY", Scope(targets: .all), record: "env_1", variable: first),
            // Of one target: what was there before a record was made again.
            VectorVault.agreement("KEY", record: "env_2", variable: second, endedAt: 0),
            VectorVault.agreement("KEY", custom),
            VectorVault.agreement("KEY", Scope(targets: []), comment: nil),
            VectorVault.agreement("KEY", custom, variable: first, comment: nil),
            VectorVault.agreement("KEY", Scope(targets: .preview, branch: "main"), variable: first),
            VectorVault.agreement("KEY", Scope(targets: .preview, branch: "next"), variable: first),
            VectorVault.agreement(
                "KEYS", Scope(targets: .development), record: "env_3", endedAt: 0),
            VectorVault.agreement(
                "KEYS", custom, record: "env_3", comment: nil, endedAt: 0),
        ]
        try add("ok", "agreements", "agreements of several targets and records", try .small()) {
            $0.index.otherAgreements[VectorVault.web] = agreements
        }
    }

    private mutating func addWholeNames() throws {
        let names = [
            ("name-long", "a name of 1,024 bytes", String(repeating: "N", count: 1_024)),
            ("name-unicode", "a name beyond ASCII", "SCHLÜSSEL_\u{1F511}"),
        ]
        for (file, description, name) in names {
            try add("ok", file, description, try .empty()) { vault in
                vault.addProject("web", VectorVault.web)
                vault.addRecord(name, VectorVault.records[0])
                let batch = try vault.addBatch(1)
                try vault.store(Array("named".utf8), in: VectorVault.records[0], batch: batch)
            }
        }
        try add("ok", "comment-long", "a comment of 4,096 bytes", try .empty()) { vault in
            vault.addProject("web", VectorVault.web)
            vault.addRecord(
                "KEY", VectorVault.records[0], comment: String(repeating: "c", count: 4_096))
            let batch = try vault.addBatch(1)
            try vault.store(Array("noted".utf8), in: VectorVault.records[0], batch: batch)
        }
        try add(
            "ok", "scopes", "one name in several scopes, one of them of no target", try .empty()
        ) {
            vault in
            vault.addProject("web", VectorVault.web)
            let batch = try vault.addBatch(1)
            let scopes = [
                Scope(targets: .production), Scope(targets: [.preview, .development]),
                Scope(targets: .preview, branch: "feature/x"),
                Scope(targets: [], customEnvironments: ["qa", "staging"]),
            ]
            for (place, scope) in scopes.enumerated() {
                vault.addRecord("KEY", VectorVault.records[place], scope: scope)
                try vault.store(
                    Array("scope \(place)".utf8), in: VectorVault.records[place], batch: batch)
            }
        }
        try add("ok", "types", "each of the five types", try .empty()) { vault in
            vault.addProject("web", VectorVault.web)
            let batch = try vault.addBatch(1)
            for (place, kind) in VariableAttributes.Kind.allCases.enumerated() {
                vault.addRecord("KEY_\(place)", VectorVault.records[place], kind: kind)
                try vault.store(
                    Array(kind.name.utf8), in: VectorVault.records[place], batch: batch)
            }
        }
    }
}

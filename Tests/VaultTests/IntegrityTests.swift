import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

/// The rows of the detection table that need more than a flipped byte.
@Suite("Attacks with the index key, and their detection")
struct IntegrityTests {
    private let fixture: VaultFixture

    init() throws {
        fixture = try VaultFixture()
        try fixture.set("A", "one")
        try fixture.set("A", "two")
        try fixture.set("B", "bee")
    }

    private func tamper(_ body: (inout VaultTransaction) throws -> Void) throws {
        try Vault.update(
            fixture.path, in: fixture.store, keys: try fixture.lockedKeys,
            vaultID: fixture.vaultID, body)
    }

    /// Rewrites the file with another header or index, as the index key allows.
    private func reseal(
        _ change: (inout VaultHeader) throws -> Void = { _ in },
        index changeIndex: (inout VaultIndex) throws -> Void = { _ in }
    ) throws {
        let vault = try fixture.open()
        var header = vault.header
        let chunks = try vault.file.read(
            at: header.chunksOffset, count: Int(header.chunksByteCount))
        var index = try vault.index(with: try fixture.lockedKeys, extent: .everything)
        try change(&header)
        try changeIndex(&index)
        let sealed = try header.sealing(
            index, keys: try fixture.lockedKeys, chunksByteCount: UInt64(chunks.count),
            isChecked: false)
        try fixture.store.replace(
            fixture.path, with: [.bytes(sealed.header), .bytes(sealed.index), .bytes(chunks)])
    }

    private func openByPassphrase() throws -> VaultKeys {
        try fixture.open().open(
            with: try VaultFixture.passphrase("right"), memoryLimitBytes: nil
        ).keys
    }

    @Test func `a value moved to another project does not open`() throws {
        let other = VaultProject(name: "other", createdAt: 1)
        try tamper { transaction in
            transaction.index.projects.append(other)
            let position = transaction.positionOfVariable("A")
            transaction.index.variables[position].project = other.id
        }
        #expect(code { _ = try fixture.value(of: "A") } == .damaged)
    }

    @Test func `an old value restored under the new number does not open`() throws {
        try tamper { transaction in
            let id = transaction.index.variables[transaction.positionOfVariable("A")].id
            guard let old = transaction.index.earlierVersions.first(where: { $0.variable == id }),
                let new = transaction.index.currentVersions[id]
            else { return }
            // The chunk of version 1 as version 2: same offset order, other content.
            transaction.index.currentVersions[id] = StoredVersion(
                variable: id, version: new.version, id: new.id, batch: old.batch,
                offset: old.offset,
                length: old.length, checksum: old.checksum, createdAt: new.createdAt,
                sealedName: nil)
            transaction.index.earlierVersions.removeAll { $0.variable == id }
        }
        #expect(code { _ = try fixture.value(of: "A") } == .damaged)
        #expect(code { try fixture.open().verify(with: fixture.keys) } == .damaged)
    }

    @Test func `an old version made current is listed`() throws {
        try tamper { transaction in
            let position = transaction.positionOfVariable("A")
            let id = transaction.index.variables[position].id
            guard
                let place = transaction.index.earlierVersions.firstIndex(where: {
                    $0.variable == id
                }), let new = transaction.index.currentVersions[id]
            else { return }
            transaction.index.currentVersions[id] = transaction.index.earlierVersions[place]
            transaction.index.earlierVersions[place] = new
            transaction.index.variables[position].currentVersion = 1
        }
        #expect(try fixture.value(of: "A") == "one")
        let index = try fixture.open().index(with: fixture.keys, extent: .everything)
        let changes = CheckpointComparison(of: index).changes
        #expect(changes.map(\.kind) == [.changed([.version])])
    }

    @Test func `a foreign data key is damage for the root`() throws {
        try fixture.set("C", "cee", keys: try fixture.lockedKeys)
        try tamper { transaction in
            guard let place = transaction.index.batches.firstIndex(where: \.isSealed) else {
                return
            }
            let key = try SecretBytes.random(count: 32)
            transaction.index.batches[place].wrapped = try Batch.sealed(
                key, id: .random(), vault: fixture.vaultID,
                publicKey: try fixture.open().header.publicKey
            ).wrapped
        }
        #expect(code { _ = try fixture.value(of: "C") } == .damaged)
        // Only what the root can open is accepted.
        try fixture.acceptAll()
        let index = try fixture.open().index(with: fixture.keys, extent: .everything)
        #expect(CheckpointComparison(of: index).changes.map(\.name) == ["C"])
    }

    @Test func `a replaced public key is found when the values open`() throws {
        try reseal { $0.publicKey = [UInt8](repeating: 9, count: 32) }
        let keys = try openByPassphrase()
        for extent in [VaultIndex.Extent.currentValues, .everything] {
            let error = #expect(throws: VaultError.self) {
                _ = try fixture.open().index(with: keys, extent: extent)
            }
            #expect(error?.damage == .exchangedKey)
        }
        #expect(code { try fixture.set("A", "x", keys: keys) } == .damaged)
        #expect(try fixture.open().inspection(with: keys).problems.first?.damage == .exchangedKey)
    }

    @Test func `foreign and removed slots are found with the root`() throws {
        let good = try TamperedFile(fixture)
        try reseal { header in
            let key = try SecretBytes.random(count: 32)
            header.slots.append(
                try fixture.lockedKeys.storedKeySlot(
                    .file, .index, slotKey: key, vault: fixture.vaultID, at: 5_000))
        }
        let keys = try openByPassphrase()
        #expect(
            code { _ = try fixture.open().index(with: keys, extent: .everything) } == .damaged)
        #expect(code { try fixture.open().verify(with: keys) } == .damaged)
        #expect(code { try fixture.set("A", "x", keys: keys) } == .damaged)
        try good.restoreOriginal()
        #expect(code { try fixture.open().verify(with: keys) } == nil)
        try reseal { $0.slots = [] }
        #expect(code { _ = try openByPassphrase() } == .wrongPassphrase)
        #expect(code { try fixture.open().verify(with: fixture.keys) } == .damaged)
    }

    @Test func `an older copy put in place during a command is not written to`() throws {
        let old = try TamperedFile(fixture)
        try fixture.set("A", "three")
        let seen = try fixture.open().position()
        try old.restoreOriginal()
        func write(_ seen: VaultPosition) -> VaultError.Code? {
            code {
                try Vault.update(
                    fixture.path, in: fixture.store, keys: fixture.keys,
                    vaultID: fixture.vaultID, since: seen
                ) {
                    $0.index.metadata.revokeApproval(path: "/none");
                    $0.index.variables[0].updatedAt = 1
                }
            }
        }
        #expect(write(seen) == .damaged)
        // Nor is a different history of the same length, such as that of a restored backup.
        try fixture.set("A", "drei")
        #expect(write(seen) == .epochChanged)
        #expect(write(try fixture.open().position()) == nil)
    }

    @Test
    func
        `generations from the future, which only an attacker can add, are removed by the next write`()
    {
        var metadata = IndexMetadata()
        metadata.generationTags = [3, 7, 9].map {
            .init(generation: $0, tag: [UInt8](repeating: 1, count: 16))
        }
        let tag = [UInt8](repeating: 2, count: 16)
        metadata.remember(generation: 7, tag: tag)
        #expect(metadata.generationTags.map(\.generation) == [3, 7])
        #expect(metadata.generationTags.last?.tag == tag)
    }

    @Test func `a copy newer than all known ones is taken for a successor`() throws {
        let old = try TamperedFile(fixture)
        for value in ["three", "four", "five"] { try fixture.set("A", value) }
        let seen = try fixture.open().position()
        try old.restoreOriginal()
        let olderGeneration = try fixture.open().header.generation
        #expect(try fixture.open().standing(to: seen, with: fixture.keys) == .older)
        var written: VaultPosition?
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID,
            written: { written = $0.position }
        ) { $0.outlive([seen]) }
        let vault = try fixture.open()
        #expect(vault.header.generation == seen.generation + 1)
        #expect(vault.header.generation > olderGeneration)
        #expect(written == (try vault.position()))
        #expect(try vault.standing(to: seen, with: fixture.keys) == .follows)
        #expect(code { try vault.verify(with: fixture.keys) } == nil)
        #expect(try fixture.value(of: "A") == "two")
    }

    @Test func `SEC-F15: a public key of low order is damage, and nothing is sealed to it`() throws
    {
        let good = try fixture.open().header.publicKey
        for key in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31)] {
            try reseal { $0.publicKey = key }
            let before = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
            let locked = try fixture.lockedKeys
            let error = #expect(throws: VaultError.self) {
                try fixture.set("LOST", "value", keys: locked)
            }
            #expect(error?.damage == .exchangedKey)
            #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path)) == before)
            // Without the root, `verify` finds it, and unaffected values can still be read.
            #expect(try fixture.open().inspection(with: locked).problems.map(\.place) == [.header])
            _ = try fixture.open().index(with: locked, extent: .listing)
            let keys = try openByPassphrase()
            #expect(
                code { _ = try fixture.open().index(with: keys, extent: .everything) } == .damaged)
        }
        try reseal { $0.publicKey = good }
        try fixture.set("KEPT", "value", keys: try fixture.lockedKeys)
        #expect(try fixture.value(of: "KEPT") == "value")
    }

    /// Journal entries that no writer makes.
    enum BadEntry: CaseIterable {
        case sendCut, sendLonger, sendAction, sendTarget, rotationCut, rotationLonger, rotationEnd
        case relayCut, relayLonger, relayWord, relays, sameRelay

        var damage: VaultDamage {
            switch self {
            case .sendCut, .rotationCut, .relayCut: .bounds
            case .relays, .sameRelay: .layout
            default: .encoding
            }
        }

        func put(into index: inout VaultIndex) throws {
            let send = SendEntryTests.sample().entry
            let rotation = try RotationEntryTests.sample(isFull: true, isOpen: true).entry()
            let relay = try RelayRegistrationTests.sample().entry()
            func add(_ entry: JournalEntry, kind: UInt8? = nil, _ change: (inout [UInt8]) -> Void) {
                var payload = entry.payload
                change(&payload)
                index.journal.append(
                    JournalEntry(
                        id: entry.id, kind: kind ?? entry.kind, createdAt: 1, payload: payload))
            }
            func addRelay(_ change: (inout [UInt8]) -> Void) throws {
                var payload = RelayRegistrationTests.bytes(relay.payload)
                change(&payload)
                index.secretJournal.append(
                    SecretJournalEntry(
                        id: relay.id, createdAt: 1,
                        payload: try RelayRegistrationTests.slice(payload)))
            }
            switch self {
            case .sendCut: add(send) { $0.removeLast() }
            case .sendLonger: add(send) { $0.append(0) }
            case .sendAction: add(send) { $0[0] = 9 }
            case .sendTarget: add(send) { $0[0] = SendEntry.Action.create.rawValue }
            case .rotationCut: add(rotation) { $0.removeLast() }
            case .rotationLonger: add(rotation) { $0.append(0) }
            case .rotationEnd: add(rotation, kind: 3) { _ in }
            case .relayCut: try addRelay { $0.removeLast() }
            case .relayLonger: try addRelay { $0.append(0) }
            case .relayWord: try addRelay { $0[$0.count - 33] = 0x0D }
            case .relays:
                for number in 0..<17 {
                    index.secretJournal.append(
                        try RelayRegistrationTests.sample("https://\(number).example").entry())
                }
            case .sameRelay:
                for _ in 0..<2 {
                    index.secretJournal.append(try RelayRegistrationTests.sample().entry())
                }
            }
        }
    }

    @Test(arguments: BadEntry.allCases)
    func `READER-2: a journal entry that cannot be decoded is damage`(bad: BadEntry) throws {
        let before = try TamperedFile(fixture)
        // Our own writes never make one.
        let refused = code { try tamper { try bad.put(into: &$0.index) } }
        #expect(refused == .tooLarge)
        try reseal(index: bad.put)
        let locked = try fixture.lockedKeys
        for keys in [fixture.keys, locked] {
            let problems = try fixture.open().inspection(with: keys).problems
            #expect(problems.map(\.place) == [.index])
            #expect(problems.first?.damage == bad.damage, "\(problems)")
            #expect(code { try fixture.set("A", "x", keys: keys) } == .damaged)
        }
        // Commands that do not need the journal still work.
        _ = try fixture.open().index(with: locked, extent: .listing)
        try before.restoreOriginal()
        #expect(try fixture.open().inspection(with: locked).problems.isEmpty)
    }

    @Test
    func
        `READER-2: a rotation that the checkpoint does not hold is damage once the values are open`()
        throws
    {
        let rotation = RotationEntryTests.sample(isFull: true, isOpen: false)
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { try $0.keep(rotation) }
        let keys = fixture.keys
        #expect(try fixture.open().inspection(with: keys).problems.isEmpty)
        try reseal(index: { index in
            let entry = index.journal[0]
            var payload = entry.payload
            let place = try #require(payload.firstIndex(of: UInt8(ascii: "a")))
            payload[place] = UInt8(ascii: "b")
            index.journal[0] = JournalEntry(
                id: entry.id, kind: entry.kind, createdAt: entry.createdAt, payload: payload)
        })
        let problems = try fixture.open().inspection(with: keys).problems
        #expect(problems.map(\.place) == [.journal])
        #expect(problems.first?.damage == .rotation)
        #expect(try fixture.open().inspection(with: try fixture.lockedKeys).problems.isEmpty)
    }
}

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

    /// Changes the index with the root.
    private func update(_ body: (inout VaultTransaction) throws -> Void) throws {
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID, body)
    }

    /// Rewrites the file with another index and a proof that holds, as a program with the root and a
    /// mistake could.
    private func reseal(_ change: (inout VaultIndex) throws -> Void) throws {
        let vault = try fixture.open()
        var header = vault.header
        var index = try vault.index(with: fixture.keys, extent: .everything)
        try change(&index)
        let blocks = try NextBlocks(
            of: index, from: vault, vault: header.vaultID, keys: fixture.keys, isChecked: false)
        let sealed = try header.sealing(index, blocks, keys: fixture.keys)
        try fixture.store.replace(
            fixture.path,
            with: [.bytes(sealed.header), .bytes(sealed.table)]
                + blocks.parts(from: vault, newChunks: []))
    }

    private func openByPassphrase() throws -> VaultKeys {
        try fixture.open().open(
            with: try VaultFixture.passphrase("right"), memoryLimitBytes: nil
        ).keys
    }

    /// Puts a chunk in the place of another version's, in a file whose proof holds.
    private func expectClosed(
        _ change: (inout VaultIndex, _ id: Identifier) throws -> Void
    ) throws {
        try update { transaction in
            let id = transaction.index.variables[transaction.positionOfVariable("A")].id
            try change(&transaction.index, id)
        }
        #expect(kindOfDamage { _ = try fixture.value(of: "A") } == .value)
        #expect(kindOfDamage { try fixture.open().verify(with: fixture.keys) } == .value)
        #expect(code { try fixture.open().verify(with: try fixture.lockedKeys) } == nil)
    }

    @Test func `a value moved to another record does not open`() throws {
        try expectClosed { index, id in
            let other = try #require(index.variables.first { $0.name == "B" }).id
            let (a, b) = (
                try #require(index.currentVersions[id]), try #require(index.currentVersions[other])
            )
            index.currentVersions[id] = b.moved(to: a)
            index.currentVersions[other] = a.moved(to: b)
        }
    }

    @Test func `an old value restored under the new number does not open`() throws {
        try expectClosed { index, id in
            let place = try #require(index.earlierVersions.firstIndex { $0.variable == id })
            let (old, new) = (
                index.earlierVersions[place], try #require(index.currentVersions[id])
            )
            index.currentVersions[id] = old.moved(to: new)
            index.earlierVersions[place] = new.moved(to: old)
        }
    }

    @Test func `a value moved to another project, and an old version made current, are the root's`()
        throws
    {
        let good = try TamperedFile(fixture)
        let other = VaultProject(name: "other", createdAt: 1)
        func move(_ index: inout VaultIndex) throws {
            index.projects.append(other)
            index.variables[0].project = other.id
        }
        func setBack(_ index: inout VaultIndex) throws {
            let place = try #require(index.earlierVersions.indices.first)
            let id = index.earlierVersions[place].variable
            let position = try #require(index.variables.firstIndex { $0.id == id })
            let new = try #require(index.currentVersions[id])
            index.currentVersions[id] = index.earlierVersions[place]
            index.earlierVersions[place] = new
            index.variables[position].currentVersion = 1
        }
        // The seal of a value does not say where it belongs: the index does, and its proof.
        for change in [move, setBack] {
            try fixture.forge(changing: change)
            for reader in [fixture.keys, try fixture.lockedKeys] {
                #expect(fixture.damage(for: reader) == .signature)
                #expect(
                    kindOfDamage { try fixture.open().verify(with: reader) } == .signature)
            }
            #expect(code { try fixture.set("A", "x") } == .damaged)
            try good.restoreOriginal()
        }
        try update { try setBack(&$0.index) }
        #expect(try fixture.value(of: "A") == "one")
        try update { try move(&$0.index) }
        for name in ["A", "B"] { #expect(try fixture.value(of: name) != nil) }
        try fixture.open().verify(with: fixture.keys)
    }

    @Test func `a foreign data key is damage for the root`() throws {
        try fixture.set("C", "cee")
        let index = try fixture.open().index(with: fixture.keys, extent: .everything)
        let id = try #require(index.variables.first { $0.name == "C" }).id
        let batch = try #require(index.currentVersions[id]).batch
        try update { transaction in
            let place = try #require(
                transaction.index.batches.firstIndex { $0.id == batch })
            let key = try RootKey.random().batchKey()
            transaction.index.batches[place] = Batch(
                try SecretBytes.random(count: 32), id: batch, vault: fixture.vaultID,
                batchKey: key)
        }
        #expect(kindOfDamage { _ = try fixture.value(of: "C") } == .batch)
        #expect(try fixture.open().inspection(with: fixture.keys).problems.first?.damage == .batch)
        #expect(try fixture.value(of: "B") == "bee")
        // Another value does not hide it.
        try fixture.set("A", "three")
        #expect(kindOfDamage { try fixture.open().verify(with: fixture.keys) } == .batch)
    }

    @Test func `a replaced public key is found when the values open`() throws {
        try fixture.forge(header: { $0.publicKey = [UInt8](repeating: 9, count: 32) })
        let (keys, locked) = (try openByPassphrase(), try fixture.lockedKeys)
        for extent in [VaultIndex.Extent.listing, .currentValues, .everything] {
            #expect(fixture.damage(for: keys, extent) == .exchangedKey)
            #expect(fixture.damage(for: locked, extent) == .signature)
        }
        #expect(code { try fixture.set("A", "x", keys: keys) } == .damaged)
        let problems = try fixture.open().inspection(with: keys).problems
        #expect(problems.map(\.damage) == [.exchangedKey])
        #expect(problems.map(\.place) == [.header])
    }

    @Test func `foreign and removed slots are found by every reader`() throws {
        let good = try TamperedFile(fixture)
        let locked = try fixture.lockedKeys
        try fixture.forge(header: { header in
            let key = try SecretBytes.random(count: 32)
            header.slots.append(
                try locked.storedKeySlot(
                    .file, .index, slotKey: key, vault: fixture.vaultID, at: 5_000))
        })
        let keys = try openByPassphrase()
        for reader in [keys, locked] {
            #expect(fixture.damage(for: reader) == .signature)
            #expect(kindOfDamage { try fixture.open().verify(with: reader) } == .signature)
        }
        #expect(code { try fixture.set("A", "x", keys: keys) } == .damaged)
        try good.restoreOriginal()
        #expect(code { try fixture.open().verify(with: keys) } == nil)
        try fixture.forge(header: { $0.slots = [] })
        #expect(code { _ = try openByPassphrase() } == .wrongPassphrase)
        for reader in [fixture.keys, locked] {
            #expect(kindOfDamage { try fixture.open().verify(with: reader) } == .signature)
        }
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

    @Test func `SEC-F15: a public key of low order signs nothing`() throws {
        let locked = try fixture.lockedKeys
        let good = try TamperedFile(fixture)
        let zeros = [UInt8](repeating: 0, count: 31)
        // A number and a point with which a careless check takes anything for signed.
        let signature: [UInt8] = [1] + zeros + [0] + zeros
        for key in [[0] + zeros, [1] + zeros] {
            try fixture.forge(
                header: { $0.publicKey = key }, proof: .own,
                opened: { $0.replaceSubrange(($0.count - 64)..., with: signature) })
            let before = try fixture.directory.read("vault.zgv")
            let keys = try openByPassphrase()
            for extent in [VaultIndex.Extent.listing, .everything] {
                #expect(fixture.damage(for: locked, extent) == .signature)
                #expect(fixture.damage(for: keys, extent) == .exchangedKey)
            }
            let problems = try fixture.open().inspection(with: locked).problems
            #expect(problems.map(\.place) == [.index])
            #expect(code { try fixture.set("LOST", "value") } == .damaged)
            #expect(try fixture.directory.read("vault.zgv") == before)
            try good.restoreOriginal()
        }
        try fixture.set("KEPT", "value")
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
                        id: entry.id, kind: kind ?? entry.kind, createdAt: 1, payload: payload,
                        section: entry.section))
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
        let refused = code { try update { try bad.put(into: &$0.index) } }
        #expect(refused == .tooLarge)
        try reseal(bad.put)
        let locked = try fixture.lockedKeys
        for keys in [fixture.keys, locked] {
            let problems = try fixture.open().inspection(with: keys).problems
            #expect(problems.map(\.place) == [.index])
            #expect(problems.first?.damage == bad.damage, "\(problems)")
        }
        #expect(code { try fixture.set("A", "x") } == .damaged)
        // Commands that do not need the journal still work.
        _ = try fixture.open().index(with: locked, extent: .listing)
        try before.restoreOriginal()
        #expect(try fixture.open().inspection(with: locked).problems.isEmpty)
    }

    @Test func `READER-2: a journal entry of the index key's holder is not decoded`() throws {
        for bad in BadEntry.allCases {
            let before = try TamperedFile(fixture)
            try fixture.forge(changing: bad.put)
            for keys in [fixture.keys, try fixture.lockedKeys] {
                let problems = try fixture.open().inspection(with: keys).problems
                #expect(problems.map(\.place) == [.index])
                #expect(problems.map(\.damage) == [.signature], "\(bad)")
            }
            try before.restoreOriginal()
        }
    }
}

import Sealing
import TestSupport
import Testing

@testable import Vault

/// Only a holder of the root writes: what its writes leave, and what becomes of anyone else's.
@Suite("The proof of who wrote the index")
struct IndexProofTests {
    private let fixture: VaultFixture
    private let locked: VaultKeys
    private static let extents = [VaultIndex.Extent.listing, .currentValues, .everything]

    init() throws {
        fixture = try VaultFixture()
        locked = try fixture.lockedKeys
        for name in ["A", "B"] { try fixture.set(name, "value of \(name)") }
    }

    private func bytes() throws -> [UInt8] { try fixture.directory.read("vault.zgv") }

    /// Writes a copy and opens it.
    private func copy() throws -> Vault {
        let path = fixture.directory.path("copy.zgv")
        _ = try fixture.open().writeCopy(
            to: path, in: fixture.store, replaces: true, keys: fixture.keys)
        return try Vault(path: path, file: try fixture.store.openCopy(path))
    }

    private func restore(_ backup: Vault, keys: VaultKeys? = nil) throws -> Vault.Restoration {
        try backup.restore(
            to: fixture.path, in: fixture.store, keys: keys ?? fixture.keys, currentKeys: nil,
            keepingAt: fixture.directory.path("kept"), acceptsOther: false)
    }

    // MARK: Writes with the root

    /// A write of the vault.
    enum Write: CaseIterable {
        case create, value, comment, slot, older, restore, rekey
    }

    /// Writes the vault, and returns the keys that open it afterwards.
    private func apply(_ write: Write) throws -> VaultKeys {
        switch write {
        case .create: break
        case .value: try fixture.set("A", "another")
        case .comment:
            try fixture.updateSlots { $0.index.variables[0].attributes.comment = "a comment" }
        case .slot:
            let slot = try fixture.passphraseSlot("second")
            try fixture.updateSlots { try $0.add(slot) }
        case .older:
            let tag = [UInt8](repeating: 7, count: 16)
            try fixture.updateSlots { $0.outlive([.init(generation: 90, indexTag: tag)]) }
        case .restore: _ = try restore(try copy())
        case .rekey: return try fixture.rekey(to: "second")
        }
        return fixture.keys
    }

    @Test(arguments: Write.allCases)
    func `every write with the root makes one that holds for every reader`(write: Write) throws {
        let old = try IndexKeyWriter.proof(of: try fixture.open(), keys: fixture.keys)
        let keys = try apply(write)
        let vault = try fixture.open()
        for reader in [keys, try keys.indexTier()] {
            for extent in Self.extents {
                #expect(try vault.index(with: reader, extent: extent).variables.count == 2)
            }
            #expect(try vault.inspection(with: reader).problems.isEmpty)
        }
        let new = try IndexKeyWriter.proof(of: vault, keys: keys)
        #expect(new.count == 96)
        // Neither part is one from before.
        let isSame = new[..<32] == old[..<32] || new[32...] == old[32...]
        #expect(isSame == (write == .create))
        let publicKey = try keys.root?.signingPair().publicKey
        #expect(vault.header.publicKey == publicKey)
    }

    @Test func `a new vault has one`() throws {
        let new = try VaultFixture(keyring: FakeKeyring())
        for reader in [new.keys, try new.lockedKeys] {
            #expect(try new.open().inspection(with: reader).problems.isEmpty)
        }
        #expect(try new.open().header.generation == 1)
    }

    // MARK: Writes without the root

    @Test func `keys without the root write nothing, and no change is begun`() throws {
        let before = try bytes()
        let backup = try copy()
        let vault = try fixture.open()
        let (slots, newKeys) = (vault.header.slots, try vault.newKeys())
        let slot = try fixture.passphraseSlot("right", keys: newKeys)
        func rekey(_ old: VaultKeys, _ new: VaultKeys) throws {
            _ = try Vault.rekey(
                fixture.path, in: fixture.store, vaultID: fixture.vaultID,
                .init(oldKeys: old, newKeys: new, oldSlots: slots, newSlots: [slot]))
        }
        var isBegun = false
        #expect(
            code { try fixture.updateSlots(keys: locked) { _ in isBegun = true } }
                == .wrongPassphrase)
        #expect(!isBegun)
        #expect(code { try fixture.set("A", "another", keys: locked) } == .wrongPassphrase)
        #expect(code { _ = try restore(backup, keys: locked) } == .wrongPassphrase)
        #expect(code { try rekey(locked, newKeys) } == .wrongPassphrase)
        #expect(code { try rekey(fixture.keys, try newKeys.indexTier()) } == .wrongPassphrase)
        var header = vault.header
        let index = try vault.index(with: locked, extent: .everything)
        #expect(
            code {
                let blocks = try NextBlocks(
                    of: index, from: vault, vault: vault.header.vaultID, keys: locked)
                _ = try header.sealing(index, blocks, keys: locked)
            } == .wrongPassphrase)
        #expect(try bytes() == before)
        #expect(try !fixture.store.exists(fixture.directory.path("kept")))
    }

    /// A change that needs only the index key, and what readers find.
    struct Forgery: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var root = VaultDamage.signature
        var names: VaultDamage? = .signature
        var proof = IndexKeyWriter.Proof.kept
        var header: @Sendable (inout VaultHeader) throws -> Void = { _ in }
        var index: @Sendable (inout VaultIndex) throws -> Void = { _ in }
        var opened: @Sendable (inout [UInt8]) throws -> Void = { _ in }

        static func inHeader(
            _ what: String, root: VaultDamage = .signature,
            _ change: @escaping @Sendable (inout VaultHeader) throws -> Void
        ) -> Forgery {
            Forgery(testDescription: what, root: root, header: change)
        }

        static func inIndex(
            _ what: String, _ change: @escaping @Sendable (inout VaultIndex) throws -> Void
        ) -> Forgery {
            Forgery(testDescription: what, index: change)
        }

        static func inOpened(
            _ what: String, names: VaultDamage? = .signature,
            _ change: @escaping @Sendable (inout [UInt8]) throws -> Void
        ) -> Forgery {
            Forgery(testDescription: what, names: names, opened: change)
        }
    }

    static let forgeries = [ofHeaders, ofIndexes, ofOpened].flatMap { $0 }

    private static let ofHeaders: [Forgery] = [
        .inHeader("another nonce") { $0.tableNonce[0] ^= 1 },
        .inHeader("the next generation") { $0.generation += 1 },
        .inHeader("an earlier generation") { $0.generation -= 1 },
        .inHeader("the highest generation") { $0.generation = .max },
        .inHeader("another vault's id") { $0.vaultID = .random() },
        .inHeader("no slots") { $0.slots = [] },
        .inHeader("a slot of the writer's") { header in
            let keys = VaultKeys(
                index: IndexKey(try SecretBytes.random(count: 32), epoch: 1), root: nil)
            header.slots.append(
                try keys.storedKeySlot(
                    .file, .index, slotKey: try SecretBytes.random(count: 32),
                    vault: header.vaultID, at: 5_000))
        },
        .inHeader("a slot's time") { header in
            let slot = header.slots[0]
            header.slots[0] = KeySlot(
                id: slot.id, kind: slot.kind, tier: slot.tier, cost: slot.cost, salt: slot.salt,
                nonce: slot.nonce, wrapped: slot.wrapped, createdAt: slot.createdAt + 1)
        },
        .inHeader("a bit of the public key", root: .exchangedKey) { $0.publicKey[3] ^= 1 },
        .inHeader("a public key of zeros", root: .exchangedKey) {
            $0.publicKey = [UInt8](repeating: 0, count: 32)
        },
        .inHeader("the writer's public key", root: .exchangedKey) {
            $0.publicKey = try IndexKeyWriter.publicKey()
        },
        Forgery(testDescription: "the writer's proof", proof: .own),
        Forgery(
            testDescription: "the writer's public key and proof", root: .exchangedKey, names: nil,
            proof: .own, header: { $0.publicKey = try IndexKeyWriter.publicKey() }),
    ]

    private static let ofIndexes: [Forgery] = [
        .inIndex("a record's name") { $0.variables[0].name = "FORGED" },
        .inIndex("a removed record") { $0.variables[0].deletedAt = 5_000 },
        .inIndex("an exchange of two records' names") { index in
            let names = index.variables.map(\.name)
            index.variables[0].name = names[1]
            index.variables[1].name = names[0]
        },
        .inIndex("another project") { $0.projects.append(VaultProject(name: "api", createdAt: 1)) },
        .inIndex("SEC-F1: a binding to another origin") {
            $0.projects[0].binding = .init(
                origin: "https://evil.example", accountID: "u", teamID: nil, teamSlug: nil,
                projectID: "prj_1", projectName: "web")
        },
        .inIndex("SEC-F1: an account of another origin") {
            $0.accounts.append(
                Account(
                    name: "evil", origin: "https://evil.example", userID: "u", username: "n",
                    isDefault: true, createdAt: 1, secret: try VectorVault.secretSlice(5, 7)))
        },
        .inIndex("SEC-F2: a data key of the writer's under an old id") { index in
            let root = RootKey(try VectorVault.secret(IndexKeyWriter.root))
            let batchKey = try root.batchKey()
            index.batches[0] = Batch(
                try SecretBytes.random(count: 32), id: index.batches[0].id, vault: .random(),
                batchKey: batchKey)
        },
        .inIndex("SEC-F6: a guess beside a value") { index in
            let current = index.currentVersions.values[0]
            index.earlierVersions.append(
                StoredVersion(
                    variable: current.variable, version: 9, id: .random(), batch: current.batch,
                    offset: current.offset, length: current.length, checksum: current.checksum,
                    createdAt: 5_000, formerName: nil))
        },
        .inIndex("SEC-F7: an approved directory") { index in
            index.metadata.approve(
                .init(
                    path: "/evil", project: "web", organisation: "",
                    vaultProject: index.projects[0].id))
        },
        .inIndex("a setting") { $0.metadata.set("schema-check", to: "off") },
        .inIndex("a rotation with commands") {
            $0.journal.append(try RotationEntryTests.sample(isFull: true, isOpen: true).entry())
        },
        .inIndex("forgotten generations") { $0.metadata.generationTags = [] },
    ]

    private static let ofOpened: [Forgery] = [
        .inOpened("a bit of the code", names: nil) { $0[$0.count - 96] ^= 1 },
        .inOpened("no proof") { opened in
            opened.replaceSubrange(
                (opened.count - 96)..., with: [UInt8](repeating: 0, count: 96))
        },
        .inOpened("a bit in the last zero") { $0[$0.count - 97] = 1 },
        // The proof is checked before anything is decoded.
        .inOpened("the highest length") { $0.write(UInt32.max, at: 0) },
        .inOpened("the flag of groups") { $0[4] = 1 },
        .inOpened("a section longer than the content") { $0.write(UInt32.max, at: 5) },
    ]

    @Test(arguments: forgeries)
    func `what a holder of the index key writes is refused, and nothing is based on it`(
        forgery: Forgery
    ) throws {
        let seen = try fixture.open().position()
        let backup = try copy()
        try fixture.forge(
            changing: forgery.index, header: forgery.header, proof: forgery.proof,
            opened: forgery.opened)
        let forged = try bytes()
        for extent in Self.extents {
            #expect(fixture.damage(for: fixture.keys, extent) == forgery.root)
            #expect(fixture.damage(for: locked, extent) == forgery.names)
        }
        let problems = try fixture.open().inspection(with: fixture.keys).problems
        #expect(problems.map(\.damage) == [forgery.root])
        #expect(throws: VaultError.self) { try fixture.set("A", "with the root") }
        #expect(throws: VaultError.self) { try fixture.rekey(to: "second") }
        #expect(throws: VaultError.self) { _ = try copy() }
        let header = try fixture.open().header
        if header.generation > seen.generation {
            let found = kindOfDamage {
                _ = try fixture.open().standing(to: seen, with: fixture.keys)
            }
            #expect(found == forgery.root)
        }
        #expect(try bytes() == forged)
        // A copy replaces it, and takes nothing from it.
        if header.vaultID == fixture.vaultID, header.generation < .max {
            #expect(try !restore(backup).continuesVersions)
            #expect(try fixture.value(of: "A") == "value of A")
        }
    }

    @Test func `a changed signature is found by a check of the whole vault, and without the root`()
        throws
    {
        try fixture.forge(opened: { $0[$0.count - 1] ^= 1 })
        #expect(fixture.damage(for: fixture.keys) == nil)
        #expect(fixture.damage(for: locked, .listing) == .signature)
        for reader in [fixture.keys, locked] {
            let problems = try fixture.open().inspection(with: reader).problems
            #expect(problems.map(\.place) == [.index])
            #expect(problems.map(\.damage) == [.signature])
        }
    }

    @Test func `a reader without the root finds another public key in the observation`() throws {
        let own = try fixture.open().observation().publicKey
        try fixture.forge(
            header: { $0.publicKey = try IndexKeyWriter.publicKey() }, proof: .own)
        #expect(fixture.damage(for: locked) == nil)
        let found = try fixture.open().observation().publicKey
        #expect(found != own)
        #expect(found == (try IndexKeyWriter.publicKey()))
        #expect(fixture.damage(for: fixture.keys) == .exchangedKey)
    }

    @Test func `an older proof holds only for the older file`() throws {
        let older = try TamperedFile(fixture)
        let proof = try IndexKeyWriter.proof(of: try fixture.open(), keys: locked)
        let (index, header) = (
            try fixture.open().index(with: locked, extent: .everything), try fixture.open().header
        )
        try fixture.set("A", "newer")
        let newer = try fixture.open().header
        func expectRefused() {
            for reader in [fixture.keys, locked] {
                #expect(fixture.damage(for: reader, .listing) == .signature)
            }
        }
        try fixture.forge(proof: .found(proof))
        expectRefused()
        // Also under its own generation, and for its own content under the newer header.
        try fixture.forge(header: { $0.generation = header.generation }, proof: .found(proof))
        expectRefused()
        try fixture.forge(
            changing: { $0 = index }, header: { $0.generation = newer.generation },
            proof: .found(proof))
        expectRefused()
        // The whole older file was written with the root: rollback guards find it.
        try older.restoreOriginal()
        for reader in [fixture.keys, locked] { #expect(fixture.damage(for: reader) == nil) }
        let seen = VaultPosition(
            generation: newer.generation, indexTag: [UInt8](repeating: 0, count: 16))
        #expect(try fixture.open().standing(to: seen, with: locked) == .older)
    }

    /// Flips bytes of the opened index and seals it again under the same header.
    /// ZG_ENV_PROOF=full flips each.
    @Test func `every byte of the index is covered by both parts`() throws {
        let vault = try fixture.open()
        let count = try IndexKeyWriter.opened(of: vault, keys: locked).count
        let (proof, signature) = (count - 96, count - 64)
        #expect(try IndexKeyWriter.file(of: vault, keys: locked) == bytes())
        var wrong: [String] = []
        for offset in 0..<count
        where Proof.isFull || offset >= proof || offset < 64 || offset % 41 == 0 {
            let forged = try IndexKeyWriter.file(
                of: vault, keys: locked, opened: { $0[offset] ^= 1 << UInt8(offset % 8) })
            func isRefused(_ reader: VaultKeys) -> Bool {
                kindOfDamage {
                    _ = try Vault(path: "memory", file: MemoryFile(forged))
                        .index(with: reader, extent: .listing)
                } == .signature
            }
            // Each reader checks its own part.
            if isRefused(fixture.keys) == (offset >= signature) {
                wrong.append("\(offset), with the root")
            }
            if isRefused(locked) == (proof..<signature).contains(offset) {
                wrong.append("\(offset), without it")
            }
        }
        #expect(wrong == [])
    }
}

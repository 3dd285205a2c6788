import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("The checkpoint")
struct CheckpointTests {
    private let fixture: VaultFixture

    /// A vault in which the records A, B and C were made, and accepted, with the root.
    init() throws {
        fixture = try VaultFixture()
        for name in ["A", "B", "C"] { try fixture.set(name, "value of \(name)") }
    }

    /// Changes the vault with the index key alone.
    private func tamper(_ body: (inout VaultTransaction) throws -> Void) throws {
        try update(try fixture.lockedKeys, body)
    }

    private func update(
        _ keys: VaultKeys? = nil, _ body: (inout VaultTransaction) throws -> Void
    ) throws {
        try Vault.update(
            fixture.path, in: fixture.store, keys: keys ?? fixture.keys, vaultID: fixture.vaultID,
            body)
    }

    /// The index as somebody with the root decodes it.
    private func index(_ keys: VaultKeys? = nil) throws -> VaultIndex {
        try fixture.open().index(with: keys ?? fixture.keys, extent: .accepted)
    }

    private func comparison() throws -> CheckpointComparison {
        CheckpointComparison(of: try index())
    }

    /// "A: added", "B: version, type" …
    private func changes() throws -> [String] {
        try comparison().changes.map { change in
            switch change.kind {
            case .added: "\(change.name): added"
            case .removed: "\(change.name): removed"
            case .changed(let fields):
                "\(change.name): \(fields.map(\.rawValue).joined(separator: ", "))"
            }
        }
    }

    private func position(_ name: String, _ index: VaultIndex) throws -> Int {
        try #require(index.variables.firstIndex { $0.name == name })
    }

    @Test func `every write with the root makes one that accepts what it did`() throws {
        #expect(try changes() == [])
        let checkpoint = try #require(try index().checkpoint)
        #expect(checkpoint.entries.map(\.name).sorted() == ["A", "B", "C"])
        #expect(checkpoint.generation == (try fixture.open().header.generation))
        let new = try VaultFixture()
        let first = try #require(
            try new.open().index(with: new.keys, extent: .accepted).checkpoint)
        #expect(first.entries == [])
        #expect(first.generation == 1)
    }

    @Test func `a listing does not decode it`() throws {
        for extent in [VaultIndex.Extent.listing, .currentValues] {
            let index = try fixture.open().index(with: fixture.keys, extent: extent)
            #expect(index.checkpoint == nil)
            #expect(index.variables.count == 3)
        }
    }

    @Test func `a write without the root carries it to the byte`() throws {
        let before = try index().checkpoint
        try fixture.set("A", "another", keys: try fixture.lockedKeys)
        #expect(try index().checkpoint == before)
        #expect(try changes() == ["A: version"])
    }

    // MARK: - Changed while locked

    /// A change that takes the index key alone, and what is then listed.
    struct Tampering: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let listed: [String]
        let change: @Sendable (inout Variable) -> Void

        init(
            _ what: String, _ listed: String...,
            change: @escaping @Sendable (inout Variable) -> Void
        ) {
            testDescription = what
            self.listed = listed
            self.change = change
        }
    }

    private static let remote = RemoteState(
        id: "env_1", key: "A", account: "user_1", pushedVersion: 1,
        agreed: .init(kind: .encrypted, scope: Scope(targets: .all)), updatedAt: 1, pushedAt: 1)

    static let tamperings = [
        Tampering("moved to other targets", "A: targets") {
            $0.attributes.scope.targets = .development
        },
        Tampering("moved to a custom environment", "A: environments") {
            $0.attributes.scope = Scope(targets: .all, customEnvironments: ["staging"])
        },
        Tampering("moved to a branch", "A: branch") { $0.attributes.scope.branch = "main" },
        Tampering("shown by the platform", "A: type") { $0.attributes.kind = .plain },
        Tampering("set back", "A: version") { $0.currentVersion = 0 },
        Tampering("bound to a record of the platform", "A: remoteId, account") {
            $0.remote = remote
        },
        Tampering("removed", "A: removed") { $0.deletedAt = 5_000 },
        Tampering("of another name", "Z: name") { $0.name = "Z" },
        // No part of what the checkpoint holds.
        Tampering("with a comment") { $0.attributes.comment = "note" },
    ]

    @Test(arguments: tamperings)
    func `what was changed with the index key alone is listed`(tampering: Tampering) throws {
        try tamper { transaction in
            let position = transaction.positionOfVariable("A")
            tampering.change(&transaction.index.variables[position])
            let variable = transaction.index.variables[position]
            if variable.currentVersion == 0 {
                transaction.index.currentVersions[variable.id] = nil
            }
        }
        #expect(try changes() == tampering.listed)
        // A later write with the root does not accept what it did not do.
        try fixture.set("B", "new")
        #expect(try changes() == tampering.listed)
    }

    @Test func `a record moved to another project, through another account, is listed`() throws {
        let other = VaultProject(name: "other", createdAt: 1)
        try update { transaction in
            transaction.index.projects.append(other)
            let position = transaction.positionOfVariable("A")
            transaction.index.variables[position].remote = Self.remote
        }
        #expect(try changes() == [])
        try tamper { transaction in
            let position = transaction.positionOfVariable("A")
            transaction.index.variables[position].project = other.id
            transaction.index.variables[position].remote?.account = "user_2"
        }
        #expect(try changes() == ["A: project, account"])
        #expect(try comparison().changes.first?.project == other.id)
    }

    @Test func `dropped records and new ones are listed`() throws {
        try tamper { transaction in
            let dropped = transaction.index.variables.filter { $0.name == "B" }.map(\.id)
            transaction.erase(Set(dropped))
        }
        try fixture.set("NEW", "made while locked", keys: try fixture.lockedKeys)
        #expect(try changes() == ["B: removed", "NEW: added"])
    }

    @Test func `what is undone is not listed, and what is removed with the root is not either`()
        throws
    {
        try tamper { $0.index.variables[0].attributes.kind = .plain }
        try tamper { $0.index.variables[0].attributes.kind = .encrypted }
        #expect(try changes() == [])
        try update { transaction in
            transaction.index.variables[1].deletedAt = 9
            let third = transaction.index.variables[2].id
            transaction.erase([third])
        }
        #expect(try changes() == [])
        #expect(try index().checkpoint?.entries.count == 1)
    }

    @Test func `a write with the root accepts of a record what it changes, and no more`() throws {
        try tamper { transaction in
            let position = transaction.positionOfVariable("A")
            transaction.index.variables[position].attributes.kind = .plain
        }
        try fixture.set("A", "a new value, with the root")
        #expect(try changes() == ["A: type"])
        // Of one that was never accepted nothing is.
        try fixture.set("NEW", "locked", keys: try fixture.lockedKeys)
        try fixture.set("NEW", "open")
        #expect(try changes() == ["A: type", "NEW: added"])
    }

    // MARK: - Accepting

    @Test func `what is accepted is not listed any more, and the rest stays`() throws {
        try fixture.set("A", "locked", keys: try fixture.lockedKeys)
        try fixture.set("NEW", "locked", keys: try fixture.lockedKeys)
        try tamper { transaction in
            let position = transaction.positionOfVariable("C")
            transaction.index.variables[position].deletedAt = 7
        }
        let shown = try comparison()
        #expect(try changes() == ["A: version", "C: removed", "NEW: added"])
        let a = try #require(shown.changes.first { $0.name == "A" })
        try update { try $0.accept(shown.limited(to: [a.variable])) }
        #expect(try changes() == ["C: removed", "NEW: added"])
        try update { try $0.accept(shown) }
        #expect(try changes() == [])
        #expect(try index().checkpoint?.entries.map(\.name).sorted() == ["A", "B", "NEW"])
    }

    @Test func `what changed since it was shown is not accepted with it`() throws {
        try fixture.set("A", "locked", keys: try fixture.lockedKeys)
        let shown = try comparison()
        try tamper { transaction in
            let position = transaction.positionOfVariable("A")
            transaction.index.variables[position].attributes.kind = .plain
        }
        try update { try $0.accept(shown) }
        #expect(try changes() == ["A: version, type"])
    }

    @Test func `nobody accepts without the root`() throws {
        try fixture.set("A", "locked", keys: try fixture.lockedKeys)
        let shown = try comparison()
        #expect(code { try tamper { try $0.accept(shown) } } == .wrongPassphrase)
        #expect(try changes() == ["A: version"])
    }

    // MARK: - Forged

    @Test func `without one every record counts as changed, whatever is written later`() throws {
        try tamper { $0.index.checkpoint = nil }
        #expect(try changes() == ["A: added", "B: added", "C: added"])
        try fixture.set("A", "with the root")
        #expect(try index().checkpoint?.entries == [])
        #expect(try changes() == ["A: added", "B: added", "C: added"])
        let shown = try comparison()
        try update { try $0.accept(shown) }
        #expect(try changes() == [])
    }

    @Test func `one that somebody else changed is damage to whoever holds the root`() throws {
        let changes: [(inout VaultTransaction) -> Void] = [
            { $0.index.checkpoint?.entries.removeFirst() },
            { $0.index.checkpoint?.entries[0].kind = .plain },
            { transaction in
                let entries = transaction.index.checkpoint?.entries ?? []
                transaction.index.checkpoint = Checkpoint(
                    generation: 1, authenticationCode: [UInt8](repeating: 7, count: 32),
                    entries: entries)
            },
        ]
        let good = try TamperedFile(fixture)
        for change in changes {
            try tamper { change(&$0) }
            #expect(code { _ = try index() } == .damaged)
            #expect(code { try fixture.open().verify(with: fixture.keys) } == .damaged)
            #expect(code { try fixture.set("A", "x") } == .damaged)
            // Without the root nobody can tell.
            #expect(code { _ = try index(try fixture.lockedKeys) } == nil)
            let found = try fixture.open().inspection(with: fixture.keys).problems
            #expect(found.map(\.place) == [.checkpoint])
            try good.putBack()
        }
    }

    @Test func `an earlier one that is put back lists again what was accepted since`() throws {
        let old = try #require(try index().checkpoint)
        try fixture.set("A", "two")
        try fixture.set("NEW", "new")
        #expect(try changes() == [])
        try tamper { $0.index.checkpoint = old }
        #expect(try changes() == ["A: version", "NEW: added"])
    }

    @Test func `one of a later generation than the file's is damage`() throws {
        guard let key = try fixture.keys.root?.checkpointKey() else {
            Issue.record("no root")
            return
        }
        var header = try fixture.open().header
        header.generation = 1_000
        let late = try Checkpoint.made(of: [], under: header, key: key)
        try tamper { $0.index.checkpoint = late }
        #expect(code { _ = try index() } == .damaged)
    }

    @Test func `a slot, the epoch and the public key are covered by it`() throws {
        let vault = try fixture.open()
        let index = try vault.index(with: fixture.keys, extent: .everything)
        let checkpoint = try #require(index.checkpoint)
        guard let key = try fixture.keys.root?.checkpointKey() else {
            Issue.record("no root")
            return
        }
        #expect(code { try checkpoint.check(under: vault.header, key: key) } == nil)
        var headers: [VaultHeader] = []
        var changed = vault.header
        changed.slots.append(try fixture.passphraseSlot("somebody else's"))
        headers.append(changed)
        changed = vault.header
        changed.slots = []
        headers.append(changed)
        changed = vault.header
        changed.indexEpoch += 1
        headers.append(changed)
        changed = vault.header
        changed.publicKey[0] ^= 1
        headers.append(changed)
        changed = vault.header
        changed.vaultID = .random()
        headers.append(changed)
        for header in headers {
            #expect(code { try checkpoint.check(under: header, key: key) } == .damaged)
        }
    }

    // MARK: - Where the vault is made anew

    @Test func `new keys and a restored backup carry the entries`() throws {
        try fixture.set("A", "locked", keys: try fixture.lockedKeys)
        let vault = try fixture.open()
        let new = try vault.newKeys()
        _ = try Vault.rekey(
            fixture.path, in: fixture.store, vaultID: fixture.vaultID,
            .init(
                oldKeys: fixture.keys, newKeys: new, oldSlots: vault.header.slots,
                newSlots: [try fixture.passphraseSlot("right", keys: new)]))
        #expect(CheckpointComparison(of: try index(new)).changes.map(\.name) == ["A"])
        let copy = fixture.directory.path + "/copy.zgv"
        _ = try fixture.open().writeCopy(
            to: copy, in: fixture.store, replaces: false, keys: new)
        let backup = try Vault(path: copy, file: try fixture.store.openCopy(copy))
        _ = try backup.restore(
            to: fixture.path, in: fixture.store, keys: new, currentKeys: nil,
            keepingAt: fixture.path + ".old", acceptsOther: false)
        let restored = try index(new)
        #expect(CheckpointComparison(of: restored).changes.map(\.name) == ["A"])
        #expect(restored.checkpoint?.generation == (try fixture.open().header.generation))
    }
}

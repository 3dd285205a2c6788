import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("The checkpoint")
struct CheckpointTests {
    private let fixture: VaultFixture

    /// A vault with the accepted records A, B and C, and the root.
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

    /// The index, decoded with the root.
    private func index(_ keys: VaultKeys? = nil) throws -> VaultIndex {
        try fixture.open().index(with: keys ?? fixture.keys, extent: .everything)
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

    /// The names of the records in the checkpoint.
    private func acceptedNames() throws -> [String] {
        let entries = try index().checkpoint.entries
        return entries.records.compactMap { place -> String? in
            guard case .variable(let record) = entries.accepted(at: place) else { return nil }
            return record.name
        }.sorted()
    }

    private func position(_ name: String, _ index: VaultIndex) throws -> Int {
        try #require(index.variables.firstIndex { $0.name == name })
    }

    @Test func `every write with the root makes a checkpoint that accepts its own changes`() throws
    {
        #expect(try changes() == [])
        let checkpoint = try index().checkpoint
        #expect(try acceptedNames() == ["A", "B", "C"])
        #expect(checkpoint.generation == (try fixture.open().header.generation))
        let new = try VaultFixture()
        let first = try new.open().index(with: new.keys, extent: .everything).checkpoint
        #expect(first.entries.count == 0)
        #expect(first.generation == 1)
    }

    @Test func `listing does not decode the checkpoint`() throws {
        let index = try fixture.open().index(with: fixture.keys, extent: .listing)
        #expect(index.checkpoint == Checkpoint())
        #expect(index.variables.count == 3)
        let values = try fixture.open().index(with: fixture.keys, extent: .currentValues)
        #expect(values.checkpoint == (try self.index().checkpoint))
    }

    @Test func `a write without the root keeps the checkpoint byte for byte`() throws {
        let before = try index().checkpoint
        try fixture.set("A", "another", keys: try fixture.lockedKeys)
        #expect(try index().checkpoint == before)
        #expect(try changes() == ["A: version, versions"])
    }

    // MARK: - Changed while locked

    /// A change that needs only the index key, and the expected list of unconfirmed changes.
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
        Tampering("set back", "A: version, versions") { $0.currentVersion = 0 },
        Tampering("bound to a record of the platform", "A: remoteId, account") {
            $0.remote = remote
        },
        Tampering("removed", "A: removed") { $0.deletedAt = 5_000 },
        Tampering("of another name", "Z: name") { $0.name = "Z" },
        Tampering("replaced less often", "A: rotation") { $0.rotationSeconds = 5 },
        Tampering("with a lower highest number", "A: version, versions, highest") {
            ($0.currentVersion, $0.highestVersion) = (0, 0)
        },
        // The checkpoint covers none of this.
        Tampering("with a higher highest number") { $0.highestVersion = 9 },
        Tampering("with a comment") { $0.attributes.comment = "note" },
    ]

    @Test(arguments: tamperings)
    func `a change made with the index key alone is listed`(tampering: Tampering) throws {
        try tamper { transaction in
            let position = transaction.positionOfVariable("A")
            tampering.change(&transaction.index.variables[position])
            let variable = transaction.index.variables[position]
            if variable.currentVersion == 0 {
                transaction.index.currentVersions[variable.id] = nil
            }
        }
        #expect(try changes() == tampering.listed)
        // A later write with the root does not accept changes of others.
        try fixture.set("B", "new")
        #expect(try changes() == tampering.listed)
    }

    @Test func `a record moved to another project or account is listed`() throws {
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

    @Test func `deleted and new records are listed`() throws {
        try tamper { transaction in
            let dropped = transaction.index.variables.filter { $0.name == "B" }.map(\.id)
            transaction.erase(Set(dropped))
        }
        try fixture.set("NEW", "made while locked", keys: try fixture.lockedKeys)
        #expect(try changes() == ["B: removed", "NEW: added"])
    }

    @Test func `an undone change is not listed, nor a removal made with the root`()
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
        #expect(try acceptedNames().count == 2)
    }

    @Test func `a write with the root accepts only what it changes in a record`() throws {
        try tamper { transaction in
            let position = transaction.positionOfVariable("A")
            transaction.index.variables[position].attributes.kind = .plain
        }
        try fixture.set("A", "a new value, with the root")
        #expect(try changes() == ["A: type"])
        #expect(try fixture.value(of: "A", givesAny: false) == "a new value, with the root")
        // A record that was never accepted stays unaccepted.
        try fixture.set("NEW", "locked", keys: try fixture.lockedKeys)
        try fixture.set("NEW", "open")
        #expect(try changes() == ["A: type", "NEW: added"])
    }

    /// A change to an object other than a record, and the expected list.
    struct ObjectTampering: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let listed: [String]
        let change: @Sendable (inout VaultIndex) throws -> Void

        init(
            _ what: String, _ listed: String...,
            change: @escaping @Sendable (inout VaultIndex) throws -> Void
        ) {
            testDescription = what
            self.listed = listed
            self.change = change
        }
    }

    static let objectTamperings = [
        ObjectTampering("SEC-F1: a binding to another origin is listed", "web: binding") {
            $0.projects[0].binding?.origin = "https://evil.example"
        },
        ObjectTampering("a binding to another project is listed", "web: binding") {
            $0.projects[0].binding?.projectID = "prj_evil"
        },
        ObjectTampering("SEC-F1: an account of another origin is listed", "work: origin") {
            $0.accounts[0].origin = "https://evil.example"
        },
        ObjectTampering("another token is listed", "work: token") {
            $0.accounts[0].secret = try VectorVault.secretSlice(5, 7)
        },
        ObjectTampering("an added account is listed", "evil: added") {
            $0.accounts.append(
                Account(
                    name: "evil", origin: "o", userID: "u", username: "n", isDefault: false,
                    createdAt: 1, secret: try VectorVault.secretSlice(5, 7)))
        },
        ObjectTampering("a removed account is listed", "work: removed") { $0.accounts = [] },
        ObjectTampering(
            "SEC-F7: exchanged names of projects are listed", "api: name", "web: name"
        ) {
            $0.projects[0].name = "api"
            $0.projects[1].name = "web"
        },
        ObjectTampering("SEC-F7: an added approval of a directory is listed", "/evil: added") {
            let id = $0.projects[0].id
            $0.metadata.approve(
                .init(path: "/evil", project: "web", organisation: "", vaultProject: id))
        },
        ObjectTampering("SEC-F7: an approval for another project is listed", "/src: directory") {
            let id = $0.projects[1].id
            $0.metadata.approve(
                .init(path: "/src", project: "web", organisation: "", vaultProject: id))
        },
        ObjectTampering("a changed send is listed", "SEND: work") {
            let entry = $0.journal[0]
            $0.journal[0] = JournalEntry(
                id: entry.id, kind: entry.kind, createdAt: entry.createdAt + 1,
                payload: entry.payload)
        },
        ObjectTampering("a dropped send is listed", "SEND: removed") { $0.journal = [] },
        ObjectTampering("what was seen of a project is not listed") {
            $0.projects[0].seenAt = 99
            $0.projects[0].live = .init(id: "dpl_9", createdAt: 9)
            $0.accounts[0].expiresAt = 77
        },
    ]

    @Test(arguments: objectTamperings)
    func `changes to other objects are listed`(tampering: ObjectTampering) throws {
        try update { transaction in
            transaction.index.projects[0].binding = .init(
                origin: "https://api.vercel.com", accountID: "u", teamID: "t", teamSlug: "s",
                projectID: "prj_1", projectName: "web")
            transaction.index.projects.append(VaultProject(name: "api", createdAt: 1))
            let token = try VectorVault.secretSlice(8, 1)
            transaction.index.accounts = [
                Account(
                    name: "work", origin: "https://api.vercel.com", userID: "u", username: "n",
                    isDefault: true, createdAt: 1, secret: token)
            ]
            transaction.index.metadata.approve(
                .init(
                    path: "/src", project: "web", organisation: "",
                    vaultProject: transaction.index.projects[0].id))
            transaction.begin([SendEntryTests.sample()])
        }
        #expect(try changes() == [])
        try tamper { transaction in
            // By name, whatever the ids.
            if transaction.index.projects[0].name == "api" {
                transaction.index.projects.swapAt(0, 1)
            }
            try tampering.change(&transaction.index)
        }
        func listed() throws -> [String] {
            try comparison().changes.map { change in
                let name = change.object.kind == .journalEntry ? "SEND" : change.name
                return switch change.kind {
                case .added: "\(name): added"
                case .removed: "\(name): removed"
                case .changed(let fields):
                    "\(name): \(fields.map(\.rawValue).joined(separator: ", "))"
                }
            }.sorted()
        }
        #expect(try listed() == tampering.listed)
        // A later write with the root does not accept changes of others; confirming them does.
        try fixture.set("B", "new")
        #expect(try listed() == tampering.listed)
        try fixture.acceptAll()
        #expect(try listed() == [])
    }

    @Test func `SEC-F2: a value forged under its own number is neither accepted nor returned`()
        throws
    {
        try tamper { transaction in
            let position = transaction.positionOfVariable("A")
            let id = transaction.index.variables[position].id
            let genuine = try #require(transaction.index.currentVersions[id])
            transaction.index.variables[position].highestVersion = 0
            let number = try Array("forged".utf8).withBytes {
                try transaction.store($0, forVariableAt: position, at: genuine.createdAt)
            }
            #expect(number == 1)
            transaction.index.earlierVersions.removeAll { $0.id == genuine.id }
        }
        #expect(try changes() == ["A: versions"])
        #expect(code { _ = try fixture.value(of: "A", givesAny: false) } == .notAccepted)
        try fixture.set("B", "a write with the root")
        #expect(code { _ = try fixture.value(of: "A", givesAny: false) } == .notAccepted)
        #expect(code { try fixture.open().verify(with: fixture.keys) } == nil)
    }

    @Test func `SEC-F2: a sealed batch that replaces an accepted version's chunk is damage`() throws
    {
        let before = try index()
        let genuine = try #require(before.currentVersions[before.variables[0].id])
        try tamper { transaction in
            let place = try #require(
                transaction.index.batches.firstIndex { $0.id == genuine.batch })
            transaction.index.batches[place] = try Batch.sealed(
                try .random(count: 32), id: genuine.batch, vault: fixture.vaultID,
                publicKey: try fixture.open().header.publicKey)
        }
        let name = before.variables[0].name
        for givesAny in [true, false] {
            let error = #expect(throws: VaultError.self) {
                _ = try fixture.value(of: name, givesAny: givesAny)
            }
            #expect(error?.damage == .batch)
        }
        #expect(try fixture.open().inspection(with: fixture.keys).problems.first?.damage == .batch)
    }

    @Test func `a new value is refused without a trap once the numbers are used up`() throws {
        try tamper { $0.index.variables[0].highestVersion = .max }
        let name = try index().variables[0].name
        #expect(code { try fixture.set(name, "x") } == .tooLarge)
    }

    @Test func `a locked write records the names of the records it changed`() throws {
        let keys = try fixture.lockedKeys
        func set(_ name: String, by command: String, at time: UInt64) throws {
            try Vault.update(
                fixture.path, in: fixture.store, keys: keys, vaultID: fixture.vaultID,
                by: .init(command: command, time: time)
            ) { transaction in
                let position = transaction.positionOfVariable(name)
                _ = try Array("x".utf8).withBytes {
                    try transaction.store($0, forVariableAt: position, at: time)
                }
            }
        }
        try set("A", by: "import", at: 5)
        try set("B", by: "import", at: 6)
        try set("A", by: "set", at: 7)
        let long = String(repeating: "ä", count: 40)
        try set("C", by: long, at: 8)
        let index = try index()
        func names(_ write: LockedWrite) -> [String] {
            write.variables.compactMap { id in index.variables.first { $0.id == id }?.name }
        }
        #expect(
            index.metadata.lockedWrites.map(\.command) == [
                "import", "set", String(repeating: "ä", count: 32),
            ])
        #expect(index.metadata.lockedWrites.map(names) == [["B"], ["A"], ["C"]])
        // Fields outside the checkpoint are never reported as changes.
        try Vault.update(
            fixture.path, in: fixture.store, keys: keys, vaultID: fixture.vaultID,
            by: .init(command: "pull", time: 9)
        ) { $0.index.variables[0].updatedAt = 99 }
        #expect(try self.index().metadata.lockedWrites == index.metadata.lockedWrites)
        let b = try #require(index.variables.first { $0.name == "B" })
        let shown = try comparison().limited(to: [.variable(b.id)])
        try update { try $0.accept(shown) }
        #expect(
            try self.index().metadata.lockedWrites.map(\.command) == [
                "set", String(repeating: "ä", count: 32),
            ])
    }

    // MARK: - Accepting

    @Test func `an accepted change is no longer listed, the others are`() throws {
        try fixture.set("A", "locked", keys: try fixture.lockedKeys)
        try fixture.set("NEW", "locked", keys: try fixture.lockedKeys)
        try tamper { transaction in
            let position = transaction.positionOfVariable("C")
            transaction.index.variables[position].deletedAt = 7
        }
        let shown = try comparison()
        #expect(try changes() == ["A: version, versions", "C: removed", "NEW: added"])
        let a = try #require(shown.changes.first { $0.name == "A" })
        try update { try $0.accept(shown.limited(to: [a.object])) }
        #expect(try fixture.value(of: "A", givesAny: false) == "locked")
        #expect(code { _ = try fixture.value(of: "NEW", givesAny: false) } == .notAccepted)
        #expect(try changes() == ["C: removed", "NEW: added"])
        try update { try $0.accept(shown) }
        #expect(try changes() == [])
        #expect(try acceptedNames() == ["A", "B", "C", "NEW"])
        #expect(try index().metadata.lockedWrites == [])
    }

    @Test func `a change made after the list was shown is not accepted with it`() throws {
        try fixture.set("A", "locked", keys: try fixture.lockedKeys)
        let shown = try comparison()
        try tamper { transaction in
            let position = transaction.positionOfVariable("A")
            transaction.index.variables[position].attributes.kind = .plain
        }
        try update { try $0.accept(shown) }
        #expect(try changes() == ["A: version, versions, type"])
    }

    @Test func `accepting needs the root`() throws {
        try fixture.set("A", "locked", keys: try fixture.lockedKeys)
        let shown = try comparison()
        #expect(code { try tamper { try $0.accept(shown) } } == .wrongPassphrase)
        #expect(try changes() == ["A: version, versions"])
    }

    // MARK: - Forged

    @Test func `a checkpoint changed by someone else is damage for a reader with the root`() throws
    {
        let changes: [(inout VaultTransaction) -> Void] = [
            { $0.index.checkpoint = Checkpoint() },
            { $0.index.checkpoint.entries = CheckpointEntries() },
            { transaction in
                var entry = AcceptedRecord(of: transaction.index.variables[0])
                entry.kind = .plain
                transaction.index.checkpoint.entries = transaction.index.checkpoint.entries
                    .replacing([.variable(entry.id): entry.content])
            },
            { transaction in
                let checkpoint = transaction.index.checkpoint
                transaction.index.checkpoint = Checkpoint(
                    generation: 1, nonce: checkpoint.nonce, tag: checkpoint.tag,
                    entries: checkpoint.entries)
            },
        ]
        let good = try TamperedFile(fixture)
        for change in changes {
            try tamper { change(&$0) }
            #expect(code { _ = try index() } == .damaged)
            #expect(code { try fixture.open().verify(with: fixture.keys) } == .damaged)
            #expect(code { try fixture.set("A", "x") } == .damaged)
            // Without the root it cannot be detected.
            #expect(code { _ = try index(try fixture.lockedKeys) } == nil)
            let found = try fixture.open().inspection(with: fixture.keys).problems
            #expect(found.map(\.place) == [.checkpoint])
            try good.restoreOriginal()
        }
    }

    @Test func `an earlier checkpoint restored lists again what was accepted since`() throws {
        let old = try index().checkpoint
        try fixture.set("A", "two")
        try fixture.set("NEW", "new")
        #expect(try changes() == [])
        try tamper { $0.index.checkpoint = old }
        #expect(try changes() == ["A: version, versions", "NEW: added"])
    }

    @Test func `a checkpoint of a later generation than the file's is damage`() throws {
        guard let key = try fixture.keys.root?.checkpointKey() else {
            Issue.record("no root")
            return
        }
        var header = try fixture.open().header
        header.generation = 1_000
        let late = Checkpoint(of: .init(), under: header, key: key)
        try tamper { $0.index.checkpoint = late }
        #expect(code { _ = try index() } == .damaged)
    }

    @Test func `the checkpoint covers slots, the epoch and the public key`() throws {
        let vault = try fixture.open()
        let index = try vault.index(with: fixture.keys, extent: .everything)
        let checkpoint = index.checkpoint
        guard let key = try fixture.keys.root?.checkpointKey() else {
            Issue.record("no root")
            return
        }
        let isWhole = checkpoint.holds(under: vault.header, key: key)
        #expect(isWhole)
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
            let holds = checkpoint.holds(under: header, key: key)
            #expect(!holds)
        }
    }

    // MARK: - Rekeyed and restored vaults

    @Test func `rekeying and restoring a backup keep the entries`() throws {
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
        #expect(restored.checkpoint.generation == (try fixture.open().header.generation))
    }
}

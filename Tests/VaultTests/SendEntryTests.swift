import Sealing
import Testing

@testable import Vault

@Suite("Writes in the journal")
struct SendEntryTests {
    static func sample(
        _ action: SendEntry.Action = .change, variable: Identifier? = .random(),
        createdAt: UInt64 = 5, project: Identifier = .random()
    ) -> SendEntry {
        SendEntry(
            createdAt: createdAt, action: action, project: project, variable: variable,
            vercelProject: "prj_1", author: "user_1",
            target: action == .create ? nil : .init(id: "env_1", updatedAt: 7), key: "KEY",
            attributes: .init(
                kind: .sensitive, scope: Scope(targets: .preview, branch: "main"), comment: "note"),
            version: 3, sentAfter: 4)
    }

    @Test(arguments: [SendEntry.Action.create, .change, .delete])
    func `are read back as written`(action: SendEntry.Action) throws {
        for variable in [Identifier.random(), nil] {
            let send = Self.sample(action, variable: variable)
            #expect(try SendEntry(send.entry) == send)
            let closed = send.until(6)
            #expect(try SendEntry(closed.entry) == closed)
            #expect(closed.sentUntil == 6 && closed.id != send.id)
        }
    }

    @Test func `are damage where anything is missing, left over or contradictory`() throws {
        let good = Self.sample().entry
        func read(_ payload: [UInt8]) throws -> SendEntry? {
            try SendEntry(
                JournalEntry(
                    id: good.id, kind: good.kind, createdAt: 5, payload: payload,
                    section: good.section))
        }
        for length in good.payload.indices {
            #expect(code { _ = try read(Array(good.payload[..<length])) } == .damaged, "\(length)")
        }
        #expect(code { _ = try read(good.payload + [0]) } == .damaged)
        // Every other accepted byte is written back as it was read.
        for place in good.payload.indices {
            var payload = good.payload
            payload[place] ^= 1
            guard let other = try? read(payload) else { continue }
            #expect(other.entry.payload == payload, "\(place)")
        }
        // A creation changes no existing record; a deletion does.
        var creation = good.payload
        creation[0] = SendEntry.Action.create.rawValue
        #expect(code { _ = try read(creation) } == .damaged)
        creation[0] = 9
        #expect(code { _ = try read(creation) } == .damaged)
    }

    @Test func `of another kind are ignored, and those of a project come oldest first`() throws {
        var index = VaultIndex(extent: .everything)
        let (late, early) = (Self.sample(createdAt: 9), Self.sample(createdAt: 2))
        let foreign = JournalEntry(
            id: .random(), kind: 200, createdAt: 1, payload: [1], section: nil)
        index.journal = [late.entry, foreign, early.entry]
        #expect(try index.sends() == [early, late])
        #expect(try index.sends(of: late.project) == [late])
    }

    @Test func `are kept by a write, ended by another, and removed with their record`() throws {
        let fixture = try VaultFixture()
        var made = Self.sample()
        func update(_ body: (inout VaultTransaction) throws -> Void) throws {
            try Vault.update(
                fixture.path, in: fixture.store, keys: fixture.keys,
                vaultID: fixture.vaultID, body)
        }
        func index() throws -> VaultIndex {
            try fixture.open().index(with: fixture.keys, extent: .everything)
        }
        try update { transaction in
            let variable = transaction.index.variables[transaction.positionOfVariable("KEY")]
            made = SendEntry(
                createdAt: 5, action: .create, project: variable.project, variable: variable.id,
                vercelProject: "prj", author: "", target: nil, key: "KEY",
                attributes: variable.attributes, version: 1, sentAfter: 0)
            transaction.begin([made, Self.sample()])
        }
        #expect(try index().sends(of: made.project) == [made])
        try update { $0.end([made.id]) }
        #expect(try index().sends().count == 1)
        try update { transaction in
            transaction.begin([made])
            transaction.erase(Set([made.variable].compactMap { $0 }))
        }
        let left = try index()
        #expect(try left.sends().count == 1 && left.journal.count == 1)
        let tooMany = (0...10_000).map { _ in Self.sample(project: made.project) }
        #expect(code { try update { $0.begin(tooMany) } } == .tooLarge)
        #expect(try index().journal.count == 1)
    }
}

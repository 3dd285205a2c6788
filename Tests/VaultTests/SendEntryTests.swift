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
            before: Scope(targets: .all), version: action == .delete ? 0 : 3,
            sendsValue: action != .delete, sentAfter: 4)
    }

    @Test func `say where a record applies afterwards, and what it loses`() throws {
        let (preview, all) = (Scope(targets: .preview, branch: "main"), Scope(targets: .all))
        let creation = Self.sample(.create)
        #expect((creation.targets, creation.agreed) == (preview, preview))
        #expect(creation.released.isEmpty && creation.attributes.scope == preview)
        let change = Self.sample(.change)
        #expect((change.targets, change.agreed) == (preview, preview))
        #expect(change.released == all && change.attributes.scope == preview)
        let deletion = Self.sample(.delete)
        #expect(deletion.targets.isEmpty && deletion.agreed.isEmpty)
        #expect(deletion.released == preview && deletion.attributes.scope == preview)
        // A record without targets has no branch here.
        let nowhere = VariableAttributes(kind: .plain, scope: Scope(targets: [], branch: "main"))
        let left = SendEntry(
            createdAt: 1, action: .delete, project: deletion.project, variable: nil,
            vercelProject: "prj", author: "", target: deletion.target, key: "KEY",
            attributes: nowhere, version: 0, sendsValue: false, sentAfter: 0)
        #expect(left.released == Scope(targets: []))
        #expect(try SendEntry(left.entry) == left)
    }

    @Test func `are about a part of their targets, byte for byte`() throws {
        func read(_ targets: Scope, _ agreed: Scope) throws -> SendEntry? {
            try SendEntry(
                SendEntry(
                    createdAt: 1, action: .change, project: .random(), variable: nil,
                    vercelProject: "prj", author: "", target: .init(id: "env_1", updatedAt: 7),
                    key: "KEY", kind: .plain, comment: nil, targets: targets,
                    released: Scope(targets: []), agreed: agreed, version: 0, sendsValue: false,
                    sentAfter: 0
                ).entry)
        }
        let targets = Scope(targets: .preview, customEnvironments: ["\u{E9}"], branch: "\u{E9}")
        for agreed in [targets, Scope(targets: .preview, branch: "\u{E9}"), Scope(targets: [])] {
            #expect(try read(targets, agreed)?.agreed == agreed)
        }
        for agreed in [
            Scope(targets: .all, branch: "\u{E9}"), Scope(targets: .preview),
            Scope(targets: .preview, branch: "e\u{301}"),
            Scope(targets: [], customEnvironments: ["e\u{301}"], branch: "\u{E9}"),
        ] {
            #expect(kindOfDamage { _ = try read(targets, agreed) } == .encoding)
        }
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
                attributes: variable.attributes, version: 1, sendsValue: true, sentAfter: 0)
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

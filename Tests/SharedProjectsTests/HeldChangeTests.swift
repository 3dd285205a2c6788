import Groups
import Sealing
import TestSupport
import Testing
import Vault

@testable import SharedProjects

/// What colleagues did that has no effect here before the user accepts it.
@Suite("Changes to accept")
struct HeldChangeTests {
    private let place = TestPlace()
    private let alice: SharedVault
    private let bob: SharedVault

    init() throws {
        alice = try SharedVault("alice")
        bob = try SharedVault("bob")
        try alice.set("A", "one", targets: .production)
        try alice.found(place)
        try alice.sync(place)
        let group = try #require(try alice.membership()).group
        let member = try bob.join(group)
        try alice.publish(place) { _ in EntryDraft(admissions: [member]) }
        try settle()
    }

    private func settle() throws {
        for _ in 0..<2 { for vault in [alice, bob] { try vault.sync(place) } }
        for vault in [alice, bob] { try vault.verify() }
    }

    /// What a vault has to accept, by name.
    private func effects(_ vault: SharedVault) throws -> [String: HeldChange.Effects] {
        let index = try vault.index
        let shared = try #require(try vault.shared())
        return Dictionary(
            uniqueKeysWithValues: shared.held.compactMap { change in
                index.variables.first { $0.id == change.variable }
                    .map { ($0.name, change.effects(on: $0)) }
            }.filter { !$0.1.isEmpty })
    }

    private func accept(_ vault: SharedVault) throws {
        try vault.update { transaction in
            var shared = try #require(try SharedProject.all(in: transaction.index).first)
            shared.held = []
            try transaction.keep(shared.entry)
        }
    }

    @Test func `a value of a colleague that affects programs, and again when it changes`() throws {
        try alice.set("NODE_OPTIONS", "--require ./a")
        try settle()
        #expect(try effects(bob) == ["NODE_OPTIONS": .program])
        #expect(try effects(alice) == [:])
        let change = try #require(try bob.shared()?.held.first)
        #expect(try change.author == alice.membership()?.member)
        try accept(bob)
        try settle()
        try alice.change("NODE_OPTIONS") { $0.index.variables[$1].attributes.comment = "text" }
        try settle()
        #expect(try effects(bob) == [:])
        try alice.set("NODE_OPTIONS", "--require ./b")
        try settle()
        #expect(try effects(bob) == ["NODE_OPTIONS": .program])
        // An own value needs nothing, and stays one for the colleague.
        try bob.set("NODE_OPTIONS", "--inspect")
        try settle()
        #expect(try effects(bob) == [:])
        #expect(try effects(alice) == ["NODE_OPTIONS": .program])
    }

    @Test func `a value that gets such a name, or another target, or comes back`() throws {
        try alice.set("B", "--require ./a")
        try settle()
        #expect(try effects(bob) == [:])
        try alice.change("B") { try $0.rename(at: [$1], to: "NODE_OPTIONS", time: 5_000) }
        try settle()
        #expect(try effects(bob) == ["NODE_OPTIONS": [.program, .name]])
        try accept(bob)
        try alice.change("NODE_OPTIONS") {
            $0.index.variables[$1].attributes.scope = Scope(targets: .production)
        }
        try settle()
        // Narrower: nothing new happens.
        #expect(try effects(bob) == [:])
        try alice.change("NODE_OPTIONS") {
            $0.index.variables[$1].attributes.scope = Scope(targets: .all)
        }
        try settle()
        #expect(try effects(bob) == ["NODE_OPTIONS": [.program, .scope]])
        try accept(bob)
        try bob.set("NODE_OPTIONS", "--inspect")
        try settle()
        try accept(alice)
        let first = try #require(
            try alice.index.variables.first { $0.name == "NODE_OPTIONS" && $0.isLive })
        try alice.change("NODE_OPTIONS") { transaction, position in
            _ = transaction.makeCurrent(
                version: 1, ofVariableAt: position, at: first.updatedAt + 1)
        }
        try settle()
        #expect(try bob.values()["NODE_OPTIONS"] == "--require ./a")
        #expect(try effects(bob) == ["NODE_OPTIONS": .program])
    }

    @Test func `a weaker type, a wider scope and a new name, until they are taken back`() throws {
        try alice.change("A") { transaction, position in
            transaction.index.variables[position].attributes.kind = .plain
            transaction.index.variables[position].attributes.scope = Scope(
                targets: [.production, .development])
        }
        try alice.change("A") { try $0.rename(at: [$1], to: "B", time: 5_000) }
        try settle()
        #expect(try effects(bob) == ["B": [.weakerType, .scope, .name]])
        // Kept over further syncs and changes.
        try alice.set("B", "two", targets: .production)
        try settle()
        #expect(try effects(bob)["B"]?.isEmpty == false)
        try alice.change("B") { transaction, position in
            transaction.index.variables[position].attributes.kind = .encrypted
            transaction.index.variables[position].attributes.scope = Scope(targets: .production)
        }
        try settle()
        #expect(try effects(bob) == ["B": .name])
        try alice.change("B") { try $0.rename(at: [$1], to: "A", time: 6_000) }
        try settle()
        #expect(try effects(bob) == [:])
    }

    @Test func `what the user assigns here is accepted, and nothing else`() throws {
        try alice.change("A") { transaction, position in
            transaction.index.variables[position].attributes.kind = .plain
            transaction.index.variables[position].attributes.scope = Scope(targets: .all)
        }
        try settle()
        #expect(try effects(bob) == ["A": [.weakerType, .scope]])
        try bob.change("A") {
            $0.index.variables[$1].attributes.scope = Scope(targets: [.production, .preview])
        }
        #expect(try effects(bob) == ["A": .weakerType])
        try bob.change("A") { $0.index.variables[$1].attributes.kind = .encrypted }
        #expect(try effects(bob) == [:])
        try settle()
        #expect(try effects(bob) == [:])
        #expect(try effects(alice) == [:])
    }

    @Test("VAL-A5: a new record under the former name of another one")
    func formerName() throws {
        try alice.change("A") { try $0.rename(at: [$1], to: "B", time: 5_000) }
        try settle()
        try accept(bob)
        try alice.set("A", "two", targets: .all)
        try settle()
        #expect(try effects(bob) == ["A": .scope])
        // Once it is accepted, what it replaced no longer matters.
        try accept(bob)
        try alice.remove("A")
        try alice.set("A", "three", targets: .all)
        try settle()
        #expect(try effects(bob) == [:])
    }

    @Test("VAL-A4: what a writer creates or brings back, until a member stores a value")
    func offers() throws {
        let walter = try SharedVault("walter")
        let joined = try walter.join(try #require(try alice.membership()).group)
        try alice.publish(place) { _ in
            EntryDraft(admissions: [
                Admission(
                    member: joined.member, person: joined.person, name: joined.name,
                    rights: MemberRights(role: .writer), keys: joined.keys, origin: joined.origin)
            ])
        }
        func settle() throws {
            for _ in 0..<3 { for vault in [walter, alice, bob] { try vault.sync(place) } }
            for vault in [walter, alice, bob] { try vault.verify() }
        }
        try settle()
        try walter.set("NEW", "one")
        try settle()
        for vault in [alice, bob] { #expect(try effects(vault) == ["NEW": .offer]) }
        #expect(try effects(walter) == [:])
        try alice.change("NEW") { $0.index.variables[$1].attributes.comment = "seen" }
        try settle()
        for vault in [alice, bob] { #expect(try effects(vault) == ["NEW": .offer]) }
        try alice.remove("NEW")
        try settle()
        #expect(try #require(try alice.shared()).changesToAccept(in: alice.index).isEmpty)
        // The same record, as a client of the writer's could.
        try walter.update { transaction in
            let place = try #require(transaction.index.variables.firstIndex { $0.name == "NEW" })
            transaction.index.variables[place].deletedAt = nil
            _ = try Array("two".utf8).withBytes {
                try transaction.store($0, forVariableAt: place, at: walter.clock)
            }
        }
        try settle()
        #expect(try alice.values()["NEW"] == "two")
        for vault in [alice, bob] { #expect(try effects(vault) == ["NEW": .offer]) }
        try bob.set("NEW", "three")
        #expect(try effects(bob) == [:])
        try settle()
        for vault in [alice, bob] { #expect(try effects(vault) == [:]) }
    }
}

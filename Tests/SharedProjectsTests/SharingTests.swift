import Groups
import Sealing
import TestSupport
import Testing
import Vault

@testable import SharedProjects

/// Two and three vaults that share a project, in one process.
@Suite("Sharing a project")
struct SharingTests {
    private let place = TestPlace()
    private let alice: SharedVault
    private let bob: SharedVault

    /// Alice shares three variables, and Bob is a member.
    init() throws {
        alice = try SharedVault("alice")
        bob = try SharedVault("bob")
        try alice.set("A", "one")
        try alice.set("B", "two", targets: .production)
        try alice.set("C", "three")
        try alice.found(place)
        try alice.sync(place)
        try admit(bob)
    }

    private func admit(
        _ vault: SharedVault, _ role: GroupRole = .member
    ) throws {
        let group = try #require(try alice.membership()).group
        var member = try vault.join(group)
        member = Admission(
            member: member.member, person: member.person, name: member.name,
            rights: MemberRights(role: role), keys: member.keys, origin: member.origin)
        try alice.sync(place)
        try alice.publish(place) { _ in EntryDraft(admissions: [member]) }
        try alice.sync(place)
        try vault.sync(place)
    }

    private func settle(_ vaults: [SharedVault]) throws {
        for _ in 0..<2 { for vault in vaults { try vault.sync(place) } }
        for vault in vaults { try vault.verify() }
    }

    @Test func `a colleague gets the variables with their values`() throws {
        #expect(try bob.values() == ["A": "one", "B": "two", "C": "three"])
        let project = try #require(try bob.project(in: try bob.index))
        #expect(project.name == "web@acme")
        let b = try #require(try bob.index.variables.first { $0.name == "B" })
        #expect(b.attributes.scope == Scope(targets: .production))
        #expect(try #require(try bob.membership()).standing == .active)
        #expect(try bob.shared()?.contested == [])
        // And nothing is sent back.
        #expect(try bob.outgoing().isEmpty)
    }

    @Test func `changes arrive with their author, in both directions`() throws {
        try bob.set("A", "uno")
        try bob.set("D", "four")
        try bob.remove("C")
        try bob.change("B") { try $0.rename(at: [$1], to: "BB", time: 5_000) }
        #expect(try bob.outgoing().count == 4)
        try bob.sync(place)
        #expect(try bob.outgoing().isEmpty)
        let outcome = try alice.sync(place)
        let arrivals = try #require(outcome.projects.first).arrivals
        #expect(arrivals.map(\.name) == ["A", "BB", "C", "D"])
        #expect(arrivals.map(\.kind) == [.changed, .changed, .removed, .added])
        let member = try #require(try bob.membership()).member
        #expect(arrivals.allSatisfy { $0.author == member })
        #expect(try alice.values() == ["A": "uno", "BB": "two", "D": "four"])
        try alice.set("D", "vier")
        try settle([alice, bob])
        #expect(try bob.values() == ["A": "uno", "BB": "two", "D": "vier"])
    }

    @Test func `values stored at the same time are both kept until somebody decides`() throws {
        try alice.set("A", "from alice")
        try bob.set("A", "from bob")
        try settle([alice, bob])
        let variable = try #require(try alice.index.variables.first { $0.name == "A" })
        #expect(
            try alice.shared()?.contested
                == [.init(variable: variable.id, contest: .value)])
        #expect(try bob.shared()?.contested.map(\.contest) == [.value])
        // Each goes on with its own value, and has the other one.
        #expect(try alice.values()["A"] == "from alice")
        #expect(try bob.values()["A"] == "from bob")
        let record = try #require(
            try alice.state()?.records.first { $0.variable == variable.id })
        #expect(record.choices.count == 2)
        let other = try #require(record.choices.first { $0 != record.version })
        // Alice takes Bob's.
        try alice.update(decided: [variable.id: [.value]]) { transaction in
            guard let position = transaction.index.variables.firstIndex(where: { $0.name == "A" })
            else { return }
            let isThere = transaction.makeCurrent(
                version: other, ofVariableAt: position, at: 9_000)
            #expect(isThere)
        }
        #expect(try alice.shared()?.contested == [])
        try settle([alice, bob])
        for vault in [alice, bob] {
            #expect(try vault.values()["A"] == "from bob")
            #expect(try vault.shared()?.contested == [])
        }
    }

    @Test func `a write that fails leaves nothing for the group`() throws {
        let store = RefusingStore(base: bob.store)
        #expect(throws: VaultError.self) {
            try bob.update(in: store) { transaction in
                let position = try #require(
                    transaction.index.variables.firstIndex { $0.name == "A" })
                _ = try Array("lost".utf8).withBytes {
                    try transaction.store($0, forVariableAt: position, at: 4_000)
                }
            }
        }
        #expect(try bob.outgoing().isEmpty)
        try bob.set("A", "kept")
        try settle([bob, alice])
        #expect(try alice.values()["A"] == "kept")
    }

    @Test func `a restored backup begins a new chain and publishes nothing old`() throws {
        try bob.set("A", "first")
        let backup = try bob.directory.read("vault.zgv")
        try bob.set("A", "second")
        try settle([bob, alice])
        try bob.directory.write(backup, to: "vault.zgv")
        try bob.set("B", "after the restore")
        try settle([bob, alice])
        // The first value was replaced by the second, which this copy had forgotten.
        for vault in [alice, bob] {
            #expect(try vault.values()["A"] == "second")
            #expect(try vault.values()["B"] == "after the restore")
            #expect(try vault.shared()?.contested == [])
        }
        let changes = try place.changes.values.map { try Change($0).header }
        let member = try #require(try bob.membership()).member
        let chains = Dictionary(grouping: changes.filter { $0.author == member }, by: \.chain)
        #expect(chains.count == 2)
        for chain in chains.values {
            #expect(Set(chain.map(\.counter)).count == chain.count)
        }
    }

    @Test func `a reader changes nothing, and a writer adds values that it cannot read`() throws {
        let (reader, writer) = (try SharedVault("reader"), try SharedVault("writer"))
        try admit(reader, .reader)
        try admit(writer, .writer)
        #expect(try reader.values()["A"] == "one")
        let before = try reader.directory.read("vault.zgv")
        let refusal = #expect(throws: SharingError.self) { try reader.set("A", "mine") }
        #expect(refusal?.code == .notAllowed)
        #expect(try reader.directory.read("vault.zgv") == before)
        #expect(try writer.values() == ["A": "(none)", "B": "(none)", "C": "(none)"])
        try writer.set("A", "offered")
        let removal = #expect(throws: SharingError.self) { try writer.remove("B") }
        #expect(removal?.code == .notAllowed)
        try settle([writer, alice, bob])
        // It replaced nothing that it had not seen: it had seen Alice's.
        #expect(try alice.values()["A"] == "offered")
        #expect(try writer.values()["B"] == "(none)")
    }

    @Test func `who was removed opens nothing written after, and changes nothing`() throws {
        let carol = try SharedVault("carol")
        try admit(carol)
        let member = try #require(try carol.membership()).member
        try alice.publish(place) { view in
            let compartment = try #require(view.compartments.first)
            let heads = view.heads(ofChangesBy: member, in: compartment)
            return EntryDraft(
                removals: [
                    Removal(
                        member: member,
                        cut: Cut(
                            heads.isEmpty
                                ? []
                                : [Cut.Heads(compartment: compartment, changes: heads)]))
                ])
        }
        try alice.sync(place)
        try alice.set("A", "after")
        try alice.sync(place)
        // Carol does not know yet, and writes under the old epoch.
        try carol.set("A", "late")
        try carol.sync(place)
        #expect(try #require(try carol.membership()).standing == .ended)
        #expect(try carol.values()["A"] == "late")
        try settle([alice, bob])
        for vault in [alice, bob] {
            #expect(try vault.values()["A"] == "after")
            #expect(try vault.state()?.lateCount == 1)
        }
        // Writes of a member that has ended stay in its own vault.
        try carol.set("A", "alone")
        #expect(try carol.outgoing().isEmpty)
    }

    @Test func `while the membership is forked, changes name the longer side`() throws {
        let (carol, dave) = (try SharedVault("carol"), try SharedVault("dave"))
        let group = try #require(try alice.membership()).group
        let members = [
            try carol.join(group), try dave.join(group), try SharedVault("eve").join(group),
        ]
        let fork = try #require(try alice.membership()).newest.number
        // Two entries with one number, and one more after the first.
        let other = TestPlace()
        try alice.publish(other) { _ in EntryDraft(admissions: [members[0]]) }
        try alice.publish(place) { _ in EntryDraft(admissions: [members[1]]) }
        try alice.sync(place)
        try alice.publish(place) { _ in EntryDraft(admissions: [members[2]]) }
        place.entries.merge(other.entries) { first, _ in first }
        try settle([alice, bob])
        let membership = try #require(try bob.membership())
        #expect(membership.heads.count == 2)
        #expect(membership.newest.number == fork + 2)
        try bob.set("A", "during the fork")
        try settle([bob, alice])
        #expect(try alice.values()["A"] == "during the fork")
        #expect(try alice.state()?.lateCount == 0 && alice.state()?.waitingCount == 0)
    }

    @Test func `a rekey keeps the group's keys`() throws {
        try bob.set("A", "before")
        let vault = try Vault(opening: bob.path, in: bob.store)
        let new = try vault.newKeys()
        let slot = try new.passphraseSlot(
            try Array("other".utf8).withBytes { try SecretBytes(copying: $0) },
            cost: PassphraseCost(operations: 1, memoryByteCount: 8 << 20),
            vault: bob.creation.vaultID, at: 4_000)
        _ = try Vault.rekey(
            bob.path, in: bob.store, vaultID: bob.creation.vaultID,
            Vault.Rekeying(
                oldKeys: bob.keys, newKeys: new, oldSlots: vault.header.slots, newSlots: [slot]))
        let index = try Vault(opening: bob.path, in: bob.store).index(
            with: new, extent: .everything)
        let entry = try #require(index.groupEntries(.membership).first)
        let secrets = try MemberSecrets(entry, vault: bob.creation.vaultID, with: new)
        #expect(secrets.epochs.count == 1)
        #expect(throws: VaultError.self) {
            try MemberSecrets(entry, vault: bob.creation.vaultID, with: bob.keys)
        }
    }

    @Test func `without the root nothing about a group can be added or changed`() throws {
        let locked = try bob.keys.indexTier()
        for kind in GroupEntryKind.allCases {
            let entry =
                try bob.index.groupEntries(kind).first
                ?? JournalEntry(
                    kind: kind.rawValue, createdAt: 1, payload: [0, 0, 0, 0], section: nil)
            let error = #expect(throws: VaultError.self) {
                try Vault.update(
                    bob.path, in: bob.store, keys: locked, vaultID: bob.creation.vaultID
                ) { try $0.keep(entry) }
            }
            #expect(error?.code == .wrongPassphrase)
        }
    }

    @Test func `a place that hides what was seen is refused`() throws {
        try bob.set("A", "seen")
        try settle([bob, alice])
        let hidden = alice.copy.changes
        alice.copy.changes = [:]
        let kept = place.changes
        place.changes = [:]
        let before = try alice.values()
        let error = #expect(throws: SharingError.self) { try alice.sync(place) }
        #expect(error?.code == .otherHistory)
        #expect(try alice.values() == before)
        alice.copy.changes = hidden
        place.changes = kept
        try settle([alice, bob])
        alice.copy.entries = alice.copy.entries.filter { (try? Entry.decode($0.value).number) == 1 }
        place.entries = alice.copy.entries
        let other = #expect(throws: SharingError.self) { try alice.sync(place) }
        #expect(other?.code == .otherHistory)
    }
}

import Sealing
import Testing
import Vault

@testable import Groups

@Suite("The fold of a compartment")
struct FoldTests {
    private let compartment = TestPool.compartments[0]
    private let record = TestRandom.identifier("record", 0)
    private let alice = TestPool.members[0]
    private let bob = TestPool.members[1]
    private let carol = TestPool.members[2]

    private func group(_ role: GroupRole = .member) throws -> TestGroup {
        try TestGroup(
            founder: alice, compartments: [compartment],
            others: [(bob, role), (carol, .member)])
    }

    private func create(_ name: String = "KEY") -> RecordOperation {
        RecordOperation(
            record: record,
            .create(.init(name: name, type: .sensitive, scope: Scope(targets: .production))))
    }

    private func value(
        _ seed: Int, replacing: [ChangeReference] = []
    ) -> RecordOperation {
        RecordOperation(
            record: record, replaces: replacing,
            .value(
                .init(
                    seed: TestRandom.identifier("version", seed), sealedName: "KEY",
                    chunkByteCount: 168)))
    }

    private func draft(
        _ operations: [RecordOperation], parents: [GroupHash] = [], entry: GroupHash? = nil
    ) -> TestGroup.ChangeDraft {
        TestGroup.ChangeDraft(
            compartment: compartment, operations: operations, parents: parents, entry: entry)
    }

    private func fold(_ group: TestGroup, _ objects: [[UInt8]]) throws -> CompartmentState {
        CompartmentFold.state(of: try objects.map(group.received), chain: group.chain)
    }

    @Test func `keeps two values of the same time, until one replaces both`() throws {
        let group = try group()
        var (mine, theirs) = (TestChain(alice, 0), TestChain(bob, 1))
        let first = try group.change(draft([create(), value(0)]), in: &mine)
        let start = GroupHash(of: first)
        let old = ChangeReference(change: start, operation: 1)
        let one = try group.change(draft([value(1, replacing: [old])]), in: &mine)
        let two = try group.change(
            draft([value(2, replacing: [old])], parents: [start]), in: &theirs)
        let contested = try fold(group, [two, one, first])
        #expect(contested.records[0].contested == [.value])
        #expect(
            Set(contested.records[0].choices.map(\.version)) == [
                .init(change: GroupHash(of: one), operation: 0),
                .init(change: GroupHash(of: two), operation: 0),
            ])
        let both = [one, two].map { ChangeReference(change: GroupHash(of: $0), operation: 0) }
        let decision = try group.change(
            draft(
                [RecordOperation(record: record, replaces: both.sorted(), .choose(both[1]))],
                parents: [GroupHash(of: two)]), in: &mine)
        let decided = try fold(group, [decision, two, one, first])
        #expect(decided.records[0].contested == [])
        #expect(decided.records[0].choices.map(\.version) == [both[1]])
        #expect(decided.heads == [GroupHash(of: decision)])
    }

    @Test func `keeps a change that waits for its past out`() throws {
        let group = try group()
        var mine = TestChain(alice, 0)
        let first = try group.change(draft([create()]), in: &mine)
        let second = try group.change(draft([value(0)]), in: &mine)
        let state = try fold(group, [second])
        #expect(state.waiting == [GroupHash(of: second): .parents])
        #expect(state.records.isEmpty)
        #expect(try fold(group, [second, first]).records[0].choices.count == 1)
    }

    @Test func `lists a writer's value beside a member's as an offer`() throws {
        let group = try group(.writer)
        var (mine, theirs) = (TestChain(alice, 0), TestChain(bob, 1))
        let first = try group.change(draft([create(), value(0)]), in: &mine)
        let start = GroupHash(of: first)
        let old = ChangeReference(change: start, operation: 1)
        let one = try group.change(draft([value(1, replacing: [old])]), in: &mine)
        let two = try group.change(
            draft([value(2, replacing: [old])], parents: [start]), in: &theirs)
        let state = try fold(group, [first, one, two])
        #expect(state.records[0].contested == [])
        #expect(state.records[0].choices.map(\.version.change) == [GroupHash(of: one)])
        #expect(state.records[0].offers.map(\.version.change) == [GroupHash(of: two)])
        let alone = try fold(group, [first, two])
        #expect(alone.records[0].choices.map(\.version.change) == [GroupHash(of: two)])
    }

    @Test func `contests what became late, and gives back no earlier value`() throws {
        var group = try group()
        var (mine, theirs, hers) = (TestChain(alice, 0), TestChain(bob, 1), TestChain(carol, 2))
        let first = try group.change(draft([create(), value(0)]), in: &mine)
        let start = GroupHash(of: first)
        let old = ChangeReference(change: start, operation: 1)
        let unseen = try group.change(
            draft([value(1, replacing: [old])], parents: [start]), in: &theirs)
        // Carol has bob's change when she writes something else; alice has not when she removes him.
        let after = try group.change(
            draft(
                [RecordOperation(record: record, .comment("by carol"))],
                parents: [GroupHash(of: unseen)]), in: &hers)
        let before = try fold(group, [first, unseen, after])
        #expect(before.records[0].choices.map(\.version.change) == [GroupHash(of: unseen)])
        try group.add(.init(removals: [Removal(member: bob.id, cut: Cut())]), by: alice)
        let state = try fold(group, [first, unseen, after])
        #expect(state.late == [GroupHash(of: unseen): .cut])
        #expect(state.effective == [GroupHash(of: unseen)])
        #expect(state.records[0].contested == [.late])
        #expect(state.records[0].choices.map(\.isLate) == [true])
        // Without carol's change nobody had built on it: it has no effect.
        let alone = try fold(group, [first, unseen])
        #expect(alone.effective == [])
        #expect(alone.records[0].choices.map(\.version) == [old])
        // Carol knows of the removal, and is not an admin.
        let seen = ChangeReference(change: GroupHash(of: unseen), operation: 0)
        let hers2 = try group.change(draft([value(2, replacing: [seen])]), in: &hers)
        #expect(
            try fold(group, [first, unseen, after, hers2]).records[0].contested == [.value, .late])
        let admin = try group.change(
            draft(
                [RecordOperation(record: record, replaces: [seen], .choose(old))],
                parents: [GroupHash(of: after)]), in: &mine)
        #expect(try fold(group, [first, unseen, after, admin]).records[0].contested == [])
    }

    @Test func `counts what the cut has`() throws {
        var group = try group()
        var (mine, theirs) = (TestChain(alice, 0), TestChain(bob, 1))
        let first = try group.change(draft([create(), value(0)]), in: &mine)
        let old = ChangeReference(change: GroupHash(of: first), operation: 1)
        let seen = try group.change(
            draft([value(1, replacing: [old])], parents: [GroupHash(of: first)]), in: &theirs)
        let entry = group.head
        let cut = Cut([.init(compartment: compartment, changes: [GroupHash(of: seen)])])
        try group.add(.init(removals: [Removal(member: bob.id, cut: cut)]), by: alice)
        let later = try group.change(
            draft(
                [
                    value(
                        2, replacing: [.init(change: GroupHash(of: seen), operation: 0)])
                ], entry: entry), in: &theirs)
        let state = try fold(group, [first, seen, later])
        #expect(state.late == [GroupHash(of: later): .cut])
        #expect(state.records[0].choices.map(\.version.change) == [GroupHash(of: seen)])
    }

    @Test func `reports a chain that is written in two places`() throws {
        let group = try group()
        var mine = TestChain(alice, 0)
        let first = try group.change(draft([create()]), in: &mine)
        var copy = mine
        let one = try group.change(draft([value(0)]), in: &mine)
        let two = try group.change(draft([value(1)]), in: &copy)
        let state = try fold(group, [first, one, two])
        #expect(state.counted.count == 3)
        #expect(state.doubled == [.init(author: alice.id, chain: mine.id, counter: 2)])
        #expect(state.records[0].contested == [.value])
    }
}

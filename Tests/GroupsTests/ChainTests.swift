import Testing
import Vault

@testable import Groups

@Suite("The chain of entries")
struct ChainTests {
    private let alice = TestPool.members[0]
    private let bob = TestPool.members[1]
    private let carol = TestPool.members[2]
    private let compartment = TestPool.compartments[0]

    private func group(admins: Int = 1) throws -> TestGroup {
        try TestGroup(
            founder: alice, compartments: [compartment],
            others: [(bob, admins > 1 ? .admin : .member), (carol, .reader)])
    }

    @Test func `judges entries in any order alike`() throws {
        var group = try group()
        for _ in 0..<3 { try group.add(.init(epochsFor: [compartment]), by: alice) }
        // Its number is lower than that of its predecessor.
        let low = try group.makeEntry(
            .init(epochsFor: [compartment]), by: alice, previous: group.head, other: nil
        ) {
            Entry(
                number: 2, group: $0.group, previous: $0.previous, author: $0.author,
                createdAt: $0.createdAt, epochs: $0.epochs)
        }
        let objects = group.objects.values + [low]
        var random = ModelRandom(7)
        for _ in 0..<20 {
            let order = random.shuffle(objects.sorted { $0.count < $1.count })
            var (one, all) = (
                MembershipChain(group: group.group), MembershipChain(group: group.group)
            )
            try all.insert(order)
            for object in order { try one.insert([object]) }
            for chain in [one, all] {
                #expect(chain.heads == group.chain.heads)
                #expect(chain.refused == [GroupHash(of: low): .number])
                #expect(chain.waiting == [])
            }
        }
    }

    @Test func `forks, and joins with what both sides took away`() throws {
        var group = try group(admins: 2)
        let start = group.head
        let removal = Removal(member: carol.id, cut: Cut())
        let left = try group.add(.init(removals: [removal]), by: alice, after: start)
        let dan = TestPool.members[3]
        group.know(dan)
        let right = try group.add(
            .init(admissions: [dan.admission(.writer)]), by: bob, after: start)
        #expect(group.chain.isForked)
        #expect(group.chain.heads == [left, right].sorted())
        let heads = group.chain.heads
        let joint = try group.add(.init(), by: alice, after: heads[0], joining: heads[1])
        #expect(group.chain.heads == [joint])
        let state = group.state
        #expect(state.members[carol.id]?.isActive == false)
        #expect(state.members[dan.id]?.rights.role == .writer)
        #expect(state.lowerings[carol.id]?.map(\.entry) == [left])
        // Both sides' keys are replaced, also where only one side had made an epoch.
        let epoch = try #require(state.epochs[compartment])
        #expect(epoch.entry == joint)
        #expect(epoch.number == 3)
        let made = try #require(group.chain.link(joint)?.entry.epochs.first)
        #expect(made.rungs.map(\.entry) == [start, left].sorted())
        #expect(
            made.recipients.map(\.member) == [alice.id, bob.id, dan.id].sorted())
    }

    @Test func `joins a group without shared projects`() throws {
        var group = try TestGroup(founder: alice, compartments: [], others: [(bob, .admin)])
        let start = group.head
        for (number, author) in [alice, bob].enumerated() {
            let newcomer = TestPool.members[3 + number]
            try group.add(
                .init(admissions: [newcomer.admission(.reader)]), by: author, after: start)
        }
        #expect(group.chain.isForked)
        let joint = try EntryAuthor(
            chain: group.chain, ring: EpochKeyRing(member: alice.id), author: alice.id,
            createdAt: 1_700_000_000_000
        ).joiningEntry(signedBy: alice.authority)
        try group.insert(joint.object)
        #expect(group.chain.heads == [joint.name])
        #expect(group.state.members.count == 4)
        #expect(try #require(group.chain.link(joint.name)).entry.epochs.isEmpty)
    }

    @Test func `is of one group only`() throws {
        let group = try group()
        let other = try TestGroup(founder: bob, compartments: [compartment])
        var chain = group.chain
        try chain.insert(Array(other.objects.values))
        #expect(chain.refused == [other.head: .group])
        #expect(throws: GroupError.self) { try chain.insert([[1, 2, 3]]) }
        #expect(chain.heads == group.chain.heads)
    }

    @Test func `refuses box keys of low order`() throws {
        var group = try group()
        let zeros = [UInt8](repeating: 0, count: 32)
        let dan = TestPool.members[3]
        for keys in [
            MemberKeys(
                write: dan.keys.write, authority: dan.keys.authority, indexBox: zeros,
                valueBox: dan.keys.valueBox),
            MemberKeys(
                write: dan.keys.write, authority: dan.keys.authority,
                indexBox: dan.keys.indexBox, valueBox: [1] + zeros.dropLast()),
        ] {
            let object = try group.makeEntry(
                .init(admissions: [
                    Admission(
                        member: dan.id, person: dan.person, name: "dan",
                        rights: MemberRights(role: .reader), keys: keys)
                ]), by: alice, previous: group.head, other: nil)
            var chain = group.chain
            try chain.insert([object])
            #expect(chain.refused == [GroupHash(of: object): .key])
        }
    }
}

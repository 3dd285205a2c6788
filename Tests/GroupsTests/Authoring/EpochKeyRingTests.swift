import Testing
import Vault

@testable import Groups

@Suite("A ring of keys")
struct EpochKeyRingTests {
    private let alice = TestPool.members[0]
    private let bob = TestPool.members[1]
    private let carol = TestPool.members[2]
    private let dan = TestPool.members[3]
    private let web = TestPool.compartments[0]
    private let api = TestPool.compartments[1]

    private func group() throws -> AuthoredGroup {
        var group = try AuthoredGroup(founder: alice, compartments: [web, api])
        try group.add(
            .init(admissions: [bob.newMember(.member), carol.newMember(.writer)]), by: alice)
        return group
    }

    private func name(_ compartment: Identifier, _ entry: GroupHash) -> EpochName {
        EpochName(compartment: compartment, entry: entry)
    }

    /// Adds an entry of a dishonest admin, who seals otherwise than ``EntryAuthor``.
    private func addHostile(
        _ draft: EntryDraft, to group: inout AuthoredGroup,
        _ change: (NewEpoch, Entry) throws -> NewEpoch
    ) throws -> GroupHash {
        let honest = try group.author(alice).entry(draft, signedBy: alice.authority)
        let entry = try Entry.decode(honest.object)
        let object = Entry(
            number: entry.number, group: entry.group, previous: entry.previous,
            author: entry.author, createdAt: entry.createdAt, admissions: entry.admissions,
            roles: entry.roles, removals: entry.removals,
            keyReplacements: entry.keyReplacements,
            epochs: try entry.epochs.map { try change($0, entry) },
            voidInvites: entry.voidInvites
        ).signed(with: alice.authority)
        try group.insert([object])
        let hash = GroupHash(of: object)
        #expect(group.chain.heads == [hash])
        return hash
    }

    private func replacing(
        _ epoch: NewEpoch, rungs: [NewEpoch.Rung]? = nil,
        keys: (NewEpoch.Recipient) -> SealedKeys = { $0.keys }
    ) -> NewEpoch {
        NewEpoch(
            compartment: epoch.compartment, number: epoch.number, valueKey: epoch.valueKey,
            indexCommitment: epoch.indexCommitment, rungs: rungs ?? epoch.rungs,
            recipients: epoch.recipients.map { .init(member: $0.member, keys: keys($0)) })
    }

    /// How a dishonest admin seals to bob.
    enum Trick: CaseIterable {
        case zeros, ofAnotherMember, ofAnotherProject, otherKeys, otherEntry, otherRecipient
    }

    @Test(arguments: Trick.allCases)
    func `reports boxes that a dishonest admin made, and takes no key from them`(
        trick: Trick
    ) throws {
        var group = try group()
        let before = try group.ring(bob).epochs
        let hostile = try addHostile(.init(renewedEpochs: [web, api]), to: &group) {
            epoch, entry in
            guard epoch.compartment == web else { return epoch }
            let bobsContext = BoxContext(
                group: entry.group, entry: entry.number + (trick == .otherEntry ? 1 : 0),
                compartment: web, epoch: epoch.number,
                recipient: trick == .otherRecipient ? carol.id : bob.id)
            let sealed: SealedKeys =
                switch trick {
                case .zeros:
                    SealedKeys(
                        indexBox: [UInt8](repeating: 0, count: 172),
                        valueBox: [UInt8](repeating: 0, count: 172))
                case .ofAnotherMember: try #require(epoch.keys(of: alice.id))
                case .ofAnotherProject:
                    try #require(entry.epoch(of: api)?.keys(of: bob.id))
                case .otherKeys, .otherEntry, .otherRecipient:
                    try bobsContext.seal(
                        TestPool.epochs[0].index, TestPool.epochs[0].value, to: bob.keys,
                        readsValues: true)
                }
            return replacing(epoch) { $0.member == bob.id ? sealed : $0.keys }
        }
        let ring = try group.ring(bob)
        #expect(
            ring.problems
                == [KeyProblem.Part.indexBox, .valueBox].map {
                    KeyProblem(entry: hostile, compartment: web, author: alice.id, part: $0)
                })
        #expect(!ring.hasIndexKey(of: web, madeBy: hostile))
        #expect(!ring.hasValueSecret(of: web, madeBy: hostile))
        // The rest stays: earlier keys, and the other project.
        #expect(ring.epochs == (before + [name(api, hostile)]).sorted())
        #expect(try group.ring(alice).problems.isEmpty)
        // An honest entry brings the key back by the ladder; the problem stays known.
        try group.add(.init(renewedEpochs: [web]), by: alice)
        try ring.update(with: group.chain, indexBox: bob.indexBox, valueBox: bob.valueBox)
        #expect(ring.hasValueSecret(of: web, madeBy: hostile))
        #expect(ring.problems.count == 2)
    }

    @Test func `reports one box, and uses the other`() throws {
        var group = try group()
        let hostile = try addHostile(.init(renewedEpochs: [web]), to: &group) { epoch, _ in
            replacing(epoch) {
                $0.member != bob.id
                    ? $0.keys
                    : SealedKeys(
                        indexBox: $0.keys.indexBox, valueBox: epoch.keys(of: alice.id)?.valueBox)
            }
        }
        let ring = try group.ring(bob)
        #expect(ring.hasIndexKey(of: web, madeBy: hostile))
        #expect(!ring.hasValueSecret(of: web, madeBy: hostile))
        #expect(ring.problems.map(\.part) == [.valueBox])
    }

    @Test func `reports rungs that lead elsewhere`() throws {
        for isSealed in [false, true] {
            var group = try group()
            let first = try #require(group.chain.linksInOrder.first?.name)
            let hostile = try addHostile(.init(renewedEpochs: [web]), to: &group) { epoch, entry in
                let context = RungContext(group: entry.group, compartment: web, epoch: 1)
                // Sealed in the right form, under the right keys, but not the earlier key.
                let keys = try #require(epoch.keys(of: alice.id))
                let box = BoxContext(
                    group: entry.group, entry: entry.number, compartment: web,
                    epoch: epoch.number, recipient: alice.id)
                let index = try box.openIndexKey(
                    keys.indexBox, with: alice.indexBox, commitment: epoch.indexCommitment)
                let rung = NewEpoch.Rung(
                    entry: first,
                    index: isSealed
                        ? try index.rung(for: TestPool.epochs[0].index, context)
                        : [UInt8](repeating: 0, count: 72),
                    value: isSealed
                        ? try ValueSecretOfEpoch.rung(
                            for: TestPool.epochs[0].value, to: epoch.valueKey, context)
                        : [UInt8](repeating: 0, count: 148))
                return replacing(epoch, rungs: [rung])
            }
            // Who has the earlier key by a box does not need the rung.
            #expect(try group.ring(bob).problems.isEmpty)
            try group.add(.init(admissions: [dan.newMember(.reader)]), by: alice)
            let ring = try group.ring(dan)
            #expect(
                ring.problems
                    == [KeyProblem.Part.indexRung, .valueRung].map {
                        KeyProblem(entry: hostile, compartment: web, author: alice.id, part: $0)
                    })
            #expect(ring.epochs == [name(web, hostile), name(api, first)])
        }
    }

    @Test func `opens index keys while the values are locked, and the rest later`() throws {
        var group = try group()
        let ring = try EpochKeyRing(member: bob.id)
        for _ in 0..<3 {
            let entry = try group.add(.init(renewedEpochs: [web]), by: alice)
            try ring.update(with: group.chain, indexBox: bob.indexBox)
            #expect(ring.hasIndexKey(of: web, madeBy: entry.name))
            #expect(!ring.hasValueSecret(of: web, madeBy: entry.name))
        }
        try ring.update(with: group.chain, indexBox: bob.indexBox, valueBox: bob.valueBox)
        #expect(ring.epochs.count == 5 && ring.problems.isEmpty)
        for name in ring.epochs {
            #expect(ring.hasValueSecret(of: name.compartment, madeBy: name.entry))
        }
    }

    @Test func `passes keys on, more than it keeps derived`() throws {
        var group = try group()
        for _ in 0..<20 { try group.add(.init(renewedEpochs: [web]), by: alice) }
        let ring = try group.ring(bob)
        for _ in 0..<2 {
            for name in ring.epochs {
                let made = try #require(
                    group.chain.link(name.entry)?.entry.epoch(of: name.compartment))
                let commitment = try ring.withIndexKey(
                    of: name.compartment, madeBy: name.entry
                ) { key in key.commitment(compartment: name.compartment, epoch: made.number) }
                #expect(commitment == made.indexCommitment)
                let publicKey = try ring.withValueSecret(
                    of: name.compartment, madeBy: name.entry
                ) { $0.publicKey }
                #expect(publicKey == made.valueKey)
            }
        }
        #expect(try ring.withIndexKey(of: web, madeBy: .zero) { _ in 1 } == nil)
        #expect(try ring.withValueSecret(of: web, madeBy: .zero) { _ in 1 } == nil)
    }

    @Test func `opens nothing for a stranger, after a removal, or of other projects`() throws {
        var group = try group()
        let limited = try group.add(
            .init(admissions: [dan.newMember(.member, limit: [api])]), by: alice)
        let removal = try group.add(
            .init(removals: [.init(member: bob.id, cut: Cut())]), by: alice)
        #expect(try group.ring(TestPool.members[9]).epochs.isEmpty)
        #expect(try group.ring(bob).epochs.allSatisfy { $0.entry != removal.name })
        #expect(try group.ring(dan).epochs.allSatisfy { $0.compartment == api })
        #expect(try group.ring(dan).epochs.count == 2)
        #expect(try Entry.decode(limited.object).epochs.isEmpty)
        let writer = try group.ring(carol)
        #expect(writer.epochs.count == 4)
        for name in writer.epochs {
            #expect(!writer.hasValueSecret(of: name.compartment, madeBy: name.entry))
        }
        // Somebody else's boxes, with bob's keys.
        let ring = try EpochKeyRing(member: carol.id)
        try ring.update(with: group.chain, indexBox: bob.indexBox, valueBox: bob.valueBox)
        #expect(ring.epochs.isEmpty && ring.problems.isEmpty)
    }
}

import Sealing
import Testing
import Vault

@testable import Groups

/// What members can open with everything that they ever had, and what not.
@Suite("The keys of members")
struct KitTests {
    private let compartments = Array(TestPool.compartments.prefix(2))
    private let alice = TestPool.members[0]
    private let bob = TestPool.members[1]
    private let carol = TestPool.members[2]
    private let dan = TestPool.members[3]

    private func group(_ others: [(TestMember, GroupRole)]) throws -> TestGroup {
        try TestGroup(
            founder: alice, compartments: compartments, others: others, sealsBoxes: true)
    }

    /// The keys of an epoch, as a member opens them from the entry that has the boxes.
    private final class Opened {
        let index: IndexKeyOfEpoch
        /// Nil for a member that reads no values.
        let secret: Secret?

        init(index: consuming IndexKeyOfEpoch, secret: Secret?) {
            self.index = index
            self.secret = secret
        }
    }

    private final class Secret {
        let value: ValueSecretOfEpoch

        init(_ value: consuming ValueSecretOfEpoch) { self.value = value }
    }

    /// - Parameter entry: The entry that has the boxes; it made the epoch, or granted it.
    private func open(
        _ group: TestGroup, _ compartment: Identifier, _ entry: GroupHash, as member: TestMember,
        boxesOf recipient: TestMember? = nil
    ) throws -> Opened {
        let link = try #require(group.chain.link(entry))
        let epoch = try #require(link.state.epochs[compartment])
        let id = (recipient ?? member).id
        let made = link.entry.epochs.first { $0.compartment == compartment }
        let grants =
            link.entry.admissions.filter { $0.member == id }.flatMap(\.grants)
            + link.entry.roles.filter { $0.member == id }.flatMap(\.grants)
        let keys =
            made?.recipients.first { $0.member == id }?.keys
            ?? grants.first { $0.compartment == compartment }?.keys
        // Not required: that would fail tests that expect no box.
        guard let sealed = keys else { throw GroupError(.tag, "the member has no box") }
        let context = BoxContext(
            group: link.entry.number == 1 ? .zero : group.group, entry: link.entry.number,
            compartment: compartment, epoch: epoch.number, recipient: id)
        let index = try context.openIndexKey(
            sealed.indexBox, with: member.indexBox, commitment: epoch.indexCommitment)
        guard let box = sealed.valueBox else { return Opened(index: index, secret: nil) }
        return Opened(
            index: index,
            secret: Secret(
                try context.openValueSecret(
                    box, with: member.valueBox, publicKey: epoch.valueKey)))
    }

    private func change(
        _ group: TestGroup, _ compartment: Identifier, by member: TestMember, _ text: String,
        number: Int = 0
    ) throws -> [UInt8] {
        let record = TestRandom.identifier("record", number)
        let seed = TestRandom.identifier("seed", number)
        let batch = TestRandom.identifier("batch", number)
        let epoch = try #require(group.state.epochs[compartment])
        var values = try SealedValues(
            DataKeyContext(
                group: group.group, compartment: compartment, epoch: epoch.number, batch: batch),
            publicKey: epoch.valueKey)
        let size = try Array(text.utf8).withBytes {
            try values.append(
                $0, record: record, version: VersionIdentity.id(author: member.id, seed: seed),
                sealedName: "KEY")
        }
        var chain = TestChain(member, number)
        return try group.change(
            .init(
                compartment: compartment,
                operations: [
                    RecordOperation(
                        record: record,
                        .create(
                            .init(
                                name: "KEY", type: .plain,
                                scope: Scope(targets: .production)))),
                    RecordOperation(
                        record: record,
                        .value(.init(seed: seed, sealedName: "KEY", chunkByteCount: size))),
                ]), in: &chain, values: values.bytes, batch: batch)
    }

    private func text(
        _ object: [UInt8], _ index: borrowing IndexKeyOfEpoch,
        _ secret: borrowing ValueSecretOfEpoch
    ) throws -> String {
        let change = try Change(object)
        let content = try change.open(with: index)
        let values = try change.openValues(content, with: secret, in: SecretArena())
        return values.map { slice in
            slice.withBytes { bytes in
                String(
                    decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
            }
        }.joined(separator: ",")
    }

    @Test func `open values that they may read, and others not`() throws {
        let group = try group([(bob, .member), (carol, .writer), (dan, .reader)])
        let object = try change(group, compartments[0], by: carol, "secret value")
        for member in [alice, bob, dan] {
            let opened = try open(group, compartments[0], group.head, as: member)
            let secret = try #require(opened.secret)
            #expect(try text(object, opened.index, secret.value) == "secret value")
        }
        // The writer gets no value secret, so the value of its own change stays closed to it.
        let writer = try open(group, compartments[0], group.head, as: carol)
        #expect(writer.secret == nil)
        #expect(try Change(object).open(with: writer.index).operations.count == 2)
        // Nobody opens another member's boxes, and no box of another compartment fits.
        #expect(throws: GroupError.self) {
            _ = try open(group, compartments[0], group.head, as: carol, boxesOf: bob)
        }
        let other = try open(group, compartments[1], group.head, as: bob)
        #expect(throws: GroupError.self) { _ = try Change(object).open(with: other.index) }
    }

    @Test func `do not open what is written after a removal`() throws {
        var group = try group([(bob, .member), (dan, .reader)])
        let first = group.head
        let kit = try open(group, compartments[0], first, as: bob)
        let oldSecret = try #require(kit.secret)
        let before = try change(group, compartments[0], by: alice, "before", number: 1)
        try group.add(.init(removals: [Removal(member: bob.id, cut: Cut())]), by: alice)
        let after = try change(group, compartments[0], by: alice, "after", number: 2)
        #expect(try text(before, kit.index, oldSecret.value) == "before")
        #expect(throws: GroupError.self) { _ = try Change(after).open(with: kit.index) }
        // With dan's index key bob reads names, and still no value.
        let dans = try open(group, compartments[0], group.head, as: dan)
        let content = try Change(after).open(with: dans.index)
        #expect(throws: GroupError.self) {
            _ = try Change(after).openValues(content, with: oldSecret.value, in: SecretArena())
        }
        #expect(throws: (any Error).self) {
            _ = try open(group, compartments[0], group.head, as: bob)
        }
        // The rungs lead back, not forward.
        let epoch = try #require(
            group.chain.link(group.head)?.entry.epochs.first {
                $0.compartment == compartments[0]
            })
        let context = RungContext(group: group.group, compartment: compartments[0], epoch: 1)
        #expect(throws: GroupError.self) {
            _ = try kit.index.open(rung: epoch.rungs[0].index, context)
        }
        #expect(throws: GroupError.self) {
            _ = try oldSecret.value.open(rung: epoch.rungs[0].value, context)
        }
        let index = try dans.index.open(rung: epoch.rungs[0].index, context)
        let newSecret = try #require(dans.secret)
        let secret = try newSecret.value.open(rung: epoch.rungs[0].value, context)
        #expect(try text(before, index, secret) == "before")
        // What bob writes with his whole kit does not count.
        var chain = TestChain(bob, 9)
        let late = try group.change(
            .init(
                compartment: compartments[0],
                operations: [
                    RecordOperation(
                        record: TestRandom.identifier("record", 9),
                        .create(
                            .init(name: "LATE", type: .plain, scope: Scope(targets: .production))))
                ], entry: first), in: &chain)
        let state = CompartmentFold.state(
            of: try [before, after, late].map(group.received), chain: group.chain)
        #expect(state.late == [GroupHash(of: late): .cut])
        #expect(state.records.count == 2)
    }

    @Test func `open only the compartments of a limited member`() throws {
        var group = try group([])
        try group.add(
            .init(admissions: [dan.admission(.reader, limit: [compartments[1]])]), by: alice)
        group.know(dan)
        let opened = try open(group, compartments[1], group.head, as: dan)
        #expect(opened.secret != nil)
        #expect(throws: (any Error).self) {
            _ = try open(group, compartments[0], group.head, as: dan)
        }
        let object = try change(group, compartments[0], by: alice, "other")
        #expect(throws: GroupError.self) { _ = try Change(object).open(with: opened.index) }
        // And writes of the member in another compartment do not count.
        var chain = TestChain(dan, 5)
        let foreign = try group.change(
            .init(compartment: compartments[0], operations: []), in: &chain)
        let state = CompartmentFold.state(of: [try group.received(foreign)], chain: group.chain)
        #expect(state.late.values.first == .compartment)
    }

    @Test func `are the same for all members of an epoch`() throws {
        let group = try group([(bob, .member)])
        let link = try #require(group.chain.link(group.head))
        let epoch = try #require(link.state.epochs[compartments[0]])
        let context = BoxContext(
            group: .zero, entry: 1, compartment: compartments[0], epoch: 1, recipient: bob.id)
        // An admin who seals another key to bob than to others.
        let other = TestPool.epochs[200]
        let sealed = try context.seal(
            other.index, other.value, to: bob.keys, readsValues: true)
        #expect(throws: GroupError.self) {
            _ = try context.openIndexKey(
                sealed.indexBox, with: bob.indexBox, commitment: epoch.indexCommitment)
        }
        #expect(throws: GroupError.self) {
            _ = try context.openValueSecret(
                sealed.valueBox ?? [], with: bob.valueBox, publicKey: epoch.valueKey)
        }
    }

    @Test func `differ by everything that a box is for`() throws {
        let keys = TestPool.epochs[0]
        let right = BoxContext(
            group: GroupHash(of: [1]), entry: 2, compartment: compartments[0], epoch: 3,
            recipient: bob.id)
        let sealed = try right.seal(keys.index, keys.value, to: bob.keys, readsValues: true)
        let commitment = keys.index.commitment(compartment: compartments[0], epoch: 3)
        _ = try right.openIndexKey(sealed.indexBox, with: bob.indexBox, commitment: commitment)
        let wrong = [
            BoxContext(
                group: GroupHash(of: [2]), entry: 2, compartment: compartments[0], epoch: 3,
                recipient: bob.id),
            BoxContext(
                group: GroupHash(of: [1]), entry: 3, compartment: compartments[0], epoch: 3,
                recipient: bob.id),
            BoxContext(
                group: GroupHash(of: [1]), entry: 2, compartment: compartments[1], epoch: 3,
                recipient: bob.id),
            BoxContext(
                group: GroupHash(of: [1]), entry: 2, compartment: compartments[0], epoch: 4,
                recipient: bob.id),
            BoxContext(
                group: GroupHash(of: [1]), entry: 2, compartment: compartments[0], epoch: 3,
                recipient: carol.id),
        ]
        for context in wrong {
            #expect(throws: GroupError.self) {
                _ = try context.openIndexKey(
                    sealed.indexBox, with: bob.indexBox, commitment: commitment)
            }
            #expect(throws: GroupError.self) {
                _ = try context.openValueSecret(
                    sealed.valueBox ?? [], with: bob.valueBox, publicKey: keys.valueKey)
            }
        }
        // An index box is not a value box.
        #expect(throws: GroupError.self) {
            _ = try right.openValueSecret(
                sealed.indexBox, with: bob.indexBox, publicKey: keys.valueKey)
        }
    }
}

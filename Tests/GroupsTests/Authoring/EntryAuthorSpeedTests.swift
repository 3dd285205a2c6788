import Glibc
import Sealing
import Testing
import Vault

@testable import Groups

/// By the processor time of the thread. The limits hold for an optimized build.
@Suite("The speed of authors and rings", .serialized)
struct EntryAuthorSpeedTests {
    private static func seconds(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        try body()
        return now() - start
    }

    @Test func `makes an entry for 50 members and 20 projects within 0.5 s`() throws {
        let alice = TestPool.members[0]
        let compartments = (0..<20).map { TestRandom.identifier("project", $0) }
        var group = try AuthoredGroup(founder: alice, compartments: compartments)
        try group.add(
            .init(admissions: TestPool.members[1..<50].map { $0.newMember(.member) }), by: alice)
        let author = try group.author(alice)
        var object: [UInt8] = []
        let spent = try Self.seconds {
            object = try author.entry(
                .init(renewedEpochs: compartments), signedBy: alice.authority
            ).object
        }
        print("made an entry of \(object.count) bytes, 2,000 boxes: \(Int(spent * 1_000)) ms")
        #expect(spent < 0.5)
        try group.insert([object])
        let ring = try EpochKeyRing(member: alice.id)
        let opening = try Self.seconds {
            try ring.update(with: group.chain, indexBox: alice.indexBox, valueBox: alice.valueBox)
        }
        print("opened \(ring.epochs.count) epochs of 3 entries: \(Int(opening * 1_000)) ms")
        #expect(ring.epochs.count == 40)
    }

    @Test func `builds a ring of 200 entries within 0.3 s`() throws {
        let members = Array(TestPool.members[0..<6])
        let compartments = Array(TestPool.compartments.prefix(4))
        var group = try AuthoredGroup(founder: members[0], compartments: compartments)
        try group.add(
            .init(admissions: members[1..<5].map { $0.newMember(.member) }), by: members[0])
        let owner = try EpochKeyRing(member: members[0].id)
        while group.objects.count < 199 {
            try owner.update(
                with: group.chain, indexBox: members[0].indexBox, valueBox: members[0].valueBox)
            let entry = try EntryAuthor(
                chain: group.chain, ring: owner, author: members[0].id, createdAt: 1
            ).entry(.init(renewedEpochs: compartments), signedBy: members[0].authority)
            try group.insert([entry.object])
        }
        try group.add(.init(admissions: [members[5].newMember(.reader)]), by: members[0])
        // One has a box for each epoch, the other one only the last of each and the ladder.
        for member in [members[1], members[5]] {
            let ring = try EpochKeyRing(member: member.id)
            let locked = try Self.seconds {
                try ring.update(with: group.chain, indexBox: member.indexBox)
            }
            let spent = try Self.seconds {
                try ring.update(
                    with: group.chain, indexBox: member.indexBox, valueBox: member.valueBox)
            }
            let again = try Self.seconds {
                try ring.update(
                    with: group.chain, indexBox: member.indexBox, valueBox: member.valueBox)
            }
            print(
                """
                200 entries, \(ring.epochs.count) epochs: index keys in \(Int(locked * 1_000)) ms, value \
                secrets in \(Int(spent * 1_000)) ms, again in \(Int(again * 1_000_000)) µs
                """)
            #expect(ring.epochs.count == 198 * 4 && ring.problems.isEmpty)
            #expect(locked + spent < 0.3 && again < 0.01)
        }
    }
}

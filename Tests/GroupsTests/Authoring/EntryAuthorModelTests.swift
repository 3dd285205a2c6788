import Sealing
import TestSupport
import Testing
import Vault

@testable import Groups

/// Random histories of entries against an oracle. ZG_ENV_PROOF_SEED repeats a run.
@Suite("Histories that admins make")
struct EntryAuthorModelTests {
    @Test func `are valid in any order, and give everybody exactly the keys they may have`() throws
    {
        let count = Proof.count(short: 10, full: 400)
        print("histories of entries: ZG_ENV_PROOF_SEED=\(ProofRandom.seed)")
        var (entries, members, epochs) = (0, 0, 0)
        var counts: [String: Int] = [:]
        for number in 0..<count {
            let seed = ProofRandom.seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D
            var run = try AuthoringRun(seed: seed)
            try run.run(30)
            var random = ModelRandom(seed ^ 1)
            try checkOrder(run, &random)
            for (id, holders) in run.holders.sorted(by: { $0.key < $1.key }) {
                try checkRing(run, id, holders, &random)
            }
            entries += run.objects.count
            members += run.holders.count
            epochs += run.chain.linksInOrder.reduce(0) { $0 + $1.entry.epochs.count }
            counts.merge(run.counts) { $0 + $1 }
        }
        let list = counts.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
        print(
            "\(count) histories, \(entries) entries, \(members) members, \(epochs) epochs; \(list)")
        #expect(counts.count == 8 && counts.values.allSatisfy { $0 >= 3 })
    }

    private func checkOrder(_ run: AuthoringRun, _ random: inout ModelRandom) throws {
        var chain = MembershipChain(group: run.chain.group)
        for object in random.shuffle(run.objects) { try chain.insert([object]) }
        #expect(chain.heads == run.chain.heads)
        #expect(chain.refused.isEmpty && chain.waiting.isEmpty)
        #expect(chain.linksInOrder.count == run.objects.count)
    }

    private func checkRing(
        _ run: AuthoringRun, _ id: Identifier, _ holders: [TestMember],
        _ random: inout ModelRandom
    ) throws {
        let ring = try EpochKeyRing(member: id)
        // Some rings grow entry by entry, or are locked for a while.
        if random.percent(30) {
            var chain = MembershipChain(group: run.chain.group)
            for object in run.objects {
                try chain.insert([object])
                for holder in holders {
                    if random.percent(50) {
                        try ring.update(with: chain, indexBox: holder.indexBox)
                    } else {
                        try ring.update(
                            with: chain, indexBox: holder.indexBox, valueBox: holder.valueBox)
                    }
                }
            }
        }
        for holder in holders {
            try ring.update(
                with: run.chain, indexBox: holder.indexBox, valueBox: holder.valueBox)
        }
        #expect(ring.problems.isEmpty)
        let index = run.oracle.epochs(of: id, values: false)
        let values = run.oracle.epochs(of: id, values: true)
        #expect(Set(ring.epochs) == index)
        for name in ring.epochs {
            let made = try #require(
                run.chain.link(name.entry)?.entry.epoch(of: name.compartment))
            let commitment = try ring.withIndexKey(of: name.compartment, madeBy: name.entry) {
                $0.commitment(compartment: name.compartment, epoch: made.number)
            }
            #expect(commitment == made.indexCommitment)
            let publicKey = try ring.withValueSecret(of: name.compartment, madeBy: name.entry) {
                $0.publicKey
            }
            #expect(publicKey == (values.contains(name) ? made.valueKey : nil))
        }
    }
}

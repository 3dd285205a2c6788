import Foundation
import TestSupport
import Testing
import Vault

@testable import Groups

/// Random histories of groups, with honest and hostile members, against an oracle that is as naive as
/// possible.
///
/// 300 runs; with ZG_ENV_PROOF=full 100,000. ZG_ENV_MODEL_FIRST and ZG_ENV_MODEL_SEQUENCES set others.
@Suite("The model of groups")
struct ModelTests {
    private static func setting(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test func `finds all members in the state of the oracle`() throws {
        let first = Self.setting("ZG_ENV_MODEL_FIRST") ?? 0
        let count =
            Self.setting("ZG_ENV_MODEL_SEQUENCES") ?? Proof.count(short: 300, full: 100_000)
        var totals = ModelTotals()
        for number in first..<first + count {
            let seed = ProofRandom.seed &+ UInt64(number) &* 0x2545_F491_4F6C_DD1D
            var steps = 0
            do {
                var run = try ModelRun(seed: seed)
                try run.run()
                steps = run.order.count
                try run.check()
                totals.add(run)
            } catch {
                // The form that Tests/Mutations/mutations.py reads.
                Issue.record(
                    """
                    ZG_ENV_PROOF_SEED=\(ProofRandom.seed) ZG_ENV_MODEL_FIRST=\(number) ZG_ENV_MODEL_SEQUENCES=1: \
                    broken after \(steps) steps
                    \(error)
                    """)
                return
            }
        }
        print("model of groups: \(count) runs from \(first), \(totals.text)")
        // A generator that makes nothing would find nothing.
        if count >= 300 {
            #expect(totals.late.count >= 10, "\(totals.late)")
            #expect(totals.contested.count == RecordState.Contest.allCases.count)
            #expect(totals.refused.count >= 7, "\(totals.refused)")
        }
    }
}

/// What runs contained.
struct ModelTotals {
    private var (changes, counted, entries, forks, members, effective) = (0, 0, 0, 0, 0, 0)
    private(set) var late: [LateReason: Int] = [:]
    private(set) var waiting: [WaitingReason: Int] = [:]
    private(set) var contested: [RecordState.Contest: Int] = [:]
    private(set) var refused: [EntryRefusal: Int] = [:]

    mutating func add(_ run: ModelRun) {
        changes += run.order.count
        entries += run.valid.count
        members += run.agents.count
        if run.group.chain.isForked { forks += 1 }
        for reason in run.group.chain.refused.values { refused[reason, default: 0] += 1 }
        for compartment in run.compartments {
            let received = run.order.compactMap { run.changes[$0] }
                .filter { $0.compartment == compartment && !$0.isWithheld }.map(\.received)
            let state = CompartmentFold.state(of: received, chain: run.group.chain)
            counted += state.counted.count
            effective += state.effective.count
            for reason in state.late.values { late[reason, default: 0] += 1 }
            for reason in state.waiting.values { waiting[reason, default: 0] += 1 }
            for record in state.records {
                for reason in record.contested { contested[reason, default: 0] += 1 }
            }
        }
    }

    var text: String {
        func list<T: RawRepresentable>(_ counts: [T: Int]) -> String where T.RawValue == String {
            counts.map { "\($0.key.rawValue) \($0.value)" }.sorted().joined(separator: ", ")
        }
        return """
            \(members) members, \(changes) changes, \(counted) count, \(effective) effective, \
            \(entries) entries, \(forks) forked; late: \(list(late)); waiting: \(list(waiting)); \
            contested: \(list(contested)); refused entries: \(list(refused))
            """
    }
}

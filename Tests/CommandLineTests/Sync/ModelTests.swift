import Foundation
import TestSupport
import Testing
import Threads

/// Sequences of commands on three machines and of dashboard actions, with kills, outages, every
/// fault of the sandbox, hidden production variables, integrations, and a team's policies; each
/// command is checked against docs/sync.md.
///
/// 32 sequences; with ZG_ENV_PROOF=full 3,000. The seed is printed. ZG_ENV_MODEL_SEQUENCES sets
/// another number, ZG_ENV_MODEL_FIRST the first one's; ZG_ENV_MODEL_SHORTEN=no stops at the first
/// failure, ZG_ENV_MODEL_SHOW=all prints all sequences.
@Suite("A model of both sides")
struct ModelTests {
    private static let stepCount = 24
    private static let worldCount = 8
    /// Stops after that many failures.
    private static let maximumFailures = isThorough ? 3 : 1

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// Whether a failed sequence is shortened, and others are tried after it.
    private static let isThorough =
        ProcessInfo.processInfo.environment["ZG_ENV_MODEL_SHORTEN"] != "no"

    /// Whether the lines of all sequences are printed.
    private static let showsAll =
        ProcessInfo.processInfo.environment["ZG_ENV_MODEL_SHOW"] == "all"

    /// The state shared between the worlds.
    private struct Shared {
        var next: Int
        let end: Int
        var counts = ModelCounts()
        var failures: [String] = []
    }

    @Test(
        "SYNC-M: no value is lost unseen, no exit 0 is wrong, and synced means synced",
        .timeLimit(.minutes(120)))
    func sequences() throws {
        let first = Self.number("ZG_ENV_MODEL_FIRST") ?? 0
        let count =
            Self.number("ZG_ENV_MODEL_SEQUENCES") ?? Proof.count(short: 32, full: 3_000)
        let shared = Monitor(Shared(next: first, end: first + count))
        _ = ProofRandom.seed
        let threads = (0..<min(Self.worldCount, count)).compactMap { _ in
            WorkThread { Self.work(on: shared) }
        }
        for thread in threads { thread.join() }
        let (counts, failures) = shared.look { ($0.counts, $0.failures) }
        print("proof: \(counts.text)")
        for failure in failures { Issue.record("\(failure)") }
        guard failures.isEmpty, count >= 20 else { return }
        for what in [
            "push 0", "push 5", "pull 0", "pull 5", "kills", "faults", "replaced knowingly",
        ] {
            #expect(counts[what] > 0, "\(what)")
        }
        guard count >= ModelPassage.allCases.count else { return }
        for passage in ModelPassage.allCases {
            #expect(counts["passage \(passage)"] > 0, "\(passage)")
        }
        for circumstance in ModelCircumstance.allCases {
            #expect(counts["circumstance \(circumstance)"] > 0, "\(circumstance)")
        }
    }

    /// Takes sequence numbers until none is left, or one has failed.
    private static func work(on shared: Monitor<Shared>) {
        do {
            let world = try ModelWorld()
            while let number = shared.look({ shared -> Int? in
                guard shared.next < shared.end, shared.failures.count < maximumFailures
                else { return nil }
                shared.next += 1
                return shared.next - 1
            }) {
                let outcome = try sequence(number, in: world)
                shared.look { shared in
                    shared.counts.add(outcome.counts)
                    shared.counts.add("sequences")
                }
                if showsAll {
                    print("sequence \(number)\n" + outcome.script.lines.joined(separator: "\n"))
                }
                guard !outcome.problems.isEmpty else { continue }
                let report = try report(outcome, number, in: world)
                shared.look { $0.failures.append(report) }
            }
        } catch {
            shared.look { $0.failures.append("\(error)") }
        }
    }

    private static func sequence(
        _ number: Int, in world: ModelWorld
    ) throws -> ModelSequence.Outcome {
        var generator = ModelGenerator(
            random: ProofRandom(UInt64(number) &* 1_000 &+ 90), number: number)
        var left = stepCount
        var outcome = try ModelSequence.run(
            in: world,
            next: { stored, vaults in
                left -= 1
                return left >= 0
                    ? generator.step(
                        stored: stored, isHidden: world.hidesProduction, vaults: vaults) : nil
            }, note: { generator.note($0) })
        for passage in generator.begun { outcome.counts.add("passage \(passage)") }
        if let circumstance = generator.circumstance {
            outcome.counts.add("circumstance \(circumstance)")
        }
        return outcome
    }

    private static func report(
        _ outcome: ModelSequence.Outcome, _ number: Int, in world: ModelWorld
    ) throws -> String {
        let short = isThorough ? try ModelShrinking.shortened(outcome, in: world) : outcome
        func lines(_ outcome: ModelSequence.Outcome) -> String {
            outcome.script.lines.joined(separator: "\n")
        }
        return """
            ZG_ENV_PROOF_SEED=\(ProofRandom.seed) ZG_ENV_MODEL_FIRST=\(number) ZG_ENV_MODEL_SEQUENCES=1: \
            after \(outcome.steps.count) steps
            \(outcome.problems.joined(separator: "\n"))
            \(ModelScript.head)
            \(lines(outcome))
            # It said: \(outcome.said)
            # Shortened to \(short.steps.count) steps: \(short.problems.joined(separator: "; "))
            \(lines(short))
            """
    }
}

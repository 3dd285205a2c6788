import Foundation
import TestSupport
import Testing
import Threads

/// Sequences of random commands with random targets, types and files, checked against a history
/// that knows one value for each target.
///
/// 8 sequences of 50 commands; with ZG_ENV_PROOF=full 400. The seed is printed. ZG_ENV_SEQUENCES
/// sets another number, ZG_ENV_SEQUENCE_FIRST the first one's, ZG_ENV_SEQUENCE_FAILURES after how
/// many failures to stop (1). ZG_ENV_SEQUENCE_WITHOUT=types,files,targets leaves out what finds a
/// known fault.
@Suite("Values and their targets")
struct TargetSequenceTests {
    private static let commandCount = 50
    private static let worldCount = 4

    private static let omissions = Set(
        (ProcessInfo.processInfo.environment["ZG_ENV_SEQUENCE_WITHOUT"] ?? "").split(separator: ",")
            .compactMap { TargetGenerator.Omission(rawValue: String($0)) })

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    /// The state shared between the worlds.
    private struct Shared {
        var next: Int
        let end: Int
        var counts = ModelCounts()
        var failures: [String] = []
    }

    @Test(
        "VAL-F1 VAL-F2 VAL-F5 VAL-F6 USE-L1: random commands make no value readable, empty or misplaced",
        .timeLimit(.minutes(30)))
    func sequences() throws {
        let first = Self.number("ZG_ENV_SEQUENCE_FIRST") ?? 0
        let count =
            Self.number("ZG_ENV_SEQUENCES") ?? Proof.count(short: 8, full: 400)
        let shared = Monitor(Shared(next: first, end: first + count))
        _ = ProofRandom.seed
        let threads = (0..<min(Self.worldCount, count)).compactMap { _ in
            WorkThread { Self.work(on: shared) }
        }
        for thread in threads { thread.join() }
        let (counts, failures) = shared.look { ($0.counts, $0.failures) }
        print("proof: \(counts.text)")
        for failure in failures { Issue.record("\(failure)") }
        guard failures.isEmpty, count >= 40, Self.omissions.isEmpty else { return }
        for what in [
            "set 0", "set 2", "import 0", "import 2", "copy 0", "edit 0", "rm 0", "rename 0",
            "restore-version 0", "push 0", "harden 0", "stand-ins", "splits", "sensitive splits",
        ] {
            #expect(counts[what] > 0, "\(what)")
        }
    }

    /// Takes sequence numbers until none is left, or enough have failed.
    private static func work(on shared: Monitor<Shared>) {
        do {
            let world = try TargetWorld()
            while let number = shared.look({ shared -> Int? in
                guard shared.next < shared.end,
                    shared.failures.count < (self.number("ZG_ENV_SEQUENCE_FAILURES") ?? 1)
                else { return nil }
                shared.next += 1
                return shared.next - 1
            }) {
                var generator = TargetGenerator(
                    ProofRandom(UInt64(number) &* 1_000 &+ 54), without: omissions)
                var left = commandCount
                let outcome = try TargetSequence.run(in: world) {
                    left -= 1
                    return left >= 0 ? generator.command() : nil
                }
                shared.look { shared in
                    shared.counts.add(outcome.counts)
                    shared.counts.add("commands", outcome.commands.count)
                }
                guard !outcome.problems.isEmpty else { continue }
                let report = try report(outcome, number, in: world)
                shared.look { $0.failures.append(report) }
            }
        } catch {
            shared.look { $0.failures.append("\(error)") }
        }
    }

    private static func report(
        _ outcome: TargetSequence.Outcome, _ number: Int, in world: TargetWorld
    ) throws -> String {
        let short = try TargetShrinking.shortened(outcome, in: world)
        func texts(_ outcome: TargetSequence.Outcome) -> String {
            outcome.problems.map(\.description).joined(separator: "; ")
        }
        return """
            ZG_ENV_PROOF_SEED=\(ProofRandom.seed) ZG_ENV_SEQUENCE_FIRST=\(number) ZG_ENV_SEQUENCES=1: \
            after \(outcome.commands.count) commands: \(texts(outcome))
            # zg-env-sandbox --port 0 --seed seed.json, where seed.json is \(TargetWorld.seed)
            # zg-env init --kdf 8MiB,1; login; pull -p web; printf custom | zg-env set \(TargetWorld.customKey) -p web -t qa
            \(outcome.lines.joined(separator: "\n"))
            # It said: \(outcome.said)
            # Shortened to \(short.commands.count) commands: \(texts(short))
            \(short.lines.joined(separator: "\n"))
            """
    }
}

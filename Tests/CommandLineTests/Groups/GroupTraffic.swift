import Foundation
import TestSupport
import Threads

/// Members who write and sync at the same time, while their programs and those of the place are
/// killed.
final class GroupTraffic: Sendable {
    /// A `set`, with what is known of it.
    struct Write: Sendable {
        let member: String
        let worker: Int
        let key: String
        let value: String
        /// Whether the program said so. One that was killed may have written.
        let isAccepted: Bool
    }

    static let sharedKey = "SHARED"
    private let homes: [String: CommandHome]
    private let environment: [String: String]
    private let isKilling: Bool
    private let log = Monitor<[Write]>([])
    private let problems = Monitor<[String]>([])
    private let ends = Monitor<[String: Int]>([:])
    private let running = Monitor<Set<Int32>>([])

    init(
        _ homes: [String: CommandHome], environment: [String: String], isKilling: Bool = true
    ) {
        (self.homes, self.environment, self.isKilling) = (homes, environment, isKilling)
    }

    /// All writes, each worker's in order.
    var writes: [Write] { log.look { $0 } }
    /// What no kill explains.
    var failures: [String] { problems.look { $0 } }
    /// How often which program was killed, and with which codes programs ended.
    var summary: String {
        ends.look { $0 }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            .joined(separator: ", ")
    }

    /// Lets all members work, two programs of the first one at once, and returns at their end.
    func run(round: Int, turns: Int, server: GitServer?, using random: inout ProofRandom) {
        let working = DispatchGroup()
        let names = homes.keys.sorted()
        for (worker, name) in ([names[0]] + names).enumerated() {
            let seed = random.next()
            Thread.detach(into: working) { [self] in
                work(as: name, worker, turns: turns, round: round, seed: seed)
            }
        }
        while working.wait(timeout: .now() + .milliseconds(pause(&random))) == .timedOut {
            if isKilling { killOne(server, using: &random) }
        }
    }

    /// The time between kills is the test's input, not its synchronization.
    private func pause(_ random: inout ProofRandom) -> Int {
        Int.random(in: 5...120, using: &random)
    }

    private func killOne(_ server: GitServer?, using random: inout ProofRandom) {
        let programs = running.look { $0 }.sorted()
        let below = programs.flatMap { ProcessTree.descendants(of: $0) }
        // Each kind as often: a git below zg-env, or at the server, lives only for moments.
        let kinds = [programs, below, server?.requests ?? []].filter { !$0.isEmpty }
        guard let kind = kinds.randomElement(using: &random),
            let victim = kind.randomElement(using: &random),
            let name = ProcessTree.name(of: victim), kill(victim, SIGKILL) == 0
        else { return }
        ends.look { $0["killed \(name)", default: 0] += 1 }
    }

    private func work(as name: String, _ worker: Int, turns: Int, round: Int, seed: UInt64) {
        var random = ProofRandom(seed)
        for turn in 0..<turns {
            // Only one program of a member writes the shared key: the order of two is unknown.
            let isShared = worker > 0 && UInt64.random(in: 0..<2, using: &random) == 0
            let key = isShared ? Self.sharedKey : "KEY_\(worker)_\(turn % 3)"
            let value = "\(name) \(worker) \(round) \(turn)"
            let status = run(
                name, ["set", key, "-p", "web", "--raw"], input: value, allowed: [0, 5])
            log.look {
                $0.append(
                    Write(
                        member: name, worker: worker, key: key, value: value,
                        isAccepted: status == 0))
            }
            if UInt64.random(in: 0..<3, using: &random) > 0 {
                // 1 and 7: git was killed here or there.
                _ = run(name, ["sync"], allowed: isKilling ? [0, 1, 5, 7] : [0])
            }
        }
    }

    /// Runs a command of a member; nil if it was killed.
    private func run(
        _ name: String, _ arguments: [String], input: String? = nil, allowed: Set<Int32>
    ) -> Int32? {
        guard
            var runner = homes[name]?.runner(
                arguments, input: input.map { .text($0) } ?? .null, environment: environment)
        else { return nil }
        runner.timeLimit = .seconds(300)
        // Nil at the end: a number that is entered later would be another program's by then.
        let identifier = Monitor<Int32?>(0)
        runner.script = [
            (
                .now,
                .call { [running] number, _ in
                    identifier.look { known in
                        guard known != nil else { return }
                        known = number
                        running.look { _ = $0.insert(number) }
                    }
                }
            )
        ]
        let result = try? runner.run()
        identifier.look { known in
            running.look { _ = $0.remove(known ?? 0) }
            known = nil
        }
        let end = result.map { "\(arguments[0]) \($0.end)" } ?? "not run"
        ends.look { $0[end, default: 0] += 1 }
        if result?.signal == SIGKILL, result?.timedOut == false, isKilling { return nil }
        guard let status = result?.status, allowed.contains(status) else {
            problems.look {
                $0.append("\(name) \(arguments[0]): \(end) \(result?.error ?? "")")
            }
            return nil
        }
        return status
    }
}

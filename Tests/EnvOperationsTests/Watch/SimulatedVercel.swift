import EnvOperations
import TestSupport

/// Simulated deployments with a clock that is moved by hand, listed as Vercel does; counts
/// requests.
final class SimulatedVercel: WatchSource {
    struct Made {
        let id: String
        let project: String
        let target: String
        let createdAt: Int64
        let begunAt: Int64
        let endedAt: Int64
        let end: WatchedDeployment.Phase

        func phase(at time: Int64) -> WatchedDeployment.Phase {
            time >= endedAt ? end : time >= begunAt ? .building : .waiting
        }
    }

    var now: Int64
    private(set) var made: [Made] = []
    private(set) var requestCount = 0
    /// Whether it responds.
    var isDown = false
    /// Lists may be out of date by up to this many milliseconds.
    var lag: Int64 = 0
    /// Whether lists are always complete.
    var isComplete = false
    private var hasLeftOut = false
    var random: ProofRandom

    init(now: Int64, random: ProofRandom) {
        self.now = now
        self.random = random
    }

    /// Creates a deployment now.
    func make(project: String) {
        let begun = now + Int64.random(in: 0...60_000, using: &random)
        let ends: [WatchedDeployment.Phase] = [.ready, .ready, .ready, .failed, .canceled]
        made.append(
            Made(
                id: "dpl_\(made.count)", project: project,
                target: Bool.random(using: &random) ? "production" : "preview", createdAt: now,
                begunAt: begun, endedAt: begun + Int64.random(in: 1_000...900_000, using: &random),
                end: ends.randomElement(using: &random) ?? .ready))
    }

    private func watched(_ one: Made, at time: Int64) -> WatchedDeployment {
        WatchedDeployment(
            id: one.id, project: one.project, phase: one.phase(at: time),
            createdAt: one.createdAt, target: one.target)
    }

    func deployments(
        in scope: NotificationChoices.Scope, since: Int64, limit: Int
    ) throws(WatchFailure) -> [WatchedDeployment] {
        requestCount += 1
        guard !isDown else { throw WatchFailure(.failed(retryAfter: nil), reason: "down") }
        let time = now - (lag > 0 ? Int64.random(in: 0...lag, using: &random) : 0)
        var found = made.filter { $0.createdAt > since && $0.createdAt <= time }
        requestCount += max(found.count - 1, 0) / 100
        // Now and then a list leaves one out, and the next one has it. With more deployments the
        // list is no shorter for that.
        let leavesOut =
            !isComplete && !hasLeftOut && found.count > 3
            && Int.random(in: 0..<10, using: &random) == 0
        if leavesOut { found.remove(at: Int.random(in: 0..<found.count, using: &random)) }
        hasLeftOut = leavesOut
        return found.reversed().prefix(limit).map { watched($0, at: time) }
    }

    func deployment(
        _ id: String, in scope: NotificationChoices.Scope
    ) throws(WatchFailure) -> WatchedDeployment? {
        requestCount += 1
        guard !isDown else { throw WatchFailure(.failed(retryAfter: nil), reason: "down") }
        return made.first { $0.id == id }.map { watched($0, at: now) }
    }
}

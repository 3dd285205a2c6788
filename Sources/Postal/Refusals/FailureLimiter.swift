internal import Threads

/// Counts refused attempts of each client address, so that nobody tries many tokens or codes.
///
/// Only addresses that a proxy tells of are counted: without one, everybody is the same machine, and
/// with one, its own address is everybody's.
final class FailureLimiter: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var since: Int64
    }

    /// Refused attempts of one address in one period.
    static let limit = 60
    private static let periodMilliseconds: Int64 = 60_000
    private static let addressLimit = 20_000

    private let state: Monitor<State>

    init(now: Int64) { state = Monitor(State(since: now)) }

    /// Whether an address has tried too often.
    func isOver(_ address: String?, now: Int64) -> Bool {
        guard let address else { return false }
        return state.look { state in
            if now - state.since > Self.periodMilliseconds { state = State(since: now) }
            return state.counts[address, default: 0] >= Self.limit
        }
    }

    /// Counts a refused attempt.
    func add(_ address: String?) {
        guard let address else { return }
        state.look { state in
            // Whoever has that many addresses is not stopped by their count.
            guard state.counts.count < Self.addressLimit || state.counts[address] != nil else {
                return
            }
            state.counts[address, default: 0] += 1
        }
    }
}

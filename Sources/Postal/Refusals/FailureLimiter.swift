internal import Threads

/// Counts refused attempts per client address, to slow down guessing of tokens and codes.
///
/// Only addresses reported by a proxy are counted: without a proxy all clients are on this machine,
/// and with one they share the proxy's address.
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

    func isOver(_ address: String?, now: Int64) -> Bool {
        guard let address else { return false }
        return state.look { state in
            if now - state.since > Self.periodMilliseconds { state = State(since: now) }
            return state.counts[address, default: 0] >= Self.limit
        }
    }

    func add(_ address: String?) {
        guard let address else { return }
        state.look { state in
            // The count cannot stop an attacker with that many addresses.
            guard state.counts.count < Self.addressLimit || state.counts[address] != nil else {
                return
            }
            state.counts[address, default: 0] += 1
        }
    }
}

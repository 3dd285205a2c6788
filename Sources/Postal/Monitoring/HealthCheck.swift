internal import Threads

/// Checks that the store works, at most once a second for any number of callers.
final class HealthCheck: Sendable {
    private struct State {
        var isGood = true
        /// When the last check ended; nil before the first.
        var checkedAt: Int64?
        /// When the running check began.
        var beganAt: Int64?
    }

    private static let freshMilliseconds: Int64 = 1_000
    /// A check that takes longer has failed.
    private static let checkTimeoutMilliseconds: Int64 = 5_000

    private let store: any PostalStore
    private let steady: @Sendable () -> Int64
    private let state = Monitor(State())

    init(_ store: any PostalStore, steady: @escaping @Sendable () -> Int64) {
        (self.store, self.steady) = (store, steady)
    }

    /// Returns whether the store works. Waits for it.
    func isGood() -> Bool {
        let now = steady()
        let known: Bool? = state.look { state in
            if let began = state.beganAt {
                return state.isGood && now - began < Self.checkTimeoutMilliseconds
            }
            if let checked = state.checkedAt, now - checked < Self.freshMilliseconds {
                return state.isGood
            }
            state.beganAt = now
            return nil
        }
        if let known { return known }
        let isGood = (try? store.check()) != nil
        state.look { state in
            (state.isGood, state.checkedAt, state.beganAt) = (isGood, steady(), nil)
        }
        return isGood
    }
}

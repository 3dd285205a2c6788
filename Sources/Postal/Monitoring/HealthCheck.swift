internal import Threads

/// Whether the store takes and gives, found out at most once a second whoever asks.
final class HealthCheck: Sendable {
    private struct State {
        var isGood = true
        /// When the last check ended; nil before the first.
        var checkedAt: Int64?
        /// When the check began that has not ended yet.
        var beganAt: Int64?
    }

    private static let freshMilliseconds: Int64 = 1_000
    /// A check that takes longer is none that ends well.
    private static let patienceMilliseconds: Int64 = 5_000

    private let store: any PostalStore
    private let steady: @Sendable () -> Int64
    private let state = Monitor(State())

    init(_ store: any PostalStore, steady: @escaping @Sendable () -> Int64) {
        (self.store, self.steady) = (store, steady)
    }

    /// Whether it does. Waits for the store.
    func isGood() -> Bool {
        let now = steady()
        let known: Bool? = state.look { state in
            if let began = state.beganAt {
                return state.isGood && now - began < Self.patienceMilliseconds
            }
            if let checked = state.checkedAt, now - checked < Self.freshMilliseconds {
                return state.isGood
            }
            state.beganAt = now
            return nil
        }
        if let known { return known }
        var isGood = true
        do throws(StoreError) { try store.check() } catch { isGood = false }
        state.look { state in
            (state.isGood, state.checkedAt, state.beganAt) = (isGood, steady(), nil)
        }
        return isGood
    }
}

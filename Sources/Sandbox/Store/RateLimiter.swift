/// Counts the requests of each token in windows of time.
struct RateLimiter: Sendable {
    /// What is left of a token's window.
    struct Standing: Sendable, Equatable {
        var total: Int
        var remaining: Int
        /// When the next window begins, in milliseconds since 1970.
        var resetMilliseconds: Int64
        var isExceeded: Bool
    }

    private var windows: [String: (start: Int64, count: Int)] = [:]

    init() {}

    /// Counts one request of a token.
    mutating func count(
        _ token: String, _ limit: SandboxConfiguration.RateLimit, now: Int64
    ) -> Standing {
        let window = Int64(limit.seconds * 1000)
        var current = windows[token] ?? (now, 0)
        // A clock that was put back begins a new window too.
        if !(current.start..<current.start + window).contains(now) { current = (now, 0) }
        current.count += 1
        windows[token] = current
        return Standing(
            total: limit.requests, remaining: max(0, limit.requests - current.count),
            resetMilliseconds: current.start + window,
            isExceeded: current.count > limit.requests)
    }
}

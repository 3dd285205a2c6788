/// Counts the requests of each token in windows of a minute.
struct RateLimiter: Sendable {
    /// What is left of a token's window.
    struct Standing: Sendable, Equatable {
        var total: Int
        var remaining: Int
        /// When the next window begins, in milliseconds since 1970.
        var resetMilliseconds: Int64
        var isExceeded: Bool
    }

    private static let window: Int64 = 60_000
    private var windows: [String: (start: Int64, count: Int)] = [:]

    init() {}

    /// Counts one request of a token.
    mutating func count(_ token: String, limit: Int, now: Int64) -> Standing {
        var current = windows[token] ?? (now, 0)
        if now - current.start >= Self.window { current = (now, 0) }
        current.count += 1
        windows[token] = current
        return Standing(
            total: limit, remaining: max(0, limit - current.count),
            resetMilliseconds: current.start + Self.window, isExceeded: current.count > limit)
    }
}

internal import JSON

/// Counts requests in fixed windows.
struct RateLimiter: Sendable {
    /// The rest of a window.
    struct Standing: Sendable, Equatable {
        var total: Int
        var remaining: Int
        /// The start of the next window, in milliseconds since 1970.
        var resetMilliseconds: Int64
        var isExceeded: Bool
    }

    private var windows: [String: (start: Int64, count: Int)] = [:]

    /// Counts one request.
    mutating func count(_ limit: RateLimit.Window, now: Int64) -> Standing {
        let window = Int64(limit.seconds * 1000)
        var current = windows[limit.name] ?? (now, 0)
        // A clock that went back starts a new window too.
        if !(current.start..<current.start + window).contains(now) { current = (now, 0) }
        current.count += 1
        windows[limit.name] = current
        return Standing(
            total: limit.requests, remaining: max(0, limit.requests - current.count),
            resetMilliseconds: current.start + window,
            isExceeded: current.count > limit.requests)
    }
}

extension RateLimiter.Standing {
    /// The rate limit headers of every response.
    var headers: [(name: String, value: String)] {
        [
            ("X-RateLimit-Limit", String(total)), ("X-RateLimit-Remaining", String(remaining)),
            ("X-RateLimit-Reset", String(resetSeconds)),
        ]
    }

    private var resetSeconds: Int64 { (resetMilliseconds + 999) / 1000 }

    /// 429 without `Retry-After`.
    var error: APIError {
        APIError(
            status: 429, code: "rate_limited",
            message: "The rate limit of \(total) was exceeded. Try again later.",
            details: [
                "limit": [
                    "remaining": .integer(Int64(remaining)), "reset": .integer(resetSeconds),
                    "resetMs": .integer(resetMilliseconds), "total": .integer(Int64(total)),
                ]
            ])
    }
}

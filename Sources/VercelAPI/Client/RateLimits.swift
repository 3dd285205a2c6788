internal import HTTPClient

/// What is known of Vercel's rate limits, so that requests wait before they hit them.
///
/// Vercel counts by groups of calls that it does not name. Calls with the same `X-RateLimit-Limit`
/// are treated as one group, which may be slower than needed but is never too fast.
struct RateLimits {
    private struct Group {
        let limit: Int64
        var remaining: Int64
        /// Vercel's own second of the next window; distinguishes newer responses from older ones.
        var resetSecond: Int64
        /// The same moment on the waiting room's clock.
        var resetAt: Duration
        var underWay: Int64 = 0

        func available(at now: Duration) -> Int64 {
            (now >= resetAt ? limit : remaining) - underWay
        }
    }

    /// How many requests may start before the first response shows the limits: a project and the
    /// lists that a push begins with. All others wait.
    static let firstRequests = 4

    private var groups: [Int64: Group] = [:]
    private var groupOfRoute: [String: Int64] = [:]
    private var closedUntil: [String: Duration] = [:]
    private var hasSeenAnswer = false
    private var underWay = 0

    enum Reservation: Equatable {
        /// It may be sent and is counted as in progress, in this group if one is known.
        case granted(group: Int64?)
        /// Not before this time.
        case notBefore(Duration)
        /// Not before one of those in progress is answered.
        case afterAnswer
    }

    /// Reserves one request of the kind `route`.
    mutating func reserve(_ route: String, now: Duration) -> Reservation {
        if let until = closedUntil[route], until > now { return .notBefore(until) }
        if !hasSeenAnswer, underWay >= Self.firstRequests { return .afterAnswer }
        let limit = group(of: route, now: now)
        if let limit, var group = groups[limit] {
            if group.available(at: now) <= 0 {
                // The responses of requests in progress may change this; without any, only time
                // does.
                return group.underWay > 0 || now >= group.resetAt
                    ? .afterAnswer : .notBefore(group.resetAt)
            }
            group.underWay += 1
            groups[limit] = group
        }
        underWay += 1
        return .granted(group: limit)
    }

    /// Records the end of a request of the kind `route` that was granted in group `reserved`.
    /// `headers` is nil if there was no response.
    mutating func finish(
        _ route: String, reserved: Int64?, headers: HTTPHeaders?, now: Duration,
        secondsSince1970: Int64
    ) {
        underWay -= 1
        if let reserved { groups[reserved]?.underWay -= 1 }
        guard let headers else { return }
        hasSeenAnswer = true
        guard let limit = headers.number("X-RateLimit-Limit"), limit > 0,
            let remaining = headers.number("X-RateLimit-Remaining"),
            let reset = headers.number("X-RateLimit-Reset")
        else { return }
        let serverNow = headers[name: "Date"].flatMap { HTTPDate.seconds($0) } ?? secondsSince1970
        let (left, overflow) = reset.subtractingReportingOverflow(serverNow)
        // A reset hours ahead or long past means a wrong clock, not a limit.
        guard !overflow, (-5...7200).contains(left) else { return }
        // Both times are whole seconds, so the real one is up to a second later.
        let resetAt = now + .seconds(max(left, 0) + 1)
        var group =
            groups[limit]
            ?? Group(limit: limit, remaining: remaining, resetSecond: reset, resetAt: resetAt)
        if reset > group.resetSecond {
            group.remaining = remaining
            group.resetSecond = reset
            group.resetAt = resetAt
        } else if reset == group.resetSecond {
            group.remaining = min(group.remaining, remaining)
        }
        groups[limit] = group
        groupOfRoute[route] = limit
    }

    /// Returns a copy for another client's requests. Requests in progress count as sent, because
    /// their end will not be recorded in the copy.
    func forAnotherClient() -> RateLimits {
        var copy = self
        copy.underWay = 0
        copy.groups = groups.mapValues { group in
            var group = group
            (group.remaining, group.underWay) = (group.remaining - group.underWay, 0)
            return group
        }
        return copy
    }

    /// Blocks requests of the kind `route` until `time`.
    mutating func close(_ route: String, until time: Duration) {
        closedUntil[route] = max(closedUntil[route] ?? .zero, time)
    }

    /// Returns the group of `route`, or the group with the least left if `route` is new.
    private func group(of route: String, now: Duration) -> Int64? {
        groupOfRoute[route]
            ?? groups.values.min { $0.available(at: now) < $1.available(at: now) }?.limit
    }
}

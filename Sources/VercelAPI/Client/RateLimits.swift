/// What is known of the platform's rate limits, so that they are kept before they are hit.
///
/// The platform counts by groups of calls that it does not name. Calls whose answers tell the same
/// `X-RateLimit-Limit` are taken for one group: that may be slower than needed, never too fast.
struct RateLimits {
    private struct Group {
        let limit: Int64
        var remaining: Int64
        /// The platform's own second of the next window; tells newer answers from older ones.
        var resetSecond: Int64
        /// When that is, in the time of the waiting room.
        var resetAt: Duration
        var underWay: Int64 = 0

        func available(at now: Duration) -> Int64 {
            (now >= resetAt ? limit : remaining) - underWay
        }
    }

    /// How many requests go before any answer has told what the limits are: a project and the lists that a
    /// push begins with. All others wait for the first answer.
    static let firstRequests = 4

    private var groups: [Int64: Group] = [:]
    private var groupOfRoute: [String: Int64] = [:]
    private var closedUntil: [String: Duration] = [:]
    private var hasSeenAnswer = false
    private var underWay = 0

    /// Whether a request may be sent.
    enum Reservation: Equatable {
        /// It may, and is counted as under way, in this group if one is known.
        case granted(group: Int64?)
        /// Not before this time.
        case notBefore(Duration)
        /// Not before one of those under way is answered.
        case afterAnswer
    }

    /// Asks to send one request of the kind `route`.
    mutating func reserve(_ route: String, now: Duration) -> Reservation {
        if let until = closedUntil[route], until > now { return .notBefore(until) }
        if !hasSeenAnswer, underWay >= Self.firstRequests { return .afterAnswer }
        let limit = group(of: route, now: now)
        if let limit, var group = groups[limit] {
            if group.available(at: now) <= 0 {
                // With requests under way their answers may bring news; without, only time does.
                return group.underWay > 0 || now >= group.resetAt
                    ? .afterAnswer : .notBefore(group.resetAt)
            }
            group.underWay += 1
            groups[limit] = group
        }
        underWay += 1
        return .granted(group: limit)
    }

    /// Notes the end of a request of the kind `route` that was granted in `reserved`, and what its
    /// answer tells. Without an answer there are no `headers`.
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
        // A reset that lies hours ahead or long ago is a clock gone wrong, not a limit.
        guard !overflow, (-5...7200).contains(left) else { return }
        // Both times are whole seconds, so the true one is up to a second later.
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

    /// The same knowledge for somebody else's requests: those that are under way now end without being
    /// told here, and count as sent.
    func forOthers() -> RateLimits {
        var copy = self
        copy.underWay = 0
        copy.groups = groups.mapValues { group in
            var group = group
            (group.remaining, group.underWay) = (group.remaining - group.underWay, 0)
            return group
        }
        return copy
    }

    /// Sends nothing more of the kind `route` until `time`.
    mutating func close(_ route: String, until time: Duration) {
        closedUntil[route] = max(closedUntil[route] ?? .zero, time)
    }

    /// The group of `route`; for one not seen yet, the group with the least left.
    private func group(of route: String, now: Duration) -> Int64? {
        groupOfRoute[route]
            ?? groups.values.min { $0.available(at: now) < $1.available(at: now) }?.limit
    }
}

/// When a request is sent again, and after what time. All of it is computed; nobody waits here.
package struct RetryPolicy: Sendable, Equatable {
    /// How one attempt ended.
    package enum Outcome: Equatable {
        /// With an answer that needs no second attempt, good or bad.
        case final
        /// The platform refused it for now, without having done it: 429, and 503 with a
        /// `Retry-After`. The time is what the platform asked for, if it did.
        case notNow(after: Duration?)
        /// Nobody was there: no address, or no connection. That is told at once, so it is tried again
        /// soon and not for long.
        case unreachable
        /// No usable answer, or a 5xx.
        case broken(mayHaveReachedServer: Bool)
    }

    /// How often a request is sent at most, the first time included.
    package var maximumAttempts: Int
    /// How long the attempts of one request may take together, waiting included.
    package var totalTime: Duration
    /// The first pause where the platform names none; each further one is twice as long.
    package var firstPause: Duration
    /// The longest of those pauses.
    package var longestPause: Duration
    /// How long to wait at most for a rate limit that is known to be used up.
    package var longestRateLimitWait: Duration

    /// How often it is sent at most where nobody is there.
    private static let unreachableAttempts = 4

    /// Sets the bounds; the defaults give up on an API that is not there after one to two seconds, on
    /// a broken one after about ten and on a busy one after two minutes.
    package init(
        maximumAttempts: Int = 5, totalTime: Duration = .seconds(120),
        firstPause: Duration = .milliseconds(500), longestPause: Duration = .seconds(15),
        longestRateLimitWait: Duration = .seconds(300)
    ) {
        self.maximumAttempts = maximumAttempts
        self.totalTime = totalTime
        self.firstPause = firstPause
        self.longestPause = longestPause
        self.longestRateLimitWait = longestRateLimitWait
    }

    /// The pause before the next attempt, or nil if there is to be none.
    ///
    /// - Parameters:
    ///   - attempt: How often the request was sent so far, at least 1.
    ///   - elapsed: Time since it was sent first.
    ///   - isRepeatable: Whether sending it twice does no more than sending it once.
    ///   - random: From 0 to below 1, for the jitter.
    package func pause(
        after outcome: Outcome, attempt: Int, elapsed: Duration, isRepeatable: Bool, random: Double
    ) -> Duration? {
        guard attempt < maximumAttempts else { return nil }
        let pause: Duration
        switch outcome {
        case .final: return nil
        case .unreachable:
            guard attempt < Self.unreachableAttempts else { return nil }
            pause = backoff(attempt: attempt, random: random) / 2
        case .broken(let mayHaveReachedServer):
            guard isRepeatable || !mayHaveReachedServer else { return nil }
            pause = backoff(attempt: attempt, random: random)
        case .notNow(.none): pause = backoff(attempt: attempt, random: random)
        case .notNow(.some(let wanted)):
            // Everybody who was turned away comes back at the same second otherwise.
            pause = max(wanted, .zero) + .milliseconds(Int64(random * 1000))
        }
        return elapsed + pause <= totalTime ? pause : nil
    }

    /// Between a half and all of the doubled pause.
    private func backoff(attempt: Int, random: Double) -> Duration {
        var pause = firstPause
        for _ in 1..<max(min(attempt, 32), 1) where pause < longestPause { pause *= 2 }
        pause = min(pause, longestPause)
        return pause * (0.5 + 0.5 * min(max(random, 0), 1))
    }
}

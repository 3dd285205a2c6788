/// Decides whether and when a request is retried. Purely computed; nothing waits here.
///
/// With the defaults, an unreachable API fails after one to two seconds, a broken one after about
/// ten seconds and a busy one after two minutes.
package struct RetryPolicy: Sendable, Equatable {
    package enum Outcome: Equatable {
        /// With a response that needs no retry, good or bad.
        case final
        /// Vercel declined it for now without acting on it: 429, or 503 with `Retry-After`. The
        /// time is the wait that Vercel asks for.
        case notNow(after: Duration?)
        /// There was no address or no connection. That fails at once, so retries come soon and end
        /// soon.
        case unreachable
        /// No usable response, or a 5xx.
        case broken(mayHaveReachedServer: Bool)
    }

    /// The maximum number of attempts, including the first.
    package var maximumAttempts = 5
    /// The maximum time for all attempts of one request, including waits.
    package var totalTime = Duration.seconds(120)
    /// The first pause unless Vercel gives one; each further one is twice as long.
    package var firstPause = Duration.milliseconds(500)
    /// The longest of those pauses.
    package var longestPause = Duration.seconds(15)
    /// The longest wait for a rate limit that is known to be exhausted.
    package var longestRateLimitWait = Duration.seconds(300)

    /// The maximum number of attempts while the API is unreachable.
    private static let unreachableAttempts = 4

    /// Returns the pause before the next attempt, or nil if there is no further attempt.
    ///
    /// - Parameters:
    ///   - attempt: The number of attempts so far, at least 1.
    ///   - elapsed: The time since the first attempt.
    ///   - isRepeatable: Whether the request is idempotent.
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
            // Otherwise all clients would return in the same second.
            pause = max(wanted, .zero) + .milliseconds(Int64(random * 1000))
        }
        return elapsed + pause <= totalTime ? pause : nil
    }

    /// Returns between half and all of the doubled pause.
    private func backoff(attempt: Int, random: Double) -> Duration {
        var pause = firstPause
        for _ in 1..<max(min(attempt, 32), 1) where pause < longestPause { pause *= 2 }
        pause = min(pause, longestPause)
        return pause * (0.5 + 0.5 * min(max(random, 0), 1))
    }
}

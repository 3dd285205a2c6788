/// How long responses are used, and how many are cached. All times are in milliseconds.
package enum ResponseCachePolicy {
    /// The largest total size of a vault's responses, in bytes of their lines.
    static let totalByteLimit = 16 << 20
    /// The largest response that is cached, in bytes of its line.
    static let answerByteLimit = 8 << 20
    /// The age at which a response is not shown any more and is deleted.
    static let longestMilliseconds: UInt64 = 30 * 86_400_000

    /// Returns whether a response is recent enough to be shown at all.
    package static func isShown(_ askedAt: UInt64, now: UInt64) -> Bool {
        isWithin(longestMilliseconds, since: askedAt, now: now)
    }

    /// Returns whether a response is recent enough to be shown without a new request.
    package static func isFresh(_ askedAt: UInt64, now: UInt64) -> Bool {
        isWithin(60_000, since: askedAt, now: now)
    }

    /// Returns whether Vercel was unreachable so recently that nobody should wait for it again.
    package static func isOutage(_ triedAt: UInt64, now: UInt64) -> Bool {
        isWithin(30_000, since: triedAt, now: now)
    }

    /// Returns whether `time` is less than `span` ago. A future time is not: the clock was changed,
    ///   so the age is unknown.
    private static func isWithin(_ span: UInt64, since time: UInt64, now: UInt64) -> Bool {
        now >= time && now - time < span
    }

    /// Returns the responses to keep, newest first. Drops those that are too old, and the oldest if
    /// there are too many.
    static func remaining(of answers: [CachedResponse], now: UInt64) -> [CachedResponse] {
        var room = totalByteLimit
        // Another process may have asked after `now`, but by less than a day.
        let day: UInt64 = 86_400_000
        let young = answers.filter {
            isWithin(longestMilliseconds + day, since: $0.askedAt, now: now &+ day)
        }
        return Array(
            young.sorted { $0.askedAt > $1.askedAt }.prefix { answer in
                room -= answer.line.count + 1
                return room >= 0
            })
    }
}

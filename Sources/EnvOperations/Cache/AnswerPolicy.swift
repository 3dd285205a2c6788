/// How long answers serve, and how many are kept. Pure; all times are in milliseconds.
package enum AnswerPolicy {
    /// All answers of a vault together, in bytes of their lines.
    static let totalByteLimit = 16 << 20
    /// One answer, in bytes of its line; a longer one is not kept.
    static let answerByteLimit = 8 << 20
    /// An answer as old as this is not shown at all, and goes.
    static let longestMilliseconds: UInt64 = 30 * 86_400_000

    /// Tells whether an answer is young enough to be shown at all.
    package static func isShown(_ askedAt: UInt64, now: UInt64) -> Bool {
        isWithin(longestMilliseconds, since: askedAt, now: now)
    }

    /// Tells whether an answer is young enough to be shown without asking again.
    package static func isFresh(_ askedAt: UInt64, now: UInt64) -> Bool {
        isWithin(60_000, since: askedAt, now: now)
    }

    /// Tells whether the platform was tried in vain so short a time ago that nobody else waits for it.
    package static func isOutage(_ triedAt: UInt64, now: UInt64) -> Bool {
        isWithin(30_000, since: triedAt, now: now)
    }

    /// A time to come is not within: the clock was set, and nobody knows how old the answer is.
    private static func isWithin(_ span: UInt64, since time: UInt64, now: UInt64) -> Bool {
        now >= time && now - time < span
    }

    /// The answers that stay, newest first: none that is too old, and the oldest go first where there
    /// are too many.
    static func remaining(of answers: [KeptAnswer], now: UInt64) -> [KeptAnswer] {
        var room = totalByteLimit
        // Another process may have asked after `now`, but not as much as a day.
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

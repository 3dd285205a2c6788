/// How long answers serve, and how many are kept. Pure.
package enum AnswerPolicy {
    /// An answer younger than this is shown without asking again.
    package static let freshMilliseconds: UInt64 = 60_000
    /// An answer older than this is not shown at all, and goes.
    package static let longestMilliseconds: UInt64 = 30 * 86_400_000
    /// After a vain attempt to reach the platform nobody else waits for one this long.
    package static let outageMilliseconds: UInt64 = 30_000
    /// All answers together, in bytes of their files.
    package static let totalByteLimit = 64 << 20
    /// One answer, in bytes of its file; a longer one is not kept.
    package static let answerByteLimit = 8 << 20

    /// What the user allows.
    package enum Rule: Sendable, CaseIterable {
        /// What serves best.
        case ordinary
        /// Ask first, whatever is kept.
        case refresh
        /// Send nothing.
        case offline
    }

    /// How a question is to be answered.
    package enum Course: Equatable, Sendable {
        /// With what is kept.
        case serve
        /// With what is kept, without asking: it was tried in vain just now.
        case serveStale
        /// By the platform, or with what is kept where that does not answer soon.
        case askOrServe
        /// By the platform.
        case ask
        /// Not at all.
        case refuse
    }

    /// Chooses.
    ///
    /// - Parameters:
    ///   - askedAt: When the kept answer was asked for; nil where there is none.
    ///   - outageAt: When the platform was last tried in vain; nil where it was not.
    package static func course(
        askedAt: UInt64?, outageAt: UInt64?, now: UInt64, rule: Rule
    ) -> Course {
        let kept = askedAt.map { isWithin(longestMilliseconds, since: $0, now: now) } ?? false
        switch rule {
        case .refresh: return .ask
        case .offline: return kept ? .serve : .refuse
        case .ordinary:
            guard kept, let askedAt else { return .ask }
            if isWithin(freshMilliseconds, since: askedAt, now: now) { return .serve }
            let failed = outageAt.map { isWithin(outageMilliseconds, since: $0, now: now) } ?? false
            return failed ? .serveStale : .askOrServe
        }
    }

    /// Tells whether an answer is young enough to be shown as it is.
    package static func isFresh(_ askedAt: UInt64, now: UInt64) -> Bool {
        isWithin(freshMilliseconds, since: askedAt, now: now)
    }

    /// A time to come is not within: the clock was set, and nobody knows how old the answer is.
    private static func isWithin(_ span: UInt64, since time: UInt64, now: UInt64) -> Bool {
        now >= time && now - time < span
    }

    /// A file of the cache.
    package struct File: Equatable, Sendable {
        /// Its name.
        package let name: String
        /// Its bytes.
        package let byteCount: Int
        /// When it was written, by this machine's clock, in milliseconds since 1970.
        package let writtenAt: UInt64
        /// Whether a writer has not given it its name yet, and may never do so.
        package let isUnfinished: Bool

        /// Names all parts.
        package init(name: String, byteCount: Int, writtenAt: UInt64, isUnfinished: Bool = false) {
            self.name = name
            self.byteCount = byteCount
            self.writtenAt = writtenAt
            self.isUnfinished = isUnfinished
        }
    }

    /// The files that must go: those that are too old, or from a time to come, what writers left
    /// that were killed, and then the oldest until the rest is small enough.
    package static func surplus(of files: [File], now: UInt64) -> [String] {
        let (hour, day): (UInt64, UInt64) = (3_600_000, 86_400_000)
        var gone: [String] = []
        var rest: [File] = []
        for file in files {
            let isSane = file.writtenAt <= now &+ day
            let longest = file.isUnfinished ? hour : longestMilliseconds
            let isYoung = file.writtenAt > now || now - file.writtenAt < longest
            if isSane && isYoung { rest.append(file) } else { gone.append(file.name) }
        }
        rest.sort { ($0.writtenAt, $0.name) > ($1.writtenAt, $1.name) }
        var total = 0
        for file in rest {
            let (sum, overflow) = total.addingReportingOverflow(max(file.byteCount, 0))
            if overflow || sum > totalByteLimit { gone.append(file.name) } else { total = sum }
        }
        return gone
    }
}

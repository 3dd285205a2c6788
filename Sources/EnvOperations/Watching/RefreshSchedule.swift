/// When the platform is to be asked again, and why: one mechanism for whatever shows or tells what
/// happens there. Pure: clocks, files and the network are handed in, and so is chance.
///
/// A turn is ``observe(_:)``, then ``begin(at:)``; where that gives reasons, the question, and
/// ``finish(_:at:random:)``; then a pause of at most ``wait(at:)``, cut short often enough to observe.
package struct RefreshSchedule: Sendable {
    /// Why it is time to ask.
    package enum Reason: String, Sendable, CaseIterable {
        /// Nothing was asked so far.
        case start
        /// Somebody wants to see it, such as with a key.
        case request
        /// A relay told that something happened.
        case event
        /// It is a while ago.
        case timer
        /// Another process changed the vault: accounts, projects, tokens.
        case vaultChanged
        /// Another process changed the kept answers: it asked, or it did something there.
        case answersChanged
        /// The machine slept, or its clock was set by more than a little.
        case resumed
        /// There was no network, and now there is one.
        case networkBack
    }

    /// What became of a question.
    package enum Outcome: Equatable, Sendable {
        /// The platform answered.
        case answered(isBuilding: Bool)
        /// It did not, or it was busy; it may have said for how long it wants to be left alone.
        case failed(retryAfter: Duration?)
        /// It refused the token: asking again soon would change nothing.
        case refused
    }

    /// How often is asked.
    package private(set) var intervals: RefreshIntervals
    /// How many questions have failed since the last answer.
    package private(set) var failureCount = 0
    /// Whether the last question had no answer.
    package var isOutage: Bool { failureCount > 0 }

    private var last: RefreshObservation?
    private var pending: Set<Reason> = [.start]
    private var lastBegun: Duration?
    private var isBuilding = false
    /// When the timer ends; nil before the first question, and while one is under way.
    private var timerEnd: Duration?
    /// The platform wants to be left alone until then, whoever asks.
    private var closedUntil: Duration?

    /// A clock that was set by less than this was only put right.
    private static let clockStep = Duration.seconds(30)
    /// A sleep shorter than this is none: the clocks are not read at the same moment.
    private static let shortestSleep = Duration.seconds(2)
    /// What the platform asks for at most counts: a longer time is a mistake.
    private static let longestRetryAfter = Duration.seconds(3_600)

    /// Starts with ``Reason/start`` due at once.
    package init(intervals: RefreshIntervals = .standard) {
        self.intervals = intervals
    }

    /// Notes what changed since the last observation.
    package mutating func observe(_ new: RefreshObservation) {
        defer { last = new }
        guard let last else { return }
        if new.vault != last.vault { pending.insert(.vaultChanged) }
        if new.answers != last.answers { pending.insert(.answersChanged) }
        if last.hasNetwork == false, new.hasNetwork == true { pending.insert(.networkBack) }
        let awake = new.monotonic - last.monotonic
        let passed = new.sinceBoot - last.sinceBoot
        let byWall = Duration.milliseconds(
            new.wallMilliseconds.subtractingReportingOverflow(last.wallMilliseconds).partialValue)
        let wasSet = max(byWall, passed) - min(byWall, passed) > Self.clockStep
        if wasSet || passed - awake > Self.shortestSleep {
            pending.insert(.resumed)
        }
        // What failed, failed in another world: the pauses begin anew.
        if !pending.isDisjoint(with: [.resumed, .networkBack]) {
            failureCount = min(failureCount, 1)
        }
    }

    /// Takes the kept answers as they are now for known: this process changed them itself.
    package mutating func acknowledge(answers: RefreshObservation.FileMark?) {
        last?.answers = answers
    }

    /// Takes the vault as it is now for known: this process changed it itself.
    package mutating func acknowledge(vault: RefreshObservation.FileMark?) {
        last?.vault = vault
    }

    /// Notes that somebody wants to see it now, or a reason that only the caller knows of.
    package mutating func request(_ reason: Reason = .request) {
        pending.insert(reason)
    }

    /// Goes on with other intervals: the timer that runs ends as if it had been set with these. Pauses
    /// after failures stay.
    package mutating func use(_ intervals: RefreshIntervals) {
        guard intervals != self.intervals else { return }
        self.intervals = intervals
        guard timerEnd != nil, failureCount == 0, let lastBegun else { return }
        timerEnd = lastBegun + (isBuilding ? intervals.building : intervals.idle)
    }

    /// Begins a question if it is time for one.
    ///
    /// - Parameter now: By `CLOCK_MONOTONIC`.
    /// - Returns: Why; nil while it is not time.
    package mutating func begin(at now: Duration) -> Set<Reason>? {
        guard let due, due <= now else { return nil }
        var reasons = pending
        if let timerEnd, timerEnd <= now { reasons.insert(.timer) }
        pending = []
        timerEnd = nil
        lastBegun = now
        return reasons
    }

    /// Notes the end of a question, and when the next one is due without any other reason.
    ///
    /// - Parameter random: From 0 to below 1: not everybody comes back at the same moment.
    package mutating func finish(_ outcome: Outcome, at now: Duration, random: Double) {
        let begun = lastBegun ?? now
        closedUntil = nil
        switch outcome {
        case .answered(let isBuilding):
            failureCount = 0
            self.isBuilding = isBuilding
            timerEnd = begun + (isBuilding ? intervals.building : intervals.idle)
        case .failed(let retryAfter):
            failureCount = min(failureCount + 1, 64)
            timerEnd = now + pause(random)
            if let retryAfter {
                // Everybody who was turned away comes back at the same second otherwise.
                let wanted = min(max(retryAfter, .zero), Self.longestRetryAfter)
                closedUntil = now + wanted + .seconds(1) * Self.fraction(random)
            }
        case .refused:
            failureCount = min(failureCount + 1, 64)
            timerEnd = now + RefreshIntervals.longestPause
        }
    }

    /// How long nothing is due, if nothing changes.
    package func wait(at now: Duration) -> Duration {
        max((due ?? now + intervals.idle) - now, .zero)
    }

    // MARK: Computing

    /// When the next question is due; nil while one is under way and nothing else asks for one.
    private var due: Duration? {
        var earliest = pending.map { reason in
            guard let lastBegun else { return Duration.zero }
            switch reason {
            case .vaultChanged, .answersChanged: return lastBegun + RefreshIntervals.spacing
            default: return lastBegun + RefreshIntervals.shortest
            }
        }
        if let timerEnd {
            earliest.append(max(timerEnd, (lastBegun ?? .zero) + RefreshIntervals.shortest))
        }
        guard let first = earliest.min() else { return nil }
        return max(first, closedUntil ?? first)
    }

    /// Between a half and all of the doubled pause.
    private func pause(_ random: Double) -> Duration {
        var pause = RefreshIntervals.firstPause
        for _ in 1..<max(failureCount, 1) where pause < RefreshIntervals.longestPause { pause *= 2 }
        return min(pause, RefreshIntervals.longestPause) * (0.5 + 0.5 * Self.fraction(random))
    }

    private static func fraction(_ random: Double) -> Double {
        random.isFinite ? min(max(random, 0), 1) : 0
    }
}

/// Decides when to poll Vercel again, and why. Clocks, files, the network and random numbers are
/// parameters.
///
/// A cycle is ``observe(_:)`` and ``begin(at:)``; if that returns reasons, the request and
/// ``finish(_:at:random:)``; then a pause of at most ``wait(at:)``, interrupted often enough to
/// observe.
package struct RefreshSchedule: Sendable {
    /// Why it is time for a request.
    package enum Reason: String, Sendable, CaseIterable {
        /// Nothing was requested so far.
        case start
        /// The user wants a refresh, for example by pressing a key.
        case request
        /// A relay reported an event.
        case event
        /// The interval has passed.
        case timer
        /// Another process changed accounts, projects or tokens in the vault.
        case vaultChanged
        /// Another process changed the response cache, after a request or a change on Vercel.
        case answersChanged
        /// The machine slept, or its clock was changed significantly.
        case resumed
        /// The network is up again.
        case networkBack
    }

    /// The result of a request.
    package enum Outcome: Equatable, Sendable {
        case answered(isBuilding: Bool)
        /// Vercel did not respond or was busy; it may have asked for a wait.
        case failed(retryAfter: Duration?)
        /// Vercel rejected the token, so trying again soon is useless.
        case refused
    }

    package private(set) var intervals: RefreshIntervals
    /// The number of failures since the last response.
    package private(set) var failureCount = 0

    private var last: RefreshObservation?
    private var pending: Set<Reason> = [.start]
    private var lastBegun: Duration?
    private var isBuilding = false
    /// When the timer ends; nil before the first request and during one.
    private var timerEnd: Duration?
    /// The end of the wait that Vercel asked for, which applies to all requests.
    private var closedUntil: Duration?

    /// A smaller change of the clock counts as a correction.
    private static let clockStep = Duration.seconds(30)
    /// A shorter sleep is ignored, because the clocks are not read at the same moment.
    private static let shortestSleep = Duration.seconds(2)
    /// The longest wait that Vercel can ask for; a longer one is a mistake.
    private static let longestRetryAfter = Duration.seconds(3_600)

    /// Starts with ``Reason/start`` due at once.
    package init(intervals: RefreshIntervals = .standard) {
        self.intervals = intervals
    }

    /// Records what changed since the last observation.
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
        // Earlier failures may not apply any more, so the pauses restart.
        if !pending.isDisjoint(with: [.resumed, .networkBack]) {
            failureCount = min(failureCount, 1)
        }
    }

    /// Ignores the current state of the response cache, which this process changed itself.
    package mutating func acknowledge(answers: RefreshObservation.FileMark?) {
        last?.answers = answers
    }

    /// Ignores the current state of the vault, which this process changed itself.
    package mutating func acknowledge(vault: RefreshObservation.FileMark?) {
        last?.vault = vault
    }

    /// Requests a refresh now, or for a reason that only the caller knows.
    package mutating func request(_ reason: Reason = .request) {
        pending.insert(reason)
    }

    /// Changes the intervals. A running timer ends as if it had been set with these; pauses after
    /// failures stay.
    package mutating func use(_ intervals: RefreshIntervals) {
        guard intervals != self.intervals else { return }
        self.intervals = intervals
        guard timerEnd != nil, failureCount == 0, let lastBegun else { return }
        timerEnd = lastBegun + (isBuilding ? intervals.building : intervals.idle)
    }

    /// Starts a request if one is due.
    ///
    /// - Parameter now: The time by `CLOCK_MONOTONIC`.
    /// - Returns: The reasons, or nil if no request is due.
    package mutating func begin(at now: Duration) -> Set<Reason>? {
        guard let due, due <= now else { return nil }
        var reasons = pending
        if let timerEnd, timerEnd <= now { reasons.insert(.timer) }
        pending = []
        timerEnd = nil
        lastBegun = now
        return reasons
    }

    /// Records the end of a request and schedules the next one.
    ///
    /// - Parameter random: From 0 to below 1, to spread the requests of many clients.
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
                // Otherwise all clients would return in the same second.
                let wanted = min(max(retryAfter, .zero), Self.longestRetryAfter)
                closedUntil = now + wanted + .seconds(1) * Self.fraction(random)
            }
        case .refused:
            failureCount = min(failureCount + 1, 64)
            timerEnd = now + RefreshIntervals.longestPause
        }
    }

    /// Returns how long nothing is due if nothing changes.
    package func wait(at now: Duration) -> Duration {
        max((due ?? now + intervals.idle) - now, .zero)
    }

    // MARK: Computing

    /// When the next request is due; nil during one without other reasons.
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

    /// Returns between half and all of the doubled pause.
    private func pause(_ random: Double) -> Duration {
        var pause = RefreshIntervals.firstPause
        for _ in 1..<max(failureCount, 1) where pause < RefreshIntervals.longestPause { pause *= 2 }
        return min(pause, RefreshIntervals.longestPause) * (0.5 + 0.5 * Self.fraction(random))
    }

    private static func fraction(_ random: Double) -> Double {
        random.isFinite ? min(max(random, 0), 1) : 0
    }
}

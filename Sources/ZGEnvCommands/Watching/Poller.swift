internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import PostalDevice
internal import Vault
internal import VercelAPI

/// Asks the platform when it is time, for `watch`, `watch --json` and `notify run`: by the timer, by
/// what changes around it, and by what relays tell. While a relay is heard the timer is a safety net.
///
/// Goes on and on with ``turn(_:)`` and ``wait(for:by:)``.
final class Poller {
    /// What the schedule goes on with, and why there is no answer where there is none.
    typealias Answer = (outcome: RefreshSchedule.Outcome, failure: CommandError?)

    /// How long one look at the surroundings lasts at most.
    private static let tick = Duration.seconds(2)
    /// How long a wait lasts at most before somebody looks for events.
    private static let glance = Duration.milliseconds(100)
    private static let shortestWait = Duration.milliseconds(20)
    /// How long after an event is asked as often as without a relay: a list may be late.
    private static let liveliness = Duration.seconds(60)

    private let workspace: Workspace
    private let intervals: RefreshIntervals
    private let observer: RefreshObserver
    private let heedsAnswers: Bool
    private var vaultMark: RefreshObservation.FileMark?
    private var feed: PostalFeed?
    /// Whether ``feed`` is that of the vault's relays.
    private var knowsRelays = false
    /// What is wrong at present, so that each thing is said once.
    private var troubles: [String: String] = [:]
    /// Tells people what is wrong, and what is over.
    var tell: (String) throws -> Void

    /// To be made before the vault is opened, so that no change of it is missed.
    ///
    /// - Parameters:
    ///   - intervals: Those without a relay.
    ///   - heedsAnswers: Whether kept answers of other processes are a reason to ask. Those of one that
    ///     reads the relays' streams in place of this one always are: it drops what is old.
    init(_ workspace: Workspace, intervals: RefreshIntervals, heedsAnswers: Bool) {
        (self.workspace, self.intervals) = (workspace, intervals)
        self.heedsAnswers = heedsAnswers
        observer = RefreshObserver(workspace)
        vaultMark = observer.observation().vault
        tell = { workspace.note($0) }
    }

    /// By `CLOCK_MONOTONIC`.
    var now: Duration { observer.now }

    /// Takes what relays told and the vault as it is, and asks whoever it is time to ask. One that does
    /// not answer keeps no other from being asked.
    ///
    /// - Returns: Whether something was asked, or there is nobody to ask.
    func turn<Work: PollingWork>(_ work: Work) throws -> Bool {
        try followRelays(work)
        var observation = observer.observation()
        observation.answers = answersMark()
        if observation.vault != vaultMark {
            vaultMark = observation.vault
            try work.take(
                vault: Result {
                    let hasNewKeys = try reopenVault()
                    for account in work.accounts { account.access = nil }
                    return hasNewKeys
                })
        }
        guard !workspace.options.offline else { return false }
        var hasAsked = work.accounts.isEmpty
        for account in work.accounts { account.schedule.observe(observation) }
        for account in work.accounts where Interrupts.pending == nil {
            guard let reasons = account.schedule.begin(at: observation.monotonic) else { continue }
            hasAsked = true
            let (outcome, failure) = try work.ask(account, because: reasons)
            account.schedule.finish(
                outcome, at: now, random: VercelClient.randomFraction())
            account.failure = failure
            if failure == nil { account.hasAnswered = true }
            // They were changed by this process.
            let mark = answersMark()
            for account in work.accounts { account.schedule.acknowledge(answers: mark) }
        }
        return hasAsked
    }

    private func answersMark() -> RefreshObservation.FileMark? {
        heedsAnswers || feed?.isElsewhere == true ? observer.answersMark() : nil
    }

    /// Waits until something may be due, and not beyond the moment in which a relay tells something.
    func wait(
        for work: some PollingWork, by pause: (Duration) throws -> Void
    ) rethrows {
        let end = now + Self.tick
        func left() -> Duration {
            let now = now
            let waits = work.accounts.map { $0.schedule.wait(at: now) }
            return min(end - now, workspace.options.offline ? Self.tick : waits.min() ?? Self.tick)
        }
        repeat {
            let step = feed == nil ? left() : min(left(), Self.glance)
            try pause(max(step, Self.shortestWait))
        } while left() > .zero && feed?.hasNews != true && Interrupts.pending == nil
    }

    /// Waits and does nothing else; a signal ends it.
    static func sleep(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        usleep(UInt32(seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
    }

    /// Follows no relay any more.
    func close() { feed = nil }

    // MARK: The vault

    /// Opens the vault as it is now: another token, another account, other keys.
    ///
    /// - Returns: Whether it has other keys.
    private func reopenVault() throws -> Bool {
        let session = workspace.session
        var hasNewKeys = false
        session.forgetVault()
        do {
            _ = try session.index(.listing)
        } catch {
            // The keyring or another source that asks nobody may have the new ones.
            session.forgetKeys()
            close()
            guard try session.keysAtHand() != nil else {
                throw CommandError(
                    .locked, "The vault got other keys, and nothing here opens it.",
                    hint: "Run zg-env \(workspace.command) again.")
            }
            try session.keepIndexTierOnly()
            hasNewKeys = true
        }
        knowsRelays = false
        return hasNewKeys
    }

    // MARK: Relays

    /// Follows the relays that the vault is a device of now. Nobody is asked for a passphrase for that.
    private func openRelays() throws {
        guard !workspace.options.offline, try workspace.session.indexAtHand() != nil
        else { return close() }
        let (all, keys) = try RelayAccess.registrations(workspace)
        if feed?.isFor(all) ?? all.isEmpty { return }
        // The streams of before have ended when others begin.
        close()
        guard !all.isEmpty else { return }
        feed = PostalFeed(workspace, try NotificationFiles(workspace, keys: keys), all)
    }

    /// Takes what relays told: it is a reason to ask at once, and to ask less often by the timer. What
    /// is shown or told of it comes from the platform's answer alone, and so is told once.
    private func followRelays<Work: PollingWork>(_ work: Work) throws {
        let now = now
        var news = PostalFeed.News()
        do {
            if !knowsRelays { try openRelays() }
            knowsRelays = true
            if let feed { news = try feed.turn(at: now) }
            for report in news.reports {
                if let trouble = report.trouble {
                    try say(report.place, trouble)
                } else {
                    try end(report.place, report.relief)
                }
            }
            try end("relays", "The relays' events can be kept again.")
        } catch {
            try say("relays", CommandError(mapping: error).message)
        }
        let mark = news.wroteVault ? observer.observation().vault : nil
        for account in work.accounts {
            if let mark { account.schedule.acknowledge(vault: mark) }
            if let name = account.relayName,
                news.accounts.contains(name)
                    || news.projects.contains(where: {
                        $0.account == name && work.wants($0.id, of: account)
                    })
            {
                account.toldAt = now
                account.schedule.request(.event)
            }
            let isLively = account.toldAt.map { now - $0 < Self.liveliness } ?? false
            let isHeard = account.relayName.map { feed?.isUp($0) == true } ?? false
            account.schedule.use(isHeard && !isLively ? intervals.besideRelay : intervals)
        }
    }

    // MARK: Words

    /// Says what is wrong with something, unless that was said.
    func say(_ place: String, _ message: String) throws {
        guard troubles[place] != message else { return }
        troubles[place] = message
        try tell(message)
    }

    /// Says that nothing is wrong with it any more, where something was.
    func end(_ place: String, _ message: String) throws {
        guard troubles.removeValue(forKey: place) != nil else { return }
        try tell(message)
    }
}

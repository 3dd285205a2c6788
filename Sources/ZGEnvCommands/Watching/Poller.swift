internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import PostalDevice
internal import Vault
internal import VercelAPI

/// Polls Vercel for `watch`, `watch --json` and `notify run`: on a timer, after local changes, and
/// after relay events. While a relay is connected, the timer is only a safety net.
///
/// Callers alternate ``turn(_:)`` and ``wait(for:by:)``.
final class Poller {
    /// The outcome for the schedule, and the failure, if any.
    typealias Answer = (outcome: RefreshSchedule.Outcome, failure: CommandError?)

    /// The interval of checks for local changes.
    private static let tick = Duration.seconds(2)
    /// The interval of checks for relay events.
    private static let eventPollInterval = Duration.milliseconds(100)
    private static let shortestWait = Duration.milliseconds(20)
    /// How long after an event to poll as often as without a relay: a list may lag behind.
    private static let burstDuration = Duration.seconds(60)

    private let workspace: Workspace
    private let intervals: RefreshIntervals
    private let observer: RefreshObserver
    private let watchesCache: Bool
    private var vaultMark: RefreshObservation.FileMark?
    private var feed: PostalFeed?
    /// Whether ``feed`` matches the vault's relays.
    private var knowsRelays = false
    /// Current problems by subject, so that each is reported once.
    private var troubles: [String: String] = [:]
    /// Reports a problem or its end to the user.
    var tell: (String) throws -> Void

    /// Must be created before the vault is opened, so that no change is missed.
    ///
    /// - Parameters:
    ///   - intervals: The intervals without a relay.
    ///   - watchesCache: Whether cached responses of other processes trigger a request. Those of a
    ///     process that reads the relays' streams for this one always do: it drops outdated ones.
    init(_ workspace: Workspace, intervals: RefreshIntervals, watchesCache: Bool) {
        (self.workspace, self.intervals) = (workspace, intervals)
        self.watchesCache = watchesCache
        observer = RefreshObserver(workspace)
        vaultMark = observer.observation().vault
        tell = { workspace.note($0) }
    }

    /// By `CLOCK_MONOTONIC`.
    var now: Duration { observer.now }

    /// Handles relay events and vault changes, then polls the accounts that are due. A failure of
    /// one does not affect the others.
    ///
    /// - Returns: Whether an account was polled, or there are none.
    func turn<Work: PollerDelegate>(_ work: Work) throws -> Bool {
        try followRelays(work)
        var observation = observer.observation()
        observation.answers = cacheMark()
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
            // This process has changed the cached responses itself.
            let mark = cacheMark()
            for account in work.accounts { account.schedule.acknowledge(answers: mark) }
        }
        return hasAsked
    }

    private func cacheMark() -> RefreshObservation.FileMark? {
        watchesCache || feed?.isElsewhere == true ? observer.cacheMark() : nil
    }

    /// Waits until something may be due, or a relay event arrives.
    func wait(
        for work: some PollerDelegate, by pause: (Duration) throws -> Void
    ) rethrows {
        let end = now + Self.tick
        func left() -> Duration {
            let now = now
            let waits = work.accounts.map { $0.schedule.wait(at: now) }
            return min(end - now, workspace.options.offline ? Self.tick : waits.min() ?? Self.tick)
        }
        repeat {
            let step = feed == nil ? left() : min(left(), Self.eventPollInterval)
            try pause(max(step, Self.shortestWait))
        } while left() > .zero && feed?.hasNews != true && Interrupts.pending == nil
    }

    /// Sleeps; a signal interrupts it.
    static func sleep(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        usleep(UInt32(seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
    }

    /// Disconnects from relays.
    func close() { feed = nil }

    // MARK: The vault

    /// Reopens the vault after a change: tokens, accounts or keys may be different.
    ///
    /// - Returns: Whether its keys changed.
    private func reopenVault() throws -> Bool {
        let session = workspace.session
        var hasNewKeys = false
        session.closeVault()
        do {
            _ = try session.index(.listing)
        } catch {
            // The keyring or another source without a prompt may have the new keys.
            session.dropKeys()
            close()
            guard try session.keysWithoutPrompt() != nil else {
                throw CommandError(
                    .locked, "The vault was rekeyed, and none of the available keys opens it.",
                    hint: "Start zg-env \(workspace.command) again.")
            }
            try session.keepIndexTierOnly()
            hasNewKeys = true
        }
        knowsRelays = false
        return hasNewKeys
    }

    // MARK: Relays

    /// Connects to the vault's current relays, without asking for a passphrase.
    private func openRelays() throws {
        guard !workspace.options.offline, try workspace.session.indexWithoutPrompt() != nil
        else { return close() }
        let (all, keys) = try RelayAccess.registrations(workspace)
        if feed?.isFor(all) ?? all.isEmpty { return }
        // Ends the old streams before new ones start.
        close()
        guard !all.isEmpty else { return }
        feed = PostalFeed(workspace, try NotificationFiles(workspace, keys: keys), all)
    }

    /// Handles relay events: an event triggers a request, and connected relays allow longer
    /// intervals. What is shown comes only from Vercel's response, so that nothing is reported
    /// twice.
    private func followRelays<Work: PollerDelegate>(_ work: Work) throws {
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
            try end("relays", "Relay events can be saved again.")
        } catch {
            try say("relays", CommandError(mapping: error).message)
        }
        if news.hasSightings {
            try work.take(vault: .success(false))
            let mark = cacheMark()
            for account in work.accounts { account.schedule.acknowledge(answers: mark) }
        }
        for account in work.accounts {
            if let name = account.relayName,
                news.accounts.contains(name)
                    || news.projects.contains(where: {
                        $0.account == name && work.wants($0.id, of: account)
                    })
            {
                account.toldAt = now
                account.schedule.request(.event)
            }
            let isLively = account.toldAt.map { now - $0 < Self.burstDuration } ?? false
            let isHeard = account.relayName.map { feed?.isUp($0) == true } ?? false
            account.schedule.use(isHeard && !isLively ? intervals.besideRelay : intervals)
        }
    }

    // MARK: Messages

    /// Reports a problem, unless it was already reported.
    func say(_ place: String, _ message: String) throws {
        guard troubles[place] != message else { return }
        troubles[place] = message
        try tell(message)
    }

    /// Reports that a problem is over, if there was one.
    func end(_ place: String, _ message: String) throws {
        guard troubles.removeValue(forKey: place) != nil else { return }
        try tell(message)
    }
}

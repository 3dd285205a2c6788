internal import EnvOperations
internal import PostalDevice
internal import Vault

/// What relays have to do with when the platform is asked, for whatever shows or tells what happens
/// there: their events are reasons to ask, and while they come the timer is a safety net alone.
///
/// A turn is ``turn(at:)``; then for each account ``intervals(for:at:)`` for its schedule, and
/// ``tellsNews(of:at:where:)``, which is a reason to ask; then ``forgetNews()``. Between turns nobody
/// waits longer than ``glance`` without looking at ``hasNews``.
struct RelayedEvents {
    /// How long a wait lasts at most before somebody looks for events.
    static let glance = Duration.milliseconds(100)
    /// How long after an event is asked as often as without a relay: a list may be late.
    private static let liveliness = Duration.seconds(60)
    private static let slowSeconds = (building: 60, idle: 600)

    private let ordinary: RefreshIntervals
    private let slow: RefreshIntervals
    private var feed: PostalFeed?
    private var news = PostalFeed.News()
    /// When something was told of an account last, by `CLOCK_MONOTONIC`.
    private var toldAt: [String: Duration] = [:]

    /// - Parameter intervals: Those without a relay.
    init(_ intervals: RefreshIntervals) {
        ordinary = intervals
        slow = RefreshIntervals(
            buildingSeconds: max(
                Int(intervals.building.components.seconds), Self.slowSeconds.building),
            idleSeconds: max(Int(intervals.idle.components.seconds), Self.slowSeconds.idle))
    }

    /// Whether the vault is a device of any relay.
    var isOpen: Bool { feed != nil }

    /// Whether ``turn(at:)`` would bring something.
    var hasNews: Bool { feed?.hasNews ?? false }

    /// Follows the relays that the vault is a device of now.
    mutating func open(_ invocation: Invocation, _ files: NotificationFiles) throws {
        let registrations = try RelayAccess.registrations(invocation).all
        if let feed, feed.isFor(registrations) { return }
        // The streams of before have ended when others begin.
        close()
        feed = try PostalFeed(invocation, files)
    }

    /// Follows none any more.
    mutating func close() { feed = nil }

    /// Does what is due, and says how it stands with each relay.
    mutating func turn(at now: Duration) throws -> [PostalFeed.Report] {
        guard let feed else { return [] }
        let new = try feed.turn(at: now)
        news.projects.formUnion(new.projects)
        news.accounts.formUnion(new.accounts)
        news.wroteVault = news.wroteVault || new.wroteVault
        return new.reports
    }

    /// Whether the vault was written since this was asked last.
    mutating func takeWrite() -> Bool {
        defer { news.wroteVault = false }
        return news.wroteVault
    }

    /// Whether something was told of an account's projects that are wanted.
    ///
    /// - Parameter isWanted: Gets the platform's id of a project.
    mutating func tellsNews(
        of account: String, at now: Duration, where isWanted: (String) -> Bool
    ) -> Bool {
        let isNew =
            news.accounts.contains(account)
            || news.projects.contains { $0.account == account && isWanted($0.id) }
        if isNew { toldAt[account] = now }
        return isNew
    }

    /// Forgets what was told: every scope has heard it.
    mutating func forgetNews() { (news.projects, news.accounts) = ([], []) }

    /// How often is asked for what an account has.
    func intervals(for account: String, at now: Duration) -> RefreshIntervals {
        guard feed?.isUp(account) == true else { return ordinary }
        let isLively = toldAt[account].map { now - $0 < Self.liveliness } ?? false
        return isLively ? ordinary : slow
    }
}

extension NotificationChoices.Scope {
    /// Whose it is, as relays name it.
    var account: String { teamID ?? accountID }
}

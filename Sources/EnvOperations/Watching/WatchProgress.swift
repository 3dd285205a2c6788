/// The state of watching that survives a restart: what was seen, and the notifications still to
/// show.
package struct WatchProgress: Codable, Equatable, Sendable {
    /// The state of one list.
    struct ScopeState: Codable, Equatable, Sendable {
        let scope: NotificationChoices.Scope
        var watcher: DeploymentWatcher
    }

    /// A change to notify about.
    package struct Pending: Codable, Equatable, Sendable {
        package let change: DeploymentChange
        /// The project's name.
        package let project: String
        /// Whether it may have happened while zg-env was not watching.
        package let isLate: Bool

        package init(_ change: DeploymentChange, project: String, isLate: Bool) {
            self.change = change
            self.project = project
            self.isLate = isLate
        }
    }

    /// The most pending changes; further ones are only counted.
    package static let pendingLimit = 500
    private static let countLimit = 1_000_000

    var scopes: [ScopeState] = []
    /// The changes to notify about, in the order in which they were seen.
    package internal(set) var pending: [Pending] = []
    /// The number of changes dropped from ``pending`` because there were too many.
    package internal(set) var untold = 0
    /// The number of lists that were too long, so that at least one deployment each was not
    /// checked.
    package internal(set) var unseen = 0

    package init() {}

    /// Whether all numbers are in the range of what this program writes, so that sums of them fit.
    package var isPlausible: Bool {
        (0...Self.countLimit).contains(untold) && (0...Self.countLimit).contains(unseen)
            && scopes.allSatisfy(\.watcher.isPlausible)
    }

    /// Removes what a message reported from the pending changes.
    package mutating func noteTold(_ message: NotificationMessage) {
        pending.removeAll { entry in message.covers.contains { $0 == entry } }
        if message.coversCounts { (untold, unseen) = (0, 0) }
    }

    mutating func append(_ new: [Pending]) {
        pending += new
        let surplus = pending.count - Self.pendingLimit
        if surplus > 0 {
            pending.removeFirst(surplus)
            untold = min(untold + surplus, Self.countLimit)
        }
    }
}

/// The API calls that watching needs.
package protocol WatchSource {
    /// Returns the deployments of a scope created after `since`, by Vercel's clock, newest first.
    ///
    /// - Parameter limit: The largest number of deployments.
    func deployments(
        in scope: NotificationChoices.Scope, since: Int64, limit: Int
    ) throws(WatchFailure) -> [WatchedDeployment]

    /// Returns one deployment, or nil if it does not exist any more.
    func deployment(
        _ id: String, in scope: NotificationChoices.Scope
    ) throws(WatchFailure) -> WatchedDeployment?
}

/// Why a request failed.
package struct WatchFailure: Error, Equatable {
    /// The outcome for the schedule.
    package let outcome: RefreshSchedule.Outcome
    /// One sentence for people.
    package let reason: String

    package init(_ outcome: RefreshSchedule.Outcome, reason: String) {
        self.outcome = outcome
        self.reason = reason
    }
}

extension WatchProgress {
    /// The most deployments in one list: ten requests.
    package static let listLimit = 1_000
    /// The most deployments requested one by one at a time.
    package static let singleLimit = 5

    /// Requests the deployments of a scope, and adds chosen changes to ``pending``.
    ///
    /// - Parameters:
    ///   - now: Milliseconds since 1970.
    ///   - isLate: Whether zg-env was not watching for some time since the last list.
    /// - Returns: The outcome for the schedule, and the failure if there was no response.
    package mutating func refresh(
        _ scope: NotificationChoices.Scope, _ choices: NotificationChoices, now: Int64,
        isLate: Bool, from source: some WatchSource
    ) -> (outcome: RefreshSchedule.Outcome, failure: WatchFailure?) {
        scopes.removeAll { state in !choices.choices.contains { $0.scope == state.scope } }
        let chosen = choices.choices(in: scope)
        let moments = chosen.mapValues(\.since)
        var watcher = scopes.first { $0.scope == scope }?.watcher ?? DeploymentWatcher()
        watcher.watch(moments)
        guard let since = watcher.since else { return (.answered(isBuilding: false), nil) }
        var failure: WatchFailure?
        var cut: [WatchedDeployment]?
        var changes: [DeploymentChange] = []
        do throws(WatchFailure) {
            let listing = try source.deployments(
                in: scope, since: since, limit: Self.listLimit)
            let known = watcher.newest
            changes = watcher.take(listing, chosen: moments, now: now)
            if listing.count >= Self.listLimit {
                cut = listing
                // If it overlaps with earlier lists, nothing is lost.
                let isGap = listing.allSatisfy { $0.createdAt > known }
                if isGap { unseen = min(unseen + 1, Self.countLimit) }
            }
            // Start with a different one each time, so that a hanging one does not block the others.
            let missing = watcher.unlisted(in: listing)
            let first = missing.isEmpty ? 0 : Int(now / 1_000 % Int64(missing.count))
            for id in (missing[first...] + missing[..<first]).prefix(Self.singleLimit) {
                guard let found = try source.deployment(id, in: scope) else {
                    watcher.forget(id)
                    continue
                }
                changes += watcher.take([found], chosen: moments, now: now)
            }
        } catch {
            failure = error
        }
        if failure == nil {
            untold = min(untold + watcher.settle(cut: cut), Self.countLimit)
        }
        scopes.removeAll { $0.scope == scope }
        scopes.append(ScopeState(scope: scope, watcher: watcher))
        append(
            changes.compactMap { change in
                guard let choice = chosen[change.deployment.projectID], choice.wants(change) else {
                    return nil
                }
                return Pending(change, project: choice.name, isLate: isLate)
            })
        let outcome = failure?.outcome ?? .answered(isBuilding: watcher.isBuilding)
        return (outcome, failure)
    }
}

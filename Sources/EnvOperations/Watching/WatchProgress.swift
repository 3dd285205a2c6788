/// How far the watching has come, as it is kept over a restart: what was seen, and what is still to
/// be told.
package struct WatchProgress: Codable, Equatable, Sendable {
    /// One list of the platform.
    struct ScopeState: Codable, Equatable, Sendable {
        let scope: NotificationChoices.Scope
        var watcher: DeploymentWatcher
    }

    /// Something that is to be told.
    package struct Pending: Codable, Equatable, Sendable {
        /// What happened.
        package let change: DeploymentChange
        /// What the project is called.
        package let project: String
        /// Whether it may have happened while nobody watched.
        package let isLate: Bool

        /// Names all parts.
        package init(_ change: DeploymentChange, project: String, isLate: Bool) {
            self.change = change
            self.project = project
            self.isLate = isLate
        }
    }

    /// Most things that wait to be told; of more only the number is kept.
    package static let pendingLimit = 500

    var scopes: [ScopeState] = []
    /// What is still to be told, in the order in which it was seen.
    package internal(set) var pending: [Pending] = []
    /// How many things went out of ``pending`` untold, because there were too many.
    package internal(set) var untold = 0
    /// How many deployments could not be looked at, because a list was too long; more of them may be.
    package internal(set) var unseen = 0

    /// Starts without having seen anything.
    package init() {}

    /// Whether anything that is watched in a scope has not ended.
    package func isBuilding(in scope: NotificationChoices.Scope) -> Bool {
        scopes.first { $0.scope == scope }?.watcher.isBuilding ?? false
    }

    /// How many deployments are remembered.
    package var entryCount: Int { scopes.reduce(0) { $0 + $1.watcher.entryCount } }

    /// Takes what was told off the list.
    package mutating func noteTold(_ message: NotificationMessage) {
        pending.removeAll { entry in message.covers.contains { $0 == entry } }
        if message.coversCounts { (untold, unseen) = (0, 0) }
    }

    mutating func append(_ new: [Pending]) {
        pending += new
        let surplus = pending.count - Self.pendingLimit
        if surplus > 0 {
            pending.removeFirst(surplus)
            untold = min(untold + surplus, 1_000_000)
        }
    }
}

/// Who answers what is watched.
package protocol WatchSource {
    /// The deployments of a scope that were made after a moment of the platform's clock, newest first.
    ///
    /// - Parameter limit: Most of them.
    /// - Returns: As many as there are, or `limit` of them.
    func deployments(
        in scope: NotificationChoices.Scope, since: Int64, limit: Int
    ) throws(WatchFailure) -> [WatchedDeployment]

    /// One deployment; nil where there is none any more.
    func deployment(
        _ id: String, in scope: NotificationChoices.Scope
    ) throws(WatchFailure) -> WatchedDeployment?
}

/// Why the platform did not answer.
package struct WatchFailure: Error, Equatable {
    /// What the schedule makes of it.
    package let outcome: RefreshSchedule.Outcome
    /// One sentence for people.
    package let reason: String

    /// Names both.
    package init(_ outcome: RefreshSchedule.Outcome, reason: String) {
        self.outcome = outcome
        self.reason = reason
    }
}

extension WatchProgress {
    /// Most deployments of one list: ten requests.
    package static let listLimit = 1_000
    /// Most deployments that are asked for by themselves at one time.
    package static let singleLimit = 5

    /// Asks for the deployments of a scope, and puts what happened to those that are chosen on the
    /// list of what is to be told.
    ///
    /// - Parameters:
    ///   - now: Milliseconds since 1970.
    ///   - isLate: Whether there was a time since the last list in which nobody watched.
    /// - Returns: What the schedule goes on with, and why there is no answer where there is none.
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
                // Where it ends among what earlier lists had, nothing is lost.
                let isGap = listing.allSatisfy { $0.createdAt > known }
                if isGap { unseen = min(unseen + 1, 1_000_000) }
            }
            // Others on other turns: one that hangs must not keep them from being asked for.
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
            untold = min(untold + watcher.settle(cut: cut), 1_000_000)
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

/// Derives from lists of deployments what happened to them, reporting each change once.
///
/// Lists may overlap, come late, omit deployments and repeat them: reported changes are remembered
/// by deployment id and kind. The memory is bounded. Finished deployments are forgotten once the
/// lists no longer reach back to them, and nothing that old counts as new.
package struct DeploymentWatcher: Codable, Equatable, Sendable {
    /// What is remembered of a deployment.
    struct Entry: Codable, Equatable, Sendable {
        var createdAt: Int64
        /// The changes that were reported or need not be.
        var told: Set<DeploymentChange.Kind>
        var isFinal: Bool
        /// Whether it was ready and staged.
        var isStaged: Bool
    }

    /// What is remembered of a project.
    struct ProjectState: Codable, Equatable, Sendable {
        /// Unknown deployments created before this time, by Vercel's clock, are ignored.
        var floor: Int64
        var entries: [String: Entry] = [:]
    }

    /// How far lists reach back beyond the newest deployment, to allow for late lists and to notice
    /// promotions of recent builds.
    package static let overlapMilliseconds: Int64 = 3_600_000
    /// Unfinished deployments older than this are requested one by one, so that a hanging one does
    /// not make all lists long.
    package static let longestListedMilliseconds: Int64 = 6 * 3_600_000
    /// The most deployments remembered per project.
    package static let entryLimit = 500
    /// How many of the newest deployments lists cover after one was too long.
    package static let cutLimit = 200
    /// The most projects.
    package static let projectLimit = 2_000

    /// By project id.
    private(set) var projects: [String: ProjectState]
    /// The creation time of the newest deployment in any list, by Vercel's clock.
    package private(set) var newest: Int64
    /// The value of ``newest`` before the last list.
    private var newestBefore: Int64

    package init() { (projects, newest, newestBefore) = ([:], 0, 0) }

    /// Whether all times are in the range of what this program writes.
    package var isPlausible: Bool {
        let times =
            [newest, newestBefore] + projects.values.map(\.floor)
            + projects.values.flatMap { $0.entries.values.map(\.createdAt) }
        return times.allSatisfy(WatchedDeployment.times.contains)
    }

    /// Whether any watched deployment is unfinished.
    package var isBuilding: Bool {
        projects.values.contains { $0.entries.values.contains { !$0.isFinal } }
    }

    /// Sets the watched projects, and since when each was chosen, by this machine's clock. Forgets
    /// all others.
    package mutating func watch(_ chosen: [String: Int64]) {
        projects = projects.filter { chosen[$0.key] != nil }
        for (id, since) in chosen where projects[id] == nil && projects.count < Self.projectLimit {
            // What is building when a project is chosen is reported when it ends.
            let moment = min(since, WatchedDeployment.times.upperBound)
            let floor = max(moment, Self.overlapMilliseconds) - Self.overlapMilliseconds
            projects[id] = ProjectState(floor: floor)
        }
    }

    /// The time, by Vercel's clock, after which lists must contain all deployments; nil if nothing
    /// is watched.
    package var since: Int64? {
        guard var earliest = projects.values.map(\.floor).min() else { return nil }
        for entry in projects.values.flatMap(\.entries.values)
        where !entry.isFinal && isListed(entry) { earliest = min(earliest, entry.createdAt) }
        // Vercel omits what was created at exactly this time.
        return max(earliest - 1, 0)
    }

    /// Returns the ids of unfinished deployments that `listing` does not contain, oldest first.
    /// They have to be requested one by one.
    package func unlisted(in listing: [WatchedDeployment]) -> [String] {
        let named = Set(listing.map(\.id))
        return projects.values.flatMap { $0.entries }
            .filter { !$0.value.isFinal && !named.contains($0.key) }
            .sorted { ($0.value.createdAt, $0.key) < ($1.value.createdAt, $1.key) }.map(\.key)
    }

    /// Forgets a deployment that does not exist any more.
    package mutating func forget(_ id: String) {
        for project in projects.keys { projects[project]?.entries[id]?.isFinal = true }
    }

    /// Processes a list and returns the changes, oldest deployments first.
    ///
    /// - Parameters:
    ///   - listing: The deployments in any order.
    ///   - chosen: Since when each project is watched, as for ``watch(_:)``.
    ///   - now: The time by this machine's clock; no deployment counts as newer.
    package mutating func take(
        _ listing: [WatchedDeployment], chosen: [String: Int64], now: Int64
    ) -> [DeploymentChange] {
        var changes: [DeploymentChange] = []
        let ordered = listing.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        for deployment in ordered {
            newest = max(newest, min(deployment.createdAt, now))
            changes += take(deployment, watchedSince: chosen[deployment.projectID])
        }
        return changes
    }

    /// Forgets what lists no longer reach back to. Only call it after a list was read and
    /// processed.
    ///
    /// It is one list behind, because the first list after a long pause may omit something.
    ///
    /// - Parameter cut: The list, if it was not read to its end; the next ones are then made
    ///   shorter.
    /// - Returns: The number of unfinished deployments that were forgotten because there are too
    ///   many.
    package mutating func settle(cut: [WatchedDeployment]? = nil) -> Int {
        var lost = 0
        var floor = newestBefore - Self.overlapMilliseconds
        if let cut {
            let times = cut.map(\.createdAt).sorted(by: >).prefix(Self.cutLimit)
            floor = max(floor, min(times.last ?? floor, newest))
        }
        newestBefore = newest
        for id in projects.keys {
            guard var project = projects[id] else { continue }
            project.floor = max(project.floor, floor)
            project.entries = project.entries.filter { entry in
                !entry.value.isFinal || entry.value.createdAt >= project.floor
            }
            let surplus = project.entries.count - Self.entryLimit
            if surplus > 0 {
                let oldest = project.entries.sorted {
                    ($0.value.createdAt, $0.key) < ($1.value.createdAt, $1.key)
                }.prefix(surplus)
                for (key, entry) in oldest {
                    if !entry.isFinal { lost += 1 }
                    project.entries[key] = nil
                    project.floor = max(project.floor, entry.createdAt + 1)
                }
            }
            projects[id] = project
        }
        return lost
    }

    // MARK: One deployment

    private mutating func take(
        _ deployment: WatchedDeployment, watchedSince: Int64?
    ) -> [DeploymentChange] {
        guard var project = projects[deployment.projectID] else { return [] }
        var entry: Entry
        if let known = project.entries[deployment.id] {
            entry = known
        } else {
            guard deployment.createdAt >= project.floor else { return [] }
            entry = Entry(
                createdAt: deployment.createdAt, told: [], isFinal: false, isStaged: false)
            // A user who chooses a project wants future changes, not past ones.
            if deployment.createdAt < watchedSince ?? 0 {
                entry.told.insert(.started)
                if deployment.phase.isFinal {
                    entry.told.formUnion([.ready, .failed, .canceled])
                    if deployment.isPromoted { entry.told.insert(.promoted) }
                }
            }
        }
        let kinds = Self.kinds(of: deployment, entry)
        entry.told.formUnion(kinds)
        if deployment.phase.isFinal {
            // One end is enough: a later list may report the same end with a different state.
            entry.told.formUnion([.started, .ready, .failed, .canceled])
            entry.isFinal = true
        }
        if deployment.isStaged { entry.isStaged = true }
        project.entries[deployment.id] = entry
        projects[deployment.projectID] = project
        return kinds.map { DeploymentChange($0, deployment) }
    }

    /// Returns the new changes in the order in which they happened.
    private static func kinds(
        of deployment: WatchedDeployment, _ entry: Entry
    ) -> [DeploymentChange.Kind] {
        var kinds: [DeploymentChange.Kind] = []
        switch deployment.phase {
        case .waiting, .deleted: break
        case .building: kinds = [.started]
        case .ready: kinds = [.started, .ready]
        case .failed: kinds = deployment.hasBegun ? [.started, .failed] : [.failed]
        case .canceled: kinds = deployment.hasBegun ? [.started, .canceled] : [.canceled]
        }
        // An outdated list that arrives after the end contains nothing new.
        if entry.isFinal, !deployment.phase.isFinal { kinds = [] }
        // A deployment that goes live without being staged is reported as `ready`.
        if deployment.isPromoted, entry.isStaged { kinds.append(.promoted) }
        return kinds.filter { !entry.told.contains($0) }
    }

    private func isListed(_ entry: Entry) -> Bool {
        entry.createdAt >= newest - Self.longestListedMilliseconds
    }
}

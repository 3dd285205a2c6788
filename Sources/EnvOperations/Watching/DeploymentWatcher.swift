/// Derives from lists of deployments what happened to them, each thing once. Pure.
///
/// Lists may overlap, come late, leave deployments out and name them again: what was told is known by
/// the deployment's id and what happened to it. How much is remembered is bounded: what has ended
/// goes once the lists no longer reach back to it, and nothing that old is taken for new.
package struct DeploymentWatcher: Equatable, Sendable {
    /// What is remembered of a deployment.
    struct Entry: Codable, Equatable, Sendable {
        var createdAt: Int64
        /// What was told of it, or need not be.
        var told: Set<DeploymentChange.Kind>
        var isFinal: Bool
        /// Whether it was ready and waited to be promoted.
        var isStaged: Bool
    }

    /// What is remembered of a project.
    struct ProjectState: Codable, Equatable, Sendable {
        /// Unknown deployments made before this moment are none of ours. By the platform's clock.
        var floor: Int64
        var entries: [String: Entry] = [:]
    }

    /// How far back lists reach beyond the newest deployment: for lists that are late, and to see
    /// what was built in that time promoted.
    package static let overlapMilliseconds: Int64 = 3_600_000
    /// Deployments that have not ended and are older than this are asked for by themselves, so that
    /// one that hangs does not make all lists long.
    package static let longestListedMilliseconds: Int64 = 6 * 3_600_000
    /// Most deployments that are remembered of one project.
    package static let entryLimit = 500
    /// To how many of the newest deployments lists reach back, once one was too long.
    package static let cutLimit = 200
    /// Most projects.
    package static let projectLimit = 2_000

    /// By the id of the project.
    private(set) var projects: [String: ProjectState]
    /// The newest deployment that any list named, by the platform's clock.
    package private(set) var newest: Int64
    /// The same as of the list before the last one.
    private var newestBefore: Int64

    /// Starts without having seen anything.
    package init() { (projects, newest, newestBefore) = ([:], 0, 0) }

    /// Whether anything that is watched has not ended.
    package var isBuilding: Bool {
        projects.values.contains { $0.entries.values.contains { !$0.isFinal } }
    }

    /// How many deployments are remembered.
    package var entryCount: Int { projects.values.reduce(0) { $0 + $1.entries.count } }

    /// Says which projects are watched from now on, and since when each was chosen, by this machine's
    /// clock. What is remembered of others goes.
    package mutating func watch(_ chosen: [String: Int64]) {
        projects = projects.filter { chosen[$0.key] != nil }
        for (id, since) in chosen where projects[id] == nil && projects.count < Self.projectLimit {
            // What is building when a project is chosen is told when it ends.
            let floor = max(since.subtractingReportingOverflow(Self.overlapMilliseconds).0, 0)
            projects[id] = ProjectState(floor: floor)
        }
    }

    /// Lists are to name what was made after this moment, by the platform's clock; nil where nothing
    /// is watched.
    package var since: Int64? {
        guard var earliest = projects.values.map(\.floor).min() else { return nil }
        for entry in projects.values.flatMap(\.entries.values)
        where !entry.isFinal && isListed(entry) { earliest = min(earliest, entry.createdAt) }
        // The platform leaves out what was made at that very moment.
        return max(earliest - 1, 0)
    }

    /// The ids of deployments that have not ended and that `listing` does not name: to be asked for by
    /// themselves, the oldest first.
    package func unlisted(in listing: [WatchedDeployment]) -> [String] {
        let named = Set(listing.map(\.id))
        return projects.values.flatMap { $0.entries }
            .filter { !$0.value.isFinal && !named.contains($0.key) }
            .sorted { ($0.value.createdAt, $0.key) < ($1.value.createdAt, $1.key) }.map(\.key)
    }

    /// Forgets a deployment that is not there any more.
    package mutating func forget(_ id: String) {
        for project in projects.keys { projects[project]?.entries[id]?.isFinal = true }
    }

    /// Takes a list and returns what happened, oldest deployments first.
    ///
    /// - Parameters:
    ///   - listing: In any order.
    ///   - chosen: Since when each project is watched, as for ``watch(_:)``.
    ///   - now: This machine's clock: no deployment is taken for newer than that.
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

    /// Forgets what lists no longer reach back to. Only after a list that was read and taken.
    ///
    /// It is one list behind: after a long time without lists the first one may leave something out.
    ///
    /// - Parameter cut: The list, where it was not read to its end: the next ones are to be short again.
    /// - Returns: How many deployments that have not ended were given up, because there are too many.
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
            // Somebody who chooses a project wants to hear of what comes, not of what was.
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
            // One end is enough: what a list says later in other words is the same end.
            entry.told.formUnion([.started, .ready, .failed, .canceled])
            entry.isFinal = true
        }
        if deployment.isStaged { entry.isStaged = true }
        project.entries[deployment.id] = entry
        projects[deployment.projectID] = project
        return kinds.map { DeploymentChange($0, deployment) }
    }

    /// What is new, in the order in which it happened.
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
        // A list from before the end, which comes after it, says nothing new.
        if entry.isFinal, !deployment.phase.isFinal { kinds = [] }
        // What goes live in the course of its own deployment is told by `ready`.
        if deployment.isPromoted, entry.isStaged { kinds.append(.promoted) }
        return kinds.filter { !entry.told.contains($0) }
    }

    private func isListed(_ entry: Entry) -> Bool {
        entry.createdAt >= newest - Self.longestListedMilliseconds
    }
}

extension DeploymentWatcher: Codable {}

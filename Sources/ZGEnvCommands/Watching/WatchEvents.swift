internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import VercelAPI

/// The main loop of `watch --json`: prints the cached state, Vercel's current state, and every
/// change, as one object per line.
final class WatchEvents {
    private let workspace: Workspace
    private let platform: WatchedVercel
    private let startedAt: Int64
    private var watcher = DeploymentWatcher()
    private var current: [String: String]?
    private var trouble: String?

    init(_ workspace: Workspace, names: [String], intervals: RefreshIntervals) throws {
        self.workspace = workspace
        startedAt = Int64(clamping: workspace.context.now())
        platform = try WatchedVercel(workspace, names: names, intervals: intervals)
        try? workspace.session.keepIndexTierOnly()
    }

    func run(while shouldContinue: () -> Bool) throws {
        if platform.askedAt != nil || workspace.options.offline { try snapshot(isKept: true) }
        // Offline, nothing can change.
        guard !workspace.options.offline else { return }
        while shouldContinue() {
            let hasAsked = try platform.poller.turn(platform)
            guard shouldContinue() else { return }
            if hasAsked { try take(platform.failure) }
            platform.poller.wait(for: platform, by: Poller.sleep)
        }
    }

    private func take(_ failure: CommandError?) throws {
        if let failure {
            guard [.unavailable, .failed].contains(failure.code) else { throw failure }
            guard trouble != failure.message else { return }
            trouble = failure.message
            return try write(["event": "unavailable", "message": .string(failure.message)])
        }
        if trouble != nil {
            trouble = nil
            try write(["event": "available"])
        }
        let names = platform.projects().keyed(by: \.id).mapValues(\.name)
        let chosen = names.mapValues { _ in startedAt }
        watcher.watch(chosen)
        let changes = watcher.take(
            platform.watched, chosen: chosen, now: Int64(clamping: workspace.context.now()))
        _ = watcher.settle()
        let live = platform.current.filter { names[$0.key] != nil }
        guard let before = current else {
            current = live.mapValues(\.id)
            return try snapshot(isKept: false)
        }
        for change in changes {
            let row = WatchRow(change.deployment)
            let id = change.deployment.projectID
            try write(
                row.event(
                    change.kind.rawValue, project: names[id], id: id,
                    isCurrent: live[id]?.id == row.id))
        }
        for (id, deployment) in live.sorted(by: { $0.key < $1.key })
        where before[id] != deployment.id {
            try write(
                WatchRow(deployment).event("live", project: names[id], id: id, isCurrent: true))
        }
        current = live.mapValues(\.id)
    }

    private func snapshot(isKept: Bool) throws {
        try write([
            "event": "snapshot", "kept": .bool(isKept),
            "asOf": .time(orNull: platform.askedAt.map { Int64(clamping: $0) }),
            "projects": .array(
                platform.projects().map { project in
                    [
                        "project": .string(project.name), "projectId": .string(project.id),
                        "notLiveYet": .strings(
                            project.variables.filter { $0.live == false }.map(\.name)),
                        "deployments": .array(
                            project.rows.map {
                                $0.json(isCurrent: $0.id == project.current)
                            }),
                    ]
                }),
        ])
    }

    private func write(_ line: JSONValue) throws { try workspace.context.output.write(line: line) }
}

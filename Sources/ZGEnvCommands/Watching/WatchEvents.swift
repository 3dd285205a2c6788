internal import CommandLineKit
internal import EnvOperations
internal import Glibc
internal import JSON
internal import Sealing
internal import VercelAPI

/// The work of `watch --json`: what is kept, what the platform says then, and every change, each as one
/// object on a line.
final class WatchEvents {
    private let invocation: Invocation
    private let observer: RefreshObserver
    private let platform: WatchedPlatform
    private let startedAt: Int64
    private var schedule: RefreshSchedule
    private var watcher = DeploymentWatcher()
    private var current: [String: String]?
    private var vaultMark: RefreshObservation.FileMark?
    private var trouble: String?

    init(_ invocation: Invocation, names: [String], intervals: RefreshIntervals) throws {
        self.invocation = invocation
        observer = RefreshObserver(invocation)
        vaultMark = observer.observation().vault
        schedule = RefreshSchedule(intervals: intervals)
        startedAt = Int64(clamping: invocation.context.now())
        platform = try WatchedPlatform(invocation, names: names)
        try? invocation.session.keepIndexTierOnly()
    }

    /// Works as long as `goesOn`.
    func run(while goesOn: () -> Bool) throws {
        if platform.askedAt != nil || invocation.options.offline { try snapshot(isKept: true) }
        // There is nothing that could change.
        guard !invocation.options.offline else { return }
        while goesOn() {
            let observation = observer.observation()
            if observation.vault != vaultMark {
                vaultMark = observation.vault
                try platform.reload()
            }
            schedule.observe(observation)
            if let reasons = schedule.begin(at: observation.monotonic) {
                if !reasons.isDisjoint(with: [.vaultChanged, .answersChanged, .resumed]) {
                    platform.wantProjects()
                }
                let (outcome, failure) = platform.refresh()
                schedule.finish(
                    outcome, at: observer.observation().monotonic,
                    random: VercelClient.randomFraction())
                schedule.acknowledge(answers: observer.answersMark())
                guard goesOn() else { return }
                try take(failure)
            }
            let pause = min(schedule.wait(at: observation.monotonic), .seconds(2))
            let (seconds, attoseconds) = max(pause, .milliseconds(50)).components
            usleep(UInt32(seconds * 1_000_000 + attoseconds / 1_000_000_000_000))
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
        let projects = platform.projects()
        let names = Dictionary(
            projects.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        let chosen = names.mapValues { _ in startedAt }
        watcher.watch(chosen)
        let changes = watcher.take(
            platform.watched, chosen: chosen, now: Int64(clamping: invocation.context.now()))
        _ = watcher.settle()
        let live = platform.current.filter { names[$0.key] != nil }
        guard let before = current else {
            current = live.mapValues(\.id)
            return try snapshot(isKept: false)
        }
        for change in changes {
            let row = WatchRow(change.deployment)
            try write(
                change.kind.rawValue, change.deployment.projectID,
                names[change.deployment.projectID],
                Self.json(row, isCurrent: live[change.deployment.projectID]?.id == row.id))
        }
        for (id, deployment) in live.sorted(by: { $0.key < $1.key })
        where before[id] != deployment.id {
            try write("live", id, names[id], Self.json(WatchRow(deployment), isCurrent: true))
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
                                Self.json($0, isCurrent: $0.id == project.current)
                            }),
                    ]
                }),
        ])
    }

    private func write(
        _ event: String, _ project: String, _ name: String?, _ deployment: JSONValue
    ) throws {
        try write([
            "event": .string(event), "project": .string(orNull: name),
            "projectId": .string(project), "late": false, "deployment": deployment,
        ])
    }

    private func write(_ line: JSONValue) throws {
        let output = invocation.context.output
        try line.encoded.withBytes { try output.write($0) }
        try output.write("\n")
        try output.flush()
    }

    private static func json(_ row: WatchRow, isCurrent: Bool) -> JSONValue {
        [
            "id": .string(row.id),
            "url": .string(orNull: row.site.map { $0.contains("://") ? $0 : "https://\($0)" }),
            "state": .string(row.state), "target": .string(row.target),
            "branch": .string(orNull: row.branch.isEmpty ? nil : row.branch),
            "createdAt": .time(orNull: row.createdAt), "current": .bool(isCurrent),
        ]
    }
}

extension WatchRow {
    /// What is told of it, in the form of what is shown.
    fileprivate init(_ deployment: WatchedDeployment) {
        self.init(id: deployment.id)
        state = deployment.state
        target = deployment.target
        branch = deployment.branch ?? ""
        site = deployment.url
        createdAt = deployment.createdAt
    }
}

/// One message for the desktop, in plain text. Pure.
///
/// Texts of the platform are in it as they came, shortened: whoever shows them makes them safe.
package struct NotificationMessage: Equatable, Sendable {
    /// What it is about: a newer message about the same replaces the older one.
    package let subject: String
    /// The project it belongs to; nil for one about many.
    package let project: String?
    /// One line.
    package let title: String
    /// Some lines, maybe none.
    package let body: String
    /// Whether something went wrong.
    package let isUrgent: Bool
    /// The site's host name or address. Untrusted text.
    package let siteURL: String?
    /// The page about it. Untrusted text.
    package let inspectorURL: String?
    /// The deployment, where it is about a single one.
    package let deploymentID: String?
    /// What is told by it.
    package let covers: [WatchProgress.Pending]
    /// Whether it tells how many could not be told or seen.
    package let coversCounts: Bool

    /// Up to this many messages are shown at a time; of more there is one that counts them.
    package static let limit = 4

    /// The messages for what is to be told: one for each deployment while they are few, else one for
    /// each project, else one for all.
    package static func messages(of progress: WatchProgress) -> [NotificationMessage] {
        let counts = progress.untold > 0 || progress.unseen > 0 ? [lost(progress)] : []
        let subjects = collapsed(progress.pending)
        if subjects.count <= limit { return subjects.map(single) + counts }
        let byProject = Dictionary(grouping: subjects) { $0[0].project }
        if byProject.count <= limit {
            return byProject.sorted { $0.key < $1.key }.map { name, entries in
                entries.count == 1 ? single(entries[0]) : summary(entries, project: name)
            } + counts
        }
        return [summary(subjects, project: nil)] + counts
    }

    /// A message that shows what messages look like.
    package static var sample: NotificationMessage {
        NotificationMessage(
            subject: "test", project: nil, title: "zg-env: notifications work",
            body: "This is how a deployment that failed is told.", isUrgent: false, siteURL: nil,
            inspectorURL: nil, deploymentID: nil, covers: [], coversCounts: false)
    }

    /// What is pending of each deployment, in the order of the last thing that happened to it.
    private static func collapsed(
        _ pending: [WatchProgress.Pending]
    ) -> [[WatchProgress.Pending]] {
        let groups = Dictionary(grouping: pending) { $0.change.deployment.id }
        var seen: Set<String> = []
        return pending.reversed().filter { seen.insert($0.change.deployment.id).inserted }
            .reversed().compactMap { groups[$0.change.deployment.id] }
    }

    private static func single(_ entries: [WatchProgress.Pending]) -> NotificationMessage {
        let last = entries[entries.count - 1]
        let deployment = last.change.deployment
        let what =
            switch last.change.kind {
            case .started: "building"
            case .ready: "ready"
            case .failed: deployment.state == "BLOCKED" ? "blocked" : "failed"
            case .canceled: "canceled"
            case .promoted: "live now"
            }
        var lines: [String] = []
        let source = [deployment.branch, deployment.commitMessage].compactMap { $0 }
        if !source.isEmpty { lines.append(source.joined(separator: ": ")) }
        if let creator = deployment.creator { lines.append("by \(creator)") }
        if last.isLate { lines.append("while nobody was watching") }
        return NotificationMessage(
            subject: deployment.id, project: last.project,
            title: "\(last.project): \(what) (\(deployment.target))",
            body: lines.joined(separator: "\n"), isUrgent: last.change.kind == .failed,
            siteURL: deployment.url, inspectorURL: deployment.inspectorURL,
            deploymentID: deployment.id, covers: entries, coversCounts: false)
    }

    private static func summary(
        _ subjects: [[WatchProgress.Pending]], project: String?
    ) -> NotificationMessage {
        let last = subjects.map { $0[$0.count - 1] }
        let words: [(String, [DeploymentChange.Kind])] = [
            ("ready", [.ready]), ("failed", [.failed]), ("canceled", [.canceled]),
            ("live now", [.promoted]), ("building", [.started]),
        ]
        let parts = words.compactMap { word, kinds -> String? in
            let count = last.count { kinds.contains($0.change.kind) }
            return count > 0 ? "\(count) \(word)" : nil
        }
        let names = Set(last.map(\.project))
        let whose = project ?? "\(names.count) projects"
        let verb = last.contains { $0.change.kind == .started } ? "" : " ended"
        var lines = [parts.joined(separator: ", ")]
        let failed = Set(last.filter { $0.change.kind == .failed }.map(\.project)).sorted()
        if project == nil, !failed.isEmpty {
            let rest = failed.count - 5
            lines.append(
                "failed: " + failed.prefix(5).joined(separator: ", ")
                    + (rest > 0 ? " and \(rest) more" : ""))
        }
        if last.contains(where: \.isLate) { lines.append("while nobody was watching") }
        return NotificationMessage(
            subject: project.map { "project \($0)" } ?? "all", project: project,
            title: "\(last.count) deployments of \(whose)\(verb)",
            body: lines.joined(separator: "\n"),
            isUrgent: last.contains { $0.change.kind == .failed }, siteURL: nil,
            inspectorURL: nil, deploymentID: nil, covers: subjects.flatMap { $0 },
            coversCounts: false)
    }

    private static func lost(_ progress: WatchProgress) -> NotificationMessage {
        var lines: [String] = []
        if progress.untold > 0 {
            lines.append("\(progress.untold) messages were too many to be kept.")
        }
        if progress.unseen > 0 {
            lines.append(
                "There were more than \(WatchProgress.listLimit) deployments at once; older ones were not looked at."
            )
        }
        lines.append("See them with: zg-env deployment list")
        return NotificationMessage(
            subject: "lost", project: nil, title: "zg-env: not every deployment was told",
            body: lines.joined(separator: "\n"), isUrgent: true, siteURL: nil, inspectorURL: nil,
            deploymentID: nil, covers: [], coversCounts: true)
    }
}

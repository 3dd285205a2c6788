/// One desktop notification in plain text.
///
/// Contains Vercel's texts unsanitized but shortened. The code that displays them must sanitize
/// them.
package struct NotificationMessage: Equatable, Sendable {
    /// What it is about. A newer message with the same subject replaces the older one.
    package let subject: String
    /// The project; nil for a message about several.
    package var project: String?
    /// One line.
    package let title: String
    /// Some lines, or empty.
    package let body: String
    /// Whether something failed.
    package var isUrgent = false
    /// The site's host name or URL. Untrusted text.
    package var siteURL: String?
    /// The deployment's page on vercel.com. Untrusted text.
    package var inspectorURL: String?
    /// The deployment, if the message is about a single one.
    package var deploymentID: String?
    /// The pending changes that it reports.
    package var covers: [WatchProgress.Pending] = []
    /// Whether it reports the numbers of dropped and unseen changes.
    package var coversCounts = false

    /// The most messages at a time; more are combined into one with counts.
    package static let limit = 4

    /// Returns the messages for the pending changes: one per deployment if there are few, else one
    ///   per project, else a single one.
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

    /// A message that shows what notifications look like.
    package static var sample: NotificationMessage {
        NotificationMessage(
            subject: "test", title: "zg-env: notifications work",
            body: "Deployment notifications look like this.")
    }

    /// Returns the pending changes of each deployment, in the order of their last changes.
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
        if last.isLate { lines.append("while zg-env was not watching") }
        return NotificationMessage(
            subject: deployment.id, project: last.project,
            title: "\(last.project): \(what) (\(deployment.target))",
            body: lines.joined(separator: "\n"), isUrgent: last.change.kind == .failed,
            siteURL: deployment.url, inspectorURL: deployment.inspectorURL,
            deploymentID: deployment.id, covers: entries)
    }

    private static func summary(
        _ subjects: [[WatchProgress.Pending]], project: String?
    ) -> NotificationMessage {
        let last = subjects.map { $0[$0.count - 1] }
        let words: [(String, DeploymentChange.Kind)] = [
            ("ready", .ready), ("failed", .failed), ("canceled", .canceled),
            ("live now", .promoted), ("building", .started),
        ]
        let parts = words.compactMap { word, kind -> String? in
            let count = last.count { $0.change.kind == kind }
            return count > 0 ? "\(count) \(word)" : nil
        }
        let names = Set(last.map(\.project))
        let whose = project ?? "\(names.count) projects"
        let verb = last.contains { $0.change.kind == .started } ? "" : " finished"
        var lines = [parts.joined(separator: ", ")]
        let failed = Set(last.filter { $0.change.kind == .failed }.map(\.project)).sorted()
        if project == nil, !failed.isEmpty {
            let rest = failed.count - 5
            lines.append(
                "failed: " + failed.prefix(5).joined(separator: ", ")
                    + (rest > 0 ? " and \(rest) more" : ""))
        }
        if last.contains(where: \.isLate) { lines.append("while zg-env was not watching") }
        return NotificationMessage(
            subject: project.map { "project \($0)" } ?? "all", project: project,
            title: "\(last.count) deployments of \(whose)\(verb)",
            body: lines.joined(separator: "\n"),
            isUrgent: last.contains { $0.change.kind == .failed }, covers: subjects.flatMap { $0 })
    }

    private static func lost(_ progress: WatchProgress) -> NotificationMessage {
        var lines: [String] = []
        if progress.untold > 0 {
            let words = progress.untold == 1 ? "notification was" : "notifications were"
            lines.append("\(progress.untold) \(words) dropped because there were too many.")
        }
        if progress.unseen > 0 {
            lines.append(
                "Only the newest \(WatchProgress.listLimit) deployments of each project were checked."
            )
        }
        lines.append("List the deployments with: zg-env deployment list")
        return NotificationMessage(
            subject: "lost", title: "zg-env: some deployments were not reported",
            body: lines.joined(separator: "\n"), isUrgent: true, coversCounts: true)
    }
}

internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Sealing

extension WatchRow {
    /// Converts a deployment from a list.
    init(_ deployment: WatchedDeployment) {
        self.init(id: deployment.id)
        state = deployment.state
        target = deployment.target
        branch = deployment.branch ?? ""
        site = deployment.url
        createdAt = deployment.createdAt
    }

    /// Returns the deployment in the form of `watch --json` and `notify run --json`.
    ///
    /// - Parameter isCurrent: Whether it is live; nil if unknown.
    func json(isCurrent: Bool?) -> JSONValue {
        [
            "id": .string(id),
            "url": .string(orNull: site.map { $0.contains("://") ? $0 : "https://\($0)" }),
            "state": .string(state), "target": .string(target),
            "branch": .string(orNull: branch.isEmpty ? nil : branch),
            "createdAt": .time(orNull: createdAt),
            "current": isCurrent.map { .bool($0) } ?? .null,
        ]
    }

    static let eventFields = """
        event: \(oneOf: EnvOperations.DeploymentChange.Kind.allCases.map(\.rawValue) + ["live"])
        project: string | null; projectId: string
        late: boolean (whether it happened while nothing was watching)
        deployment: { \(DeploymentListing.fields) }
        """

    /// Returns an event of the deployment in the same form.
    func event(
        _ event: String, project: String?, id: String, isLate: Bool = false, isCurrent: Bool?
    ) -> JSONValue {
        [
            "event": .string(event), "project": .string(orNull: project),
            "projectId": .string(id), "late": .bool(isLate),
            "deployment": json(isCurrent: isCurrent),
        ]
    }
}

extension OutputStream {
    /// Writes one object on a line, and flushes.
    func write(line: JSONValue) throws {
        try line.encoded.withBytes { try write($0) }
        try write("\n")
        try flush()
    }
}

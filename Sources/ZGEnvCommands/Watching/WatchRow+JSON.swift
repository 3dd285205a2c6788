internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Sealing

extension WatchRow {
    /// What is told of a deployment, in the form of what is shown.
    init(_ deployment: WatchedDeployment) {
        self.init(id: deployment.id)
        state = deployment.state
        target = deployment.target
        branch = deployment.branch ?? ""
        site = deployment.url
        createdAt = deployment.createdAt
    }

    /// A deployment as `watch --json` and `notify run --json` print it.
    ///
    /// - Parameter isCurrent: Whether it serves production; nil where that is not known.
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

    /// Something that happened to it, as both print it.
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
    /// Writes one object on a line, which can be read at once.
    func write(line: JSONValue) throws {
        try line.encoded.withBytes { try write($0) }
        try write("\n")
        try flush()
    }
}

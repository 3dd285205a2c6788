internal import JSON

/// The received requests, without values.
struct RequestLog: Sendable {
    struct Entry: Sendable {
        var at: Int64
        var method: String
        var target: String
        var body: JSONValue?
        var status: Int
        var fault: String?

        var json: JSONValue {
            [
                "at": .integer(at), "method": .string(method), "path": .string(target),
                "body": body ?? .null, "status": .integer(Int64(status)),
                "fault": .string(orNull: fault),
            ]
        }
    }

    /// Most requests that are kept.
    static let maximumEntries = 20_000

    private(set) var entries: [Entry] = []

    mutating func append(_ entry: Entry) {
        if entries.count >= Self.maximumEntries { entries.removeFirst(Self.maximumEntries / 2) }
        entries.append(entry)
    }

    /// The members whose texts may be shown; any other text is masked.
    private static let open: Set<String> = [
        "key", "type", "target", "gitBranch", "customEnvironmentIds", "ids", "name", "project",
        "deploymentId", "customEnvironmentSlugOrId", "ref", "sha", "events", "projectId",
        "projectIds", "slug", "action", "visibility", "link", "unlink", "repoId", "framework",
        "url",
    ]

    /// Returns the value with every text masked, except in members known to be harmless.
    static func masked(_ value: JSONValue, member: String? = nil) -> JSONValue {
        switch value {
        case .null, .bool, .integer, .number: value
        case .string: member.map(open.contains) ?? false ? value : "***"
        case .array(let elements): .array(elements.map { masked($0, member: member) })
        case .object(let members):
            .object(members.map { .init($0.name, masked($0.value, member: $0.name)) })
        }
    }
}

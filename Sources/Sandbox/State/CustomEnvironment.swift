internal import JSON

/// A custom environment of a project.
struct CustomEnvironment: Codable, Sendable {
    /// Which branches deploy here.
    struct BranchMatcher: Codable, Sendable {
        var type: String
        var pattern: String
    }

    var id: String
    var projectId: String
    var slug: String
    /// `preview` or `production`.
    var type: String
    var description: String?
    var branchMatcher: BranchMatcher?
    var createdAt: Int64
    var updatedAt: Int64

    var json: JSONValue {
        .members([
            "id": .string(id), "slug": .string(slug), "type": .string(type),
            "description": description.map(JSONValue.string),
            "branchMatcher": branchMatcher.map {
                ["type": .string($0.type), "pattern": .string($0.pattern)]
            },
            "createdAt": .integer(createdAt), "updatedAt": .integer(updatedAt),
        ])
    }
}

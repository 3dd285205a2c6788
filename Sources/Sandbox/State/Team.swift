internal import JSON

/// A team; the user may or may not belong to it.
struct Team: Codable, Sendable {
    /// What the team wants of encrypted variables.
    enum SensitivePolicy: String, Codable, Sendable { case `default`, on, off }

    var id: String
    var slug: String
    var name: String
    var createdAt: Int64
    var updatedAt: Int64
    /// The user's role; `nil` when the user is no member.
    var role: String?
    var sensitivePolicy: SensitivePolicy

    /// The team as the API shows it to its member.
    func json(user: User) -> JSONValue {
        .members([
            "id": .string(id), "slug": .string(slug), "name": .string(name), "avatar": .null,
            "creatorId": .string(user.id), "createdAt": .integer(createdAt),
            "updatedAt": .integer(updatedAt), "description": .null, "stagingPrefix": .string(slug),
            "sensitiveEnvironmentVariablePolicy": .string(sensitivePolicy.rawValue),
            "membership": [
                "uid": .string(user.id), "teamId": .string(id), "confirmed": true,
                "role": .string(role ?? "MEMBER"), "createdAt": .integer(createdAt),
                "created": .integer(createdAt),
            ],
        ])
    }
}

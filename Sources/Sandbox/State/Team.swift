internal import JSON

/// A team; the user need not be a member.
struct Team: Codable, Sendable {
    /// The team's policy for sensitive variables.
    enum SensitivePolicy: String, Codable, Sendable { case `default`, on, off }

    /// Whether production Secrets must be records of their own, with values of their own.
    enum DisjunctivePolicy: String, Codable, Sendable { case `default`, off, on }

    var id: String
    var slug: String
    var name: String
    var createdAt: Int64
    var updatedAt: Int64
    /// The user's role; `nil` if the user is not a member.
    var role: String?
    var sensitivePolicy: SensitivePolicy
    var disjunctivePolicy = DisjunctivePolicy.default
    /// Why the token sees little of the team: `scope` for its single sign-on, `mfa`; nil if it
    /// sees all.
    var limitedBy: [String]?

    /// Returns the form for a member.
    func json(user: User) -> JSONValue {
        .members([
            "id": .string(id), "slug": .string(slug), "name": .string(name), "avatar": .null,
            "creatorId": .string(user.id), "createdAt": .integer(createdAt),
            "updatedAt": .integer(updatedAt), "description": .null, "stagingPrefix": .string(slug),
            "sensitiveEnvironmentVariablePolicy": .string(sensitivePolicy.rawValue),
            "disjunctiveProductionSecretPolicy": .string(disjunctivePolicy.rawValue),
            "membership": [
                "uid": .string(user.id), "teamId": .string(id), "confirmed": true,
                "role": .string(role ?? "MEMBER"), "createdAt": .integer(createdAt),
                "created": .integer(createdAt),
            ],
        ])
    }
}

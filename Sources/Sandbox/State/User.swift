internal import JSON

/// The account that owns the sandbox's token.
struct User: Codable, Sendable {
    var id: String
    var email: String
    var name: String?
    var username: String
    var defaultTeamId: String?
    var createdAt: Int64
    /// A limited user has only a few members in JSON.
    var isLimited: Bool

    var json: JSONValue {
        var members: [String: JSONValue] = [
            "id": .string(id), "email": .string(email), "name": .string(orNull: name),
            "username": .string(username), "avatar": nil,
            "defaultTeamId": .string(orNull: defaultTeamId),
        ]
        if isLimited {
            members["limited"] = true
            return .members(members)
        }
        members["createdAt"] = .integer(createdAt)
        members["softBlock"] = .null
        members["billing"] = .null
        members["resourceConfig"] = [:]
        members["stagingPrefix"] = .string(username)
        members["hasTrialAvailable"] = false
        return .members(members)
    }
}

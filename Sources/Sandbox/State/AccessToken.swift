internal import JSON

/// An access token of the user.
struct AccessToken: Codable, Sendable {
    var id: String
    var name: String
    /// The text that clients send.
    var secret: String
    /// `token`, or `oauth2-token` for a session, which cannot create further tokens.
    var type: String
    /// The only team it is valid for.
    var teamId: String?
    /// The only project it is valid for.
    var projectId: String?
    /// Whether lists leave out production variables and only count them, and they cannot be found by
    /// id.
    var hidesProduction = false
    var createdAt: Int64
    var activeAt: Int64
    var expiresAt: Int64?
    var leakedAt: Int64?

    func isValid(forProject id: String) -> Bool { projectId == nil || projectId == id }

    /// The token's description, without its secret.
    var json: JSONValue {
        var scope: [String: JSONValue] = [
            "type": teamId == nil ? "user" : "team", "origin": "manual",
            "createdAt": .integer(createdAt),
        ]
        scope["teamId"] = teamId.map(JSONValue.string)
        scope["expiresAt"] = expiresAt.map(JSONValue.integer)
        return .members([
            "id": .string(id), "name": .string(name), "type": .string(type), "origin": "manual",
            "scopes": .array([.members(scope)]), "createdAt": .integer(createdAt),
            "activeAt": .integer(activeAt), "expiresAt": expiresAt.map(JSONValue.integer),
            "leakedAt": leakedAt.map(JSONValue.integer),
            "prefix": .string(String(secret.prefix(4))),
            "suffix": .string(String(secret.suffix(4))),
        ])
    }
}

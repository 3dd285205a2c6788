/// A team of the token's owner.
package struct Team: Decodable, Sendable, Equatable {
    /// The id, `team_…`.
    package let id: String
    /// The name in URLs.
    package let slug: String
    /// The display name.
    package let name: String?
    /// The user's role in the team.
    package let role: String?
    /// Whether the user has restricted access to it.
    package let isLimited: Bool
    /// Whether new production and preview variables must be sensitive: `default`, `on`, `off`.
    package let sensitivePolicy: String?

    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.requiredText("id")
        slug = object.text("slug") ?? id
        name = object.text("name")
        let membership = try? object.nestedContainer(keyedBy: JSONKey.self, forKey: "membership")
        role = membership?.text("role")
        // `limited` is a flag in some responses and an object in others.
        isLimited = object.bool("limited") ?? false
        sensitivePolicy = object.text("sensitiveEnvironmentVariablePolicy")
    }
}

extension Team: ListElement {
    static var listNames: [JSONKey] { ["teams"] }
}

extension VercelClient {
    /// Lists all teams of the token's owner.
    package func teams() throws(VercelAPIError) -> [Team] {
        var call = try APICall(.get, "/v2/teams", query: [("limit", "100")])
        call.isScoped = false
        return try list(call, cursor: "until")
    }

    /// Reads one team by its id or URL slug.
    package func team(_ idOrSlug: String) throws(VercelAPIError) -> Team {
        var call = try APICall(.get, "/v2/teams/\(idOrSlug)")
        call.isScoped = false
        return try read(try perform(call), as: Team.self)
    }
}

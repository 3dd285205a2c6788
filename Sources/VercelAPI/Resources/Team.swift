internal import HTTPClient

/// A team of the token's owner.
package struct Team: Decodable, Sendable, Equatable {
    /// The id, `team_…`.
    package let id: String
    /// The name in URLs.
    package let slug: String
    package let name: String?
    /// Whether new production and preview variables must be sensitive: `default`, `on`, `off`.
    package let sensitivePolicy: String?
    /// Whether a Secret for production must be a variable of its own, with a value of its own.
    package let separatesProductionSecrets: Bool

    /// Why this token sees little of the team, in Vercel's words: `scope` if the team's single
    /// sign-on shuts the token out, `mfa` if its two-factor rule does. Nil for an ordinary team.
    package let limitedBy: [String]?

    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.requiredText("id")
        slug = object.text("slug") ?? id
        name = object.text("name")
        limitedBy = object.bool("limited") == true ? object.texts("limitedBy") ?? [] : nil
        sensitivePolicy = object.text("sensitiveEnvironmentVariablePolicy")
        separatesProductionSecrets = object.text("disjunctiveProductionSecretPolicy") == "on"
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

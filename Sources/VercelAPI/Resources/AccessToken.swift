/// Vercel's record of a token, without the token itself.
package struct AccessToken: Decodable, Sendable, Equatable {
    package let id: String
    /// The name its owner gave it.
    package let name: String?
    package let type: String?
    package let createdAt: APITime?
    /// When it was last used.
    package let activeAt: APITime?
    package let expiresAt: APITime?
    /// When it was found in public.
    package let leakedAt: APITime?
    /// Where it was found in public. Untrusted text.
    package let leakedURL: String?
    package let revokedAt: APITime?
    /// The teams it is limited to; empty if it acts for the user.
    package let teamIds: [String]

    private struct Scope: Decodable {
        let teamId: String?

        init(from decoder: any Decoder) throws { teamId = try decoder.object().text("teamId") }
    }

    /// Decodes a record or `{"token":…}`.
    package init(from decoder: any Decoder) throws {
        let outer = try decoder.object()
        let object =
            (try? outer.nestedContainer(keyedBy: JSONKey.self, forKey: "token")) ?? outer
        id = try object.requiredText("id")
        name = object.text("name")
        type = object.text("type")
        createdAt = object.time("createdAt")
        activeAt = object.time("activeAt")
        expiresAt = object.time("expiresAt")
        leakedAt = object.time("leakedAt")
        leakedURL = object.text("leakedUrl")
        revokedAt = object.time("revokedAt")
        teamIds = (object.list("scopes", of: Scope.self) ?? []).compactMap(\.teamId)
    }
}

extension AccessToken: ListElement {
    static var listNames: [JSONKey] { ["tokens"] }
}

extension VercelClient {
    /// Reads the record of the token in use.
    package func currentToken() throws(VercelAPIError) -> AccessToken {
        var call = try APICall(.get, "/v5/user/tokens/current")
        call.isScoped = false
        return try read(try perform(call), as: AccessToken.self)
    }

    /// Lists the user's tokens.
    package func tokens() throws(VercelAPIError) -> [AccessToken] {
        var call = try APICall(.get, "/v5/user/tokens")
        call.isScoped = false
        return try list(call, cursor: "next")
    }

    /// Revokes a token by its id; `current` is the token in use.
    package func deleteToken(_ id: String) throws(VercelAPIError) -> DeletionOutcome {
        var call = try APICall(.delete, "/v3/user/tokens/\(id)")
        call.isScoped = false
        call.expectation = .nothingOrJSON
        return try delete(call)
    }
}

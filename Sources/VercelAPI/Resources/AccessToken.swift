/// What the platform says about a token; not the token itself.
package struct AccessToken: Decodable, Sendable, Equatable {
    /// The id of the record.
    package let id: String
    /// The name its owner gave it.
    package let name: String?
    /// The kind of token.
    package let type: String?
    /// When it was made.
    package let createdAt: APITime?
    /// When it was used last.
    package let activeAt: APITime?
    /// When it ends.
    package let expiresAt: APITime?
    /// When it was found in public.
    package let leakedAt: APITime?
    /// Where it was found. Untrusted text.
    package let leakedURL: String?
    /// When it was revoked.
    package let revokedAt: APITime?
    /// The teams it is for; empty if it is for the user.
    package let teamIds: [String]

    private struct Scope: Decodable {
        let teamId: String?

        init(from decoder: any Decoder) throws { teamId = try decoder.object().text("teamId") }
    }

    /// Reads a record or `{"token":…}`.
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
    /// Reads what the platform says about the token that is used.
    package func currentToken() throws(VercelAPIError) -> AccessToken {
        var call = try APICall(.get, "/v5/user/tokens/current")
        call.isScoped = false
        return try read(try perform(call), as: AccessToken.self)
    }

    /// Lists the tokens of the user.
    package func tokens() throws(VercelAPIError) -> [AccessToken] {
        var call = try APICall(.get, "/v5/user/tokens")
        call.isScoped = false
        return try list(call, cursor: "next")
    }

    /// Revokes a token by its id; `current` is the one that is used.
    package func deleteToken(_ id: String) throws(VercelAPIError) -> DeletionOutcome {
        var call = try APICall(.delete, "/v3/user/tokens/\(id)")
        call.isScoped = false
        call.expectation = .nothingOrJSON
        return try delete(call)
    }
}

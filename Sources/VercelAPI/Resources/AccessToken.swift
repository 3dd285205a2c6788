internal import HTTPClient

/// Vercel's record of a token, without the token itself.
package struct AccessToken: Decodable, Sendable, Equatable {
    package let id: String
    package let expiresAt: APITime?
    /// When it was found in public.
    package let leakedAt: APITime?

    /// Decodes a record or `{"token":…}`.
    package init(from decoder: any Decoder) throws {
        let outer = try decoder.object()
        let object = outer.object("token") ?? outer
        id = try object.requiredText("id")
        expiresAt = object.time("expiresAt")
        leakedAt = object.time("leakedAt")
    }
}

extension VercelClient {
    /// Reads the record of the token in use.
    package func currentToken() throws(VercelAPIError) -> AccessToken {
        var call = try APICall(.get, "/v5/user/tokens/current")
        call.isScoped = false
        return try read(try perform(call), as: AccessToken.self)
    }
}

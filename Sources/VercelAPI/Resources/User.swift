internal import HTTPClient

/// The owner of a token.
package struct User: Decodable, Sendable, Equatable {
    package let id: String
    /// The name in URLs; missing for a limited user.
    package let username: String?
    /// Whether the account has restricted access.
    package let isLimited: Bool

    /// Decodes a user or `{"user":…}`.
    package init(from decoder: any Decoder) throws {
        let outer = try decoder.object()
        let object = outer.object("user") ?? outer
        id = try object.text("id") ?? object.requiredText("uid")
        username = object.text("username")
        isLimited = object.bool("limited") ?? false
    }
}

extension VercelClient {
    /// Reads the token's owner, which also checks the token.
    ///
    /// - Throws: ``VercelAPIError/Code/tokenInvalid`` for any refusal, because every valid token
    ///   can read its owner, except one whose scope is one project. The status of that refusal is
    ///   not documented.
    package func user() throws(VercelAPIError) -> User {
        var call = try APICall(.get, "/v2/user")
        call.isScoped = false
        do throws(VercelAPIError) {
            return try read(try perform(call), as: User.self)
        } catch {
            guard [.forbidden, .notFound].contains(error.code) else { throw error }
            throw error.recoded(
                .tokenInvalid,
                reason: "the token cannot read its user: its scope is one project, or it is "
                    + "invalid, revoked or expired",
                hint: "name the token's project with -p, or log in again with 'zg-env login'")
        }
    }
}

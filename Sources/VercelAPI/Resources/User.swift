/// The owner of a token.
package struct User: Decodable, Sendable, Equatable {
    /// The user's id.
    package let id: String
    /// The name in URLs; missing for a limited user.
    package let username: String?
    /// The full name.
    package let name: String?
    /// The mail address.
    package let email: String?
    /// The team that is used where none is named.
    package let defaultTeamId: String?
    /// Whether the account has restricted access.
    package let isLimited: Bool

    /// Reads the user itself or `{"user":…}`.
    package init(from decoder: any Decoder) throws {
        let outer = try decoder.object()
        let object =
            (try? outer.nestedContainer(keyedBy: JSONKey.self, forKey: "user")) ?? outer
        id = try object.text("id") ?? object.requiredText("uid")
        username = object.text("username")
        name = object.text("name")
        email = object.text("email")
        defaultTeamId = object.text("defaultTeamId")
        isLimited = object.bool("limited") ?? false
    }
}

extension VercelClient {
    /// Reads the owner of the token: the check of a token.
    ///
    /// - Throws: ``VercelAPIError/Code/tokenInvalid`` for any plain refusal: nobody may be kept
    ///   from reading their own account.
    package func user() throws(VercelAPIError) -> User {
        var call = try APICall(.get, "/v2/user")
        call.isScoped = false
        do throws(VercelAPIError) {
            return try read(try perform(call), as: User.self)
        } catch {
            guard error.code == .forbidden else { throw error }
            throw error.recoded(
                .tokenInvalid, reason: "the token is wrong, revoked or expired",
                hint: "log in again with 'zg-env login'")
        }
    }
}

internal import JSON

/// Finds the token and the owner of a request.
enum Authorization {
    /// Returns the bearer token, or `nil`.
    static func secret(of request: HTTPRequest) -> String? {
        guard let header = request.headers["authorization"] else { return nil }
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }

    /// Returns a valid token, or throws 403.
    static func token(_ secret: String?, now: Int64, _ state: inout SandboxState)
        throws(APIError) -> AccessToken
    {
        guard let secret, !secret.isEmpty else {
            throw .forbidden("Missing authentication token", ["missingToken": true])
        }
        guard let index = state.tokens.firstIndex(where: { $0.secret == secret }),
            state.tokens[index].expiresAt.map({ $0 > now }) ?? true
        else { throw .forbidden("Not authorized", ["invalidToken": true]) }
        state.tokens[index].activeAt = now
        return state.tokens[index]
    }

    /// Returns the id of the team in `teamId` or `slug`, or the user's.
    static func ownerId(_ request: HTTPRequest, token: AccessToken, _ state: SandboxState)
        throws(APIError) -> String
    {
        let id = request.parameter("teamId").flatMap { $0.isEmpty ? nil : $0 }
        let slug = request.parameter("slug").flatMap { $0.isEmpty ? nil : $0 }
        guard id != nil || slug != nil else {
            // A team's token does not need to name the team, its only scope.
            return token.teamId ?? state.user.id
        }
        let team = state.teams.first { id == nil ? $0.slug == slug : $0.id == id }
        guard let team, team.role != nil, token.teamId == nil || token.teamId == team.id else {
            throw .teamUnauthorized
        }
        return team.id
    }
}

extension AccessToken {
    /// The placeholder for routes without authentication.
    static var anonymous: AccessToken {
        AccessToken(
            id: "", name: "", secret: "", type: "", teamId: nil, projectId: nil, createdAt: 0,
            activeAt: 0, expiresAt: nil, leakedAt: nil)
    }
}

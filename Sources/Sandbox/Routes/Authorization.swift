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
            // A token of a team or a project does not need to name the team, its only scope.
            return token.projectId.flatMap { state.project(id: $0)?.ownerId } ?? token.teamId
                ?? state.user.id
        }
        let team = state.teams.first { id == nil ? $0.slug == slug : $0.id == id }
        guard let team, team.role != nil, team.limitedBy == nil,
            token.teamId == nil || token.teamId == team.id
        else { throw .teamUnauthorized }
        if let project = token.projectId, state.project(id: project)?.ownerId != team.id {
            throw .teamUnauthorized
        }
        return team.id
    }

    /// Refuses what a token for one project may not do: requests about the user, teams and what
    /// belongs to them, and other projects.
    ///
    /// Vercel's documentation names what is denied, but not the status.
    static func checkScope(
        of token: AccessToken, method: String, segments: [String], ownerId: String,
        _ state: SandboxState
    ) throws(APIError) {
        guard let own = token.projectId else { return }
        let parts = VersionedPath.resource(segments)
        var project: String?
        switch parts.first {
        case "deployments": return
        case "projects":
            if parts.count == 1, method == "GET" { return }
            project = parts.count > 1 ? parts[1] : nil
        case "env" where parts.count > 2 && parts[1] == "pull":
            // A deployment's id is looked up among those of the project.
            if parts.count == 3 { return }
            project = parts[2]
        default: break
        }
        guard let project, let index = state.projectIndex(project, ownerId: ownerId),
            state.projects[index].id == own
        else { throw .forbidden("Not authorized") }
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

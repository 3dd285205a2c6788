internal import JSON

/// Teams of the user.
enum TeamRoutes {
    static let routes: [Route] = [
        Route("GET", "teams", handler: list),
        Route("GET", "teams/:", handler: get),
        Route("PATCH", "teams/:", handler: update),
        Route("GET", "teams/:/members", handler: members),
    ]

    private static func list(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let user = state.user
        let teams = state.teams.filter { team in
            team.role != nil && (call.token.teamId == nil || call.token.teamId == team.id)
        }
        let page = Page(
            teams, time: \.createdAt, since: try call.number("since"),
            until: try call.number("until", "next"), limit: try call.limit())
        return .json([
            "teams": .array(page.elements.map { $0.visibleJSON(user: user) }),
            "pagination": page.json,
        ])
    }

    private static func get(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        .json(state.teams[try index(call, state)].visibleJSON(user: state.user))
    }

    private static func update(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let index = try index(call, state)
        let fields = try call.fields()
        try fields.allow(only: [
            "name", "sensitiveEnvironmentVariablePolicy", "disjunctiveProductionSecretPolicy",
        ])
        let policy = try fields.policy("sensitiveEnvironmentVariablePolicy")
        let name = try fields.string("name")
        state.teams[index].name = name ?? state.teams[index].name
        state.teams[index].sensitivePolicy = policy ?? state.teams[index].sensitivePolicy
        state.teams[index].disjunctivePolicy =
            try fields.disjunctivePolicy() ?? state.teams[index].disjunctivePolicy
        state.teams[index].updatedAt = call.now
        return .json(state.teams[index].json(user: state.user))
    }

    /// Returns the team of the first parameter, or throws.
    private static func index(_ call: Call, _ state: SandboxState) throws(APIError) -> Int {
        let name = call.parameters[0]
        guard let index = state.teams.firstIndex(where: { $0.id == name || $0.slug == name }) else {
            throw .notFound("Team")
        }
        let team = state.teams[index]
        guard team.role != nil, call.token.teamId == nil || call.token.teamId == team.id else {
            throw .teamUnauthorized
        }
        return index
    }

    private static func members(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let team = state.teams[try index(call, state)]
        let page = Page(
            [state.user] + state.colleagues, time: \.createdAt, since: try call.number("since"),
            until: try call.number("until"), limit: try call.limit())
        let members = page.elements.map { user -> JSONValue in
            [
                "uid": .string(user.id), "username": .string(user.username),
                "name": .string(orNull: user.name), "email": .string(user.email), "confirmed": true,
                "role": .string(user.id == state.user.id ? team.role ?? "MEMBER" : "MEMBER"),
                "createdAt": .integer(max(user.createdAt, team.createdAt)),
            ]
        }
        var pagination = page.json.object ?? [:]
        pagination["hasNext"] = .bool(page.next != nil)
        return .json(["members": .array(members), "pagination": .members(pagination)])
    }
}

extension APIError {
    /// The token is not valid for that team.
    static var teamUnauthorized: APIError {
        APIError(
            status: 403, code: "team_unauthorized",
            message: "You are not authorized to access this team.")
    }
}

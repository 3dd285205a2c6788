internal import JSON

/// Access tokens of the user.
enum TokenRoutes {
    static let routes: [Route] = [
        Route("GET", "user/tokens", handler: list),
        Route("POST", "user/tokens", handler: create),
        Route("GET", "user/tokens/:", handler: get),
        Route("DELETE", "user/tokens/:", handler: delete),
    ]

    private static func list(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let page = Page(
            state.tokens, time: \.createdAt, since: nil,
            until: try call.number("until", "next"), limit: try call.limit())
        return .json([
            "tokens": .array(page.elements.map(\.json)), "pagination": page.json,
        ])
    }

    private static func index(_ call: Call, _ state: SandboxState) throws(APIError) -> Int {
        let id = call.parameters[0] == "current" ? call.token.id : call.parameters[0]
        guard let index = state.tokens.firstIndex(where: { $0.id == id }) else {
            throw .notFound("Token")
        }
        return index
    }

    private static func get(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        .json(["token": state.tokens[try index(call, state)].json])
    }

    private static func create(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        guard call.token.type == "token" else {
            throw .forbidden("Only user authentication tokens can create tokens.")
        }
        let fields = try call.fields()
        try fields.allow(only: ["name", "expiresAt", "projectId"])
        let name = try fields.requiredString("name")
        guard (1...128).contains(name.unicodeScalars.count) else {
            throw .badRequest("Invalid request: `name` should have 1 to 128 characters.")
        }
        let expiresAt = try fields.integer("expiresAt")
        if let expiresAt, expiresAt <= call.clock {
            throw .badRequest("Invalid request: `expiresAt` should be in the future.")
        }
        let projectId = try fields.string("projectId")
        if let projectId, state.project(id: projectId)?.ownerId != call.ownerId {
            throw .notFound("Project")
        }
        let token = AccessToken(
            id: state.generator.hexadecimal(64), name: name,
            secret: state.generator.identifier("", count: 24), type: "token",
            teamId: state.team(id: call.ownerId)?.id, projectId: projectId, createdAt: call.now,
            activeAt: call.now, expiresAt: expiresAt, leakedAt: nil)
        state.tokens.append(token)
        return .json(["token": token.json, "bearerToken": .string(token.secret)])
    }

    private static func delete(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let token = state.tokens.remove(at: try index(call, state))
        return .json(["tokenId": .string(token.id)])
    }
}

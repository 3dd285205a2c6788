internal import JSON

/// Variables of a team: reading and deleting.
enum SharedVariableRoutes {
    static let routes: [Route] = [
        Route("GET", "env", handler: list),
        Route("GET", "env/all", handler: list),
        Route("POST", "env", handler: SharedVariableWriting.create),
        Route("PATCH", "env", handler: SharedVariableWriting.update),
        Route("DELETE", "env", handler: delete),
        Route("GET", "env/:", handler: get),
        Route("PATCH", "env/:/unlink/:", handler: unlink),
    ]

    private static func list(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let request = call.request
        var found = state.sharedVariables.filter { $0.ownerId == call.ownerId }
        if let search = request.parameter("search") {
            found = found.filter { $0.key.contains(search) }
        }
        if let project = request.parameter("projectId") {
            found = found.filter { $0.projectIds.contains(project) }
        }
        let ids = request.parameters("ids")
        if !ids.isEmpty { found = found.filter { ids.contains($0.id) } }
        let excluded = request.parameters("exclude_ids") + request.parameters("exclude-ids")
        found = found.filter { !excluded.contains($0.id) }
        let without =
            request.parameter("exclude_projectId") ?? request.parameter("exclude-projectId")
        if let without { found = found.filter { !$0.projectIds.contains(without) } }
        let page = Page(
            found, time: \.createdAt, since: try call.number("since"),
            until: try call.number("until"), limit: min(50, try call.limit(default: 50)))
        return .json([
            "data": .array(page.elements.map { $0.json(decrypted: false) }),
            "pagination": page.json,
        ])
    }

    /// Returns the index of a team's variable, or throws 404.
    static func index(_ id: String, _ call: Call, _ state: SandboxState) throws(APIError) -> Int {
        let index = state.sharedVariables.firstIndex {
            $0.ownerId == call.ownerId && $0.id == id
        }
        guard let index else { throw .notFound("Shared environment variable") }
        return index
    }

    private static func get(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        .json(
            state.sharedVariables[try index(call.parameters[0], call, state)]
                .json(decrypted: true))
    }

    private static func unlink(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let index = try index(call.parameters[0], call, state)
        guard state.sharedVariables[index].projectIds.contains(call.parameters[1]) else {
            throw .notFound("Project")
        }
        state.sharedVariables[index].projectIds.removeAll { $0 == call.parameters[1] }
        state.sharedVariables[index].updatedAt = call.now
        return .json(["id": .string(state.sharedVariables[index].id)])
    }

    private static func delete(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let fields = try call.fields()
        try fields.allow(only: ["ids"])
        guard let ids = try fields.strings("ids"), (1...50).contains(ids.count) else {
            throw .badRequest("Invalid request: `ids` should have 1 to 50 items.")
        }
        var deleted: [String] = []
        var failed: [JSONValue] = []
        for id in ids {
            do throws(APIError) {
                state.sharedVariables.remove(at: try index(id, call, state))
                deleted.append(id)
            } catch {
                var failure = error
                failure.code = "ID_NOT_FOUND"
                failure.details["envVarId"] = .string(id)
                failed.append(["error": failure.json])
            }
        }
        return .json(["deleted": .strings(deleted), "failed": .array(failed)])
    }
}

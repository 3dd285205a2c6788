internal import JSON

/// Environment variables of a project: reading and deleting.
enum EnvironmentRoutes {
    static let routes: [Route] = [
        Route("GET", "projects/:/env", handler: list),
        Route("POST", "projects/:/env", handler: EnvironmentWriting.create),
        Route("DELETE", "projects/:/env", handler: deleteMany),
        Route("GET", "projects/:/env/:", handler: get),
        Route("PATCH", "projects/:/env/:", handler: EnvironmentWriting.update),
        Route("DELETE", "projects/:/env/:", handler: delete),
    ]

    private static func list(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let project = state.projects[try ProjectRoutes.projectIndex(call, state)]
        var records = state.variables.filter { $0.projectId == project.id }
        if let word = call.request.parameter("target"), !word.isEmpty {
            let ids = state.customEnvironments.filter {
                $0.projectId == project.id && ($0.id == word || $0.slug == word)
            }.map(\.id)
            let target = Target(rawValue: word)
            guard target != nil || !ids.isEmpty else {
                throw .badRequest("Invalid request: `target` is not an environment of the project.")
            }
            records = records.filter { record in
                target.map(record.targets.contains) ?? false
                    || record.customEnvironmentIds.contains(where: ids.contains)
            }
        }
        if let branch = call.request.parameter("gitBranch"), !branch.isEmpty {
            records = records.filter { record in
                record.gitBranch == branch
                    || record.gitBranch == nil && record.targets.contains(.preview)
            }
        }
        let custom =
            call.request.parameter("customEnvironmentId")
            ?? call.request.parameter("customEnvironmentSlug")
        if let custom, !custom.isEmpty {
            guard let environment = state.customEnvironment(custom, of: project) else {
                throw .notFound("Custom environment")
            }
            records = records.filter { $0.customEnvironmentIds.contains(environment.id) }
        }
        let isClear = call.effect == .decryptsLists && call.request.flag("decrypt")
        let shown = records.filter { !call.token.hidesProduction || !$0.isInProduction }
        var members: [String: JSONValue] = [
            "envs": .array(shown.map { isClear ? $0.decryptedJSON : $0.json })
        ]
        if call.token.hidesProduction {
            members["hiddenProductionEnvCount"] = .integer(Int64(records.count - shown.count))
        }
        return .json(.members(members))
    }

    /// Returns the record of the second parameter, or throws 404.
    static func variableIndex(_ call: Call, _ state: SandboxState) throws(APIError) -> Int {
        let project = state.projects[try ProjectRoutes.projectIndex(call, state)]
        let index = state.variables.firstIndex {
            $0.projectId == project.id && $0.id == call.parameters[1]
        }
        guard let index, !(call.token.hidesProduction && state.variables[index].isInProduction)
        else { throw .notFound("Environment variable") }
        return index
    }

    private static func get(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let record = state.variables[try variableIndex(call, state)]
        guard call.effect == .hidesValues else { return .json(record.decryptedJSON) }
        var members = record.decryptedJSON.object ?? [:]
        members["value"] = nil
        return .json(.members(members))
    }

    private static func delete(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let index = try variableIndex(call, state)
        let record = state.variables[index]
        if let rejection = call.rejection { throw rejection }
        if let custom = call.request.parameter("customEnvironmentId") {
            guard record.customEnvironmentIds.contains(custom) else {
                throw .notFound("Environment variable")
            }
            if !record.targets.isEmpty || record.customEnvironmentIds.count > 1 {
                state.variables[index].customEnvironmentIds.removeAll { $0 == custom }
                state.variables[index].updatedAt = call.now
                state.variables[index].updatedBy = state.user.id
                state.tell("updated", [state.variables[index]], by: state.user.id, at: call.now)
                return .json(state.variables[index].json)
            }
        }
        state.variables.remove(at: index)
        state.tell("deleted", [record], by: state.user.id, at: call.now)
        return .json(record.json)
    }

    private static func deleteMany(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let project = state.projects[try ProjectRoutes.projectIndex(call, state)]
        let fields = try call.fields()
        try fields.allow(only: ["ids"])
        guard let ids = try fields.strings("ids") else {
            throw APIError(status: 400, code: "MISSING_ID", message: "`ids` is missing.")
        }
        guard !ids.isEmpty else {
            throw .badRequest("Invalid request: `ids` should NOT have fewer than 1 items.")
        }
        guard ids.count <= 1000 else {
            throw APIError(status: 400, code: "TOO_MANY_IDS", message: "At most 1000 IDs.")
        }
        let wanted = Set(ids)
        var removed = state.variables.filter {
            $0.projectId == project.id && wanted.contains($0.id)
                && !(call.token.hidesProduction && $0.isInProduction)
        }
        if let rejection = call.rejection {
            removed = removed.dropLast()
            guard !removed.isEmpty else { throw rejection }
        }
        guard !removed.isEmpty else { throw .notFound("Environment variables") }
        let gone = Set(removed.map(\.id))
        state.variables.removeAll { gone.contains($0.id) }
        state.tell("deleted", removed, by: state.user.id, at: call.now)
        return .json([
            "deleted": .integer(Int64(removed.count)), "ids": .strings(removed.map(\.id)),
        ])
    }
}

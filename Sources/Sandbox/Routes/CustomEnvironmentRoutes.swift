internal import JSON

/// Custom environments of a project.
enum CustomEnvironmentRoutes {
    static let routes: [Route] = [
        Route("GET", "projects/:/custom-environments", handler: list),
        Route("POST", "projects/:/custom-environments", handler: create),
        Route("GET", "projects/:/custom-environments/:", handler: get),
        Route("PATCH", "projects/:/custom-environments/:", handler: update),
        Route("DELETE", "projects/:/custom-environments/:", handler: delete),
    ]

    private static let maximumCount = 12

    private static func list(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let project = state.projects[try ProjectRoutes.projectIndex(call, state)]
        var found = state.customEnvironments.filter { $0.projectId == project.id }
        if let branch = call.request.parameter("gitBranch") {
            found = found.filter { $0.branchMatcher?.matches(branch) ?? false }
        }
        return .json([
            "accountLimit": ["total": .integer(Int64(maximumCount))],
            "environments": .array(found.map(\.json)),
        ])
    }

    private static func index(_ call: Call, _ state: SandboxState) throws(APIError) -> Int {
        let project = state.projects[try ProjectRoutes.projectIndex(call, state)]
        let name = call.parameters[1]
        let index = state.customEnvironments.firstIndex {
            $0.projectId == project.id && ($0.id == name || $0.slug == name)
        }
        guard let index else { throw .notFound("Custom environment") }
        return index
    }

    private static func get(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        .json(state.customEnvironments[try index(call, state)].json)
    }

    private static func slug(_ fields: Fields, project: Project, _ state: SandboxState)
        throws(APIError) -> String
    {
        let slug = try fields.requiredString("slug")
        let isValid =
            (1...32).contains(slug.utf8.count) && Target(rawValue: slug) == nil
            && slug.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
                    || byte == UInt8(ascii: "-")
            }
        guard isValid else {
            throw .badRequest(
                "Invalid request: `slug` may only contain lowercase letters, digits and `-`.")
        }
        let isTaken = state.customEnvironments.contains {
            $0.projectId == project.id && $0.slug == slug
        }
        guard !isTaken else { throw .conflict("An environment with that name already exists.") }
        return slug
    }

    private static func matcher(_ fields: Fields) throws(APIError)
        -> CustomEnvironment.BranchMatcher?
    {
        guard let matcher = try fields.object("branchMatcher") else { return nil }
        let type = try matcher.requiredString("type")
        guard ["startsWith", "equals", "endsWith"].contains(type) else {
            throw .badRequest("Invalid request: `branchMatcher.type` is unknown.")
        }
        return CustomEnvironment.BranchMatcher(
            type: type, pattern: try matcher.requiredString("pattern"))
    }

    private static func create(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let project = state.projects[try ProjectRoutes.projectIndex(call, state)]
        let fields = try call.fields()
        try fields.allow(only: ["slug", "description", "branchMatcher", "copyEnvVarsFrom"])
        let count = state.customEnvironments.filter { $0.projectId == project.id }.count
        guard count < maximumCount else {
            throw .badRequest("The plan allows \(maximumCount) custom environments.")
        }
        let environment = CustomEnvironment(
            id: state.generator.identifier("env_", count: 28), projectId: project.id,
            slug: try slug(fields, project: project, state), type: "preview",
            description: try fields.string("description"), branchMatcher: try matcher(fields),
            createdAt: call.now, updatedAt: call.now)
        state.customEnvironments.append(environment)
        return .json(environment.json, status: 201)
    }

    private static func update(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let index = try index(call, state)
        var environment = state.customEnvironments[index]
        guard let project = state.project(id: environment.projectId) else {
            throw .notFound("Project")
        }
        let fields = try call.fields()
        try fields.allow(only: ["slug", "description", "branchMatcher"])
        if let name = try fields.string("slug"), name != environment.slug {
            environment.slug = try slug(fields, project: project, state)
        }
        if fields.has("description") { environment.description = try fields.string("description") }
        if fields.has("branchMatcher") { environment.branchMatcher = try matcher(fields) }
        environment.updatedAt = call.now
        state.customEnvironments[index] = environment
        return .json(environment.json)
    }

    /// Also deletes variables of only this environment.
    private static func delete(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let environment = state.customEnvironments.remove(at: try index(call, state))
        for index in state.variables.indices
        where state.variables[index].customEnvironmentIds.contains(environment.id) {
            state.variables[index].customEnvironmentIds.removeAll { $0 == environment.id }
            state.variables[index].updatedAt = call.now
        }
        state.variables.removeAll {
            $0.projectId == environment.projectId && $0.targets.isEmpty
                && $0.customEnvironmentIds.isEmpty
        }
        return .json(environment.json)
    }
}

extension CustomEnvironment.BranchMatcher {
    /// Returns whether deployments of that branch go to the environment.
    func matches(_ branch: String) -> Bool {
        switch type {
        case "startsWith": branch.hasPrefix(pattern)
        case "endsWith": branch.hasSuffix(pattern)
        default: branch == pattern
        }
    }
}

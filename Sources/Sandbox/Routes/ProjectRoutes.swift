internal import JSON

/// Projects of the user or of a team.
enum ProjectRoutes {
    static let routes: [Route] = [
        Route("GET", "projects", handler: list),
        Route("POST", "projects", handler: create),
        Route("GET", "projects/:", handler: get),
        Route("PATCH", "projects/:", handler: update),
        Route("DELETE", "projects/:", handler: delete),
        Route("GET", "projects/:/production-deployment", handler: productionDeployment),
    ]

    /// Returns the project of the first parameter, or throws 404.
    static func projectIndex(_ call: Call, _ state: SandboxState) throws(APIError) -> Int {
        guard let index = state.projectIndex(call.parameters[0], ownerId: call.ownerId),
            call.token.isValid(forProject: state.projects[index].id)
        else { throw .notFound("Project") }
        return index
    }

    private static func list(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let search = call.request.parameter("search")
        let projects = state.projects.filter { project in
            project.ownerId == call.ownerId && call.token.isValid(forProject: project.id)
                && (search.map { project.name.contains($0) } ?? true)
        }
        let cursor = call.request.parameter("from") ?? call.request.parameter("until")
        let until = cursor.flatMap(Cursor.time)
        guard until != nil || cursor == nil else {
            throw .badRequest("Invalid request: `from` is not a cursor.")
        }
        let page = Page(
            projects, time: \.createdAt, since: nil, until: until, limit: try call.limit())
        var pagination = page.json
        if call.effect == .stringCursor {
            pagination = [
                "count": .integer(Int64(page.elements.count)),
                "next": page.next.map { .string(Cursor.text(of: $0)) } ?? .null,
            ]
        }
        return .json([
            "projects": .array(
                page.elements.map { state.json($0, baseURL: call.settings.baseURL) }),
            "pagination": pagination,
        ])
    }

    private static func get(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let index = try projectIndex(call, state)
        return .json(state.json(state.projects[index], baseURL: call.settings.baseURL))
    }

    private static func create(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let fields = try call.fields()
        let name = try fields.requiredString("name")
        try check(name: name, ownerId: call.ownerId, in: state)
        let project = state.addProject(
            name: name, ownerId: call.ownerId, framework: try fields.string("framework"),
            at: call.now)
        state.tell("project.created", project, at: call.now)
        return .json(state.json(project, baseURL: call.settings.baseURL))
    }

    private static func check(name: String, ownerId: String, in state: SandboxState)
        throws(APIError)
    {
        let isValid =
            (1...100).contains(name.utf8.count) && !name.contains("---")
            && name.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                    || byte == UInt8(ascii: ".")
            }
        guard isValid else {
            throw .badRequest(
                "Invalid request: `name` may only contain lowercase letters, digits, `.`, `_` and `-`."
            )
        }
        guard state.projectIndex(name, ownerId: ownerId) == nil else {
            throw .conflict("A project with that name already exists.")
        }
    }

    private static func update(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let index = try projectIndex(call, state)
        let fields = try call.fields()
        try fields.allow(only: [
            "name", "framework", "autoExposeSystemEnvs", "autoAssignCustomDomains",
        ])
        let exposes = try fields.bool("autoExposeSystemEnvs")
        let assigns = try fields.bool("autoAssignCustomDomains")
        let framework = try fields.string("framework")
        if let name = try fields.string("name"), name != state.projects[index].name {
            try check(name: name, ownerId: call.ownerId, in: state)
            let previous = state.projects[index].name
            state.projects[index].name = name
            state.tell(
                "project.renamed", state.projects[index],
                more: ["previousName": .string(previous)], at: call.now)
        }
        if let exposes { state.projects[index].exposesSystemVariables = exposes }
        if let assigns {
            state.projects[index].assignsDomains = assigns
            state.projects[index].isRolledBack = false
        }
        if fields.has("framework") { state.projects[index].framework = framework }
        state.projects[index].updatedAt = call.now
        return .json(state.json(state.projects[index], baseURL: call.settings.baseURL))
    }

    private static func delete(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        _ = state.removeProject(
            at: try projectIndex(call, state), by: state.user.id, at: call.now)
        return .empty(status: 204)
    }

    private static func productionDeployment(_ call: Call, _ state: inout SandboxState)
        throws(APIError) -> HTTPAnswer
    {
        let project = state.projects[try projectIndex(call, state)]
        guard let deployment = project.productionDeploymentId.flatMap(state.deployment(id:)) else {
            throw .notFound("Production deployment")
        }
        return .json(["deployment": state.json(deployment)])
    }
}

/// Cursors as texts: the time in base 32.
enum Cursor {
    private static let digits = Array("abcdefghijklmnopqrstuvwxyz234567")

    static func text(of time: Int64) -> String {
        var rest = max(0, time)
        var text = ""
        repeat {
            text = String(digits[Int(rest % 32)]) + text
            rest /= 32
        } while rest > 0
        return text
    }

    /// Parses a cursor, or a number in decimal digits.
    static func time(of text: String) -> Int64? {
        if let number = Int64(text) { return number }
        guard (1...12).contains(text.count) else { return nil }
        var time: Int64 = 0
        for character in text {
            guard let digit = digits.firstIndex(of: character) else { return nil }
            time = time * 32 + Int64(digit)
        }
        return time
    }
}

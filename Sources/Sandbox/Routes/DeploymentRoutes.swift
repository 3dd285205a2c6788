internal import JSON

/// Deployments: reading, canceling and deleting.
enum DeploymentRoutes {
    static let routes: [Route] = [
        Route("GET", "deployments", handler: list),
        Route("POST", "deployments", handler: DeploymentCreation.create),
        Route("GET", "deployments/:", handler: get),
        Route("GET", "deployments/:/aliases", handler: aliases),
        Route("PATCH", "deployments/:/cancel", handler: cancel),
        Route("DELETE", "deployments/:", handler: delete),
        Route(
            "POST", "integrations/deploy/:/:", needsToken: false, handler: DeploymentCreation.hook),
    ]

    /// Returns the deployment of the first parameter by id, host name or alias, or throws 404.
    static func index(_ call: Call, _ state: SandboxState) throws(APIError) -> Int {
        try index(of: call.parameters[0], call, state)
    }

    /// Returns the deployment with that id, host name or alias, or throws 404.
    static func index(of name: String, _ call: Call, _ state: SandboxState) throws(APIError)
        -> Int
    {
        guard let index = state.deploymentIndex(name, ownerId: call.ownerId),
            call.token.isValid(forProject: state.deployments[index].projectId)
        else {
            guard name.hasPrefix("dpl_") || name.contains(".") else {
                throw .badRequest("Invalid request: `id` is not a deployment ID or host name.")
            }
            throw .notFound("Deployment")
        }
        return index
    }

    private static func get(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        .json(state.json(state.deployments[try index(call, state)]))
    }

    private static func list(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let request = call.request
        var found = state.deployments.filter { deployment in
            deployment.ownerId == call.ownerId
                && call.token.isValid(forProject: deployment.projectId)
        }
        let names =
            [request.parameter("projectId")].compactMap { $0 }
            + request.parameters("projectIds")
        if !names.isEmpty {
            let ids = names.compactMap { state.projectIndex($0, ownerId: call.ownerId) }
                .map { state.projects[$0].id }
            found = found.filter { ids.contains($0.projectId) }
        }
        if let app = request.parameter("app") { found = found.filter { $0.name == app } }
        if let target = request.parameter("target") {
            let custom = state.customEnvironments.filter { $0.slug == target || $0.id == target }
                .map(\.id)
            found = found.filter { deployment in
                if let id = deployment.customEnvironmentId { return custom.contains(id) }
                return (deployment.target ?? "preview") == target
            }
        }
        let states = request.parameters("state").map { $0.uppercased() }
        if !states.isEmpty { found = found.filter { states.contains($0.state.rawValue) } }
        if let branch = request.parameter("branch") {
            found = found.filter { $0.branch == branch }
        }
        if let sha = request.parameter("sha") {
            found = found.filter { ($0.gitSource?.commit ?? $0.meta["githubCommitSha"]) == sha }
        }
        let users = request.parameters("users")
        if !users.isEmpty { found = found.filter { users.contains($0.creatorId) } }
        if request.flag("rollbackCandidate") {
            found = found.filter(state.isRollbackCandidate)
        }
        for (name, value) in request.query where name.hasPrefix("meta-") {
            found = found.filter { $0.meta[String(name.dropFirst(5))] == value }
        }
        // `from` and `to` are the old names; `from` is inclusive.
        let from = try call.number("from").map { $0 &+ 1 }
        let until = try call.number("until") ?? from
        let page = Page(
            found, time: \.createdAt, since: try call.number("since", "to"),
            until: until, limit: try call.limit())
        return .json([
            "deployments": .array(page.elements.map(state.listed)), "pagination": page.json,
        ])
    }

    private static func aliases(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        guard let index = state.deploymentIndex(call.parameters[0], ownerId: call.ownerId) else {
            throw APIError(
                status: 404, code: "deployment_not_found", message: "Deployment not found.")
        }
        let id = state.deployments[index].id
        return .json([
            "aliases": .array(state.aliases.filter { $0.deploymentId == id }.map(\.json))
        ])
    }

    private static func cancel(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let index = try index(call, state)
        guard !state.deployments[index].state.isFinal else {
            throw .badRequest(
                "The deployment cannot be canceled: it is "
                    + "\(state.deployments[index].state.rawValue).")
        }
        state.end(deploymentAt: index, as: .canceled, failure: nil, at: call.now)
        state.tell("deployment.canceled", state.deployments[index], at: call.now)
        return .json(state.json(state.deployments[index]))
    }

    private static func delete(_ call: Call, _ state: inout SandboxState) throws(APIError)
        -> HTTPAnswer
    {
        let name = call.request.parameter("url") ?? call.parameters[0]
        let deployment = state.deployments.remove(at: try index(of: name, call, state))
        state.aliases.removeAll { $0.deploymentId == deployment.id }
        for index in state.projects.indices
        where state.projects[index].productionDeploymentId == deployment.id {
            state.projects[index].productionDeploymentId = nil
        }
        state.tell("deployment.cleanup", deployment, at: call.now)
        return .json(["uid": .string(deployment.id), "state": "DELETED"])
    }
}

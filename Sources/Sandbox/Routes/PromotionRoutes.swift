internal import JSON

/// Making another deployment the current one without a build.
enum PromotionRoutes {
    static let routes: [Route] = [
        Route("GET", "projects/:/promote/aliases") {
            (call: Call, state: inout SandboxState) throws(APIError) in
            try aliases(call, state, kind: .promote)
        },
        Route("GET", "projects/:/rollback/aliases") {
            (call: Call, state: inout SandboxState) throws(APIError) in
            try aliases(call, state, kind: .rollback)
        },
        Route("POST", "projects/:/promote/:") {
            (call: Call, state: inout SandboxState) throws(APIError) in
            try start(call, &state, kind: .promote)
        },
        Route("POST", "projects/:/rollback/:") {
            (call: Call, state: inout SandboxState) throws(APIError) in
            try start(call, &state, kind: .rollback)
        },
        Route("PATCH", "projects/:/rollback/:/update-description") {
            (call: Call, state: inout SandboxState) throws(APIError) in
            _ = try deployment(call, state)
            return .json([:])
        },
    ]

    private static func deployment(_ call: Call, _ state: SandboxState) throws(APIError)
        -> Deployment
    {
        let project = state.projects[try ProjectRoutes.projectIndex(call, state)]
        guard let deployment = state.deployment(id: call.parameters[1]),
            deployment.projectId == project.id
        else { throw .notFound("Deployment") }
        return deployment
    }

    private static func start(
        _ call: Call, _ state: inout SandboxState, kind: Project.AliasRequest.Kind
    ) throws(APIError) -> HTTPAnswer {
        let place = try ProjectRoutes.projectIndex(call, state)
        let deployment = try deployment(call, state)
        let project = state.projects[place]
        if project.aliasRequest?.isRunning ?? false {
            throw .conflict("Another promotion or rollback is in progress.")
        }
        guard project.productionDeploymentId != deployment.id else {
            throw .conflict("The deployment is already the current production deployment.")
        }
        let isPossible =
            deployment.target == "production" && deployment.state == .ready
            && (kind == .promote || deployment.substate == .promoted)
        guard isPossible else {
            throw APIError(
                status: 422, code: "unprocessable_entity",
                message: "The deployment cannot be promoted without a build.")
        }
        let whole = call.settings.buildMilliseconds
        var end = call.now + whole * 2 / 5
        switch call.settings.build {
        case .aliasLate(let seconds): end += Int64(seconds * 1000)
        case .aliasNever: end = .max
        default: break
        }
        state.projects[place].aliasRequest = Project.AliasRequest(
            kind: kind, fromDeploymentId: project.productionDeploymentId ?? deployment.id,
            toDeploymentId: deployment.id, requestedAt: call.now, startsAt: call.now + whole / 10,
            endsAt: end, fails: call.settings.build == .aliasError, status: .pending)
        return .empty(status: project.hasRollingRelease && kind == .promote ? 202 : 201)
    }

    private static func aliases(
        _ call: Call, _ state: SandboxState, kind: Project.AliasRequest.Kind
    ) throws(APIError) -> HTTPAnswer {
        let project = state.projects[try ProjectRoutes.projectIndex(call, state)]
        let limit = try call.limit()
        var items: [JSONValue] = []
        if let request = project.aliasRequest, request.kind == kind {
            let status =
                switch request.status {
                case .pending: "pending"
                case .inProgress: "in-progress"
                case .succeeded, .skipped: "completed"
                case .failed: "failed"
                }
            if !call.request.flag("failedOnly") || request.status == .failed {
                items = project.domains.map { host in
                    let id = state.aliases.first { $0.host == host }?.id ?? host
                    return ["status": .string(status), "alias": .string(host), "id": .string(id)]
                }
            }
        }
        items = Array(items.prefix(limit))
        return .json([
            "aliases": .array(items),
            "pagination": ["count": .integer(Int64(items.count)), "next": nil, "prev": nil],
        ])
    }
}

internal import JSON

/// New deployments: from git, from an earlier deployment, or by a deploy hook.
enum DeploymentCreation {
    private static let members: Set<String> = [
        "customEnvironmentSlugOrId", "deploymentId", "files", "gitMetadata", "gitSource", "meta",
        "monorepoManager", "name", "project", "projectSettings", "target", "withLatestCommit",
        "gitAccessToken",
    ]

    /// A parsed request.
    private struct CreationRequest {
        var original: Deployment?
        var target: String?
        var customEnvironment: CustomEnvironment?
        var gitSource: Deployment.GitSource?
        var meta: [String: String]
        var latestCommit: Bool
    }

    static func create(_ call: Call, _ state: inout SandboxState) throws(APIError) -> HTTPAnswer {
        let fields = try call.fields()
        try fields.allow(only: members)
        let name = try fields.requiredString("name")
        var original: Deployment?
        if let id = try fields.string("deploymentId") {
            original = state.deployments[try DeploymentRoutes.index(of: id, call, state)]
        }
        let projectName = try fields.string("project") ?? original?.projectId ?? name
        guard let place = state.projectIndex(projectName, ownerId: call.ownerId),
            call.token.isValid(forProject: state.projects[place].id)
        else { throw .notFound("Project") }
        let project = state.projects[place]
        if let original, original.projectId != project.id {
            throw .badRequest("The deployment belongs to another project.")
        }
        let gitSource = try gitSource(fields)
        guard original != nil || gitSource != nil || fields.has("files") else {
            throw .badRequest(
                "Invalid request: one of `deploymentId`, `gitSource` or `files` is required.")
        }
        var creation = CreationRequest(
            original: original, gitSource: gitSource, meta: try fields.texts("meta") ?? [:],
            latestCommit: try fields.bool("withLatestCommit") ?? false)
        guard creation.meta.count <= 100 else {
            throw .badRequest("Invalid request: `meta` should NOT have more than 100 members.")
        }
        try setTarget(of: &creation, fields, project: project, state)
        let wanted = build(creation, project: project, call, &state)
        let bytes = wanted.variables.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard bytes <= EnvironmentRules.maximumBytes else {
            throw .badRequest("The deployment's environment variables exceed 64 KB.")
        }
        let deployment = state.add(wanted, at: call.now)
        return .json(state.json(deployment))
    }

    private static func gitSource(_ fields: Fields) throws(APIError) -> Deployment.GitSource? {
        guard let source = try fields.object("gitSource") else { return nil }
        let type = try source.requiredString("type")
        guard ["github", "gitlab", "bitbucket"].contains(type) else {
            throw .badRequest("Invalid request: `gitSource.type` is unknown.")
        }
        let repository = source.members["repoId"].flatMap {
            $0.string ?? $0.integer.map(String.init)
        }
        return Deployment.GitSource(
            type: type, branch: try source.requiredString("ref"),
            commit: try source.string("sha"), repositoryId: repository)
    }

    /// Any target but the two fixed ones must be a custom environment of the project.
    private static func setTarget(
        of creation: inout CreationRequest, _ fields: Fields, project: Project,
        _ state: SandboxState
    ) throws(APIError) {
        let target = try fields.string("target")
        var custom = try fields.string("customEnvironmentSlugOrId")
        switch target {
        case "production", "staging": creation.target = target
        case nil, "preview": break
        case let other?: custom = custom ?? other
        }
        guard let custom else { return }
        creation.customEnvironment = state.customEnvironment(custom, of: project)
        guard creation.customEnvironment != nil else { throw .notFound("Custom environment") }
        creation.target = nil
    }

    private static func build(
        _ creation: CreationRequest, project: Project, _ call: Call, _ state: inout SandboxState
    ) -> Deployment {
        var meta = creation.original?.meta ?? [:]
        meta["action"] = nil
        meta.merge(creation.meta) { $1 }
        var source = creation.gitSource ?? creation.original?.gitSource
        if let original = creation.original {
            meta["originalDeploymentId"] = original.id
            if creation.latestCommit {
                source?.commit = project.repository?.headCommit
                meta["githubCommitSha"] = nil
            }
        }
        if let source {
            let prefix = source.type
            meta["\(prefix)CommitRef"] = meta["\(prefix)CommitRef"] ?? source.branch
            meta["\(prefix)CommitSha"] = meta["\(prefix)CommitSha"] ?? source.commit
        }
        let branch = meta["githubCommitRef"] ?? source?.branch
        let variables = variables(creation, project: project, branch: branch, call, state)
        return Deployment(
            id: state.generator.identifier("dpl_", count: 28), projectId: project.id,
            ownerId: project.ownerId, creatorId: state.user.id, name: project.name,
            host: state.newHost(of: project),
            target: creation.target, customEnvironmentId: creation.customEnvironment?.id,
            source: creation.original != nil
                ? "redeploy" : creation.gitSource != nil ? "git" : "cli",
            meta: meta, gitSource: source, originalDeploymentId: creation.original?.id,
            createdAt: call.now, mode: call.settings.build,
            buildMilliseconds: call.settings.buildMilliseconds,
            forceNew: call.request.flag("forceNew"), withCache: call.request.flag("withCache"),
            variables: variables, script: call.settings.script)
    }

    private static func variables(
        _ creation: CreationRequest, project: Project, branch: String?, _ call: Call,
        _ state: SandboxState
    ) -> [ResolvedVariable] {
        if call.settings.build == .keepsOldEnvironment {
            let before =
                creation.original
                ?? project.productionDeploymentId.flatMap(state.deployment(id:))
            if let before { return before.variables }
        }
        let target: Target? =
            creation.customEnvironment != nil
            ? nil : creation.target == "production" ? .production : .preview
        return state.resolvedVariables(
            of: project, target: target, customEnvironmentId: creation.customEnvironment?.id,
            branch: target == .preview ? branch : nil)
    }

    /// A deploy hook builds the head of its branch, for production if that is the production
    /// branch.
    static func hook(_ call: Call, _ state: inout SandboxState) throws(APIError) -> HTTPAnswer {
        guard let project = state.project(id: call.parameters[0]),
            let repository = project.repository,
            let hook = repository.hooks.first(where: { $0.id == call.parameters[1] })
        else { throw .notFound("Deploy hook") }
        let creation = CreationRequest(
            target: hook.branch == repository.productionBranch ? "production" : nil,
            gitSource: Deployment.GitSource(
                type: "github", branch: hook.branch, commit: repository.headCommit,
                repositoryId: String(repository.id)),
            meta: [
                "deployHookId": hook.id, "deployHookName": hook.name, "deployHookRef": hook.branch,
            ], latestCommit: false)
        var deployment = build(creation, project: project, call, &state)
        deployment.forceNew = call.request.parameter("buildCache") == "false"
        deployment = state.add(deployment, at: call.now)
        return .json(
            [
                "job": [
                    "id": .string(deployment.id), "state": "PENDING",
                    "createdAt": .integer(call.now),
                ]
            ], status: 201)
    }
}

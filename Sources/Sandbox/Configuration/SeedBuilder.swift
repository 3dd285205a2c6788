internal import JSON

/// Creates the initial state of a sandbox from a seed.
struct SeedBuilder {
    private static let day: Int64 = 86_400_000

    private var state: SandboxState
    private let now: Int64
    private let document: Fields

    /// Returns the state of a seed, with times before `now`.
    static func state(of seed: Seed, now: Int64) throws(SandboxError) -> SandboxState {
        do {
            var builder = try SeedBuilder(seed, now: now)
            try builder.build()
            return builder.state
        } catch {
            throw SandboxError(
                code: .seedUnreadable, reason: "Invalid seed: \(error.message)")
        }
    }

    private init(_ seed: Seed, now: Int64) throws(APIError) {
        self.now = now
        document = try Fields(seed.document)
        let number = UInt64(bitPattern: try document.integer("seed") ?? 1)
        var generator = IdentifierGenerator(seed: number)
        let user = try Fields(document.members["user"] ?? [:])
        let owner = User(
            id: generator.identifier("", count: 24),
            email: try user.string("email") ?? "dev@example.com",
            name: try user.string("name") ?? "Sandbox Developer",
            username: try user.string("username") ?? "dev", defaultTeamId: nil,
            createdAt: now - 90 * Self.day, isLimited: try user.bool("limited") ?? false)
        state = SandboxState(generator: generator, user: owner)
        state.lastStamp = now
    }

    private func list(_ fields: Fields, _ name: String) throws(APIError) -> [Fields] {
        guard let value = fields.members[name] else { return [] }
        guard let elements = value.array else {
            throw .badRequest("`\(name)` should be an array.")
        }
        return try elements.map(Fields.init)
    }

    private mutating func build() throws(APIError) {
        let secret = state.generator.identifier("", count: 24)
        try addToken(Fields([:]), secret: try document.string("token") ?? secret)
        for team in try list(document, "teams") { try add(team: team) }
        for (index, project) in try list(document, "projects").enumerated() {
            try add(project: project, number: index)
        }
        for shared in try list(document, "sharedEnv") { try add(shared: shared) }
        for token in try list(document, "tokens") {
            try addToken(token, secret: try token.requiredString("token"))
        }
        try addDefaultUsers()
        // Webhooks do not receive events from before the start.
        state.messages = []
    }

    private mutating func addDefaultUsers() throws(APIError) {
        let usual: JSONValue = [
            ["username": "colleague", "name": "Sandbox Colleague", "email": "co@example.com"]
        ]
        let users = try list(Fields(["users": document.members["users"] ?? usual]), "users")
        for (index, fields) in users.enumerated() {
            let username = try fields.requiredString("username")
            state.colleagues.append(
                User(
                    id: state.generator.identifier("", count: 24),
                    email: try fields.string("email") ?? "\(username)@example.com",
                    name: try fields.string("name"), username: username, defaultTeamId: nil,
                    createdAt: now - 50 * Self.day + Int64(index), isLimited: false))
        }
    }

    private mutating func addToken(_ fields: Fields, secret: String) throws(APIError) {
        let team = try fields.string("team").map(teamId)
        let project = try fields.string("project").map { (name) throws(APIError) in
            guard let index = state.projectIndex(name, ownerId: team ?? state.user.id) else {
                throw .badRequest("unknown project \(name).")
            }
            return state.projects[index].id
        }
        state.tokens.append(
            AccessToken(
                id: state.generator.hexadecimal(64), name: try fields.string("name") ?? "sandbox",
                secret: secret, type: try fields.string("type") ?? "token",
                teamId: team, projectId: project,
                hidesProduction: try fields.bool("hidesProduction") ?? false,
                createdAt: now - 60 * Self.day, activeAt: now,
                expiresAt: try fields.integer("expiresAt"),
                leakedAt: try fields.integer("leakedAt")))
    }

    private func teamId(_ slug: String) throws(APIError) -> String {
        guard let team = state.teams.first(where: { $0.slug == slug }) else {
            throw .badRequest("unknown team \(slug).")
        }
        return team.id
    }

    private mutating func add(team fields: Fields) throws(APIError) {
        let slug = try fields.requiredString("slug")
        let created = now - 60 * Self.day + Int64(state.teams.count)
        let role = try fields.string("role")
        state.teams.append(
            Team(
                id: state.generator.identifier("team_", count: 24), slug: slug,
                name: try fields.string("name") ?? slug, createdAt: created, updatedAt: created,
                role: fields.has("role") ? role : "OWNER",
                sensitivePolicy: try fields.policy("sensitiveEnvironmentVariablePolicy")
                    ?? .default,
                disjunctivePolicy: try fields.disjunctivePolicy() ?? .default,
                limitedBy: try fields.strings("limitedBy")))
    }

    private mutating func add(project fields: Fields, number: Int) throws(APIError) {
        let owner = try fields.string("team").map(teamId) ?? state.user.id
        let project = state.addProject(
            name: try fields.requiredString("name"), ownerId: owner,
            framework: try fields.string("framework"),
            at: now - 30 * Self.day + Int64(number) * 1000)
        let place = state.projects.count - 1
        state.projects[place].exposesSystemVariables =
            try fields.bool("autoExposeSystemEnvs") ?? false
        state.projects[place].hasRollingRelease = try fields.bool("rollingRelease") ?? false
        for custom in try list(fields, "customEnvironments") {
            let type = try custom.string("type") ?? "preview"
            state.customEnvironments.append(
                CustomEnvironment(
                    id: state.generator.identifier("env_", count: 28), projectId: project.id,
                    slug: try custom.requiredString("slug"), type: type,
                    description: try custom.string("description"), branchMatcher: nil,
                    createdAt: project.createdAt, updatedAt: project.createdAt))
        }
        for (index, variable) in try list(fields, "env").enumerated() {
            try add(variable: variable, project: project, number: index)
        }
        for (index, deployment) in try list(fields, "deployments").enumerated() {
            try add(deployment: deployment, placeOfProject: place, number: index)
        }
        // Existing deployments predate this setting.
        state.projects[place].assignsDomains = try fields.bool("autoAssignCustomDomains") ?? true
        state.projects[place].sensitivePolicy = try fields.policy(
            "sensitiveEnvironmentVariablePolicy")
    }

    private mutating func add(variable fields: Fields, project: Project, number: Int)
        throws(APIError)
    {
        let key = try fields.requiredString("key")
        let type = try type(fields, of: key)
        var ids: [String] = []
        for slug in try fields.strings("customEnvironments") ?? [] {
            let custom = state.customEnvironments.first {
                $0.projectId == project.id && $0.slug == slug
            }
            guard let custom else { throw .badRequest("unknown environment \(slug).") }
            ids.append(custom.id)
        }
        let time = now - 20 * Self.day + Int64(number)
        let variable = EnvironmentVariable(
            id: state.generator.identifier("", count: 16), projectId: project.id, key: key,
            value: try fields.requiredString("value"), type: type,
            targets: try fields.targets("target") ?? (ids.isEmpty ? Target.allCases : []),
            customEnvironmentIds: ids, gitBranch: try fields.string("gitBranch"),
            comment: try fields.string("comment"), createdAt: time, updatedAt: time,
            createdBy: state.user.id, updatedBy: nil,
            visibility: try fields.string("visibility"),
            integration: try fields.string("integration"))
        try EnvironmentRules.check(variable, of: project, in: state)
        try EnvironmentRules.checkCoexistence(of: variable, in: state)
        state.variables.append(variable)
    }

    private mutating func add(deployment fields: Fields, placeOfProject place: Int, number: Int)
        throws(APIError)
    {
        let project = state.projects[place]
        let target = try fields.string("target")
        guard target == nil || target == "production" || target == "preview" else {
            throw .badRequest("the target of a seeded deployment must be production or preview.")
        }
        let mode: BuildMode
        switch try fields.string("state") ?? "READY" {
        case "READY": mode = .ok
        case "ERROR": mode = .fail
        case "CANCELED": mode = .ignored
        case "BLOCKED": mode = .blocked
        case "STAGED": mode = .staged
        default:
            throw .badRequest(
                "a seeded deployment must be READY, STAGED, ERROR, CANCELED or BLOCKED.")
        }
        let isProduction = target == "production"
        let branch = try fields.string("branch") ?? (isProduction ? "main" : "feature")
        let commit = state.generator.hexadecimal(40)
        let created = now - 10 * Self.day + Int64(number) * 3_600_000
        let deployment = Deployment(
            id: state.generator.identifier("dpl_", count: 28), projectId: project.id,
            ownerId: project.ownerId, creatorId: state.user.id, name: project.name,
            host: state.newHost(of: project),
            target: isProduction ? "production" : nil, customEnvironmentId: nil, source: "git",
            meta: [
                "githubCommitRef": branch, "githubCommitSha": commit,
                "githubCommitMessage": try fields.string("message") ?? "Seed commit",
                "githubCommitAuthorName": "Sandbox Developer",
                "githubOrg": project.repository?.organization ?? "", "githubRepo": project.name,
                "githubRepoId": String(project.repository?.id ?? 0),
            ],
            gitSource: Deployment.GitSource(
                type: "github", branch: branch, commit: commit,
                repositoryId: project.repository.map { String($0.id) }),
            originalDeploymentId: nil, createdAt: created, mode: mode, buildMilliseconds: 60_000,
            forceNew: false, withCache: false,
            variables: state.resolvedVariables(
                of: project, target: isProduction ? .production : .preview,
                customEnvironmentId: nil, branch: isProduction ? nil : branch))
        _ = state.add(deployment, at: created)
        _ = state.advance(to: now)
    }

    private func type(_ fields: Fields, of key: String) throws(APIError) -> VariableType {
        guard let type = VariableType(rawValue: try fields.string("type") ?? "encrypted") else {
            throw .badRequest("unknown type for \(key).")
        }
        return type
    }

    private mutating func add(shared fields: Fields) throws(APIError) {
        let key = try fields.requiredString("key")
        let owner = try teamId(try fields.requiredString("team"))
        let type = try type(fields, of: key)
        let ids = (try fields.strings("projects") ?? []).compactMap {
            state.projectIndex($0, ownerId: owner)
        }.map { state.projects[$0].id }
        let time = now - 25 * Self.day + Int64(state.sharedVariables.count)
        state.sharedVariables.append(
            SharedVariable(
                id: state.generator.identifier("env_", count: 24), ownerId: owner, key: key,
                value: try fields.requiredString("value"), type: type,
                targets: try fields.targets("target") ?? Target.allCases, projectIds: ids,
                appliesToCustomEnvironments: false, comment: try fields.string("comment"),
                createdAt: time, updatedAt: time, createdBy: state.user.id,
                updatedBy: state.user.id))
    }
}

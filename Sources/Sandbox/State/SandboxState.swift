/// Everything the sandbox knows and keeps in its state file.
struct SandboxState: Codable, Sendable {
    var generator: IdentifierGenerator
    /// What stepping has added to the clock, in milliseconds.
    var clockOffset: Int64 = 0
    /// The latest time that was given to a change; the next one is later.
    var lastStamp: Int64 = 0
    /// The most variables that a project may have, unless the sandbox is set otherwise.
    var maximumRecords = 1000
    var user: User
    /// The other members of every team that the user belongs to.
    var colleagues: [User] = []
    var teams: [Team] = []
    var tokens: [AccessToken] = []
    var projects: [Project] = []
    var variables: [EnvironmentVariable] = []
    var sharedVariables: [SharedVariable] = []
    var customEnvironments: [CustomEnvironment] = []
    var deployments: [Deployment] = []
    var aliases: [Alias] = []
    var webhooks: [Webhook] = []
    var messages: [WebhookMessage] = []

    /// A time not before `now` and later than every earlier one, so that each change is seen.
    ///
    /// The sandbox's clock goes along, else a build would end later than its seconds after it.
    mutating func stamp(_ now: Int64) -> Int64 {
        lastStamp = max(now, lastStamp + 1)
        clockOffset += lastStamp - now
        return lastStamp
    }

    func team(id: String) -> Team? { teams.first { $0.id == id } }

    /// What is wanted of a project's encrypted variables, by itself or by its team.
    func sensitivePolicy(of project: Project) -> Team.SensitivePolicy {
        project.sensitivePolicy ?? team(id: project.ownerId)?.sensitivePolicy ?? .default
    }

    func project(id: String) -> Project? { projects.first { $0.id == id } }

    func deployment(id: String) -> Deployment? { deployments.first { $0.id == id } }

    /// The project of that owner with that id or name.
    func projectIndex(_ idOrName: String, ownerId: String) -> Int? {
        projects.firstIndex {
            $0.ownerId == ownerId && ($0.id == idOrName || $0.name == idOrName)
        }
    }

    /// The deployment of that owner with that id or host name, or to which that alias leads.
    func deploymentIndex(_ idOrHost: String, ownerId: String) -> Int? {
        let host = idOrHost.lowercased()
        let id = aliases.first { $0.host == host }?.deploymentId ?? idOrHost
        return deployments.firstIndex {
            $0.ownerId == ownerId && ($0.id == id || $0.host == host)
        }
    }

    /// The user's or team's name in addresses.
    func slug(ofOwner ownerId: String) -> String { team(id: ownerId)?.slug ?? user.username }

    /// What the owner pays for.
    func plan(ofOwner ownerId: String) -> String { team(id: ownerId) == nil ? "hobby" : "pro" }

    /// The host names that lead to a deployment now.
    func hosts(of deployment: Deployment) -> [String] {
        aliases.filter { $0.deploymentId == deployment.id }.map(\.host).sorted()
    }

    /// Lets a host name lead to a deployment.
    mutating func assign(_ host: String, to deployment: Deployment, at time: Int64) {
        if let index = aliases.firstIndex(where: { $0.host == host }) {
            aliases[index].deploymentId = deployment.id
            aliases[index].projectId = deployment.projectId
        } else {
            aliases.append(
                Alias(
                    id: generator.identifier("", count: 24), host: host,
                    projectId: deployment.projectId, deploymentId: deployment.id, createdAt: time))
        }
    }

    /// The variables that apply to an environment; those of the branch win over general ones,
    /// those of the project over shared ones.
    func resolvedVariables(
        of project: Project, target: Target?, customEnvironmentId: String?, branch: String?
    ) -> [ResolvedVariable] {
        var resolved: [String: ResolvedVariable] = [:]
        for shared in sharedVariables where shared.projectIds.contains(project.id) {
            let applies =
                if customEnvironmentId != nil {
                    shared.appliesToCustomEnvironments
                } else {
                    target.map(shared.targets.contains) ?? false
                }
            guard applies else { continue }
            resolved[shared.key] = ResolvedVariable(
                key: shared.key, value: shared.value, type: shared.type)
        }
        let own = variables.filter { $0.projectId == project.id }
        for branchPass in [nil, branch] where branchPass == nil || branch != nil {
            for variable in own where variable.gitBranch == branchPass {
                let applies =
                    if let customEnvironmentId {
                        variable.customEnvironmentIds.contains(customEnvironmentId)
                    } else {
                        target.map(variable.targets.contains) ?? false
                    }
                guard applies else { continue }
                resolved[variable.key] = ResolvedVariable(
                    key: variable.key, value: variable.value, type: variable.type)
            }
        }
        return resolved.values.sorted { $0.key < $1.key }
    }
}

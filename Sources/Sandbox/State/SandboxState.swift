/// The sandbox's data, as kept in its state file.
struct SandboxState: Codable, Sendable {
    var generator: IdentifierGenerator
    /// Milliseconds added to the clock by stepping.
    var clockOffset: Int64 = 0
    /// The time of the latest change; the next one is later.
    var lastStamp: Int64 = 0
    /// Most variables of an environment of a project.
    var maximumRecords = 1000
    /// Whether a Secret may apply to development, on which Vercel's documents and its command line
    /// disagree.
    var allowsSecretDevelopment = false
    var user: User
    /// The other members of every team of the user.
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

    /// Returns a time at or after `now` and later than every earlier one, so that each change is
    /// visible.
    ///
    /// The sandbox's clock is moved along; otherwise a build would take longer than its duration.
    mutating func stamp(_ now: Int64) -> Int64 {
        lastStamp = max(now, lastStamp + 1)
        clockOffset += lastStamp - now
        return lastStamp
    }

    func team(id: String) -> Team? { teams.first { $0.id == id } }

    /// Returns the policy for production Secrets of a project, or else of its team.
    func disjunctivePolicy(of project: Project) -> Team.DisjunctivePolicy {
        project.disjunctivePolicy ?? team(id: project.ownerId)?.disjunctivePolicy ?? .default
    }

    /// Returns the sensitive-variable policy of a project, or else of its team.
    func sensitivePolicy(of project: Project) -> Team.SensitivePolicy {
        project.sensitivePolicy ?? team(id: project.ownerId)?.sensitivePolicy ?? .default
    }

    func project(id: String) -> Project? { projects.first { $0.id == id } }

    func deployment(id: String) -> Deployment? { deployments.first { $0.id == id } }

    /// Returns the project's custom environment with that id or slug.
    func customEnvironment(_ idOrSlug: String, of project: Project) -> CustomEnvironment? {
        customEnvironments.first {
            $0.projectId == project.id && ($0.id == idOrSlug || $0.slug == idOrSlug)
        }
    }

    /// Returns the owner's project with that id or name.
    func projectIndex(_ idOrName: String, ownerId: String) -> Int? {
        projects.firstIndex {
            $0.ownerId == ownerId && ($0.id == idOrName || $0.name == idOrName)
        }
    }

    /// Returns the owner's deployment with that id, host name or alias.
    func deploymentIndex(_ idOrHost: String, ownerId: String) -> Int? {
        let host = idOrHost.lowercased()
        let id = aliases.first { $0.host == host }?.deploymentId ?? idOrHost
        return deployments.firstIndex {
            $0.ownerId == ownerId && ($0.id == id || $0.host == host)
        }
    }

    /// Returns the user's or team's name in URLs.
    func slug(ofOwner ownerId: String) -> String { team(id: ownerId)?.slug ?? user.username }

    /// Returns the owner's plan.
    func plan(ofOwner ownerId: String) -> String { team(id: ownerId) == nil ? "hobby" : "pro" }

    /// Returns the host names that currently lead to a deployment.
    func hosts(of deployment: Deployment) -> [String] {
        aliases.filter { $0.deploymentId == deployment.id }.map(\.host).sorted()
    }

    /// Assigns a host name to a deployment.
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

    /// Returns the variables of an environment. Those of the branch override general ones, and
    /// those of the project override shared ones.
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
                    key: variable.key, value: variable.value,
                    type: variable.isReadable ? variable.type : .sensitive)
            }
        }
        return resolved.values.sorted { $0.key < $1.key }
    }
}

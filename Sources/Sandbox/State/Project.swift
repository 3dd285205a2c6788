internal import JSON

/// A project of a user or a team.
struct Project: Codable, Sendable {
    /// The source repository of a project.
    struct Repository: Codable, Sendable {
        var organization: String
        var name: String
        var id: Int64
        var productionBranch: String
        /// The head commit of every branch.
        var headCommit: String
        var hooks: [DeployHook]
    }

    /// A URL that starts a deployment without a token.
    struct DeployHook: Codable, Sendable {
        var id: String
        var name: String
        var branch: String
    }

    /// A running promotion or rollback.
    struct AliasRequest: Codable, Sendable {
        enum Kind: String, Codable, Sendable { case promote, rollback }
        enum Status: String, Codable, Sendable {
            case pending, succeeded, failed, skipped
            case inProgress = "in-progress"
        }
        var kind: Kind
        var fromDeploymentId: String
        var toDeploymentId: String
        var requestedAt: Int64
        var startsAt: Int64
        var endsAt: Int64
        var fails: Bool
        var status: Status

        var isRunning: Bool { status == .pending || status == .inProgress }

        var json: JSONValue {
            [
                "fromDeploymentId": .string(fromDeploymentId),
                "toDeploymentId": .string(toDeploymentId), "jobStatus": .string(status.rawValue),
                "requestedAt": .integer(requestedAt), "type": .string(kind.rawValue),
            ]
        }
    }

    var id: String
    var name: String
    /// The id of a user or of a team.
    var ownerId: String
    var createdAt: Int64
    var updatedAt: Int64
    var framework: String?
    var repository: Repository?
    /// The production host names.
    var domains: [String]
    var productionDeploymentId: String?
    /// Whether a finished production build becomes the current deployment automatically; otherwise
    /// it is staged until it is promoted.
    var assignsDomains: Bool
    /// True from a rollback to the next promotion: no build becomes current automatically.
    var isRolledBack = false
    /// The project's policy for sensitive variables; `nil` uses the team's.
    var sensitivePolicy: Team.SensitivePolicy?
    /// Its own policy for production Secrets, which only the sandbox has; `nil` uses the team's.
    var disjunctivePolicy: Team.DisjunctivePolicy?
    var exposesSystemVariables: Bool
    var hasRollingRelease: Bool
    var aliasRequest: AliasRequest?
    var lastRollbackTarget: String?

    /// Whether a production build that ends now becomes the current deployment.
    var assignsDomainsNow: Bool { assignsDomains && !isRolledBack }
}

extension SandboxState {
    /// Returns the API's form of a project.
    func json(_ project: Project, baseURL: String) -> JSONValue {
        let production = project.productionDeploymentId.flatMap(deployment(id:))
        let latest = deployments.filter { $0.projectId == project.id }
            .sorted { $0.createdAt > $1.createdAt }.prefix(5)
        return .members([
            "id": .string(project.id), "name": .string(project.name),
            "accountId": .string(project.ownerId), "createdAt": .integer(project.createdAt),
            "updatedAt": .integer(project.updatedAt),
            "framework": .string(orNull: project.framework), "directoryListing": false,
            "nodeVersion": "22.x", "live": false,
            "resourceConfig": ["functionDefaultRegions": ["iad1"]],
            "defaultResourceConfig": ["functionDefaultRegions": ["iad1"]],
            "autoExposeSystemEnvs": .bool(project.exposesSystemVariables),
            "autoAssignCustomDomains": .bool(project.assignsDomainsNow),
            "link": project.repository.map { json($0, project: project, baseURL: baseURL) },
            "targets": ["production": production.map(summary) ?? .null],
            "latestDeployments": .array(latest.map(summary)),
            "lastAliasRequest": project.aliasRequest?.json ?? .null,
            "lastRollbackTarget": project.lastRollbackTarget.map { ["id": .string($0)] },
            "rollingRelease": project.hasRollingRelease ? ["target": "production"] : nil,
            "customEnvironments": .array(
                customEnvironments.filter { $0.projectId == project.id }.map(\.json)),
        ])
    }

    private func json(_ repository: Project.Repository, project: Project, baseURL: String)
        -> JSONValue
    {
        [
            "type": "github", "org": .string(repository.organization),
            "repo": .string(repository.name), "repoId": .integer(repository.id),
            "gitCredentialId": "", "sourceless": false,
            "productionBranch": .string(repository.productionBranch),
            "createdAt": .integer(project.createdAt), "updatedAt": .integer(project.createdAt),
            "deployHooks": .array(
                repository.hooks.map { hook in
                    [
                        "id": .string(hook.id), "name": .string(hook.name),
                        "ref": .string(hook.branch), "createdAt": .integer(project.createdAt),
                        "url": .string(
                            "\(baseURL)/v1/integrations/deploy/\(project.id)/\(hook.id)"),
                    ]
                }),
        ]
    }
}

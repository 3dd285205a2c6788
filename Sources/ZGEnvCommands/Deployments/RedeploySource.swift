internal import EnvOperations
internal import Vault
internal import VercelAPI

/// Which deployment is to be built anew, and for what.
struct RedeploySource {
    /// The deployment whose source is built.
    let named: NamedDeployment
    /// What the platform is told it is for; nil for a preview.
    let apiTarget: String?
    /// A custom environment, where it is for one.
    let customEnvironment: String?

    /// What it is for, in the words of `-t`.
    var targetName: String { customEnvironment ?? apiTarget ?? "preview" }

    /// What is done, for people.
    var line: String {
        "redeploy \(named.deployment.id) of \(named.project.name) for \(targetName)"
    }

    /// Finds the deployment that is named, or the newest of the target.
    init(_ deployment: String?, for names: [String], _ workspace: Workspace) throws {
        guard names.count <= 1, names.first != "development" else {
            throw CommandError(
                .usage, "A deployment is for production, preview or one custom environment.")
        }
        if let text = deployment {
            self.init(try NamedDeployment(text, workspace), for: names.first)
        } else {
            try self.init(
                newestOf: try BoundProject.anywhere(workspace), for: names.first ?? "production")
        }
    }

    /// Finds the newest production deployment of the workspace's project.
    init(productionOf workspace: Workspace) throws {
        try self.init(newestOf: try BoundProject.inVault(workspace), for: "production")
    }

    private init(newestOf bound: BoundProject, for target: String) throws {
        var filter = DeploymentFilter()
        filter.projectId = bound.platform.id
        filter.limit = target == "production" ? 20 : 100
        if target == "production" { filter.target = "production" }
        let newest = try bound.access.client.deployments(filter).first {
            $0.state != .deleted
                && (target == "preview"
                    ? $0.target == nil && $0.customEnvironmentSlug == nil
                    : $0.target == target || $0.customEnvironmentSlug == target)
        }
        guard let newest else {
            throw CommandError.nothing(
                in: bound, for: target, hint: "Deploy it once, then redeploy.")
        }
        self.init(
            NamedDeployment(
                client: bound.access.client, deployment: newest, project: bound.platform,
                local: bound.local), for: target)
    }

    private init(_ named: NamedDeployment, for target: String?) {
        self.named = named
        (apiTarget, customEnvironment) = Self.aim(of: named.deployment, target)
    }

    private static func aim(of deployment: Deployment, _ target: String?) -> (String?, String?) {
        switch target {
        // A custom environment may have the name of the platform's own staging.
        case let slug? where slug == deployment.customEnvironmentSlug: return (nil, slug)
        case "production", "staging": return (target, nil)
        case "preview": return (nil, nil)
        case let slug?: return (nil, slug)
        case nil:
            return (
                deployment.target,
                deployment.target == nil
                    ? deployment.customEnvironmentId ?? deployment.customEnvironmentSlug : nil
            )
        }
    }

    /// What production gets with a deployment that is made now; nil for another target, and where the vault
    /// does not have the project or is not at hand.
    func pending(_ workspace: Workspace) throws -> PendingChanges? {
        guard targetName == "production", let local = named.local else { return nil }
        func known(standing: Set<String> = []) throws -> PendingChanges? {
            guard let index = try workspace.session.indexAtHand() else { return nil }
            return index.project(local.id).map {
                PendingChanges(of: $0, in: index, standing: standing)
            }
        }
        let pending = try known()
        guard let pending, !pending.removed.isEmpty else { return pending }
        // What somebody made again since is not taken out.
        guard let seen = try? PlatformRefresh.look(at: local, workspace) else { return pending }
        return try known(standing: seen.inProduction)
    }
}

extension CommandError {
    /// A project without a deployment that could be built anew.
    static func nothing(in project: BoundProject, for target: String, hint: String) -> Self {
        Self(
            .notFound,
            "\(project.platform.name) has no deployment for \(target) to build anew.",
            hint: hint)
    }
}

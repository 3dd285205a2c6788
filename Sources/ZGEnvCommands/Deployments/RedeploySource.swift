internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// Which deployment is to be built anew, and for what.
struct RedeploySource {
    /// The way to the platform, in the project's scope.
    let client: VercelClient
    /// The platform's id of the project.
    let projectID: String
    /// The project's name on the platform.
    let projectName: String
    /// The deployment whose source is built.
    let deployment: Deployment
    /// What the platform is told it is for; nil for a preview.
    let apiTarget: String?
    /// A custom environment, where it is for one.
    let customEnvironment: String?
    private let local: VaultProject?

    /// What it is for, in the words of `-t`.
    var targetName: String { customEnvironment ?? apiTarget ?? "preview" }

    /// Finds the deployment that the arguments name, or the newest of the target.
    init(_ invocation: Invocation) throws {
        let names = invocation.command.values("target")
        guard names.count <= 1, names.first != "development" else {
            throw CommandError(
                .usage, "A deployment is for production, preview or one custom environment.")
        }
        if let named = invocation.command.argument("DEPLOYMENT") {
            try self.init(named: named, target: names.first, invocation)
        } else {
            let bound = try BoundProject.anywhere(invocation)
            try self.init(newestOf: bound, target: names.first ?? "production")
        }
    }

    /// Finds the newest production deployment of the invocation's project.
    init(productionOf invocation: Invocation) throws {
        try self.init(newestOf: try BoundProject.inVault(invocation), target: "production")
    }

    private init(newestOf bound: BoundProject, target: String) throws {
        client = bound.access.client
        projectID = bound.platform.id
        projectName = bound.platform.name
        local = bound.local
        var filter = DeploymentFilter()
        filter.projectId = bound.platform.id
        filter.limit = target == "production" ? 20 : 100
        if target == "production" { filter.target = "production" }
        let found = try client.deployments(filter)
        let match = found.first {
            $0.state != .deleted
                && (target == "preview"
                    ? $0.target == nil && $0.customEnvironmentSlug == nil
                    : $0.target == target || $0.customEnvironmentSlug == target)
        }
        guard let match else {
            throw CommandError(
                .notFound,
                "\(DisplayText.safe(projectName)) has no deployment for \(DisplayText.safe(target)) to build anew.",
                hint: "Deploy it once, then redeploy.")
        }
        deployment = match
        (apiTarget, customEnvironment) = Self.aim(of: match, target)
    }

    private init(named text: String, target: String?, _ invocation: Invocation) throws {
        let found = try NamedDeployment(text, invocation)
        client = found.client
        projectID = found.project.id
        projectName = found.project.name
        deployment = found.deployment
        local = found.local
        (apiTarget, customEnvironment) = Self.aim(of: found.deployment, target)
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
    func pending(_ invocation: Invocation) throws -> PendingChanges? {
        guard targetName == "production", let local else { return nil }
        func known(standing: Set<String> = []) throws -> PendingChanges? {
            guard let index = try invocation.session.indexWithoutAsking() else { return nil }
            return index.project(local.id).map {
                PendingChanges(of: $0, in: index, standing: standing)
            }
        }
        let pending = try known()
        guard let pending, !pending.removed.isEmpty else { return pending }
        // What somebody made again since is not taken out.
        guard let seen = try? PlatformRefresh.look(at: local, invocation) else { return pending }
        return try known(standing: seen.inProduction)
    }

    /// Keeps which deployment serves production, where the vault has the project and is at hand.
    ///
    /// - Parameters:
    ///   - made: The deployment that was made here.
    ///   - pending: What was waiting for it.
    func keepLive(_ invocation: Invocation, made: String, pending: PendingChanges?) throws {
        guard let local, let keys = try invocation.session.indexKeysWithoutAsking() else { return }
        // What somebody changed on Vercel meanwhile is not what the vault has; without an answer that is
        // told by the next look.
        _ = try? PlatformRefresh.look(at: local, invocation)
        let live = try client.project(projectID).liveDeployment
        let time = invocation.context.now()
        // What was gone before this one was asked for is not in it, however close the two times are.
        let removed = live?.id == made ? pending?.removedRecords ?? [] : []
        try invocation.session.update(with: keys) {
            $0.see(live: live, of: local.id, time: time, without: removed)
        }
    }
}

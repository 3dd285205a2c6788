internal import Vault
internal import VercelAPI

/// Chooses the deployment that a rotation redeploys.
enum RotationDeployments {
    /// The deployment to redeploy, and its target.
    struct Choice {
        /// `production`, `preview` or a custom environment; nil if there is nothing to deploy.
        let target: String?
        /// The deployment whose source is redeployed.
        let source: String?
        /// The creation time of the project's newest deployment by Vercel's clock, in milliseconds
        /// since 1970.
        let newestAt: UInt64

        static var none: Choice { Choice(target: nil, source: nil, newestAt: 0) }
    }

    /// Chooses production if the values apply to it, else a custom environment, else preview.
    ///
    /// - Throws: ``ExitCode/notFound`` if there is no deployment to redeploy.
    static func choice(for scopes: [Scope], of bound: LinkedProject) throws -> Choice {
        let target: String
        if scopes.contains(where: { $0.targets.contains(.production) }) {
            target = "production"
        } else if let custom = scopes.flatMap(\.customEnvironments).first {
            target = custom
        } else if scopes.contains(where: { $0.targets.contains(.preview) }) {
            target = "preview"
        } else {
            return .none
        }
        // Redeploys the live deployment, not a later attempt.
        let latest = bound.platform.latestDeployments.compactMap { $0.createdAt?.milliseconds }
        if target == "production", let serving = bound.platform.production,
            let newest = (latest + [serving.createdAt?.milliseconds ?? 0]).max(), !latest.isEmpty
        {
            return Choice(
                target: target, source: serving.id, newestAt: UInt64(clamping: newest))
        }
        let filter = DeploymentFilter(project: bound.platform.id, limit: 100)
        let all = try bound.access.client.deployments(filter)
        let branches = target == "preview" ? scopes.map(\.branch) : []
        let newest = all.compactMap { $0.createdAt?.milliseconds }.max() ?? 0
        let fitting = all.first { deployment in
            guard deployment.state == .ready else { return false }
            switch target {
            case "production": return deployment.target == "production"
            case "preview":
                return deployment.target == nil && deployment.customEnvironmentSlug == nil
                    && (branches.contains(nil) || branches.contains(deployment.branch))
            default:
                return deployment.customEnvironmentSlug == target
                    || deployment.customEnvironmentId == target
            }
        }
        let source =
            target == "production" ? bound.platform.production?.id ?? fitting?.id : fitting?.id
        guard let source else {
            throw CommandError.nothing(
                in: bound, for: target,
                hint: "Deploy it once, or rotate without --redeploy.")
        }
        return Choice(target: target, source: source, newestAt: UInt64(clamping: newest))
    }
}

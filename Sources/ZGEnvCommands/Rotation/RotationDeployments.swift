internal import Vault
internal import VercelAPI

/// Which deployment of a project gets a new value to its users.
enum RotationDeployments {
    /// What is built anew, and for what.
    struct Choice {
        /// `production`, `preview` or a custom environment; nil for nothing to deploy.
        let target: String?
        /// The deployment whose source is built.
        let source: String?
        /// When the newest deployment of the project was made, by the platform's clock, in milliseconds
        /// since 1970.
        let newestAt: UInt64

        static var none: Choice { Choice(target: nil, source: nil, newestAt: 0) }
    }

    /// Production where the records are for it; else a custom environment, else the previews.
    ///
    /// - Throws: ``ExitCode/notFound`` where there is nothing that could be built anew.
    static func choice(for records: [Variable], of bound: BoundProject) throws -> Choice {
        let scopes = records.map(\.attributes.scope)
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
        // What serves is what its users get again, whatever was tried since.
        let latest = bound.platform.latestDeployments.compactMap { $0.createdAt?.milliseconds }
        if target == "production", let serving = bound.platform.production,
            let newest = (latest + [serving.createdAt?.milliseconds ?? 0]).max(), !latest.isEmpty
        {
            return Choice(
                target: target, source: serving.id, newestAt: UInt64(clamping: newest))
        }
        var filter = DeploymentFilter()
        filter.projectId = bound.platform.id
        filter.limit = 100
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
                hint: "Nothing was changed. Deploy it once, or leave out --redeploy.")
        }
        return Choice(target: target, source: source, newestAt: UInt64(clamping: newest))
    }
}

internal import DotEnv
internal import EnvOperations
internal import VercelAPI

/// What is said of a deployment that ended without being built.
enum DeploymentEnding {
    /// The failure; nil for one that was built, or has not ended.
    ///
    /// - Parameters:
    ///   - client: Asked why it was cancelled, which stands in the log alone.
    ///   - logIsShown: Whether the log was shown just before.
    static func failure(
        _ deployment: Deployment, _ client: VercelClient, logIsShown: Bool = false
    ) -> CommandError? {
        let (id, state) = (deployment.id, deployment.state)
        guard state.isFinal, state != .ready else { return nil }
        let words = deployment.errorMessage.map { CommandError.ending($0) }
        let unchanged = "What served before still does."
        switch state {
        case .canceled:
            if client.wasIgnored(deployment) == true {
                return CommandError(
                    .deploymentFailed,
                    "\(id) ended in CANCELED: the project's ignored-build step cancelled it, so nothing was built.",
                    hint:
                        "\(unchanged) The same commit would end the same: change the ignored-build step of the project, or deploy another commit."
                )
            }
            return CommandError(
                .deploymentFailed,
                "\(id) ended in CANCELED: "
                    + (words ?? "a user or the platform cancelled it, and nothing was built."),
                hint: "\(unchanged) Build it again with: zg-env redeploy \(word: id)")
        case .blocked:
            return CommandError(
                .deploymentFailed,
                "\(id) ended in BLOCKED: " + (words ?? "the platform did not let it be built."),
                hint:
                    "\(unchanged) Somebody with the rights must let it through on the platform, or deploy it themselves."
            )
        case .deleted:
            return CommandError(
                .deploymentFailed, "\(id) was deleted meanwhile.", hint: unchanged)
        default:
            let step = deployment.errorStep.map { " in \($0)" } ?? ""
            return CommandError(
                .deploymentFailed,
                "\(id) ended in \(state.rawValue)\(step): "
                    + (words ?? "the build failed."),
                hint: logIsShown
                    ? "\(unchanged) The log above has the reason."
                    : "\(unchanged) See why with: zg-env deployment logs \(word: id)")
        }
    }
}

internal import CommandLineKit
internal import EnvOperations
internal import VercelAPI

/// The error for a deployment that ended without being built.
enum DeploymentFailure {
    /// Returns the error, or nil for a deployment that was built or has not ended.
    ///
    /// - Parameters:
    ///   - client: Reads from the log why it was canceled.
    ///   - logIsShown: Whether the log was shown just before.
    static func failure(
        _ deployment: Deployment, _ client: VercelClient, logIsShown: Bool = false
    ) -> CommandError? {
        let (id, state) = (deployment.id, deployment.state)
        guard state.isFinal, state != .ready else { return nil }
        let words = deployment.errorMessage.map { CommandError.ending($0) }
        let unchanged = "The live deployment did not change."
        switch state {
        case .canceled:
            if client.wasIgnored(deployment) == true {
                return CommandError(
                    .deploymentFailed,
                    "\(id) ended in state CANCELED by the project's Ignored Build Step setting.",
                    hint:
                        "\(unchanged) Another build of this commit would be canceled too: change the project's Ignored Build Step setting, or deploy another commit."
                )
            }
            return CommandError(
                .deploymentFailed,
                "\(id) ended in state CANCELED: "
                    + (words ?? "a user or Vercel canceled it."),
                hint: "\(unchanged) Redeploy with: zg-env redeploy \(word: id)")
        case .blocked:
            return CommandError(
                .deploymentFailed,
                "\(id) ended in state BLOCKED: " + (words ?? "Vercel did not allow the build."),
                hint:
                    "\(unchanged) Someone with the required role must approve the deployment on Vercel, or deploy the same commit."
            )
        case .deleted:
            return CommandError(
                .deploymentFailed, "\(id) was deleted.", hint: unchanged)
        default:
            let step = deployment.errorStep.map { " in \($0)" } ?? ""
            return CommandError(
                .deploymentFailed,
                "\(id) ended in state \(state.rawValue)\(step): "
                    + (words ?? "the build failed."),
                hint: logIsShown
                    ? "\(unchanged) See the log above for the reason."
                    : "\(unchanged) See the reason with: zg-env deployment logs \(word: id)")
        }
    }
}

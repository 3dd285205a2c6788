package import VercelAPI

extension VercelWait {
    /// How a deployment ended.
    package enum DeploymentEnd: Equatable, Sendable {
        /// Built and in its final place: live for production, ready elsewhere.
        case live
        /// Built, but another deployment is live; with the reason, as far as known.
        case builtNotLive(String)
        /// Failed, canceled or blocked; with Vercel's message, if any.
        case failed(String)

        /// Creates the end of a deployment, or returns nil while it is in progress.
        ///
        /// - Parameter current: The id of the live deployment.
        package init?(of deployment: Deployment, current: String?) {
            let reason: String? =
                switch deployment.state {
                case let state where state.isFailed: "the build failed"
                case .canceled:
                    "Vercel canceled it, for example because of the Ignored Build Step setting"
                case .blocked: "Vercel blocked it"
                default: nil
                }
            if let reason {
                self = .failed(deployment.errorMessage ?? reason)
            } else if deployment.state != .ready {
                return nil
            } else if deployment.target != "production" || current == deployment.id {
                self = .live
            } else if let reason = deployment.aliasError {
                self = .builtNotLive("its domains could not be assigned: \(reason)")
            } else if deployment.isSettled {
                self = .builtNotLive(
                    deployment.substate == .staged
                        ? "it is staged, and another deployment is still live"
                        : "another deployment is live")
            } else {
                // A deployment is also staged while its domains are being assigned.
                return nil
            }
        }
    }

    /// Waits until a deployment is built and, if it is for production, live.
    ///
    /// - Parameters:
    ///   - project: Vercel's id of the project, which shows the live deployment.
    ///   - changed: Called for each new state.
    /// - Throws: Also the last temporary error, if the time limit was reached.
    package func deployment(
        _ deployment: Deployment, project: String, changed: (Deployment) -> Void
    ) throws(VercelAPIError) -> (deployment: Deployment, end: Waiting<DeploymentEnd>) {
        var seen = deployment
        changed(seen)
        var isKnown = true
        let end = try until(pause: Self.buildPause) {
            () throws(VercelAPIError) -> DeploymentEnd? in
            if !isKnown {
                let before = seen.state
                seen = try client.deployment(seen.id)
                if seen.state != before { changed(seen) }
            }
            isKnown = false
            let isForProduction = seen.state == .ready && seen.target == "production"
            let current = isForProduction ? try client.project(project).production?.id : nil
            return DeploymentEnd(of: seen, current: current)
        }
        return (seen, end)
    }

    /// Returns short pauses at first and longer ones for long builds.
    private static func buildPause(after spent: Duration) -> Duration {
        switch spent {
        case ..<(.seconds(5)): .milliseconds(500)
        case ..<(.seconds(15)): .seconds(1)
        case ..<(.seconds(60)): .seconds(5)
        case ..<(.seconds(300)): .seconds(15)
        default: .seconds(30)
        }
    }
}

package import VercelAPI

extension PlatformWait {
    /// How a deployment ended.
    package enum DeploymentEnd: Equatable, Sendable {
        /// Built, and what it should be: current for production, ready elsewhere.
        case live
        /// Built, and production still serves another one; why, as far as is known.
        case builtNotLive(String)
        /// Failed, cancelled or blocked; the platform's words, as far as it has some.
        case failed(String)

        /// How a deployment has ended; nil while it is under way.
        ///
        /// - Parameter current: The id of the deployment that serves production.
        package init?(of deployment: Deployment, current: String?) {
            let reason: String? =
                switch deployment.state {
                case let state where state.isFailed: "the build failed"
                case .canceled: "the platform cancelled it, as an ignored-build step does"
                case .blocked: "the platform blocked it"
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
                        ? "it is staged, and production still serves another deployment"
                        : "production serves another deployment")
            } else {
                // Staged is also what it is while its domains are still being set.
                return nil
            }
        }
    }

    /// Waits until a deployment is built, and serves production where it is for production.
    ///
    /// - Parameters:
    ///   - project: The platform's id; whether the deployment is current is asked there.
    ///   - changed: Told of each new state.
    /// - Throws: Also why the platform did not answer last, where the time was over by then.
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

    /// Often at first, seldom later: a build that takes long is not done sooner for being asked.
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

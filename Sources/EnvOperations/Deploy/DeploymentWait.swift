package import VercelAPI

/// Follows a deployment to its end: built, and serving production where it is for production.
package struct DeploymentWait {
    /// How it ended.
    package enum End: Equatable, Sendable {
        /// Built, and what it should be: current for production, ready elsewhere.
        case live
        /// Built, and production still serves another one; why, as far as is known.
        case builtNotLive(String)
        /// Failed, cancelled or blocked; the platform's words, as far as it has some.
        case failed(String)
        /// The time was over.
        case timedOut
        /// The caller asked to stop.
        case interrupted
    }

    private let client: VercelClient
    private let waitingRoom: any WaitingRoom
    private let limit: Duration
    private let changed: (Deployment) -> Void
    private let looked: (VercelAPIError?) -> Void

    /// - Parameters:
    ///   - limit: The longest time to wait; the deployment itself is left alone.
    ///   - changed: Told of each new state.
    ///   - looked: Told of each look: nil where the platform answered, else why not. Where asking later
    ///     may help the waiting goes on.
    package init(
        client: VercelClient, waitingRoom: any WaitingRoom, limit: Duration,
        changed: @escaping (Deployment) -> Void,
        looked: @escaping (VercelAPIError?) -> Void = { _ in }
    ) {
        self.looked = looked
        self.client = client
        self.waitingRoom = waitingRoom
        self.limit = limit
        self.changed = changed
    }

    /// Waits.
    ///
    /// - Parameter project: The platform's id; whether the deployment is current is asked there.
    /// - Throws: Also why the platform did not answer last, where the time was over by then.
    package func wait(
        for deployment: Deployment, project: String
    ) throws(VercelAPIError) -> (deployment: Deployment, end: End) {
        let start = waitingRoom.elapsed
        var seen = deployment
        changed(seen)
        var isKnown = true
        while true {
            var problem: VercelAPIError?
            do throws(VercelAPIError) {
                if !isKnown {
                    let before = seen.state
                    seen = try client.deployment(seen.id)
                    if seen.state != before { changed(seen) }
                }
                let end = try end(of: seen, project)
                looked(nil)
                if let end { return (seen, end) }
            } catch {
                guard error.isPassing else { throw error }
                problem = error
            }
            let spent = waitingRoom.elapsed - start
            guard spent < limit else {
                if let problem { throw problem }
                return (seen, .timedOut)
            }
            if let problem { looked(problem) }
            guard waitingRoom.wait(min(Self.pause(after: spent), limit - spent)) else {
                return (seen, .interrupted)
            }
            isKnown = false
        }
    }

    /// Often at first, seldom later: a build that takes long is not done sooner for being asked.
    private static func pause(after spent: Duration) -> Duration {
        switch spent {
        case ..<(.seconds(5)): .milliseconds(500)
        case ..<(.seconds(15)): .seconds(1)
        case ..<(.seconds(60)): .seconds(5)
        case ..<(.seconds(300)): .seconds(15)
        default: .seconds(30)
        }
    }

    private func end(
        of deployment: Deployment, _ project: String
    ) throws(VercelAPIError) -> End? {
        let isForProduction = deployment.state == .ready && deployment.target == "production"
        let current = isForProduction ? try client.project(project).production?.id : nil
        return Self.end(of: deployment, current: current)
    }

    /// How a deployment has ended; nil while it is under way.
    ///
    /// - Parameter current: The id of the deployment that serves production.
    package static func end(of deployment: Deployment, current: String?) -> End? {
        if deployment.state.isFailed {
            return .failed(deployment.errorMessage ?? "the build failed")
        }
        if deployment.state == .canceled {
            return .failed(
                deployment.errorMessage
                    ?? "the platform cancelled it, as an ignored-build step does")
        }
        if deployment.state == .blocked {
            return .failed(deployment.errorMessage ?? "the platform blocked it")
        }
        guard deployment.state == .ready else { return nil }
        guard deployment.target == "production" else { return .live }
        if current == deployment.id { return .live }
        if let reason = deployment.aliasError {
            return .builtNotLive("its domains could not be assigned: \(reason)")
        }
        // Staged is also what it is while its domains are still being set.
        guard deployment.isSettled else { return nil }
        return .builtNotLive(
            deployment.substate == .staged
                ? "it is staged, and production still serves another deployment"
                : "production serves another deployment")
    }
}

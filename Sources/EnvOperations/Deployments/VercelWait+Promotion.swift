internal import HTTPClient
package import VercelAPI

extension VercelWait {
    /// How a promotion or rollback ended.
    package enum PromotionEnd: Equatable, Sendable {
        /// Vercel reports success, and the project shows the deployment as live.
        case live
        /// Some domains did not move.
        case failed(domains: [String])
        /// Vercel skipped it, or does not show the deployment as live.
        case notLive(String)
        /// It waits for a gradual release.
        case queued
        /// It was unknown whether it had been requested, and Vercel shows no such request.
        case notAsked
        /// Another promotion or rollback was requested meanwhile, to this deployment.
        case overtaken(by: String)
        /// The time limit was reached.
        case timedOut(lastStatus: String)
        case interrupted
    }

    /// Waits until a deployment is live in `project`, which Vercel does asynchronously.
    ///
    /// - Parameters:
    ///   - before: The previous request, which is ignored.
    ///   - outcome: Vercel's response, which may be that the request is queued; nil if it was lost.
    ///   - changed: Called with each new status, in Vercel's words. The request exists by then.
    /// - Throws: Also the last temporary error, if the time limit was reached.
    package func promotion(
        of deployment: String, project: String, before: Project.AliasRequest?,
        outcome: PromotionOutcome?, changed: (String) -> Void = { _ in }
    ) throws(VercelAPIError) -> PromotionEnd {
        let start = waitingRoom.elapsed
        var last = ""
        let waiting = try until(pause: Self.promotionPause) {
            () throws(VercelAPIError) -> PromotionEnd? in
            let seen = try client.project(project, withRollbackInfo: true)
            // Reports the recovery before what the response contains.
            looked(nil)
            let request = seen.lastAliasRequest.flatMap { $0 == before ? nil : $0 }
            let isLive = seen.production?.id == deployment
            if outcome == nil, request == nil { return isLive ? .live : .notAsked }
            let status = request?.jobStatus.rawValue ?? "pending"
            if status != last {
                last = status
                changed(status)
            }
            guard let request else {
                if isLive { return .live }
                let isQueued =
                    outcome == .queued && waitingRoom.elapsed - start > .seconds(5)
                return isQueued ? .queued : nil
            }
            return end(of: request, for: deployment, isLive: isLive, project)
        }
        switch waiting {
        case .ended(let end): return end
        case .timedOut: return .timedOut(lastStatus: last)
        case .interrupted: return .interrupted
        }
    }

    private static func promotionPause(after spent: Duration) -> Duration {
        switch spent {
        case ..<(.seconds(5)): .milliseconds(250)
        case ..<(.seconds(30)): .seconds(1)
        default: .seconds(3)
        }
    }

    private func end(
        of request: Project.AliasRequest, for deployment: String, isLive: Bool, _ project: String
    ) -> PromotionEnd? {
        if let other = request.toDeploymentId, other != deployment {
            return .overtaken(by: other)
        }
        switch request.jobStatus {
        case .succeeded where !isLive:
            return .notLive("Vercel reports success, but another deployment is live")
        case .skipped where !isLive: return .notLive("Vercel skipped it")
        case .succeeded, .skipped: return .live
        case .failed:
            let aliases = try? client.promotionAliases(
                ofProject: project, failedOnly: true,
                kind: request.type == "rollback" ? .rollback : .promotion)
            return .failed(domains: (aliases ?? []).map(\.alias))
        default: return nil
        }
    }
}

package import VercelAPI

extension PlatformWait {
    /// How a promotion or rollback ended.
    package enum PromotionEnd: Equatable, Sendable {
        /// The platform says so, and the project shows the deployment as production's.
        case live
        /// Some domains stay where they were.
        case failed(domains: [String])
        /// The platform held it to be needless, or did not show the deployment as production's.
        case notLive(String)
        /// It waits for a gradual release.
        case queued
        /// Whether it was asked for was not known, and the platform shows no such request.
        case notAsked
        /// Somebody asked for another one meanwhile: which deployment is to serve now.
        case overtaken(by: String)
        /// The time was over.
        case timedOut(lastStatus: String)
        /// The caller asked to stop.
        case interrupted
    }

    /// Waits until a deployment serves production of `project`, which the platform does in its own time.
    ///
    /// - Parameters:
    ///   - before: The request that was there beforehand, which is not this one.
    ///   - outcome: What the platform answered; it may only have queued it. Nil where its answer was lost.
    ///   - changed: Told of each new status, in the platform's words; so the request is there.
    /// - Throws: Also why the platform did not answer last, where the time was over by then.
    package func promotion(
        of deployment: String, project: String, before: Project.AliasRequest?,
        outcome: PromotionOutcome?, changed: (String) -> Void = { _ in }
    ) throws(VercelAPIError) -> PromotionEnd {
        let start = waitingRoom.elapsed
        var last = ""
        let waiting = try until(pause: Self.promotionPause) {
            () throws(VercelAPIError) -> PromotionEnd? in
            let seen = try client.project(project, withRollbackInfo: true)
            // That it answers again is said before what it says.
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
            return .notLive("the platform says that it succeeded, but shows another deployment")
        case .skipped where !isLive: return .notLive("the platform skipped it")
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

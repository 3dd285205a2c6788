package import VercelAPI

/// Follows a promotion or rollback, which the platform does in its own time, to its end.
package struct PromotionWait {
    /// How it ended.
    package enum End: Equatable, Sendable {
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

    private let client: VercelClient
    private let waitingRoom: any WaitingRoom
    private let limit: Duration
    private let changed: (String) -> Void
    private let looked: (VercelAPIError?) -> Void

    /// - Parameters:
    ///   - limit: The longest time to wait; the platform goes on by itself.
    ///   - changed: Told of each new status, in the platform's words; so the request is there.
    ///   - looked: Told of each look: nil where the platform answered, else why not. Where asking later
    ///     may help the waiting goes on.
    package init(
        client: VercelClient, waitingRoom: any WaitingRoom, limit: Duration,
        changed: @escaping (String) -> Void,
        looked: @escaping (VercelAPIError?) -> Void = { _ in }
    ) {
        self.looked = looked
        self.client = client
        self.waitingRoom = waitingRoom
        self.limit = limit
        self.changed = changed
    }

    /// Waits until `deployment` serves production of `project`.
    ///
    /// - Parameters:
    ///   - before: The request that was there beforehand, which is not this one.
    ///   - outcome: What the platform answered; it may only have queued it. Nil where its answer was lost.
    /// - Throws: Also why the platform did not answer last, where the time was over by then.
    package func wait(
        for deployment: String, project: String, before: Project.AliasRequest?,
        outcome: PromotionOutcome?
    ) throws(VercelAPIError) -> End {
        let start = waitingRoom.elapsed
        var last = ""
        while true {
            var problem: VercelAPIError?
            var isAsked = true
            do throws(VercelAPIError) {
                let seen = try client.project(project, withRollbackInfo: true)
                looked(nil)
                let request = seen.lastAliasRequest.flatMap { $0 == before ? nil : $0 }
                isAsked = request != nil
                if outcome == nil, !isAsked {
                    return seen.production?.id == deployment ? .live : .notAsked
                }
                let status = request?.jobStatus.rawValue ?? "pending"
                if status != last {
                    last = status
                    changed(status)
                }
                if let end = end(of: request, for: deployment, in: seen) { return end }
            } catch {
                guard error.isPassing else { throw error }
                problem = error
            }
            let spent = waitingRoom.elapsed - start
            if outcome == .queued, !isAsked, spent > .seconds(5) { return .queued }
            guard spent < limit else {
                if let problem { throw problem }
                return .timedOut(lastStatus: last)
            }
            if let problem { looked(problem) }
            guard waitingRoom.wait(min(Self.pause(after: spent), limit - spent)) else {
                return .interrupted
            }
        }
    }

    private static func pause(after spent: Duration) -> Duration {
        switch spent {
        case ..<(.seconds(5)): .milliseconds(250)
        case ..<(.seconds(30)): .seconds(1)
        default: .seconds(3)
        }
    }

    private func end(
        of request: Project.AliasRequest?, for deployment: String, in project: Project
    ) -> End? {
        guard let request else {
            return project.production?.id == deployment ? .live : nil
        }
        if let other = request.toDeploymentId, other != deployment {
            return .overtaken(by: other)
        }
        switch request.jobStatus {
        case .succeeded:
            if project.production?.id == deployment { return .live }
            return .notLive("the platform says that it succeeded, but shows another deployment")
        case .failed:
            let aliases = try? client.promotionAliases(
                ofProject: project.id, failedOnly: true,
                kind: request.type == "rollback" ? .rollback : .promotion)
            return .failed(domains: (aliases ?? []).map(\.alias))
        case .skipped:
            if project.production?.id == deployment { return .live }
            return .notLive("the platform skipped it")
        default: return nil
        }
    }
}

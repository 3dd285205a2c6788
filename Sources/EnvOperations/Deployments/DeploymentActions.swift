internal import CommandLineKit
package import VercelAPI

/// Which actions are possible with a deployment, and why others are not.
package struct DeploymentActions: Sendable {
    /// How a deployment would be promoted.
    package enum Promotion: Equatable, Sendable {
        /// It was built for production: its domains move, without a build.
        case movesDomains
        /// It was built for another target: the same code is rebuilt with production's variables.
        case rebuildsFromSource
        /// It is already live.
        case isCurrent
        /// It cannot be promoted in its current state.
        case refused(Refusal)
    }

    /// Why an action is not possible, and the alternative.
    package struct Refusal: Error, Equatable, Sendable {
        /// The obstacle, without the deployment's name: "is still building".
        package let reason: String
        /// What to do instead: a sentence, or a command after a colon.
        package let instead: String

        package init(reason: String, instead: String) {
            self.reason = reason
            self.instead = instead
        }
    }

    private let deployment: Deployment
    private let isCurrent: Bool
    private var id: String { deployment.id }

    /// - Parameter current: The id of the live deployment; nil without one.
    package init(_ deployment: Deployment, current: String?) {
        self.deployment = deployment
        isCurrent = deployment.id == current
    }

    /// What `promote` would do.
    package var promotion: Promotion {
        if isCurrent { return .isCurrent }
        if let refusal = notReady { return .refused(refusal) }
        return deployment.target == "production" ? .movesDomains : .rebuildsFromSource
    }

    /// Why it cannot be promoted; nil if it can.
    package var promotionRefusal: Refusal? {
        switch promotion {
        case .movesDomains, .rebuildsFromSource: nil
        case .isCurrent:
            Refusal(reason: "is already live", instead: "There is nothing to do.")
        case .refused(let refusal): refusal
        }
    }

    /// Why production cannot be rolled back to it; nil if it can.
    package var rollbackRefusal: Refusal? {
        if isCurrent {
            return Refusal(
                reason: "is already live",
                instead: "Choose an earlier one: zg-env deployment list -t production")
        }
        if let refusal = notReady { return refusal }
        guard deployment.target == "production" else {
            return Refusal(
                reason: "was not built for production",
                instead: "Build it for production: zg-env deployment promote \(word: id)")
        }
        // If Vercel does not report it, only trying shows it.
        let hasServed =
            deployment.isRollbackCandidate ?? deployment.substate.map { $0 != .staged } ?? true
        if hasServed || deployment.substate == .promoted { return nil }
        return Refusal(
            reason: "has never been live",
            instead: "Promote it: zg-env deployment promote \(word: id)")
    }

    /// Why it cannot be canceled; nil if it can.
    package var cancellationRefusal: Refusal? {
        guard deployment.state.isFinal else { return nil }
        if deployment.state == .ready {
            return Refusal(
                reason: "is already built",
                instead: isCurrent
                    ? "Roll back to an earlier one: zg-env deployment rollback"
                    : "Delete it: zg-env deployment delete \(word: id)")
        }
        return Refusal(
            reason: "has already ended (\(deployment.state.rawValue))",
            instead: "There is nothing to cancel.")
    }

    /// Why it cannot be deleted; nil if it can.
    package var deletionRefusal: Refusal? {
        if isCurrent {
            return Refusal(
                reason: "is live",
                instead: "Make another one live first, with zg-env deployment promote or rollback.")
        }
        guard !deployment.state.isFinal else { return nil }
        return Refusal(
            reason: "is \(deployment.state.rawValue)",
            instead: "Cancel it first: zg-env deployment cancel \(word: id)")
    }

    private var notReady: Refusal? {
        if deployment.state == .ready { return nil }
        if !deployment.state.isFinal {
            return Refusal(
                reason: "has not been built yet (\(deployment.state.rawValue))",
                instead: "Wait for it: zg-env deployment logs \(word: id) --follow")
        }
        if deployment.state == .deleted {
            return Refusal(
                reason: "was deleted",
                instead: "Choose another one: zg-env deployment list")
        }
        return Refusal(
            reason: "ended in state \(deployment.state.rawValue) and cannot go live",
            instead: "Redeploy it: zg-env redeploy \(word: id)")
    }
}

internal import DotEnv
package import VercelAPI

/// What may be done with a deployment as it is, and why something may not. Computes only.
package struct DeploymentActions: Sendable {
    /// How a deployment becomes the one that serves production.
    package enum Promotion: Equatable, Sendable {
        /// It was built for production: its domains move to it, nothing is built.
        case movesDomains
        /// It was built for something else: the same code is built anew, with production's variables.
        case buildsAnew
        /// It serves production already.
        case isCurrent
        /// Not as it is.
        case refused(Refusal)
    }

    /// Why an action is not possible, and what is.
    package struct Refusal: Error, Equatable, Sendable {
        /// What is in the way, as a sentence without the deployment's name: "is still building".
        package let reason: String
        /// What to do instead: a sentence, or a command behind a colon.
        package let instead: String

        /// Names both.
        package init(reason: String, instead: String) {
            self.reason = reason
            self.instead = instead
        }
    }

    private let deployment: Deployment
    private let isCurrent: Bool
    private var id: String { deployment.id }

    /// - Parameter current: The id of the deployment that serves production; nil where none does.
    package init(_ deployment: Deployment, current: String?) {
        self.deployment = deployment
        isCurrent = deployment.id == current
    }

    /// What `promote` would do.
    package var promotion: Promotion {
        if isCurrent { return .isCurrent }
        if let refusal = notReady { return .refused(refusal) }
        return deployment.target == "production" ? .movesDomains : .buildsAnew
    }

    /// Why it cannot be promoted; nil where it can.
    package var promotionRefusal: Refusal? {
        switch promotion {
        case .movesDomains, .buildsAnew: nil
        case .isCurrent:
            Refusal(reason: "serves production already", instead: "There is nothing to do.")
        case .refused(let refusal): refusal
        }
    }

    /// Why production cannot go back to it; nil where it can.
    package var rollbackRefusal: Refusal? {
        if isCurrent {
            return Refusal(
                reason: "serves production already",
                instead: "Name an earlier one: zg-env deployment list -t production")
        }
        if let refusal = notReady { return refusal }
        guard deployment.target == "production" else {
            return Refusal(
                reason: "was not built for production",
                instead: "Build it for production with: zg-env deployment promote \(word: id)")
        }
        // What the platform does not say it is asked by trying.
        let hasServed =
            deployment.isRollbackCandidate ?? deployment.substate.map { $0 != .staged } ?? true
        if hasServed || deployment.substate == .promoted { return nil }
        return Refusal(
            reason: "has never served production",
            instead: "Make it live for the first time with: zg-env deployment promote \(word: id)")
    }

    /// Why it cannot be cancelled; nil where it can.
    package var cancellationRefusal: Refusal? {
        guard deployment.state.isFinal else { return nil }
        if deployment.state == .ready {
            return Refusal(
                reason: "is built already",
                instead: isCurrent
                    ? "Go back to an earlier one with: zg-env deployment rollback"
                    : "Delete it with: zg-env deployment delete \(word: id)")
        }
        return Refusal(
            reason: "has ended already, in \(deployment.state.rawValue)",
            instead: "There is nothing left to stop.")
    }

    /// Why it cannot be deleted; nil where it can.
    package var deletionRefusal: Refusal? {
        if isCurrent {
            return Refusal(
                reason: "serves production",
                instead: "Make another one live first: zg-env deployment promote or rollback.")
        }
        guard !deployment.state.isFinal else { return nil }
        return Refusal(
            reason: "is \(deployment.state.rawValue)",
            instead: "Stop it first with: zg-env deployment cancel \(word: id)")
    }

    private var notReady: Refusal? {
        if deployment.state == .ready { return nil }
        if !deployment.state.isFinal {
            return Refusal(
                reason: "is \(deployment.state.rawValue), not built yet",
                instead: "Wait for it with: zg-env deployment logs \(word: id) --follow")
        }
        if deployment.state == .deleted {
            return Refusal(
                reason: "was deleted",
                instead: "Choose another one: zg-env deployment list")
        }
        return Refusal(
            reason: "ended in \(deployment.state.rawValue), so there is nothing to serve",
            instead: "Build it again with: zg-env redeploy \(word: id)")
    }
}

package import Vault

/// The next action of a rotation. Projects are identified by their index in the plan.
package enum RotationAction: Hashable, Sendable {
    /// The value that a deployment should have.
    package enum Side: Hashable, Sendable {
        case new
        case old
    }

    /// Run the apply command with the new value.
    case apply
    /// Push the new value to Vercel and read it back.
    case push(Int)
    /// Create a deployment.
    case deploy(Int, Side)
    /// Wait until one of these deployments has ended.
    case follow([Int], Side)
    /// Promote a staged deployment.
    case promote(Int, Side)
    /// Read the variables that the deployment was built with.
    case read(Int, Side)
    case check(Int, Side)
    /// Revoke the old value.
    case revoke
    /// Determine whether the new value is live, and cancel unfinished builds.
    case survey(Int)
    /// Run the apply command with the old value.
    case undo
    /// Push the old value to Vercel again and read it back.
    case restoreOriginal(Int)
    /// Make the previous deployment live again, without a build.
    case restorePrevious(Int)
    /// Nothing is left to do.
    case end(RotationProgress.Outcome)

    /// The project of the action; nil for actions for all projects.
    package var member: Int? {
        switch self {
        case .push(let member), .deploy(let member, _), .promote(let member, _),
            .read(let member, _), .check(let member, _), .survey(let member),
            .restoreOriginal(let member),
            .restorePrevious(let member):
            member
        case .apply, .follow, .revoke, .undo, .end: nil
        }
    }

    /// The most parallel actions of this kind. Fewer checks run at once, because each may start a
    /// whole program.
    var parallelLimit: Int {
        if case .check = self { 8 } else { RotationMachine.buildLimit }
    }

    /// Whether a failure prevents the start of other actions of the group. When reverting, each
    /// project is brought as far as possible.
    var endsGroup: Bool {
        switch self {
        case .push, .deploy(_, .new), .promote(_, .new), .read(_, .new), .check(_, .new): true
        default: false
        }
    }
}

/// The result of an action.
package enum RotationResult: Equatable, Sendable {
    case done
    case failed(RotationProgress.Failure)
    /// It was not started because of an obstacle, and had no effect.
    case notBegun(RotationProgress.Failure)
    /// Vercel has a value that another person set and that is certainly not the new one. It stays.
    case keptOnVercel(RotationProgress.Failure)
    /// The deployment with that id was created.
    case created(String)
    /// The project's deployment is live.
    case live(Int)
    /// Another deployment, with that id, is live in the project and has the value too.
    case overtaken(Int, by: String)
    /// The project's deployment is staged and must be promoted.
    case staged(Int)
    /// The project's deployment ended in another way.
    case ended(Int, RotationProgress.Failure)
    /// What the deployment's variables prove.
    case evidence(RotationProgress.Evidence)
    /// Whether a deployment created since the start is live, and the id of ours if it was unknown.
    case surveyed(isLive: Bool, id: String?)
}

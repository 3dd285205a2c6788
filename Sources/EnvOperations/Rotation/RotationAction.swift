package import Vault

/// The next action of a rotation. Projects are identified by their index in the plan.
package enum RotationAction: Hashable, Sendable {
    /// The value that a deployment should have.
    package enum Side: Hashable, Sendable {
        case new
        case old
    }

    /// A step for all projects together.
    case stage(RotationPlan.Stage)
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
    /// Determine whether the new value is live, and cancel unfinished builds.
    case survey(Int)
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
            .restoreOriginal(let member), .restorePrevious(let member):
            member
        case .stage, .follow, .end: nil
        }
    }

    /// Where the progress records whether the action was begun and done; nil for an action that only
    /// reads.
    var step: WritableKeyPath<RotationProgress, RotationProgress.Step>? {
        switch self {
        case .stage(let stage): \.[stage]
        case .push(let member): \.members[member].push
        case .deploy(let member, let side): \.members[member][side].create
        case .promote(let member, let side): \.members[member][side].live
        case .check(let member, let side): \.members[member][side].check
        case .restoreOriginal(let member): \.members[member].restoreOriginal
        case .restorePrevious(let member): \.members[member].previous
        case .follow, .read, .survey, .end: nil
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

extension RotationProgress.Member {
    /// The deployment that should have the value of a side.
    package subscript(side: RotationAction.Side) -> RotationProgress.Build {
        get { side == .new ? build : revertBuild }
        set { if side == .new { build = newValue } else { revertBuild = newValue } }
    }
}

/// The result of an action. A project is identified by its index in the plan.
package enum RotationResult: Equatable, Sendable {
    case done
    case failed(RotationProgress.Failure)
    /// It was not started because of an obstacle, and had no effect.
    case notBegun(RotationProgress.Failure)
    /// Vercel has a value that another person set and that is certainly not the new one. It stays.
    case keptOnVercel(Int, RotationProgress.Failure)
    /// The deployment was created.
    case created(Int, RotationAction.Side, id: String)
    /// The deployment is live.
    case live(Int, RotationAction.Side)
    /// Another deployment, with that id, is live in the project and has the value too.
    case overtaken(Int, RotationAction.Side, by: String)
    /// The deployment is staged and must be promoted.
    case staged(Int, RotationAction.Side)
    /// The deployment ended in another way.
    case ended(Int, RotationAction.Side, RotationProgress.Failure)
    /// What the deployment's variables prove.
    case evidence(Int, RotationAction.Side, RotationProgress.Evidence)
    /// Whether a deployment created since the start is live, and the id of ours if it was unknown.
    case surveyed(Int, isLive: Bool, id: String?)
}

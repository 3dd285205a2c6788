package import Vault

/// The next thing that a rotation does. Projects are named by their place in the plan.
package enum RotationAction: Hashable, Sendable {
    /// Which value a deployment is to hold.
    package enum Side: Hashable, Sendable {
        case new
        case old
    }

    /// Teach the new value.
    case apply
    /// Bring the new value to the platform, and read it back.
    case push(Int)
    /// Make a deployment.
    case deploy(Int, Side)
    /// Wait until one of these deployments has come to an end.
    case follow([Int], Side)
    /// Promote a deployment that is built and staged.
    case promote(Int, Side)
    /// Read the variables that the deployment was built with.
    case read(Int, Side)
    /// Check the deployment.
    case check(Int, Side)
    /// End the old value.
    case revoke
    /// See whether the new value went live, and stop what is still being built.
    case survey(Int)
    /// Teach the old value again.
    case undo
    /// Bring the old value back to the platform, and read it back.
    case putBack(Int)
    /// Make the deployment of before current again, without a build.
    case restorePrevious(Int)
    /// Nothing is left to do.
    case end(RotationProgress.Outcome)

    /// The project that it is done in; nil for what is done for all of them.
    package var member: Int? {
        switch self {
        case .push(let member), .deploy(let member, _), .promote(let member, _),
            .read(let member, _), .check(let member, _), .survey(let member), .putBack(let member),
            .restorePrevious(let member):
            member
        case .apply, .follow, .revoke, .undo, .end: nil
        }
    }

    /// How many of this kind are done at the same time: of the user's commands fewer, which may each
    /// start a whole program.
    var parallelLimit: Int {
        if case .check = self { 8 } else { RotationMachine.buildLimit }
    }

    /// Tells whether others of its group are not to be begun any more once one has failed. On the way
    /// back each project is brought as far as it can be.
    var endsGroup: Bool {
        switch self {
        case .push, .deploy(_, .new), .promote(_, .new), .read(_, .new), .check(_, .new): true
        default: false
        }
    }
}

/// What came of an action.
package enum RotationResult: Equatable, Sendable {
    /// It was done.
    case done
    /// It failed.
    case failed(RotationProgress.Failure)
    /// It was not begun, since something was found in its way: nothing of it was done.
    case notBegun(RotationProgress.Failure)
    /// Vercel has a value that somebody else set, and provably not the new one: it is left there.
    case leftThere(RotationProgress.Failure)
    /// The deployment of that id was made.
    case created(String)
    /// The deployment of that project serves.
    case live(Int)
    /// Another deployment, of that id, serves that project, and holds the new value too.
    case overtaken(Int, by: String)
    /// The deployment of that project is staged, and is to be promoted.
    case staged(Int)
    /// The deployment of that project ended otherwise.
    case ended(Int, RotationProgress.Failure)
    /// What the deployment's variables say.
    case evidence(RotationProgress.Evidence)
    /// Whether a deployment made since the beginning serves, and which one was ours where that was
    /// not known.
    case surveyed(isLive: Bool, id: String?)
}

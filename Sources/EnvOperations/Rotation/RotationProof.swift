package import Vault

/// The strongest proof that a project has the value that a rotation left it with.
package enum RotationProof: String, CaseIterable, Sendable {
    /// Vercel shows the value that the deployment was built with.
    case deployment
    /// A check passed.
    case check
    case none
}

extension RotationEntry {
    /// - Parameter place: The index of a member of the plan.
    package func proof(of place: Int) -> RotationProof {
        let member = progress.members[place]
        let isBack = progress.direction == .backward
        let build = isBack ? member.revertBuild : member.build
        if build.evidence == (isBack ? .holdsOld : .holdsNew) { return .deployment }
        return build.check == .done ? .check : .none
    }
}

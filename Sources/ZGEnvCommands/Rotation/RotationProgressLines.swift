internal import EnvOperations
internal import Vault

/// Shows the progress of a rotation, with one line for each step.
struct RotationProgressLines {
    let workspace: Workspace
    let plan: RotationPlan

    /// Shows the result of a step.
    func tell(_ action: RotationAction, _ result: RotationResult?) {
        guard let result, let text = text(action, result) else { return }
        workspace.note(text)
    }

    private func text(_ action: RotationAction, _ result: RotationResult) -> String? {
        switch result {
        case .failed(let failure), .notBegun(let failure), .keptOnVercel(let failure):
            return "\(action.member.map { "\(project($0)): " } ?? "")\(failure.reason)."
        default: break
        }
        switch (action, result) {
        case (.apply, _): return "Installed the new value with --apply."
        case (.push(let member), _): return "\(project(member)): pushed."
        case (.deploy(let member, _), .created(let id)):
            return "\(project(member)): building \(id)."
        case (.promote(let member, _), .done): return "\(project(member)): promoted and live."
        case (_, .staged(let member)): return "\(project(member)): built and staged; promoting."
        case (_, .live(let member)): return "\(project(member)): live."
        case (_, .overtaken(let member, let id)):
            return "\(project(member)): live in \(id), a newer deployment."
        case (_, .ended(let member, let failure)): return "\(project(member)): \(failure.reason)."
        case (.read(let member, let side), .evidence(let evidence)):
            let retries = side == .new ? "; retrying with a different kind of build." : "."
            let finding =
                switch evidence {
                case .holdsNew: "the deployment has the new value."
                case .holdsOld: "the deployment has the old value\(retries)"
                case .isAbsent: "the deployment lacks the variable\(retries)"
                case .holdsOther: "the deployment has neither the old nor the new value."
                case .unreadable, .unknown: "the deployment's value cannot be read."
                }
            return "\(project(member)): \(finding)"
        case (.check(let member, _), _): return "\(project(member)): the check passed."
        case (.revoke, _): return "Revoked the old value."
        case (.undo, _): return "Restored the old value with --apply."
        case (.restoreOriginal(let member), _): return "\(project(member)): restored the old value."
        case (.restorePrevious(let member), _):
            return "\(project(member)): restored the previous deployment."
        default: return nil
        }
    }

    private func project(_ member: Int) -> String { plan.members[member].name }
}

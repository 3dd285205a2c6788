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
        case .failed(let failure), .notBegun(let failure), .keptOnVercel(_, let failure):
            return "\(action.member.map { "\(project($0)): " } ?? "")\(failure.reason)."
        case .created(let member, _, let id): return "\(project(member)): building \(id)."
        case .staged(let member, _): return "\(project(member)): built and staged; promoting."
        case .live(let member, _): return "\(project(member)): live."
        case .overtaken(let member, _, let id):
            return "\(project(member)): live in \(id), a newer deployment."
        case .ended(let member, _, let failure): return "\(project(member)): \(failure.reason)."
        case .evidence(let member, let side, let evidence):
            let retries = side == .new ? "; retrying with a different kind of build." : "."
            let finding =
                switch evidence {
                case .holdsNew: "the deployment has the new value."
                case .holdsOld: "the deployment has the old value\(retries)"
                case .isAbsent: "the deployment does not have the variable\(retries)"
                case .holdsOther: "the deployment has neither the old nor the new value."
                case .unreadable, .unknown: "the deployment's value cannot be read."
                }
            return "\(project(member)): \(finding)"
        case .surveyed: return nil
        case .done: break
        }
        switch action {
        case .stage(.apply): return "Installed the new value with --apply."
        case .stage(.revoke): return "Revoked the old value."
        case .stage(.undo): return "Restored the old value with --apply."
        case .push(let member): return "\(project(member)): pushed."
        case .promote(let member, _): return "\(project(member)): promoted and live."
        case .check(let member, _): return "\(project(member)): the check passed."
        case .restoreOriginal(let member): return "\(project(member)): restored the old value."
        case .restorePrevious(let member):
            return "\(project(member)): restored the previous deployment."
        case .deploy, .follow, .read, .survey, .end: return nil
        }
    }

    private func project(_ member: Int) -> String { plan.members[member].name }
}

internal import EnvOperations
internal import Vault

/// What people see of a rotation while it goes on: one line for each step.
struct RotationProgressLines {
    let workspace: Workspace
    let plan: RotationPlan

    /// Shows what a result says. What was done is done, whether or not anybody can be told.
    func tell(_ action: RotationAction, _ result: RotationResult?) {
        guard let result, let text = text(action, result) else { return }
        workspace.note(text)
    }

    private func text(_ action: RotationAction, _ result: RotationResult) -> String? {
        switch result {
        case .failed(let failure), .notBegun(let failure), .leftThere(let failure):
            return "\(action.member.map { "\(project($0)): " } ?? "")\(failure.reason)."
        default: break
        }
        switch (action, result) {
        case (.apply, _): return "The new value is accepted."
        case (.push(let member), _): return "\(project(member)): pushed."
        case (.deploy(let member, _), .created(let id)):
            return "\(project(member)): \(id) is being built."
        case (.promote(let member, _), .done): return "\(project(member)): promoted, and live."
        case (_, .staged(let member)): return "\(project(member)): built and staged; promoting it."
        case (_, .live(let member)): return "\(project(member)): live."
        case (_, .overtaken(let member, let id)):
            return "\(project(member)): live, by \(id), which was made meanwhile."
        case (_, .ended(let member, let failure)): return "\(project(member)): \(failure.reason)."
        case (.read(let member, let side), .evidence(let evidence)):
            switch (evidence, side) {
            case (.holdsNew, _): return "\(project(member)): it was built with the new value."
            case (.holdsOld, .new):
                return "\(project(member)): it was built with the old value; building it otherwise."
            case (.holdsOld, .old): return "\(project(member)): it was built with the old value."
            case (.lacksIt, .new):
                return
                    "\(project(member)): it was built without the variable; building it otherwise."
            case (.lacksIt, .old):
                return "\(project(member)): it was built without the variable."
            case (.holdsOther, _): return "\(project(member)): it was built with a third value."
            case (.unreadable, _), (.unknown, _):
                return "\(project(member)): what it was built with cannot be read."
            }
        case (.check(let member, _), _): return "\(project(member)): the check passed."
        case (.revoke, _): return "The old value is revoked."
        case (.undo, _): return "The old value is accepted again."
        case (.putBack(let member), _): return "\(project(member)): the old value is back."
        case (.restorePrevious(let member), _):
            return "\(project(member)): the deployment of before serves again."
        default: return nil
        }
    }

    private func project(_ member: Int) -> String { plan.members[member].name }
}

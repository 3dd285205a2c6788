internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// Reports the changes of an edited text, without values.
struct EditReport {
    let plan: EditPlan
    let values: EditableValues

    var lines: [String] {
        plan.steps.map { step in
            let verb =
                switch step.change {
                case .created: "create"
                case .updated: "update"
                case .removed: "remove"
                }
            let rest = step.left.map { "; keeps its value for \($0.description)" } ?? ""
            return "\(verb) \(step.key) for \(step.scope.description)\(rest)"
        }
    }

    func result(dryRun: Bool) -> CommandResult {
        var members: [JSONValue.Member] = [
            .init("project", .string(values.project.name)), .init("place", .string(values.title)),
            .init("created", json(.created)), .init("updated", json(.updated)),
            .init("removed", json(.removed)),
            .init("unchanged", .strings(plan.unchanged)),
        ]
        if dryRun { members.append(.init("dryRun", true)) }
        let text = dryRun ? DisplayText.lines(lines, after: "Would ") : ""
        return CommandResult(json: .object(members), text: text)
    }

    private func json(_ change: EditPlan.Change) -> JSONValue {
        .array(plan.steps(change).map { .entry($0.key, $0.scope) })
    }
}

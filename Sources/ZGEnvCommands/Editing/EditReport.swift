internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// Reports the changes of an edited text, without values.
struct EditReport {
    private let plan: EditPlan
    private let values: EditableValues

    init(_ plan: EditPlan, _ values: EditableValues) {
        self.plan = plan
        self.values = values
    }

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

    /// `{"project","place","created","updated","removed","unchanged"}`.
    func result(dryRun: Bool) -> CommandResult {
        var members: [JSONValue.Member] = [
            .init("project", .string(values.project.name)), .init("place", .string(values.title)),
            .init("created", .array(plan.steps(.created).map(Self.json))),
            .init("updated", .array(plan.steps(.updated).map(Self.json))),
            .init("removed", .array(plan.steps(.removed).map(Self.json))),
            .init("unchanged", .strings(plan.unchanged)),
        ]
        if dryRun { members.append(.init("dryRun", true)) }
        let text = dryRun ? DisplayText.lines(lines, after: "Would ") : ""
        return CommandResult(json: .object(members), text: text)
    }

    private static func json(_ step: EditPlan.Step) -> JSONValue {
        [
            "key": .string(step.key), "targets": .strings(step.scope.targets.names),
            "customEnvironments": .strings(step.scope.customEnvironments),
            "branch": .string(orNull: step.scope.branch),
        ]
    }
}

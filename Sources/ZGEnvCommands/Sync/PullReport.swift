internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// What a pull did to one project, in the forms of the contract.
struct PullReport {
    private let project: String
    private let isNew: Bool
    private let plan: PullPlan
    private let skipped: [RecordNote]
    /// Tells that it stopped after the plan.
    var isDryRun = false

    init(_ work: PullWork, _ finding: PullWork.Finding) {
        project = work.project.name
        isNew = work.isNew
        plan = finding.plan
        skipped = finding.skipped
    }

    /// Tells whether a local value would change or go, which is asked about.
    var needsAnswer: Bool {
        plan.conflicts.isEmpty && plan.steps.contains(where: \.changesLocalValue)
    }

    /// The plan for people, one line a change.
    var planLines: [String] {
        guard plan.conflicts.isEmpty else { return [] }
        return steps.map { step in
            let place = "\(step.key) for \(step.attributes.scope.description)"
            switch step.action {
            case .create: return "create \(place)"
            case .update(withValue: true): return "update \(place)\(Self.replaced(step))"
            case .update(withValue: false): return "update the scope, type or comment of \(place)"
            case .remove: return "remove \(place)"
            case .narrow:
                let name = step.formerName == nil ? nil : step.variable?.name
                return name.map { "give \($0) its name on Vercel back: \(place)" }
                    ?? "keep what is here of \(place) only"
            case .agree: return ""
            }
        }
    }

    /// Where the record was that gets other places, for the end of a line.
    private static func replaced(_ step: PullPlan.Step) -> String {
        guard let before = step.variable?.attributes.scope, before != step.attributes.scope else {
            return ""
        }
        return ", in place of the value for \(before.description)"
    }

    /// What changes; those that are only kept as seen are not.
    private var steps: [PullPlan.Step] { plan.steps.filter { $0.action != .agree } }

    // MARK: JSON

    /// The members of the result.
    var members: [JSONValue.Member] {
        func changed(_ isKind: (PullPlan.Action) -> Bool) -> JSONValue {
            guard plan.conflicts.isEmpty else { return [] }
            return .array(
                steps.filter { isKind($0.action) }.map {
                    JSONValue.entry($0.key, $0.attributes.scope)
                })
        }
        let same =
            plan.unchanged.map { JSONValue.entry($0.name, $0.attributes.scope) }
            + plan.steps.filter { $0.action == .agree && !$0.staysBehind }.map {
                JSONValue.entry($0.key, $0.attributes.scope)
            }
        var members: [JSONValue.Member] = [
            .init("project", .string(project)), .init("projectCreated", .bool(isMade)),
            .init("created", changed { if case .create = $0 { true } else { false } }),
            .init(
                "updated",
                changed {
                    switch $0 {
                    case .update, .narrow: true
                    case .create, .agree, .remove: false
                    }
                }),
            .init("deleted", changed { $0 == .remove }),
            .init("unchanged", .array(same)),
            .init(
                "ahead", .array(plan.ahead.map { JSONValue.entry($0.name, $0.attributes.scope) })),
            .init("conflicts", .entries(plan.conflicts)),
            .init("unreadable", .entries(plan.unreadable)),
            .init("skipped", .entries(skipped)), .init("compared", .bool(plan.compared)),
        ]
        if isDryRun { members.append(.init("dryRun", true)) }
        return members
    }

    private var isMade: Bool { isNew && plan.conflicts.isEmpty && !isDryRun }

    // MARK: Text

    /// The result for people.
    var text: String {
        func line(_ word: String, _ note: RecordNote) -> String {
            "\(DisplayText.padded(word, to: 11))\(DisplayText.safe(note.key)) "
                + "(\(DisplayText.safe(note.scope.description))): \(DisplayText.safe(note.reason))\n"
        }
        guard plan.conflicts.isEmpty else {
            return plan.conflicts.map { line("conflict", $0) }.joined()
        }
        var text = ""
        if isDryRun {
            text = planLines.map { "Would \(DisplayText.safe(sentence: $0))\n" }.joined()
        } else {
            for step in steps {
                let word =
                    switch step.action {
                    case .create: "created"
                    case .update, .agree, .narrow: "updated"
                    case .remove: "removed"
                    }
                text +=
                    "\(DisplayText.padded(word, to: 11))\(DisplayText.safe(step.key)) "
                    + "(\(DisplayText.safe(step.attributes.scope.description)))\n"
            }
        }
        if steps.isEmpty { text = "Nothing to pull.\n" }
        text += plan.unreadable.map { line("unreadable", $0) }.joined()
        text += skipped.map { line("skipped", $0) }.joined()
        return text
    }

    /// What the user should know beside the result.
    func warn(_ workspace: Workspace) throws {
        guard plan.conflicts.isEmpty else { return }
        for note in plan.empty {
            workspace.context.warn(
                "empty-value",
                "\(note.key) (\(note.scope.description)) has an empty value on the platform."
            )
        }
        if !plan.compared {
            workspace.note(
                "The values are locked, so nothing was compared: what the platform changed since it was last seen counts as updated."
            )
        }
    }

    // MARK: Failure

    /// What stopped it.
    var failure: CommandError? {
        guard let first = plan.conflicts.first else { return nil }
        return CommandError(
            .conflict,
            plan.conflicts.count == 1
                ? "\(first.key) of \(project) differs: \(first.reason)."
                : "\(plan.conflicts.count) variables of \(project) differ on both sides.",
            hint: "Nothing was changed. \(ConflictAdvice(plan.conflicts, project: project).text)")
    }
}

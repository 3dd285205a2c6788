internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

/// The result of a pull of one project, or its plan.
struct PullReport {
    private let project: String
    private let isNew: Bool
    private let plan: PullPlan
    private let skipped: [RecordNote]
    private let listed: ListedRecords
    /// The values from Vercel, by its ids.
    private let values: [String: SecretSlice]
    /// Whether a value in the vault would change or be removed, which needs confirmation. A
    /// conflict that the user decided needs no other.
    let needsAnswer: Bool
    /// Whether the pull stopped after the plan.
    var isDryRun = false

    init(_ work: PullWork, _ finding: PullWork.Finding) {
        project = work.project.name
        isNew = work.isNew
        plan = finding.plan
        skipped = finding.skipped
        listed = finding.listing.all
        values = finding.values
        needsAnswer = plan.steps.contains { step in
            step.changesLocalValue && !(step.variable.map(finding.isDecided) ?? false)
        }
    }

    /// The lines of the plan, as shown to the user.
    var planLines: [String] {
        steps.map { step in
            let place = "\(step.key) for \(step.attributes.scope.description)"
            switch step.action {
            case .create: return "create \(place)"
            case .update(withValue: true):
                return "update \(place)\(Self.replaced(step))\(Self.weaker(step))"
            case .update(withValue: false):
                return "update the scope, type or comment of \(place)\(Self.weaker(step))"
            case .remove: return "remove \(place)"
            case .narrow:
                let name = step.formerName == nil ? nil : step.variable?.name
                return name.map { "rename \($0) back to its name on Vercel: \(place)" }
                    ?? "limit \(step.key) in the vault to \(step.attributes.scope.description)"
            case .agree: return ""
            }
        }
    }

    /// Returns the end of a line for a record whose scope changes.
    private static func replaced(_ step: PullPlan.Step) -> String {
        guard let before = step.variable?.attributes.scope, before != step.attributes.scope else {
            return ""
        }
        return ", replacing the value for \(before.description)"
    }

    /// Returns the end of a line for a variable that is less protected on Vercel than in the vault.
    private static func weaker(_ step: PullPlan.Step) -> String {
        guard let before = step.variable?.attributes.kind,
            step.attributes.kind.strictness < before.strictness
        else { return "" }
        return "; " + WeakerType.clause(from: before, to: step.attributes.kind)
    }

    /// The steps that change something.
    private var steps: [PullPlan.Step] { plan.steps.filter { $0.action != .agree } }

    // MARK: JSON

    static let fields = """
        project: string; projectCreated: boolean (whether it is new in the vault)
        created, updated, deleted, unchanged, ahead, unlisted: [{ \(JSONValue.entryFields) }]
        conflicts: [{
            \(JSONValue.noteFields)
            vault: null | {
                version: number; removed: boolean
                updatedAt: number | null (in milliseconds since 1970)
            }
            vercel: null | {
                id: string; updatedAt: number | null (in milliseconds since 1970)
                updatedBy: string | null
            }
        }]
        unreadable, skipped: [{ \(JSONValue.noteFields) }]
        compared: boolean (whether values were compared); \(HiddenProduction.fields); dryRun?: true
        """

    var members: [JSONValue.Member] {
        func changed(_ isKind: (PullPlan.Action) -> Bool) -> JSONValue {
            .array(steps.filter { isKind($0.action) }.map(\.entry))
        }
        let same =
            plan.unchanged.map(\.entry)
            + plan.steps.filter { $0.action == .agree && !$0.staysBehind }.map(\.entry)
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
                "ahead",
                .array((plan.ahead + plan.kept.compactMap(\.variable)).map(\.entry))),
            .init("conflicts", .array(plan.conflicts.map(Self.json))),
            .init("unreadable", .entries(plan.unreadable)),
            .init("skipped", .entries(skipped)), .init("compared", .bool(plan.compared)),
            .init("unlisted", .array(plan.unlisted.map(\.entry))),
            HiddenProduction.member(listed),
        ]
        if isDryRun { members.append(.init("dryRun", true)) }
        return members
    }

    private var isMade: Bool { isNew && !isDryRun }

    /// Returns the entry of a conflict, with when and by whom each side was changed.
    private static func json(_ conflict: PullConflict) -> JSONValue {
        func time(_ value: UInt64?) -> JSONValue {
            .integer(orNull: value.map { Int64(clamping: $0) })
        }
        let variable = conflict.variable
        let vault: JSONValue =
            variable.map { variable in
                [
                    "version": .integer(Int64(clamping: variable.currentVersion)),
                    "removed": .bool(!variable.isLive),
                    "updatedAt": time(variable.deletedAt ?? variable.updatedAt),
                ]
            } ?? .null
        let vercel: JSONValue =
            conflict.record.map { record in
                [
                    "id": .string(record.id), "updatedAt": time(record.updatedAt),
                    "updatedBy": .string(orNull: record.updatedBy),
                ]
            } ?? .null
        let note = conflict.note
        return .object(
            [.init("key", .string(note.key))] + note.scope.members + [
                .init("reason", .string(note.reason)), .init("vault", vault),
                .init("vercel", vercel),
            ])
    }

    // MARK: Text

    var text: String {
        func line(_ word: String, _ note: RecordNote) -> String {
            "\(DisplayText.padded(word, to: 11))\(DisplayText.safe(note.key)) "
                + "(\(DisplayText.safe(note.scope.description))): \(DisplayText.safe(note.reason))\n"
        }
        var text = ""
        if isDryRun {
            text = DisplayText.lines(planLines, after: "Would ")
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
        if steps.isEmpty, plan.conflicts.isEmpty, plan.kept.isEmpty { text = "Nothing to pull.\n" }
        text += plan.kept.map {
            line(
                "kept",
                .init(
                    key: $0.note.key, scope: $0.note.scope,
                    reason: "the next push replaces Vercel's version"))
        }.joined()
        text += plan.conflicts.map { line("conflict", $0.note) }.joined()
        text += plan.unreadable.map { line("unreadable", $0) }.joined()
        text += skipped.map { line("skipped", $0) }.joined()
        return text
    }

    /// Shows warnings about empty and suspicious values, and about skipped comparisons.
    func warn(_ workspace: Workspace) throws {
        HiddenProduction.warn(listed, of: project, workspace.context)
        var suspicious = ValueReport()
        for step in plan.steps where step.takesValue {
            guard let value = step.record.flatMap({ values[$0.id] }), value.count > 0 else {
                continue
            }
            value.withBytes { suspicious.add($0, of: step.key, in: step.attributes.scope) }
        }
        try suspicious.finish(workspace)
        let weaker = steps.filter { !Self.weaker($0).isEmpty }.map(\.key)
        if !weaker.isEmpty {
            workspace.context.warn(
                "weaker-type",
                "Vercel protects these variables less than the vault did, and the vault now has Vercel's type: \(VariableName.list(weaker)). Replace values that were sensitive, or harden them again with: zg-env harden \(ConflictAdvice.words(weaker))-p \(word: project)"
            )
        }
        for note in plan.empty {
            workspace.context.warn(
                "empty-value",
                "\(note.key) (\(note.scope.description)) has an empty value on Vercel."
            )
        }
        if !plan.compared {
            workspace.note(
                "The values are locked, so they were not compared: every variable changed on Vercel since the last sync is reported as updated."
            )
        }
    }

    // MARK: Failure

    /// The error for conflicts.
    var failure: CommandError? {
        guard let first = plan.conflicts.first?.note else { return nil }
        let others =
            steps.isEmpty && plan.kept.isEmpty
            ? "Nothing was changed." : isDryRun ? "" : "The other changes were pulled."
        let advice = ConflictAdvice(plan.conflicts.map(\.note), project: project).text
        return CommandError(
            .conflict,
            plan.conflicts.count == 1
                ? "\(first.key) in \(project) has a conflict: \(first.reason)."
                : "\(plan.conflicts.count) variables in \(project) have conflicts.",
            hint: others.isEmpty ? advice : "\(others) \(advice)")
    }
}

internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault
internal import VercelAPI

/// The result of a push, or its plan.
struct PushReport {
    private let project: String
    /// Whether somebody can be asked, as `pull` does for each conflict.
    private let offersQuestions: Bool
    private var plan: PushPlan
    /// What was taken out of the plan, because Vercel would reject it.
    private var leftOut: [PushOutcome] = []
    /// The keys that Vercel would reject; the others of ``leftOut`` wait for them.
    private var rejected: [String] = []
    /// Records whose value is empty.
    private var empty: Set<Identifier> = []
    /// The outcome of each step; empty after a dry run or a conflict.
    var outcomes: [PushOutcome] = []
    /// Records without a step that somebody else changed while the rest was sent.
    var overtaken: [RecordNote] = []
    /// The changes that production gets with its next deployment, as far as the vault knows.
    var pending: PendingChanges?
    /// Whether the project has no live deployment, as far as the vault knows.
    var lacksProduction = false
    /// Whether the push stopped after the plan.
    var isDryRun = false
    /// The state of Vercel that the plan is based on.
    var reading: VercelReading?

    init(project: String, plan: PushPlan, offersQuestions: Bool) {
        self.offersQuestions = offersQuestions
        self.project = project
        self.plan = plan
    }

    /// Whether anything may have changed on Vercel.
    var hasSent: Bool { outcomes.contains(where: \.isSent) }

    /// The lines of the plan, as shown to the user.
    var planLines: [String] {
        let weakened = Dictionary(
            plan.weakened.compactMap { weakening in
                weakening.step.variable.map { ($0.id, weakening) }
            }, uniquingKeysWith: { first, _ in first })
        return plan.steps.map { step in
            var line = "\(Self.verb(step)) \(step.key) for \(step.attributes.scope.description)"
            if step.sendsValue, let id = step.variable?.id, empty.contains(id) {
                line += " with an empty value"
            }
            if let weakening = step.variable.flatMap({ weakened[$0.id] }), weakening.step == step {
                let clause = WeakerType.clause(
                    from: weakening.before, to: step.attributes.kind)
                line += ", which \(clause)"
            }
            return line
        }
    }

    /// The sentence about new variables that Vercel will show; nil without any.
    var readableNotice: String? {
        var notice = ReadableNotice()
        for step in plan.steps where step.action == .create && step.variable?.remote == nil {
            notice.add(step.key, step.attributes)
        }
        return notice.text {
            "to hide \($0), run: zg-env harden \(notice.words)-p \(word: project)"
        }
    }

    private var emptySteps: [PushPlan.Step] {
        plan.steps.filter { step in
            step.sendsValue && step.variable.map { empty.contains($0.id) } ?? false
        }
    }

    /// Warns of empty values where no plan is shown.
    func warnOfEmpty(_ context: Context) {
        let names = emptySteps.map(\.key)
        guard !names.isEmpty else { return }
        context.warn("empty-value", "Pushed with an empty value: \(VariableName.list(names)).")
    }

    /// Takes what Vercel would reject out of the plan.
    mutating func leaveOut(_ problems: PushProblems, of plan: inout PushPlan) {
        empty = problems.empty
        rejected = problems.keys.keys.sorted()
        leftOut =
            plan.leaveOut(Set(rejected)).map { step, reason in
                .leftOut(
                    step,
                    "left out: \(reason ?? problems.keys[step.key] ?? "its variable was left out")")
            } + plan.finalTypes.map { .keptSensitive($0) }
        self.plan = plan
    }

    /// Warns of variables that apply to more than the selected targets: each is one record on Vercel.
    func warnBeyondTargets(of rules: PushPlan.Rules, _ context: Context) {
        func list(_ records: [(key: String, scope: Scope)]) -> String {
            records.map { "\($0.key) (\($0.scope.description))" }.joined(separator: ", ")
        }
        let steps = isDryRun ? plan.steps : outcomes.filter(\.isSent).map(\.step)
        let wider = steps.filter { !rules.contains($0.attributes.scope) }
        if !wider.isEmpty {
            context.warn(
                "beyond-target",
                "These variables apply to more than the selected targets, and are pushed for all of them: \(list(wider.map { ($0.key, $0.attributes.scope) }))."
            )
        }
        guard !plan.spared.isEmpty else { return }
        context.warn(
            "not-pruned",
            "Not deleted, because they apply to other targets too: \(list(plan.spared.map { ($0.key, $0.attributes.scope) }))."
        )
    }

    private static func verb(_ step: PushPlan.Step) -> String {
        switch step.action {
        case .create: "create"
        case .update(_, let withValue): withValue ? "update" : "update the scope or type of"
        case .delete: "delete"
        }
    }

    static let fields = """
        project: string
        created, updated, deleted, unchanged, notLive, weakened, empty, unlisted: [{
            \(JSONValue.entryFields)
        }]
        conflicts, unverified, failed, managed: [{ \(JSONValue.noteFields) }]
        \(HiddenProduction.fields); dryRun?: true
        """

    /// Returns the result of the command.
    func result() -> CommandResult {
        var members: [JSONValue.Member] = [
            .init("project", .string(project)),
            .init("created", list { if case .create = $0 { true } else { false } }),
            .init("updated", list { if case .update = $0 { true } else { false } }),
            .init("deleted", list { if case .delete = $0 { true } else { false } }),
            .init("unchanged", unchanged),
            .init("conflicts", .entries(conflicts)), .init("unverified", outcomes.unverified),
            .init("failed", failed), .init("notLive", notLive),
            .init("weakened", .array(plan.weakened.map(\.step.entry))),
            .init("empty", .array(emptySteps.map(\.entry))),
            .init("unlisted", .array(plan.unlisted.map(\.entry))),
            .init("managed", .entries(plan.managed + plan.aside)),
        ]
        if let reading { members.append(HiddenProduction.member(reading.records)) }
        if isDryRun { members.append(.init("dryRun", true)) }
        return CommandResult(json: .object(members), text: text, failure: failure)
    }

    /// Returns the completed steps of one kind; for a dry run the planned ones.
    private func list(_ isKind: (PushPlan.Action) -> Bool) -> JSONValue {
        let steps = isDryRun ? plan.steps : outcomes.filter { !$0.isFailed }.map(\.step)
        return .array(steps.filter { isKind($0.action) }.map(\.entry))
    }

    private var unchanged: JSONValue {
        .array(
            plan.unchanged.filter { variable in
                !overtaken.contains {
                    $0.key == variable.name && $0.scope == variable.attributes.scope
                }
            }.map(\.entry))
    }

    /// The conflicts found before and during sending.
    private var conflicts: [RecordNote] {
        plan.conflicts + overtaken
            + outcomes.compactMap { outcome in
                guard case .conflict(let reason) = outcome.end else { return nil }
                return RecordNote(
                    key: outcome.step.key, scope: outcome.step.attributes.scope, reason: reason,
                    way: outcome.way)
            }
    }

    /// The steps that are not live in production yet.
    private var waiting: [PushOutcome] {
        guard let pending else { return [] }
        let ids = Set((pending.changed + pending.removed).map(\.id))
        return outcomes.filter { $0.step.variable.map { ids.contains($0.id) } ?? false }
    }

    /// Records that were removed from production only, or were never in the vault.
    private var leaving: [Variable] {
        let keys = Set(outcomes.filter { !$0.isFailed }.map(\.step.key))
        return (pending?.removed ?? []).filter { $0.isTrace && keys.contains($0.name) }
    }

    private var notLive: JSONValue {
        .array(waiting.map(\.step.entry) + leaving.map(\.entry))
    }

    /// The note that production needs a redeploy; nil if it does not.
    var remarkOnProduction: String? {
        // A failed re-creation after a deletion is not announced as a removal.
        let failed = Set(outcomes.filter(\.isFailed).map(\.step.key))
        let keys = Set(waiting.map(\.step.key) + leaving.map(\.name)).subtracting(failed).sorted()
        guard !keys.isEmpty else { return nil }
        let what =
            keys.count > 3
            ? "\(keys.count) of these changes" : "the change to \(keys.joined(separator: ", "))"
        return
            "Production gets \(what) with its next deployment. Redeploy with: \(redeploy)"
    }

    private var redeploy: String { "zg-env redeploy -p \(word: project)" }

    /// Says that production needs a redeploy, if it does: at a terminal in one line after the result.
    func noteNextStep(_ workspace: Workspace, after result: inout CommandResult) throws {
        if lacksProduction, outcomes.contains(where: Self.isNewInProduction) {
            return workspace.note(
                "Not live yet: \(project) has no production deployment. Its next one gets these variables."
            )
        }
        guard let remark = remarkOnProduction else { return }
        guard TerminalDevice.isTerminal(workspace.context.messages.descriptor) else {
            return workspace.note(remark)
        }
        try result.showText(workspace)
        workspace.note("Not live yet: \(redeploy)")
    }

    private static func isNewInProduction(_ outcome: PushOutcome) -> Bool {
        !outcome.isFailed && !outcome.step.isDeletion
            && outcome.step.attributes.scope.targets.contains(.production)
    }

    private var failed: JSONValue {
        (outcomes + leftOut).entries {
            if case .failed(let reason, _) = $0.end { reason } else { nil }
        }
    }

    private var text: String {
        func safe(_ text: String) -> String { DisplayText.safe(text) }
        func line(_ word: String, _ note: RecordNote) -> String {
            "\(word)  \(safe(note.key)) (\(safe(note.scope.description))): \(safe(note.reason))\n"
        }
        if !plan.conflicts.isEmpty {
            return plan.conflicts.map {
                let word = if case .pulling = $0.way { "behind  " } else { "conflict" }
                return line(word, $0)
            }.joined()
        }
        if isDryRun {
            let left = leftOut.compactMap { outcome -> String? in
                guard case .failed(let reason, _) = outcome.end else { return nil }
                return
                    "\(outcome.step.key) (\(outcome.step.attributes.scope.description)) \(reason)"
            }
            let managed = plan.managed.map {
                "\($0.key) (\($0.scope.description)) is left out: \($0.reason)"
            }
            return planLines.isEmpty && left.isEmpty && managed.isEmpty
                ? "Nothing to push.\n"
                : (planLines.map { "Would \($0)" } + left + managed
                    + [readableNotice].compactMap(\.self)).map {
                        "\(DisplayText.safe(sentence: $0))\n"
                    }.joined()
        }
        let outcomes = outcomes + leftOut
        let managed = (plan.managed + plan.aside).map { line("managed ", $0) }.joined()
        if outcomes.isEmpty && plan.managed.isEmpty { return managed + "Nothing to push.\n" }
        return overtaken.map { line("conflict", $0) }.joined() + managed
            + outcomes.map { outcome in
                let what =
                    "\(safe(outcome.step.key)) (\(safe(outcome.step.attributes.scope.description)))"
                switch outcome.end {
                case .verified: return "\(Self.done(outcome.step))  \(what)\n"
                case .unverified(let reason):
                    return "\(Self.done(outcome.step))  \(what): \(reason)\n"
                case .conflict(let reason): return "conflict  \(what): \(safe(reason))\n"
                case .failed(let reason, _): return "failed    \(what): \(safe(reason))\n"
                }
            }.joined()
    }

    private static func done(_ step: PushPlan.Step) -> String {
        switch step.action {
        case .create: "created "
        case .update: "updated "
        case .delete: "deleted "
        }
    }

    /// Whether there are no steps and no conflicts.
    var isInSync: Bool {
        plan.steps.isEmpty && plan.conflicts.isEmpty && leftOut.isEmpty && plan.managed.isEmpty
    }

    /// Whether conflicts stopped the push before anything was sent.
    var isUnsent: Bool { !conflicts.isEmpty && !hasSent }

    /// What was sent despite the conflicts, as a sentence.
    private var sentSummary: String {
        guard hasSent else { return "Nothing was sent." }
        return outcomes.contains { !$0.isFailed }
            ? "The other changes were applied."
            : "The changes that were sent may have been overwritten."
    }

    /// The error if not everything was done, else nil.
    var failure: CommandError? {
        let failures = outcomes.filter(\.isFailed)
        let conflicts = conflicts
        let keyCount = Set(conflicts.map(\.key)).count
        if !conflicts.isEmpty, failures.allSatisfy(\.isConflict) {
            return CommandError(
                .conflict,
                keyCount == 1
                    ? "\(conflicts[0].key): \(CommandError.ending(conflicts[0].reason))"
                    : "\(keyCount) variables on Vercel differ from what this vault last saw.",
                hint:
                    "\(sentSummary) \(ConflictAdvice(conflicts, project: project, offersQuestions: offersQuestions).text)"
            )
        }
        guard !failures.isEmpty else { return leftOutFailure ?? managedFailure }
        let code = failures.exitCode
        return CommandError(
            code,
            "\(failures.count) of \(outcomes.count) changes failed. \(Self.sentence(failures))",
            hint: hint(failures, code, conflicts))
    }

    /// The error if only what integrations manage was not sent, else nil.
    private var managedFailure: CommandError? {
        guard let first = plan.managed.first else { return nil }
        let others = Set(plan.managed.map(\.key)).count - 1
        let sent = outcomes.isEmpty ? "Nothing was sent." : "The other changes were applied."
        return CommandError(
            .conflict,
            "\(first.key)\(others == 0 ? "" : " and \(others) more") was not sent: \(first.reason).",
            hint: "\(sent) \(ConflictAdvice(plan.managed, project: project).text)")
    }

    /// The error if nothing but what was left out failed, else nil.
    private var leftOutFailure: CommandError? {
        guard let first = leftOut.first else { return nil }
        let keys = Set(leftOut.map(\.step.key)).sorted()
        let reason = if case .failed(let reason, _) = first.end { reason } else { "" }
        let isNothingSent = !hasSent
        let forced = leftOut.filter(\.isForcedSensitive)
        if !forced.isEmpty, rejected.isEmpty {
            return CommandError(
                .failed, "\(first.step.key): \(CommandError.ending(reason))",
                hint:
                    "\(isNothingSent ? "Nothing was sent." : "The other changes were applied.") \(advice(onForced: forced.map(\.step)))"
            )
        }
        return CommandError(
            .failed,
            "\(keys.count == 1 ? "1 variable was" : "\(keys.count) variables were") not sent. \(first.step.key): \(CommandError.ending(reason))",
            hint:
                "\(isNothingSent ? "Nothing was sent." : "The other changes were applied.") To push without \(keys.count == 1 ? "it" : "them"), name the others: zg-env push KEY... -p \(word: project). Or remove \(VariableName.list(rejected)) with: zg-env rm \(ConflictAdvice.words(rejected))-p \(word: project)"
        )
    }

    /// Returns the reason of the first failure.
    private static func sentence(_ failures: [PushOutcome]) -> String {
        let first = failures.first { !$0.isConflict }
        guard let first, case .failed(let reason, _) = first.end else { return "" }
        return "\(first.step.key): \(CommandError.ending(reason))"
    }

    /// Returns the ways out for variables that Vercel keeps sensitive; pushing again does not help.
    private func advice(onForced steps: [PushPlan.Step]) -> String {
        let keys = RejectionAdvice.keys(of: steps)
        let step = steps[0]
        let place = "-p \(word: project)"
        let accepting =
            "Vercel keeps \(steps.count == 1 ? "it" : "them") sensitive. Make \(steps.count == 1 ? "it" : "them") sensitive in the vault too, and push again, with: zg-env harden \(keys) \(place)."
        let removing =
            "Or remove it with: zg-env rm \(word: step.key) \(place)\(step.attributes.scope.optionText) --push"
        // A new variable would be made sensitive again.
        guard case .update = step.action else { return "\(accepting) \(removing)" }
        return
            "\(accepting) Or delete it on Vercel and create it again as readable with: zg-env push \(keys) \(place) --force --allow-weaker. \(removing)"
    }

    /// The command that pushes the rest.
    private var again: String { "zg-env push -p \(word: project)" }

    private func hint(
        _ failures: [PushOutcome], _ code: ExitCode, _ conflicts: [RecordNote]
    ) -> String {
        let rest = failures.count < outcomes.count ? "The other changes were applied. " : ""
        let forced = failures.filter(\.isForcedSensitive)
        if !forced.isEmpty, code == .failed { return rest + advice(onForced: forced.map(\.step)) }
        if code == .unauthorized, let remedy = failures.first?.error?.hint {
            return "\(rest)First \(remedy), then push again: \(again)"
        }
        if code == .conflict {
            let notes = failures.map {
                RecordNote(
                    key: $0.step.key, scope: $0.step.attributes.scope, reason: "", way: $0.way)
            }
            return "\(rest)\(ConflictAdvice(notes, project: project).text)"
        }
        if let advice = RejectionAdvice(failures, project: project) { return rest + advice.text }
        if let wait = failures.first?.error?.wait {
            return "\(rest)Wait \(wait), then push again: \(again)"
        }
        let advice =
            conflicts.isEmpty ? "" : ". Then: " + ConflictAdvice(conflicts, project: project).text
        return "\(rest)Push the rest with: \(again)\(advice)"
    }
}

extension [PushOutcome] {
    /// Returns an entry for each outcome that has a reason.
    func entries(_ reason: (PushOutcome) -> String?) -> JSONValue {
        .array(
            compactMap { outcome in
                reason(outcome).map {
                    .entry(outcome.step.key, outcome.step.attributes.scope, $0)
                }
            })
    }

    /// The changes that were sent and could not be read back.
    var unverified: JSONValue {
        entries { if case .unverified(let reason) = $0.end { reason } else { nil } }
    }

    /// The exit code for these failures: that of their common cause if a script can act on it.
    var exitCode: ExitCode {
        let codes = Set(
            map { outcome -> ExitCode in
                if case .conflict = outcome.end { return .conflict }
                guard let error = outcome.error else { return .failed }
                if error.code == .conflict, !error.isExistingVariable { return .failed }
                return CommandError(mapping: error).code
            })
        guard codes.count == 1, let only = codes.first else { return .failed }
        return [.unauthorized, .unavailable, .conflict].contains(only) ? only : .failed
    }
}

extension PushOutcome {
    /// Whether Vercel has the variable as sensitive and the vault does not.
    fileprivate var isForcedSensitive: Bool {
        guard step.attributes.kind != .sensitive else { return false }
        switch step.action {
        case .delete: return false
        case .create: return self.record?.attributes.kind == .sensitive
        case .update:
            return (self.record?.attributes ?? step.variable?.remote?.agreed)?.kind == .sensitive
        }
    }
}

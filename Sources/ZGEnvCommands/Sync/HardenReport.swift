internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// The result of `harden`, or its plan.
struct HardenReport {
    /// The project's name in the vault.
    let project: String
    /// The records to make sensitive.
    var items: [HardeningPlan.Candidate] = []
    /// The records left as they are.
    var omissions: [RecordNote] = []
    /// Variables that stay readable because their names make them public.
    var publicNames: [String] = []
    /// Variables that integrations manage.
    var managed: [String] = []
    /// Readable parts split off by earlier runs and not yet sent.
    var leftovers: [Variable] = []
    /// Records made sensitive by an earlier run whose value may not have arrived.
    var unconfirmed: [HardeningPlan.Candidate] = []
    /// Records to make sensitive in the vault, because Vercel has or requires them so.
    var declared: [HardeningPlan.Declaration] = []
    /// The outcome of each request; nil after a dry run.
    var outcomes: [PushOutcome]?
    /// The error that stopped the push as a whole.
    var sendingFailure: CommandError?
    /// Whether production has a deployment to redeploy.
    var isLive = false

    var isDone: Bool { outcomes?.isEmpty == false }
    var isDryRun: Bool { outcomes == nil }

    /// The lines of the plan, as shown to the user.
    var planLines: [String] {
        func readable(_ key: String, _ rest: Scope) -> [String] {
            rest.isEmpty
                ? [] : ["keep \(key) readable for \(rest.description), as a separate variable"]
        }
        return items.flatMap { item in
            let key = item.record.key
            return (item.lacksValue ? ["pull the value of \(key) into the vault"] : [])
                + ["make \(key) sensitive for \(item.hardened.description)"]
                + readable(key, item.rest)
        }
            + declared.flatMap { item in
                let key = item.variable.name
                return [
                    "make \(key) sensitive for \(item.hardened.description) in the vault too, and push it"
                ] + readable(key, item.rest)
            }
            + unconfirmed.map {
                "push \($0.record.key) for \($0.hardened.description) again: it may not have reached Vercel"
            } + leftovers.map { "push \($0.name) for \($0.attributes.scope.description)" }
            + omissions.map {
                "leave \($0.key) for \($0.scope.description) readable: \($0.reason)"
            }
    }

    static let fields = """
        project: string; hardened, readable: [{ \(JSONValue.entryFields) }]
        takenIn: [{ \(JSONValue.entryFields) }] (values that the vault did not have)
        left, unverified, failed: [{ \(JSONValue.noteFields) }]; public, managed: [string]
        dryRun?: true
        """

    /// Returns the result of the command.
    func result() -> CommandResult {
        let isPlan = isDryRun
        let done = (outcomes ?? []).filter { !$0.isFailed }
        func entries(_ isSensitive: Bool) -> JSONValue {
            .array(
                done.filter { ($0.step.attributes.kind == .sensitive) == isSensitive }
                    .map(\.step.entry))
        }
        let rests =
            items.map { ($0.record.key, $0.rest) } + declared.map { ($0.variable.name, $0.rest) }
        var members: [JSONValue.Member] = [
            .init("project", .string(project)),
            .init(
                "hardened",
                isPlan
                    ? .array(
                        (items + unconfirmed).map { JSONValue.entry($0.record.key, $0.hardened) }
                            + declared.map { JSONValue.entry($0.variable.name, $0.hardened) })
                    : entries(true)),
            .init(
                "readable",
                isPlan
                    ? .array(
                        rests.filter { !$1.isEmpty }.map { JSONValue.entry($0, $1) }
                            + leftovers.map(\.entry))
                    : entries(false)),
            .init(
                "takenIn",
                .array(
                    items.filter(\.lacksValue).map {
                        JSONValue.entry($0.record.key, $0.record.attributes.scope)
                    })),
            .init("left", .entries(omissions)), .init("public", .strings(publicNames)),
            .init("managed", .strings(managed)),
            .init("unverified", (outcomes ?? []).unverified),
            .init("failed", (outcomes ?? []).entries(\.failureReason)),
        ]
        if isPlan { members.append(.init("dryRun", true)) }
        return CommandResult(json: .object(members), text: text, failure: failure)
    }

    private var text: String {
        guard let outcomes else {
            return
                (planLines.isEmpty
                ? "Nothing to harden.\n"
                : DisplayText.lines(planLines, after: "Would ")) + leftLines
        }
        let left =
            omissions.map {
                let scope = DisplayText.safe($0.scope.description)
                return "left       \(DisplayText.safe($0.key)) (\(scope)): \($0.reason)\n"
            }.joined() + leftLines
        if outcomes.isEmpty { return left.isEmpty ? "Nothing to harden.\n" : left }
        return outcomes.map { outcome in
            let scope = DisplayText.safe(outcome.step.attributes.scope.description)
            let what = "\(DisplayText.safe(outcome.step.key)) (\(scope))"
            let isSensitive = outcome.step.attributes.kind == .sensitive
            switch outcome.end {
            case .failed(let reason, _): return "failed     \(what): \(DisplayText.safe(reason))\n"
            case .conflict(let reason): return "conflict   \(what): \(DisplayText.safe(reason))\n"
            case .verified: return "\(isSensitive ? "sensitive" : "readable ")  \(what)\n"
            case .unverified(let reason):
                return "\(isSensitive ? "sensitive" : "readable ")  \(what): \(reason)\n"
            }
        }.joined() + left
    }

    /// A line each about what a public name keeps readable and what is left to integrations.
    private var leftLines: String {
        [
            (publicNames, "Readable, because the prefix of the name makes the value public"),
            (managed, "Left to the integration that manages it"),
        ].filter { !$0.0.isEmpty }.map {
            "\($0.1): \(DisplayText.safe(VariableName.list($0.0)))\n"
        }.joined()
    }

    private var failure: CommandError? {
        if let sendingFailure { return sendingFailure }
        let failed = (outcomes ?? []).filter(\.isFailed)
        if let first = failed.first, let reason = first.failureReason {
            // Records left readable for another reason are a second cause.
            return CommandError(
                omissions.isEmpty ? failed.exitCode : .failed,
                "\(failed.count) of \(outcomes?.count ?? 0) changes failed. \(first.step.key): \(CommandError.ending(reason))",
                hint: "The values are in the vault. "
                    + (RejectionAdvice(failed, project: project)?.text
                        ?? "Run the command again to finish the rest."))
        }
        guard let first = omissions.first else { return nil }
        return CommandError(
            isDone ? .failed : .conflict,
            omissions.count == 1
                ? "\(first.key) was not hardened: \(first.reason)."
                : "\(omissions.count) variables were not hardened. \(first.key): \(first.reason).",
            hint: advice)
    }

    /// The commands that sync both sides, and then harden the rest.
    private var advice: String {
        let place = "-p \(word: project)"
        var (pushed, hardened): ([String], [String]) = ([], [])
        var sentences: [String] = []
        for note in omissions {
            var name = note.key
            switch note.way {
            // Vercel did not show the value this time.
            case .sending: break
            case .managed:
                sentences.append(ConflictAdvice.rotatingIntegration)
                continue
            case .value:
                sentences.append(
                    "Set a value with: zg-env set \(word: name) \(place)\(note.scope.optionText) --push."
                )
            case .together(let other, _):
                name = other
                fallthrough
            default: pushed.append(name)
            }
            hardened.append(name)
        }
        if !pushed.isEmpty {
            sentences.append(
                "First run: zg-env push \(ConflictAdvice.words(pushed))\(place) (this push does not overwrite changes on Vercel)."
            )
        }
        if hardened.isEmpty { return sentences.unique(by: \.self).joined(separator: " ") }
        let again = "zg-env harden \(ConflictAdvice.words(hardened))\(place)"
        return sentences.isEmpty
            ? "Run again: \(again)"
            : sentences.joined(separator: " ") + " Then run: \(again)"
    }
}

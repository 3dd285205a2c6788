internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Vault

/// What `harden` did, or would do.
struct HardenReport {
    /// The project's name in the vault.
    let project: String
    /// What becomes sensitive.
    var items: [HardeningPlan.Candidate] = []
    /// What was left as it is.
    var omissions: [RecordNote] = []
    /// Readable parts of earlier runs that were not sent then.
    var leftovers: [Variable] = []
    /// What an earlier run made sensitive without learning whether the value arrived.
    var unconfirmed: [HardeningPlan.Candidate] = []
    /// What becomes sensitive in the vault, as Vercel has it already or wants it.
    var declared: [HardeningPlan.Declaration] = []
    /// What became of each request; nil after a dry run, and where nothing was to do.
    var outcomes: [PushOutcome]?
    /// What stopped the sending as a whole.
    var sendingFailure: CommandError?
    /// Whether production has a deployment that could be built anew.
    var isLive = false

    /// Whether anything was sent.
    var isDone: Bool { outcomes?.isEmpty == false }

    /// The plan for people, one line a step.
    var planLines: [String] {
        items.flatMap { item in
            var lines: [String] = []
            if item.lacksValue {
                lines.append("take the value of \(item.record.key) into the vault")
            }
            lines.append("make \(item.record.key) sensitive for \(item.hardened.description)")
            if !item.rest.isEmpty {
                lines.append(
                    "keep \(item.record.key) readable for \(item.rest.description), as a record of its own"
                )
            }
            return lines
        }
            + declared.flatMap { item in
                let key = item.variable.name
                return [
                    "make \(key) sensitive for \(item.hardened.description) in the vault too, and send it"
                ]
                    + (item.rest.isEmpty
                        ? []
                        : [
                            "keep \(key) readable for \(item.rest.description), as a record of its own"
                        ])
            }
            + unconfirmed.map {
                "send \($0.record.key) for \($0.hardened.description) again: it may not have arrived"
            } + leftovers.map { "send \($0.name) for \($0.attributes.scope.description)" }
            + omissions.map {
                "leave \($0.key) for \($0.scope.description) readable: \($0.reason)"
            }
    }

    /// The result as a command gives it back.
    func result() -> CommandResult {
        let isPlan = outcomes == nil
        let done = (outcomes ?? []).filter { !$0.isFailed }
        func entries(_ isSensitive: Bool) -> JSONValue {
            .array(
                done.filter { ($0.step.attributes.kind == .sensitive) == isSensitive }
                    .map { JSONValue.entry($0.step.key, $0.step.attributes.scope) })
        }
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
                        items.filter { !$0.rest.isEmpty }.map {
                            JSONValue.entry($0.record.key, $0.rest)
                        }
                            + declared.filter { !$0.rest.isEmpty }.map {
                                JSONValue.entry($0.variable.name, $0.rest)
                            }
                            + leftovers.map { JSONValue.entry($0.name, $0.attributes.scope) })
                    : entries(false)),
            .init(
                "takenIn",
                .array(
                    items.filter(\.lacksValue).map {
                        JSONValue.entry($0.record.key, $0.record.attributes.scope)
                    })),
            .init(
                "left", .entries(omissions)),
            .init(
                "unverified",
                .array(
                    (outcomes ?? []).compactMap { outcome in
                        guard case .unverified(let reason) = outcome.end else { return nil }
                        return JSONValue.entry(
                            outcome.step.key, outcome.step.attributes.scope, reason)
                    })),
            .init(
                "failed",
                .array(
                    (outcomes ?? []).compactMap { outcome in
                        guard let reason = outcome.failureReason else { return nil }
                        return JSONValue.entry(
                            outcome.step.key, outcome.step.attributes.scope, reason)
                    })),
        ]
        if isPlan { members.append(.init("dryRun", true)) }
        return CommandResult(json: .object(members), text: text, failure: failure)
    }

    private var text: String {
        guard let outcomes else {
            return planLines.isEmpty
                ? "Nothing to harden.\n"
                : planLines.map { "Would \(DisplayText.safe(sentence: $0))\n" }.joined()
        }
        let left = omissions.map {
            "left       \(DisplayText.safe($0.key)) (\($0.scope.description)): \($0.reason)\n"
        }.joined()
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

    private var failure: CommandError? {
        if let sendingFailure { return sendingFailure }
        let failed = (outcomes ?? []).filter(\.isFailed)
        if let first = failed.first, let reason = first.failureReason {
            // What was left readable for a reason of its own is a further cause.
            return CommandError(
                omissions.isEmpty ? failed.exitCode : .failed,
                "\(failed.count) of \(outcomes?.count ?? 0) changes failed. \(first.step.key): \(CommandError.ending(reason))",
                hint: "The values are in the vault. "
                    + (RefusalAdvice(failed, project: project)?.text
                        ?? "Run it again: it does what is left."))
        }
        guard let first = omissions.first else { return nil }
        return CommandError(
            isDone ? .failed : .conflict,
            omissions.count == 1
                ? "\(first.key) was left as it is: \(first.reason)."
                : "\(omissions.count) variables were left as they are. \(first.key): \(first.reason).",
            hint: advice)
    }

    /// The commands that bring both sides in step, and then make the rest sensitive.
    private var advice: String {
        let place = "-p \(word: project)"
        var (pushed, hardened): ([String], [String]) = ([], [])
        var sentences: [String] = []
        for note in omissions {
            var name = note.key
            switch note.way {
            // Vercel did not show it this time.
            case .sending: break
            case .value:
                sentences.append(
                    "Give it a value with: zg-env set \(word: name) \(place)\(note.scope.optionText) --push."
                )
            case .together(let other, _):
                name = other
                fallthrough
            default: if !pushed.contains(name) { pushed.append(name) }
            }
            if !hardened.contains(name) { hardened.append(name) }
        }
        if !pushed.isEmpty {
            sentences.append(
                "Bring Vercel to what is here with: zg-env push \(ConflictAdvice.words(pushed))\(place) (what was changed there is not overwritten, and that says how to decide)."
            )
        }
        let again = "zg-env harden \(ConflictAdvice.words(hardened))\(place)"
        return sentences.isEmpty
            ? "Run it again with: \(again)"
            : sentences.joined(separator: " ") + " Then run: \(again)"
    }
}

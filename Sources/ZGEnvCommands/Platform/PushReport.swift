internal import CommandLineKit
internal import EnvOperations
internal import Vault
internal import VercelAPI

/// What a push did, in the forms of the contract.
struct PushReport {
    private let project: String
    private let plan: PushPlan
    private let presumed: Set<Identifier>
    /// What became of each step; empty after a dry run or a conflict.
    var outcomes: [PushOutcome] = []
    /// What of it was changed while the values were locked; nil where nothing was sent.
    var changes: ChangesText?
    /// Tells that it stopped after the plan.
    var isDryRun = false
    /// What was read of the platform for the plan.
    var reading: PlatformReading?

    /// - Parameter presumed: Records that an earlier push sent as far as is known, and whose value
    ///   cannot be read back.
    init(project: String, plan: PushPlan, presumed: Set<Identifier> = []) {
        self.project = project
        self.plan = plan
        self.presumed = presumed
    }

    /// The plan for people, one line a step.
    var planLines: [String] {
        plan.steps.map { "\(Self.verb($0)) \($0.key) for \($0.attributes.scope.description)" }
    }

    /// What people must know of the plan before they agree.
    var changeLines: [String] {
        guard let changes, changes.count > 0 else { return [] }
        return ["\(changes.sentence)\(changes.remark):"] + changes.lines().map { "  \($0)" }
    }

    private static func verb(_ step: PushPlan.Step) -> String {
        switch step.action {
        case .create: "create"
        case .update(_, let withValue): withValue ? "update" : "update the scope or type of"
        case .delete: "delete"
        }
    }

    /// The result as a command gives it back.
    func result() -> CommandResult {
        var members: [JSONValue.Member] = [
            .init("project", .string(project)),
            .init("created", list { if case .create = $0 { true } else { false } }),
            .init("updated", list { if case .update = $0 { true } else { false } }),
            .init("deleted", list { if case .delete = $0 { true } else { false } }),
            .init(
                "unchanged", .array(plan.unchanged.map { Self.entry($0.name, $0.attributes.scope) })
            ),
            .init(
                "conflicts", .array(plan.conflicts.map { Self.entry($0.key, $0.scope, $0.reason) })),
            .init("unverified", unverified),
            .init("failed", failed), .init("changedWhileLocked", changes?.json ?? .array([])),
        ]
        if isDryRun { members.append(.init("dryRun", true)) }
        return CommandResult(json: .object(members), text: text, failure: failure)
    }

    /// Steps of one kind: those that were done, or for a dry run those that would be.
    private func list(_ isKind: (PushPlan.Action) -> Bool) -> JSONValue {
        if isDryRun {
            return .array(
                plan.steps.filter { isKind($0.action) }.map {
                    Self.entry($0.key, $0.attributes.scope)
                })
        }
        return .array(
            outcomes.filter { isKind($0.step.action) && !$0.isFailed }.map {
                Self.entry($0.step.key, $0.step.attributes.scope)
            })
    }

    private var unverified: JSONValue {
        let before = plan.unchanged.filter { presumed.contains($0.id) }.map {
            Self.entry($0.name, $0.attributes.scope, "sent by an earlier push, cannot be read back")
        }
        return .array(
            before
                + outcomes.compactMap { outcome in
                    guard case .unverified(let reason) = outcome.end else { return nil }
                    return Self.entry(outcome.step.key, outcome.step.attributes.scope, reason)
                })
    }

    private var failed: JSONValue {
        .array(
            outcomes.compactMap { outcome in
                guard case .failed(let reason, _) = outcome.end else { return nil }
                return Self.entry(outcome.step.key, outcome.step.attributes.scope, reason)
            })
    }

    private static func entry(_ key: String, _ scope: Scope, _ reason: String? = nil) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("key", .string(key)), .init("targets", .strings(scope.targets.names)),
            .init("customEnvironments", .strings(scope.customEnvironments)),
            .init("branch", .string(orNull: scope.branch)),
        ]
        if let reason { members.append(.init("reason", .string(reason))) }
        return .object(members)
    }

    private var text: String {
        func safe(_ text: String) -> String { DisplayText.safe(text) }
        if !plan.conflicts.isEmpty {
            return plan.conflicts.map {
                "conflict  \(safe($0.key)) (\(safe($0.scope.description))): \(safe($0.reason))\n"
            }.joined()
        }
        if isDryRun {
            return planLines.isEmpty
                ? "Nothing to push.\n"
                : (planLines.map { "Would \($0)" } + changeLines).map { "\(safe($0))\n" }.joined()
        }
        let before = plan.unchanged.filter { presumed.contains($0.id) }.map {
            "unchanged  \(safe($0.name)) (\(safe($0.attributes.scope.description))): "
                + "sent by an earlier push, cannot be read back\n"
        }.joined()
        if outcomes.isEmpty { return before.isEmpty ? "Nothing to push.\n" : before }
        return before
            + outcomes.map { outcome in
                let what =
                    "\(safe(outcome.step.key)) (\(safe(outcome.step.attributes.scope.description)))"
                switch outcome.end {
                case .verified: return "\(Self.done(outcome.step))  \(what)\n"
                case .unverified(let reason):
                    return "\(Self.done(outcome.step))  \(what): \(reason)\n"
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

    /// Tells whether there was nothing to send, and nothing in the way.
    var isInStep: Bool { plan.steps.isEmpty && plan.conflicts.isEmpty }

    /// Tells whether conflicts ended it before anything was sent.
    var isUnsent: Bool { !plan.conflicts.isEmpty && outcomes.isEmpty }

    /// Why it was not all done; nil where it was.
    var failure: CommandError? {
        if !plan.conflicts.isEmpty {
            let name = plan.conflicts.count == 1 ? plan.conflicts[0].key : "KEY"
            let key = DisplayText.safe("\(name) -p \(project)")
            return CommandError(
                .conflict,
                plan.conflicts.count == 1
                    ? "\(DisplayText.safe(plan.conflicts[0].key)) differs on the platform from what this vault has seen."
                    : "\(plan.conflicts.count) variables differ on the platform from what this vault has seen.",
                hint:
                    "Nothing was sent. Keep what is here with: zg-env push \(key) --force, or take what the platform has with: zg-env pull \(key) --force."
            )
        }
        let failures = outcomes.filter(\.isFailed)
        guard !failures.isEmpty else { return nil }
        let code = failures.exitCode
        return CommandError(
            code,
            "\(failures.count) of \(outcomes.count) changes failed. \(Self.sentence(failures))",
            hint: hint(failures, code))
    }

    /// What went wrong with the first of them.
    private static func sentence(_ failures: [PushOutcome]) -> String {
        guard let first = failures.first, case .failed(let reason, _) = first.end else { return "" }
        return "\(first.step.key): \(CommandError.ending(reason))"
    }

    /// Pushing again changes nothing: a sensitive variable keeps its type.
    private func advice(onForced step: PushPlan.Step) -> String {
        let name = "\(DisplayText.safe(step.key)) -p \(DisplayText.safe(project))"
        let scope = step.attributes.scope
        let places = (scope.targets.names + scope.customEnvironments).joined(separator: ",")
        let place =
            (places.isEmpty ? "" : " -t \(DisplayText.safe(places))")
            + (scope.branch.map { " -b \(DisplayText.safe($0))" } ?? "")
        let removal = "zg-env rm \(name)\(place) --push"
        guard !scope.targets.contains(.development) else {
            return
                "The platform keeps it sensitive, which the vault allows for no development. Take it out with: \(removal), and set it anew, sensitive and without development."
        }
        return
            "The platform keeps it sensitive. Say so in the vault too, which asks for the value again: zg-env set \(name)\(place) --type sensitive --push, or take it out: \(removal)"
    }

    private func hint(_ failures: [PushOutcome], _ code: ExitCode) -> String {
        let rest = failures.count < outcomes.count ? "The others are done. " : ""
        if let forced = failures.first(where: \.isForcedSensitive), code == .failed {
            return rest + advice(onForced: forced.step)
        }
        if code == .unauthorized, case .failed(_, let error?)? = failures.first?.end,
            let remedy = error.hint
        {
            return "\(rest)First \(remedy), then push again: it sends what is missing."
        }
        return "\(rest)Push again: it looks at the platform and sends what is missing."
    }
}

extension [PushOutcome] {
    /// The code of a command of which these failed: the one cause of all where a script can act on it.
    var exitCode: ExitCode {
        let codes = Set(
            map { outcome -> ExitCode in
                guard case .failed(_, let error?) = outcome.end else { return .failed }
                return CommandError(mapping: error).code
            })
        guard codes.count == 1, let only = codes.first else { return .failed }
        return [.unauthorized, .unavailable].contains(only) ? only : .failed
    }
}

extension PushOutcome {
    /// Tells whether the platform made or keeps it sensitive, and the vault says otherwise.
    fileprivate var isForcedSensitive: Bool {
        guard step.attributes.kind != .sensitive else { return false }
        switch step.action {
        case .delete: return false
        case .create: return record?.attributes.kind == .sensitive
        case .update:
            return (record?.attributes ?? step.variable?.remote?.agreed)?.kind == .sensitive
        }
    }
}

internal import CommandLineKit
internal import EnvOperations
internal import JSON
internal import Vault

/// `--push` of commands that change variables: pushes only the changed keys, after the vault has
/// them.
struct PushOption: FollowUp {
    static let options = [
        OptionSpec(flag: "push", "Also push the change to Vercel"),
        OptionSpec(
            flag: "redeploy", "With --push: redeploy production and wait until it is live"),
        allowWeaker,
    ]

    static let allowWeaker = OptionSpec(
        flag: "allow-weaker", "Do not ask before making sensitive values readable on Vercel")

    private let pushes: Bool
    private let redeploys: Bool
    private let allowsWeaker: Bool
    private let isOffered: Bool

    init(_ command: ParsedCommand?) {
        pushes = command?.has("push") ?? false
        redeploys = command?.has("redeploy") ?? false
        allowsWeaker = command?.has(Self.allowWeaker.name) ?? false
        isOffered = command != nil
    }

    var isRequested: Bool { pushes }
    var clause: String { pushes ? ", also on Vercel" : "" }

    /// Pushes the changed keys if `--push` was given, and joins the results.
    ///
    /// The change in the vault remains even if the push fails; the error says so.
    func run(after result: CommandResult, _ workspace: Workspace) -> CommandResult {
        guard pushes, let written = workspace.session.told[WrittenVariables.self] else {
            return result
        }
        let (keys, atHand, vacated) = (written.keys, written.atHand, written.vacated)
        var rules = PushPlan.Rules()
        rules.keys = keys
        rules.allowsWeaker = allowsWeaker
        rules.vacated = vacated
        var joined = result
        var isPushed = false
        do {
            rules.records = Set(atHand.keys)
            rules.makingRoom = try others(of: keys, than: rules.records ?? [], workspace)
            let work = try PushWork(
                workspace, rules: rules, atHand: atHand, command: "\(workspace.command) --push")
            let source = redeploys ? try RedeploySource(productionOf: workspace) : nil
            let report = try work.run(
                asks: redeploys || !written.wasAsked,
                followUp: try source.map {
                    .init(plan: try $0.plan(workspace), words: "redeploy production")
                })
            isPushed = report.failure == nil
            if isPushed {
                try warnOfUnsent(keys, than: rules.records ?? [], workspace)
                for vacated in vacated {
                    try warnOfRemaining(vacated.key, report, workspace)
                }
            }
            joined = result.joined(with: "push", report.result().folded(workspace))
            if !redeploys { try report.noteNextStep(workspace, after: &joined) }
            if report.failure == nil, let source {
                if !workspace.options.yes { try joined.showText(workspace) }
                let named = workspace.beside(
                    "\(workspace.command) --redeploy", workspace.options, workspace.context,
                    workspace.interaction)
                joined = joined.joined(
                    with: "deployment", try Redeploy.afterPush(named, confirmed: source))
            }
        } catch {
            var failure = CommandError(mapping: error)
            failure.effect =
                failure.effect == .mayBeSent
                ? .inVaultMayBeSent : isPushed ? .everywhere : .inVaultOnly
            joined.failure = failure
        }
        return joined
    }

    /// Returns the keys' other records that overlap with the pushed ones on Vercel and must give up
    /// targets there too. If no record of a key is pushed, returns all of them. A record whose
    /// creation has an unknown outcome counts as being on Vercel.
    private func others(
        of keys: Set<String>, than sent: Set<Identifier>, _ workspace: Workspace
    ) throws -> Set<Identifier> {
        let index = try workspace.session.index(.everything)
        let project = try ProjectResolver(workspace).existing(in: index)
        let records = index.variables.filter {
            $0.project == project.id && keys.contains($0.name)
        }
        let writes = Dictionary(
            grouping: try index.sends(of: project.id), by: \.variable)
        let wanted = Dictionary(grouping: records.filter { sent.contains($0.id) }, by: \.name)
        return Set(
            records.filter { record in
                let places =
                    (writes[record.id] ?? []).map(\.attributes.scope)
                    + (record.remote.map { [$0.agreed.scope] } ?? [])
                guard !places.isEmpty, !sent.contains(record.id) else { return false }
                return wanted[record.name]?.contains {
                    places.contains(where: $0.attributes.scope.overlaps)
                } ?? true
            }.map(\.id))
    }

    /// Warns of the keys' other records that differ from Vercel and were not pushed.
    private func warnOfUnsent(
        _ keys: Set<String>, than sent: Set<Identifier>, _ workspace: Workspace
    ) throws {
        let index = try workspace.session.index(.listing)
        let project = try ProjectResolver(workspace).existing(in: index)
        let left = index.variables(of: project.id).filter {
            keys.contains($0.name) && !sent.contains($0.id)
                && [.local, .ahead, .diverged].contains(SyncState(of: $0))
        }
        guard !left.isEmpty else { return }
        let names = left.map { "\($0.name) (\($0.attributes.scope.description))" }
        workspace.context.warn(
            "not-pushed",
            "Not pushed, and different on Vercel: \(names.joined(separator: ", ")). Push with: zg-env push \(ConflictAdvice.words(left.map(\.name)))-p \(word: project.name)"
        )
    }

    /// Warns of variables with the removed key that Vercel has for other scopes and the vault does not
    /// know.
    private func warnOfRemaining(
        _ key: String, _ report: PushReport, _ workspace: Workspace
    ) throws {
        let index = try workspace.session.index(.listing)
        let project = try ProjectResolver(workspace).existing(in: index)
        let known = Set(
            index.variables.filter { $0.project == project.id }.compactMap { $0.remote?.id })
        let gone = Set(report.outcomes.compactMap(\.step.remoteID))
        let kept = (report.reading?.records ?? []).filter {
            $0.key == key && !known.contains($0.id) && !gone.contains($0.id)
                && $0.attributes.kind != .system
        }
        guard !kept.isEmpty else { return }
        let places = kept.map(\.attributes.scope.description).joined(separator: "; ")
        workspace.context.warn(
            "kept-there",
            "Vercel still has \(key) for \(places), which the vault has no record of. To remove that variable too, pull it with: zg-env pull \(word: key) -p \(word: project.name), then run: zg-env rm \(word: key) -p \(word: project.name) --all --push"
        )
    }

    /// Rejects `--redeploy` without `--push`, and a push without a way to ask for confirmation, before
    /// any change.
    func check(_ workspace: Workspace) throws {
        if redeploys, !pushes {
            throw CommandError(.usage, "--redeploy needs --push.", hint: "Add --push.")
        }
        guard pushes, !workspace.options.yes, !workspace.options.dryRun else { return }
        guard workspace.interaction.canConfirm else {
            throw CommandError(
                .usage,
                "\(redeploys ? "--redeploy changes production" : "--push changes Vercel"), and there is no terminal to prompt on.",
                hint: "Confirm with --yes.")
        }
    }

    static let fields = """
        push?: boolean | {zg-env push} (of commands with --push); redeploy?: boolean (with --dry-run)
        deployment?: {zg-env redeploy} (with --redeploy)
        """

    /// Adds the steps after the change in the vault to the result of a dry run.
    func planned(after result: CommandResult, _ workspace: Workspace) throws -> CommandResult {
        guard isOffered else { return result }
        let project = try ProjectResolver(workspace).existingOrNew(in: workspace.session.table())
        var planned = result.with("push", .bool(pushes)).with("redeploy", .bool(redeploys))
        let name = DisplayText.safe(project.name)
        var text = pushes ? "Would push it to \(name) on Vercel.\n" : ""
        if redeploys { text += "Would redeploy production of \(name) and wait.\n" }
        planned.text = { [own = result.text] in try own() + text }
        return planned
    }
}

extension CommandResult {
    /// Writes the text now, before a question about the next step, instead of at the end.
    mutating func showText(_ workspace: Workspace) throws {
        guard !workspace.options.json else { return }
        let shown = try text()
        try workspace.context.output.write(shown)
        try workspace.context.output.flush()
        shownText += shown
        text = { "" }
    }

    /// Returns this result with another one as a JSON member, and the texts and failures joined.
    func joined(with name: String, _ other: CommandResult) -> CommandResult {
        var joined = with(name, try other.json())
        joined.text = { try self.text() + other.text() }
        joined.failure = failure ?? other.failure
        return joined
    }
}

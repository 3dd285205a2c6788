internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import JSON
internal import Sealing
internal import Vault

/// `--push` of `set`, `rm` and `import`: sends these keys alone, after the vault has them.
struct PushAfterwards {
    static let options = [
        OptionSpec(flag: "push", "Send this variable to the platform too"),
        OptionSpec(
            flag: "redeploy", "With --push: redeploy production afterwards, and wait for it"),
    ]

    /// `--push`.
    let pushes: Bool
    /// `--redeploy`.
    let redeploys: Bool

    init(_ command: ParsedCommand) {
        pushes = command.has("push")
        redeploys = command.has("redeploy")
    }

    /// The tier to open for the write before a push: that of the values, so that the push finds what
    /// this command did accepted.
    func tier(_ workspace: Workspace, otherwise: KeySlot.Tier) -> KeySlot.Tier {
        pushes && !workspace.options.dryRun ? .values : otherwise
    }

    /// Pushes the key where that was asked for, and joins the results.
    ///
    /// The vault's change stands whatever becomes of the push; an error says so.
    ///
    /// - Parameters:
    ///   - atHand: Values that this process holds, by record.
    ///   - vacated: Where the key was removed.
    func push(
        _ key: String, _ workspace: Workspace, atHand: [Identifier: PushValues.Held],
        vacated: PushPlan.Vacated? = nil, beside result: CommandResult
    ) throws -> CommandResult {
        try push([key], workspace, atHand: atHand, vacated: vacated, beside: result)
    }

    /// Pushes several keys in one go.
    func push(
        _ keys: Set<String>, _ workspace: Workspace, atHand: [Identifier: PushValues.Held],
        vacated: PushPlan.Vacated? = nil, beside result: CommandResult
    ) throws -> CommandResult {
        guard pushes else {
            guard !redeploys else {
                throw CommandError(
                    .usage, "--redeploy goes with --push.",
                    hint: "The vault was changed; nothing was sent.")
            }
            return result
        }
        var rules = PushPlan.Rules()
        rules.keys = keys
        rules.vacated = vacated
        var joined = result
        do {
            rules.records = Set(atHand.keys)
            rules.makingRoom = try others(of: keys, than: rules.records ?? [], workspace)
            let report = try PushWork(
                workspace, rules: rules, atHand: atHand, command: "\(workspace.command) --push"
            ).run(
                asks: redeploys)
            if !redeploys, let remark = report.remarkOnProduction {
                workspace.note(remark)
            }
            if report.failure == nil {
                try warnOfUnsent(keys, than: rules.records ?? [], workspace)
                if let vacated { try warnOfKept(vacated.key, report, workspace) }
            }
            joined = result.joined(with: "push", report.result())
            if report.failure == nil, redeploys {
                if !workspace.options.yes { try joined.showText(workspace) }
                joined = joined.joined(
                    with: "deployment", try Redeploy.afterPush(workspace, asks: true))
            }
        } catch {
            var failure = CommandError(mapping: error)
            failure.message += " The vault has the change; the platform was not brought in step."
            // What refuses a project says so, too.
            let nothing = "Nothing was changed. "
            if let hint = failure.hint, hint.hasPrefix(nothing) {
                failure.hint = String(hint.dropFirst(nothing.count))
            }
            joined.failure = failure
        }
        return joined
    }

    /// The keys' other records that the platform has in the way: what lost targets must lose them
    /// there too. Where none of a key is sent, all of them.
    private func others(
        of keys: Set<String>, than sent: Set<Identifier>, _ workspace: Workspace
    ) throws -> Set<Identifier> {
        let index = try workspace.session.index(.listing)
        let project = try ProjectResolver(workspace).existing(in: index)
        let records = index.variables.filter {
            $0.project == project.id && keys.contains($0.name)
        }
        let wanted = Dictionary(grouping: records.filter { sent.contains($0.id) }, by: \.name)
        return Set(
            records.filter { record in
                guard let remote = record.remote, !sent.contains(record.id) else { return false }
                return wanted[record.name]?.contains {
                    $0.attributes.scope.overlaps(remote.agreed.scope)
                } ?? true
            }.map(\.id))
    }

    /// Says which other records of the keys Vercel has not as they are here: of these no value was sent, nor a
    /// record made.
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
            "Not sent, and other in the vault than on Vercel: \(names.joined(separator: ", ")). Send it too with: zg-env push \(ConflictAdvice.words(left.map(\.name)))-p \(word: project.name)"
        )
    }

    /// Warns of variables with the removed key that Vercel keeps in other places and that the vault has no
    /// record of.
    private func warnOfKept(
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
            "Vercel has \(key) for \(places) too, which this vault has not seen, and keeps it. To remove that as well, take it into the vault with: zg-env pull \(word: key) -p \(word: project.name), then: zg-env rm \(word: key) -p \(word: project.name) --all --push"
        )
    }

    /// Refuses what cannot go on before anything is changed: `--redeploy` alone, and without somebody to
    /// answer what `push` and `redeploy` ask.
    func check(_ workspace: Workspace) throws {
        guard redeploys else { return }
        guard pushes else {
            throw CommandError(.usage, "--redeploy goes with --push.", hint: "Nothing was changed.")
        }
        guard !workspace.options.yes, !workspace.options.dryRun else { return }
        guard workspace.interaction.canConfirm else {
            throw CommandError(
                .usage, "--redeploy changes production, and there is nobody to ask.",
                hint: "Nothing was changed. Answer with --yes.")
        }
    }

    /// What `--dry-run` says of the steps after the vault's.
    func dryRunText(_ project: String, _ workspace: Workspace) -> String {
        guard pushes else { return "" }
        let name = DisplayText.safe(project)
        return "Would push it to \(name) on Vercel.\n"
            + (redeploys
                ? "Would redeploy production of \(name), and wait for it.\n" : "")
    }
}

extension CommandResult {
    /// Shows the text before a question about what comes next, in place of at the end.
    mutating func showText(_ workspace: Workspace) throws {
        guard !workspace.options.json else { return }
        try workspace.context.output.write(try text())
        try workspace.context.output.flush()
        text = { "" }
    }

    /// This result with another one as a member; the text and the failure of both.
    func joined(with name: String, _ other: CommandResult) -> CommandResult {
        var joined = self
        joined.json = {
            let own = try self.json()
            guard case .object(let members) = own else { return own }
            return .object(members + [.init(name, try other.json())])
        }
        joined.text = { try self.text() + other.text() }
        joined.failure = failure ?? other.failure
        return joined
    }
}

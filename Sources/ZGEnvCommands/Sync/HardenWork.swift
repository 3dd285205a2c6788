internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// One hardening: plans, compares, asks, makes the values safe, and only then sends.
///
/// Killed at any point it leaves either the platform's copy readable, or the vault with a value that
/// was held against it; running it again goes on from there.
struct HardenWork {
    private let workspace: Workspace
    private let bound: BoundProject
    private let project: VaultProject
    private let rules: HardeningPlan.Rules
    private let keys: VaultKeys
    private let arena = SecretArena()

    /// - Throws: What finding and binding the project throws, and ``ExitCode/locked``.
    init(_ workspace: Workspace, rules: HardeningPlan.Rules) throws {
        self.workspace = workspace
        self.rules = rules
        // Before anything is listed, since nobody knows how long a question stays open.
        keys = try workspace.session.keys(.values)
        bound = try BoundProject.inVault(workspace, readsLists: true)
        guard let project = bound.local else {
            throw CommandError(.notFound, "The vault has no such project.")
        }
        self.project = project
    }

    /// Hardens, or stops after the plan.
    func run() throws -> HardenReport {
        let plan = try self.plan()
        var report = HardenReport(project: project.name)
        report.isLive = bound.platform.production != nil
        (report.leftovers, report.unconfirmed) = (plan.leftovers, plan.unconfirmed)
        report.declared = plan.declared
        let (items, differing) = try compared(plan.candidates)
        report.items = items.map(\.candidate)
        report.omissions = plan.omissions + differing
        let isEmpty =
            items.isEmpty && plan.leftovers.isEmpty && plan.unconfirmed.isEmpty
            && plan.declared.isEmpty
        let answer = try workspace.confirm(
            isEmpty ? [] : report.planLines,
            "Harden these? The platform will not show their values again.")
        guard answer else { return report }
        guard !isEmpty else {
            report.outcomes = []
            return report
        }
        let records =
            try prepared(items) + declared(plan.declared)
            + plan.unconfirmed.compactMap { $0.variable?.id } + plan.leftovers.map(\.id)
        var rules = PushPlan.Rules()
        rules.records = Set(records)
        do {
            let pushed = try PushWork(workspace, rules: rules).run(asks: false)
            report.outcomes = pushed.outcomes
            // A conflict stops the push before anything is sent.
            if pushed.outcomes.isEmpty { report.sendingFailure = pushed.result().failure }
        } catch {
            var failure = CommandError(mapping: error)
            failure.message += " The values are in the vault."
            failure.hint = "Run it again: it does what is left."
            report.outcomes = []
            report.sendingFailure = failure
        }
        return report
    }

    private func plan() throws -> HardeningPlan {
        let client = bound.access.client
        let names = CustomEnvironmentNames(
            try bound.reading?.lists.customEnvironments
                ?? client.customEnvironments(ofProject: bound.platform.id))
        let listedAt = bound.reading?.askedAt ?? workspace.context.now()
        let listed =
            try bound.reading?.lists.variables.map(\.variable)
            ?? client.environmentVariables(ofProject: bound.platform.id)
        let platform = listed.map { PlatformRecord($0, environments: names) }
        try keepSeen(platform, listedAt: listedAt)
        let index = try workspace.session.opened().index(with: keys, extent: .listing)
        let variables = index.variables.filter { $0.project == project.id }
        for name in rules.places?.customEnvironments ?? [] where names.id(of: name) == nil {
            throw CommandError(
                .usage,
                "\(project.name) has no environment \(name).",
                hint: "Nothing was changed. The targets are production and preview.")
        }
        let known = Set(platform.map(\.key) + variables.filter(\.isLive).map(\.name))
        if let missing = (rules.keys ?? []).sorted().first(where: { !known.contains($0) }) {
            throw RecordSelection.notFound(missing, project, index)
        }
        var rules = rules
        rules.begun = Set(
            try workspace.session.index(.everything).sends(of: project.id).compactMap(\.variable))
        return HardeningPlan(variables: variables, platform: platform, rules: rules)
    }

    /// Keeps what the list shows, also where nothing comes of it.
    private func keepSeen(_ platform: [PlatformRecord], listedAt: UInt64) throws {
        guard !workspace.options.dryRun,
            try workspace.session.index(.listing).learns(
                from: platform, listedAt: listedAt, of: project.id)
        else { return }
        let platformTime = bound.reading?.platformTime ?? bound.access.client.platformTime
        try workspace.session.update(with: keys) {
            $0.see(platform, listedAt: listedAt, platformTime: platformTime, of: project.id)
        }
    }

    /// Reads the platform's values and holds the vault's against them.
    private func compared(
        _ candidates: [HardeningPlan.Candidate]
    ) throws -> ([HardeningItem], [RecordNote]) {
        guard !candidates.isEmpty else { return ([], []) }
        let own = try values()
        // A value that came with a whole target counts where the vault has the same; else the record
        // itself is asked.
        let answers = try PlatformValues(bound.access.client, project: bound.platform.id).read(
            candidates.map(\.record), into: arena, trustsEmpty: true,
            isExpected: { place, theirs in
                guard let variable = candidates[place].variable, !candidates[place].lacksValue,
                    let ours = try? own(variable)
                else { return false }
                return ours.hasBytes(of: theirs)
            })
        var items: [HardeningItem] = []
        var omissions: [RecordNote] = []
        for (candidate, answer) in zip(candidates, answers) {
            func omit(_ reason: String, _ way: RecordNote.Way = .either) {
                omissions.append(
                    .init(
                        key: candidate.record.key, scope: candidate.record.attributes.scope,
                        reason: reason, way: way))
            }
            guard let theirs = try answer.get() else {
                omit("the platform does not show its value", .sending)
                continue
            }
            if let variable = candidate.variable, !candidate.lacksValue {
                guard let ours = try own(variable), ours.hasBytes(of: theirs) else {
                    omit("the vault has another value")
                    continue
                }
            } else if theirs.count == 0 {
                // It may be the platform's way of not showing it, and the vault has no other copy.
                omit("the platform shows an empty value, and the vault has none", .value)
                continue
            }
            items.append(HardeningItem(candidate: candidate, value: theirs))
        }
        return (items, omissions)
    }

    /// Makes the vault hold every value for certain, and say what the platform is to be. Returns the
    /// records to be sent.
    private func prepared(_ items: [HardeningItem]) throws -> [Identifier] {
        guard !items.isEmpty else { return [] }
        try changing { transaction in
            try transaction.takeIn(
                items, of: project.id, account: account, time: workspace.context.now())
        }
        let kept = try verified(items)
        return try changing { transaction in
            try transaction.harden(kept, account: account, time: workspace.context.now())
        }
    }

    /// Has the vault say of these what Vercel is to have. Returns the records to be sent.
    private func declared(_ items: [HardeningPlan.Declaration]) throws -> [Identifier] {
        guard !items.isEmpty else { return [] }
        let own = try values()
        let values = try items.map { item in
            guard let value = try own(item.variable) else {
                throw CommandError(
                    .notFound,
                    "The vault holds no value of \(item.variable.name).")
            }
            return value
        }
        return try changing { transaction in
            try transaction.declare(items, values: values, time: workspace.context.now())
        }
    }

    /// The platform's id of the user whose token is used.
    private var account: String {
        bound.access.account?.userID ?? project.binding?.accountID ?? ""
    }

    private func changing<R>(_ body: @escaping (inout VaultTransaction) throws -> R) throws -> R {
        do {
            return try workspace.session.update(with: keys, body)
        } catch let conflict as HardeningConflict {
            throw CommandError(
                .conflict, "\(conflict.key) was changed in the vault meanwhile.",
                hint: "Nothing was sent; run the command again.")
        }
    }

    /// Opens every value from the vault's file as it is now, and holds it against the platform's: the
    /// last look before the platform's copy cannot be read any more.
    private func verified(_ items: [HardeningItem]) throws -> [HardeningItem] {
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .listing)
        let own = try values()
        return try items.map { item in
            let record = item.candidate.record
            let variable = index.variables.first {
                $0.project == project.id && $0.isLive && $0.remote?.id == record.id
            }
            guard let variable, let value = try own(variable), value.hasBytes(of: item.value) else {
                throw CommandError(
                    .failed,
                    "The vault does not hold the value of \(record.key) as the platform shows it.",
                    hint: "Nothing was sent. Run zg-env verify, then try again.")
            }
            return HardeningItem(
                candidate: .init(
                    record: record, variable: variable, hardened: item.candidate.hardened,
                    rest: item.candidate.rest), value: item.value)
        }
    }

    /// The vault's values, from its file as it is now.
    private func values() throws -> (Variable) throws -> SecretSlice? {
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .currentValues)
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.")
        }
        // What nobody accepted is another value than every other one.
        return { reader.isAccepted($0) ? try reader.currentValue(of: $0, in: arena) : nil }
    }
}

extension SecretSlice {
    /// Tells whether both hold the same bytes, in a time that depends on the lengths only.
    fileprivate func hasBytes(of other: SecretSlice) -> Bool {
        withBytes { ours in other.withBytes { ours.isEqualInConstantTime(to: $0) } }
    }
}

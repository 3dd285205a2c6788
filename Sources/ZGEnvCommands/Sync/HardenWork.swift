internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// Hardens variables: plans, compares, asks, stores the values in the vault, and only then sends.
///
/// If it is killed at any point, either Vercel's copy is still readable, or the vault has a value that
/// was compared with it; running it again continues from there.
struct HardenWork {
    private let workspace: Workspace
    private let bound: LinkedProject
    private let project: VaultProject
    private let rules: HardeningPlan.Rules
    private let keys: VaultKeys
    private let arena = SecretArena()

    /// Throws ``ExitCode/locked``, and the errors of finding and binding the project.
    init(_ workspace: Workspace, rules: HardeningPlan.Rules) throws {
        self.workspace = workspace
        self.rules = rules
        // Unlocks before listing, since a prompt can stay open for any time.
        try workspace.session.keysForWriting()
        keys = try workspace.session.keys(.values)
        bound = try LinkedProject.inVault(workspace, readsLists: true)
        guard let project = bound.local else {
            throw CommandError(.notFound, "No such project in the vault.")
        }
        self.project = project
    }

    /// Hardens, or stops after the plan.
    ///
    /// - Parameter following: The lines about what the command does afterwards, to ask about both at once.
    func run(following: [String] = []) throws -> HardenReport {
        let plan = try self.plan()
        var report = HardenReport(project: project.name)
        report.isLive = bound.platform.production != nil
        (report.leftovers, report.unconfirmed) = (plan.leftovers, plan.unconfirmed)
        (report.declared, report.publicNames) = (plan.declared, plan.publicNames)
        report.managed = plan.managed
        let (items, differing) = try compared(plan.candidates)
        report.items = items.map(\.candidate)
        report.omissions = plan.omissions + differing
        let isEmpty =
            items.isEmpty && plan.leftovers.isEmpty && plan.unconfirmed.isEmpty
            && plan.declared.isEmpty
        SensitiveScope.warn(Set(items.map(\.candidate.record.key)).sorted(), workspace.context)
        let secrets =
            items.map { ($0.candidate.record.key, $0.candidate.hardened) }
            + plan.declared.map { ($0.variable.name, $0.hardened) }
        let policyLines = SeparateProduction.planLines(
            secrets, in: project.name, of: bound, workspace)
        let answer = try workspace.confirm(
            (isEmpty ? [] : report.planLines + policyLines) + following,
            isEmpty
                ? "Redeploy production?"
                : "Make these variables sensitive on Vercel? Vercel will never show their values again."
        )
        guard answer else { return report }
        guard !isEmpty else {
            report.outcomes = []
            return report
        }
        let records =
            try prepared(items) + declared(plan.declared)
            + plan.unconfirmed.compactMap { $0.variable?.id } + plan.leftovers.map(\.id)
        do {
            var rules = PushPlan.Rules(records: Set(records))
            // With targets, what is split off is development, which the plan said stays readable.
            rules.allowsWeaker = self.rules.places != nil
            let pushed = try PushWork(workspace, rules: rules).run(asks: false)
            report.outcomes = pushed.outcomes
            // A conflict stops the push before anything is sent.
            if pushed.outcomes.isEmpty { report.sendingFailure = pushed.result().failure }
        } catch {
            report.outcomes = []
            report.sendingFailure = CommandError(mapping: error).adding(
                "The values are in the vault.", hint: "Run the command again to finish the rest.")
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
        let platform = ListedRecords(listed, environments: names)
        let vercelTime = bound.reading?.vercelTime ?? client.vercelTime
        try workspace.session.note(
            platform, listedAt: listedAt, vercelTime: vercelTime, of: project.id)
        var index = try workspace.session.opened().index(with: keys, extent: .listing)
        index.see(platform, listedAt: listedAt, vercelTime: vercelTime, of: project.id)
        let variables = index.variables.filter { $0.project == project.id }
        for name in rules.places?.customEnvironments ?? [] where names.id(of: name) == nil {
            throw CommandError(
                .usage,
                "\(project.name) has no custom environment \(name).",
                hint: "The other targets are production and preview.")
        }
        let known = Set(platform.map(\.key) + variables.filter(\.isLive).map(\.name))
        if platform.isComplete,
            let missing = (rules.keys ?? []).sorted().first(where: { !known.contains($0) })
        {
            throw RecordSelection.notFound(missing, project, index)
        }
        var rules = rules
        rules.begun = Set(
            try workspace.session.index(.everything).sends(of: project.id).compactMap(\.variable))
        let plan = HardeningPlan(variables: variables, platform: platform, rules: rules)
        try refuseHidden(plan, platform)
        return plan
    }

    /// Refuses to write to production while Vercel hides a part of it, before the vault changes.
    private func refuseHidden(_ plan: HardeningPlan, _ platform: ListedRecords) throws {
        guard !platform.isComplete else { return }
        let isElsewhere = rules.places.map { !$0.targets.contains(.production) } ?? false
        let listed = Set(platform.map(\.key))
        let isListed = rules.keys.map(listed.isSuperset) ?? isElsewhere
        let keys = plan.names { $0.targets.contains(.production) }
        guard keys.isEmpty, isListed else {
            let names = keys.isEmpty ? "" : ": \(VariableName.list(keys.sorted()))"
            throw HiddenProduction.refusal(
                platform, of: project.name, "nothing was changed\(names)",
                rest: rules.keys == nil && !isElsewhere
                    ? "Others can be hardened: zg-env harden -t preview -p \(word: project.name)"
                    : "")
        }
        HiddenProduction.warn(platform, of: project.name, workspace.context)
    }

    /// Reads Vercel's values and compares the vault's with them.
    private func compared(
        _ candidates: [HardeningPlan.Candidate]
    ) throws -> ([HardeningItem], [RecordNote]) {
        guard !candidates.isEmpty else { return ([], []) }
        let own = try values()
        // A value read with a whole target is used if the vault has the same; else the record is read
        // individually.
        let answers = try VercelValues(bound.access.client, project: bound.platform.id).read(
            candidates.map(\.record), into: arena, trustsEmpty: true,
            isExpected: { place, theirs in
                guard let variable = candidates[place].variable, !candidates[place].lacksValue,
                    let ours = try? own(variable)
                else { return false }
                return ours.equals(theirs)
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
                omit("Vercel does not show its value", .sending)
                continue
            }
            if let variable = candidate.variable, !candidate.lacksValue {
                guard let ours = try own(variable), ours.equals(theirs) else {
                    omit("the vault has a different value")
                    continue
                }
            } else if theirs.count == 0 {
                // Vercel may return an empty value instead of showing it, and the vault has no other copy.
                omit("Vercel shows an empty value, and the vault has no value", .value)
                continue
            }
            items.append(HardeningItem(candidate: candidate, value: theirs))
        }
        return (items, omissions)
    }

    /// Stores every value in the vault, verifies it, and marks the records as sensitive. Returns the
    /// records to send.
    private func prepared(_ items: [HardeningItem]) throws -> [Identifier] {
        guard !items.isEmpty else { return [] }
        try changing { transaction in
            try transaction.importValues(
                items, of: project.id, account: bound.accountID, time: workspace.context.now())
        }
        let kept = try verified(items)
        return try changing { transaction in
            try transaction.harden(kept, account: bound.accountID, time: workspace.context.now())
        }
    }

    /// Marks records in the vault as sensitive, as on Vercel. Returns the records to send.
    private func declared(_ items: [HardeningPlan.Declaration]) throws -> [Identifier] {
        guard !items.isEmpty else { return [] }
        let own = try values()
        let values = try items.map { item in
            guard let value = try own(item.variable) else {
                throw CommandError(
                    .notFound,
                    "The vault has no value for \(item.variable.name).")
            }
            return value
        }
        return try changing { transaction in
            try transaction.declare(items, values: values, time: workspace.context.now())
        }
    }

    private func changing<R>(_ body: @escaping (inout VaultTransaction) throws -> R) throws -> R {
        do {
            return try workspace.session.commit { transaction, _ in try body(&transaction) }
        } catch let conflict as HardeningConflict {
            throw ChangedMeanwhile.error(about: "\(conflict.key) has changed")
        }
    }

    /// Decrypts every value from the current vault file and compares it with Vercel's: the last check
    /// before Vercel's copy becomes unreadable.
    private func verified(_ items: [HardeningItem]) throws -> [HardeningItem] {
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .listing)
        let own = try values()
        return try items.map { item in
            let record = item.candidate.record
            let variable = index.variables.first {
                $0.project == project.id && $0.isLive && $0.remote?.id == record.id
            }
            guard let variable, let value = try own(variable), value.equals(item.value) else {
                throw CommandError(
                    .failed,
                    "The vault's value of \(record.key) differs from the one just read from Vercel.",
                    hint: "Nothing was sent. Run: zg-env verify, then try again.")
            }
            return HardeningItem(
                candidate: .init(
                    record: record, variable: variable, hardened: item.candidate.hardened,
                    rest: item.candidate.rest), value: item.value)
        }
    }

    /// Returns a function that decrypts values from the current vault file.
    private func values() throws -> (Variable) throws -> SecretSlice? {
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .currentValues)
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw CommandError(.locked, "The values are locked.", hint: "Run: zg-env unlock")
        }
        return { try reader.currentValue(of: $0, in: arena) }
    }
}

internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// Pulls one project: reads both sides, plans, and changes the vault in one write.
struct PullWork {
    /// The state of both sides, and the plan.
    struct Finding {
        fileprivate(set) var plan: PullPlan
        let listing: VercelListing
        /// Variables on Vercel that are not pulled, including shared variables of the team.
        let skipped: [RecordNote]
        /// The project's records in the vault when the plan was made.
        fileprivate let variables: [Variable]
        /// The values that Vercel showed, by its ids.
        let values: [String: SecretSlice]
        fileprivate var evidence: PullPlan.Evidence
        fileprivate var rules: PullPlan.Rules
        fileprivate let listedAt: UInt64
        fileprivate let vercelTime: UInt64
        fileprivate let claimed: ClaimedRecords

        /// The keys of both sides.
        var keys: Set<String> {
            Set(variables.map(\.name) + listing.records.map(\.key))
                .union(skipped.map(\.key))
        }

        /// The user who runs the program, by Vercel's id; nil if unknown.
        var ownUser: String? { rules.ownUser }

        /// Chooses a side for a conflict, and plans again.
        mutating func decide(_ conflict: PullConflict, for side: PullConflict.Side) {
            conflict.decide(for: side, in: &rules)
            plan = PullPlan(
                variables: variables, platform: listing.records, evidence: evidence, rules: rules)
        }

        /// Returns whether the user chose a side for a record of the vault.
        func isDecided(_ variable: Variable) -> Bool { rules.decisions[variable.id] != nil }
    }

    private let workspace: Workspace
    private let bound: LinkedProject
    private let progress: WorkProgress
    private let rules: PullPlan.Rules
    /// The project; not yet in the vault if ``isNew``.
    let project: VaultProject
    /// Whether this pull creates the project in the vault.
    let isNew: Bool

    /// Throws ``ExitCode/notFound`` for a project that is not in the vault.
    init(
        _ workspace: Workspace, _ bound: LinkedProject, isNew: Bool = false, rules: PullPlan.Rules,
        progress: WorkProgress
    ) throws {
        guard let project = bound.local else {
            throw CommandError(.notFound, "No such project in the vault.")
        }
        self.workspace = workspace
        self.bound = bound
        self.isNew = isNew
        self.rules = rules
        self.progress = progress
        self.project = project
    }

    // MARK: Reading

    /// Reads both sides and makes the plan, without changes.
    func look() throws -> Finding {
        // Reads the vault first: a later push by another command is detected before the write, while a
        // list older than the vault would look like a change on Vercel.
        let keys = try workspace.session.keysForWriting()
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        var variables = index.variables.filter { $0.project == project.id }
        progress.update("Reading \(project.name) …")
        let client = bound.access.client
        let names = CustomEnvironmentNames(
            try bound.reading?.lists.customEnvironments
                ?? client.customEnvironments(ofProject: bound.platform.id))
        try names.check(rules.places, variables, in: project.name)
        let shared = try SharedListing.keep(of: bound, workspace).filter {
            self.rules.includes($0)
        }
        let listedAt = bound.reading?.askedAt ?? workspace.context.now()
        let arena = bound.reading?.arena ?? SecretArena()
        var listing = VercelListing(
            try bound.reading?.lists.variables
                ?? client.environmentVariables(ofProject: bound.platform.id, valuesInto: arena),
            environments: names)
        let vercelTime = bound.reading?.vercelTime ?? client.vercelTime
        bound.keepLabels(listing.all, askedAt: listedAt, workspace)
        let claimed =
            try keys.opensValues
            ? ClaimedRecords(
                index, of: project.id, variables, listing.all, account: bound.accountID)
            : ClaimedRecords()
        claimed.apply(to: &variables)
        var rules = rules
        for record in pendingDeletions(listing.records, index) {
            listing.skip(record, because: "the next push deletes it")
        }
        rules.skipped = Set(listing.skipped.map(\.id))
        rules.ownUser = bound.access.account?.knownUserID
        let values = try values(
            PullPlan.valuesNeeded(variables: variables, platform: listing.records, rules: rules)
                .map(\.record), &listing, into: arena)
        let reader = try ValueReader(vault: vault, index: index, keys: keys)
        let evidence = try evidence(listing, values, variables, reader, rules)
        return Finding(
            plan: PullPlan(
                variables: variables, platform: listing.records, evidence: evidence, rules: rules),
            listing: listing,
            skipped: listing.skipped.map(\.note) + shared.map { $0.note(project.name) },
            variables: variables, values: values, evidence: evidence, rules: rules,
            listedAt: listedAt, vercelTime: vercelTime,
            claimed: claimed)
    }

    /// Returns the records of variables under their former names, which the next push deletes.
    private func pendingDeletions(_ records: ListedRecords, _ index: VaultIndex) -> [VercelRecord] {
        let there = Set(records.map(\.id))
        // If the new record is missing, the old one is the only one that Vercel has.
        let names = Dictionary(
            uniqueKeysWithValues: index.variables.filter { variable in
                variable.isLive && variable.remote.map { there.contains($0.id) } ?? false
            }.map { ($0.id, $0.name) })
        let left = Dictionary(
            (index.otherAgreements[project.id] ?? []).filter { other in
                other.variable.flatMap { names[$0] }.map { $0 != other.key } ?? false
            }.map { ($0.record, $0.changedAt) }, uniquingKeysWith: { first, _ in first })
        return records.filter { left[$0.id] == $0.updatedAt }
    }

    /// Returns the values of `records` by Vercel's ids, without those that it does not show.
    private func values(
        _ records: [VercelRecord], _ listing: inout VercelListing, into arena: SecretArena
    ) throws -> [String: SecretSlice] {
        var values: [String: SecretSlice] = [:]
        var rest: [VercelRecord] = []
        for record in records {
            if let value = listing.values[record.id] {
                values[record.id] = value
            } else {
                rest.append(record)
            }
        }
        let answers = try VercelValues(bound.access.client, project: bound.platform.id)
            .read(
                rest, into: arena,
                progress: { done in
                    progress.update("Read \(done) of \(rest.count) values of \(project.name) …")
                })
        var missing: [VercelRecord] = []
        for (record, answer) in zip(rest, answers) {
            do throws(VercelAPIError) {
                if let value = try answer.get() { values[record.id] = value }
            } catch {
                guard error.code == .notFound else { throw error }
                missing.append(record)
            }
        }
        try drop(missing, from: &listing)
        for (id, value) in values where value.count > VaultFormat.valueLimit {
            let key = listing.records.first { $0.id == id }?.key ?? ""
            throw CommandError(
                .usage,
                "Vercel's value of \(key) is longer than 1 MiB.",
                effect: .nothing, hint: "Shorten the value on Vercel, then pull again.")
        }
        return values
    }

    /// Drops records whose values were not found, after checking that Vercel no longer lists them: a
    /// single response must neither remove a variable from the vault nor hide one.
    private func drop(_ missing: [VercelRecord], from listing: inout VercelListing) throws {
        if missing.isEmpty { return }
        let known = Set(listing.all.map(\.id))
        let list = try bound.access.client.environmentVariables(ofProject: bound.platform.id)
        listing.hide(list.hiddenProduction)
        let listed = Set(list.variables.map(\.id))
        for record in missing {
            guard !listed.contains(record.id) else {
                throw CommandError(
                    .unavailable,
                    "Vercel lists \(record.key) in \(project.name), but does not return its value.",
                    effect: .nothing, hint: "Try again in a minute.")
            }
            listing.drop(record.id)
        }
        guard listed.isSubset(of: known) else {
            throw CommandError(
                .conflict,
                "\(project.name) got new variables on Vercel while the command was running.",
                effect: .nothing, hint: "Run the command again.")
        }
    }

    private func evidence(
        _ listing: VercelListing, _ values: [String: SecretSlice], _ variables: [Variable],
        _ reader: ValueReader?, _ rules: PullPlan.Rules
    ) throws -> PullPlan.Evidence {
        var evidence = PullPlan.Evidence(
            states: values.mapValues { .shown(isEmpty: $0.count == 0) }, canCompare: reader != nil)
        guard let reader else { return evidence }
        let needed = PullPlan.valuesNeeded(
            variables: variables, platform: listing.records, rules: rules)
        let arena = SecretArena()
        for (record, variable) in needed {
            guard let variable, let theirs = values[record.id],
                let ours = try reader.currentValue(of: variable, in: arena)
            else { continue }
            evidence.equalities[variable.id] = ours.equals(theirs)
        }
        return evidence
    }

    // MARK: Changing the vault

    /// Applies the plan to the vault, and notes what was seen on Vercel.
    func apply(_ finding: Finding) throws {
        // A running push records what it sends as it goes. The check in write(_:) detects what it
        // recorded while this pull waited for the lock.
        let lock = try ProjectLock(project, besides: workspace.session.path, workspace)
        defer { withExtendedLifetime(lock) {} }
        try write(finding)
    }

    private func write(_ finding: Finding) throws {
        let time = workspace.context.now()
        let account = bound.accountID
        let live = bound.platform.liveDeployment
        let change = Change { index, _ in
            var variables = index.variables.filter { $0.project == project.id }
            finding.claimed.apply(to: &variables)
            return variables
        } apply: { transaction, _, news in
            try place(in: &transaction)
            if isNew { news.add(LinkableProject(name: project.name)) }
            finding.claimed.apply(to: &transaction.index.variables)
            try transaction.apply(
                finding.plan, of: project.id, values: finding.values, account: account,
                time: time, vercelTime: finding.vercelTime)
            transaction.index.endVacated(
                finding.listing.all, listedAt: finding.listedAt,
                vercelTime: finding.vercelTime, of: project.id)
            transaction.index.forgetRemovals(
                of: project.id, builtWithout: live, seenAt: time)
        }
        try workspace.session.commit(
            change, as: Planned(finding.variables, about: finding.variables, of: project.id))
        try workspace.session.note(
            finding.listing.all, listedAt: finding.listedAt, vercelTime: finding.vercelTime,
            of: project.id)
        try workspace.session.note(live: live, at: time, of: project.id)
    }

    /// Adds a new project to the vault.
    private func place(in transaction: inout VaultTransaction) throws {
        guard isNew, transaction.index.project(project.id) == nil else { return }
        guard transaction.index.project(named: project.name) == nil else {
            throw CommandError(
                .conflict,
                "Another command created a project \(project.name) while the command was running.",
                hint: "Run the command again.")
        }
        transaction.index.projects.append(project)
    }
}

extension PullPlan.Rules {
    /// Returns whether the rules select a shared variable of the team.
    fileprivate func includes(_ variable: SharedVariable) -> Bool {
        guard keys?.contains(variable.key) ?? true else { return false }
        guard let places else { return true }
        return !Set(variable.targets.map(\.rawValue)).isDisjoint(with: places.targets.names)
            || variable.appliesToAllCustomEnvironments && !places.customEnvironments.isEmpty
    }
}

extension SharedVariable {
    /// Returns the note why the variable is not pulled.
    fileprivate func note(_ project: String) -> RecordNote {
        var targets: Scope.Targets = []
        for target in self.targets { targets.formUnion(Scope.Targets(name: target.rawValue) ?? []) }
        return RecordNote(
            key: key, scope: Scope(targets: targets),
            reason:
                "it is a shared variable of the team and does not belong to a project; create a variable for this project with: zg-env set \(word: key) -p \(word: project)"
        )
    }
}

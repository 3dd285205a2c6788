internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// One pull of one project: looks at both sides, plans, and changes the vault in one write.
struct PullWork {
    /// Both sides as they were found, and what is to be done.
    struct Finding {
        let plan: PullPlan
        let listing: PlatformListing
        /// What is there and is not taken in, shared variables of the team too.
        let skipped: [RecordNote]
        /// The project's records that the plan was made of.
        fileprivate let variables: [Variable]
        fileprivate let values: [String: SecretSlice]
        fileprivate let listedAt: UInt64
        fileprivate let platformTime: UInt64
        fileprivate let metadata: IndexMetadata

        /// Every key that either side has.
        var keys: Set<String> {
            Set(variables.map(\.name) + listing.records.map(\.key))
                .union(skipped.map(\.key))
        }
    }

    private let workspace: Workspace
    private let bound: BoundProject
    private let progress: WorkProgress
    private let rules: PullPlan.Rules
    /// The vault's project; not in the vault yet where ``isNew``.
    let project: VaultProject
    /// Tells that the vault gets the project with the pull.
    let isNew: Bool

    /// - Throws: ``ExitCode/notFound`` for a project that is not the vault's.
    init(
        _ workspace: Workspace, _ bound: BoundProject, isNew: Bool = false, rules: PullPlan.Rules,
        progress: WorkProgress
    ) throws {
        guard let project = bound.local else {
            throw CommandError(.notFound, "The vault has no such project.")
        }
        self.workspace = workspace
        self.bound = bound
        self.isNew = isNew
        self.rules = rules
        self.progress = progress
        self.project = project
    }

    // MARK: Looking

    /// Reads both sides and plans. Changes nothing.
    func look() throws -> Finding {
        // The vault first: what another command pushes after this is noticed before anything is
        // written, while a list older than the vault would look like a change.
        let keys = try workspace.session.keys(workspace.session.unattendedTier)
        let vault = try workspace.session.opened()
        let index = try vault.index(with: keys, extent: .everything)
        let variables = index.variables.filter { $0.project == project.id }
        progress.update("Reading \(project.name) …")
        let client = bound.access.client
        let names = CustomEnvironmentNames(
            try bound.reading?.lists.customEnvironments
                ?? client.customEnvironments(ofProject: bound.platform.id))
        try checkPlaces(names, variables)
        let shared = try SharedListing.keep(of: bound, workspace).filter {
            self.rules.includes($0)
        }
        let listedAt = bound.reading?.askedAt ?? workspace.context.now()
        let arena = bound.reading?.arena ?? SecretArena()
        var listing = PlatformListing(
            try bound.reading?.lists.variables
                ?? client.environmentVariables(ofProject: bound.platform.id, valuesInto: arena),
            environments: names)
        let platformTime = bound.reading?.platformTime ?? client.platformTime
        var rules = rules
        for record in try doomed(listing.records, index) {
            listing.skip(record, because: "the next push deletes it")
        }
        rules.skipped = Set(listing.skipped.map(\.id))
        rules.ownUser = bound.access.account?.userID
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
            variables: variables, values: values, listedAt: listedAt,
            platformTime: platformTime, metadata: index.metadata)
    }

    /// Old records of renamed or replaced variables, which the next push deletes.
    private func doomed(
        _ records: [PlatformRecord], _ index: VaultIndex
    ) throws -> [PlatformRecord] {
        let there = Set(records.map(\.id))
        let targets = try index.sends(of: project.id).filter { send in
            guard send.action == .delete,
                let variable = index.variables.first(where: { $0.id == send.variable })
            else { return false }
            // Without the new one the old one is all that Vercel has.
            return variable.isLive
                && (variable.name == send.key
                    || variable.remote.map { there.contains($0.id) } ?? false)
        }.compactMap(\.target)
        if targets.isEmpty { return [] }
        let owned = Set(index.variables.compactMap { $0.remote?.id })
        return records.filter { record in
            !owned.contains(record.id)
                && targets.contains { $0.id == record.id && $0.updatedAt == record.updatedAt }
        }
    }

    /// A target that neither side knows is a slip, and pulling nothing would look like success.
    private func checkPlaces(
        _ environments: CustomEnvironmentNames, _ variables: [Variable]
    ) throws {
        let known = Set(variables.flatMap { $0.attributes.scope.customEnvironments })
        for name in rules.places?.customEnvironments ?? []
        where environments.id(of: name) == nil && !known.contains(name) {
            throw CommandError(
                .usage,
                "\(project.name) has no environment \(name).",
                hint: "Nothing was changed. The targets are production, preview and development.")
        }
    }

    /// The values of `records`, by the platform's ids; those that it does not show are missing.
    private func values(
        _ records: [PlatformRecord], _ listing: inout PlatformListing, into arena: SecretArena
    ) throws -> [String: SecretSlice] {
        var values: [String: SecretSlice] = [:]
        var rest: [PlatformRecord] = []
        for record in records {
            if let value = listing.values[record.id] {
                values[record.id] = value
            } else {
                rest.append(record)
            }
        }
        let answers = try PlatformValues(bound.access.client, project: bound.platform.id)
            .read(
                rest, into: arena,
                progress: { done in
                    progress.update("Read \(done) of \(rest.count) values of \(project.name) …")
                })
        var missing: [PlatformRecord] = []
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
                "The platform's value of \(key) is longer than 1 MiB.",
                hint: "Nothing was changed.")
        }
        return values
    }

    /// Takes out records whose values are not found, once the platform does not list them any more: one
    /// answer alone must not remove a variable from the vault, nor leave one out unseen.
    private func drop(_ missing: [PlatformRecord], from listing: inout PlatformListing) throws {
        if missing.isEmpty { return }
        let listed = Set(
            try bound.access.client.environmentVariables(ofProject: bound.platform.id).map(\.id))
        for record in missing {
            guard !listed.contains(record.id) else {
                throw CommandError(
                    .unavailable,
                    "The platform lists \(record.key) of \(project.name), and does not find its value.",
                    hint: "Nothing was changed. Run it again in a minute.")
            }
            listing.drop(record.id)
        }
    }

    private func evidence(
        _ listing: PlatformListing, _ values: [String: SecretSlice], _ variables: [Variable],
        _ reader: ValueReader?, _ rules: PullPlan.Rules
    ) throws -> PullPlan.Evidence {
        var evidence = PullPlan.Evidence(
            states: values.mapValues { .shown(isEmpty: $0.count == 0) }, canCompare: reader != nil)
        guard let reader else { return evidence }
        let needed = PullPlan.valuesNeeded(
            variables: variables, platform: listing.records, rules: rules)
        let arena = SecretArena()
        for (record, variable) in needed {
            if let variable, values[record.id] != nil, !reader.isAccepted(variable) {
                evidence.equalities[variable.id] = false
                continue
            }
            guard let variable, let theirs = values[record.id],
                let ours = try reader.currentValue(of: variable, in: arena)
            else { continue }
            evidence.equalities[variable.id] = ours.withBytes { ours in
                theirs.withBytes { ours.isEqualInConstantTime(to: $0) }
            }
        }
        return evidence
    }

    // MARK: Changing the vault

    /// Brings the vault to the plan; with conflicts keeps no more than what was seen.
    func apply(_ finding: Finding) throws {
        guard finding.plan.conflicts.isEmpty else {
            if !isNew { try write(finding, withChanges: false) }
            return
        }
        // A push that is under way keeps what it sends as it goes; what it kept while this one waited
        // is noticed before anything is written.
        let lock = try ProjectLock(project, besides: workspace.session.path, workspace)
        defer { withExtendedLifetime(lock) {} }
        let names = finding.plan.steps.filter { $0.action != .agree }.map(\.key)
        guard !names.isEmpty else { return try write(finding, withChanges: true) }
        try workspace.audited(
            Set(names).sorted(), project: project.name, seen: finding.metadata
        ) { try write(finding, withChanges: true) }
    }

    private func write(_ finding: Finding, withChanges: Bool) throws {
        let time = workspace.context.now()
        let account = bound.access.account?.userID ?? project.binding?.accountID ?? ""
        let live = bound.platform.liveDeployment
        let keys = try workspace.session.keys(workspace.session.unattendedTier)
        try workspace.session.update(with: keys) { transaction in
            try place(in: &transaction)
            if withChanges {
                let now = transaction.index.variables.filter { $0.project == project.id }
                guard now == finding.variables else {
                    throw CommandError(
                        .conflict,
                        "\(project.name) was changed in the vault meanwhile.",
                        hint: "Nothing was changed by this command; run it again.")
                }
                try transaction.apply(
                    finding.plan, of: project.id, values: finding.values, account: account,
                    time: time, platformTime: finding.platformTime)
            }
            transaction.see(
                finding.listing.all, listedAt: finding.listedAt,
                platformTime: finding.platformTime, of: project.id)
            transaction.see(live: live, of: project.id, time: time)
        }
    }

    /// Has the vault know a project that it gets with this pull.
    private func place(in transaction: inout VaultTransaction) throws {
        guard isNew, transaction.index.project(project.id) == nil else { return }
        guard transaction.index.project(named: project.name) == nil else {
            throw CommandError(
                .conflict, "A project \(project.name) was made meanwhile.",
                hint: "Nothing was changed by this command; run it again.")
        }
        transaction.index.projects.append(project)
    }
}

extension PullPlan.Rules {
    /// Tells whether a shared variable of the team is one of those that are meant.
    fileprivate func includes(_ variable: SharedVariable) -> Bool {
        guard keys?.contains(variable.key) ?? true else { return false }
        guard let places else { return true }
        return !Set(variable.targets.map(\.rawValue)).isDisjoint(with: places.targets.names)
            || variable.appliesToAllCustomEnvironments && !places.customEnvironments.isEmpty
    }
}

extension SharedVariable {
    /// Why it is not taken in.
    fileprivate func note(_ project: String) -> RecordNote {
        var targets: Scope.Targets = []
        for target in self.targets { targets.formUnion(Scope.Targets(name: target.rawValue) ?? []) }
        return RecordNote(
            key: key, scope: Scope(targets: targets),
            reason:
                "it is shared by the team, and belongs to no project; give this one its own with: zg-env set \(key) -p \(project)"
        )
    }
}

internal import CommandLineKit
internal import DotEnv
internal import EnvOperations
internal import Sealing
internal import Vault
internal import VercelAPI

/// One push: looks at both sides, plans, asks, sends, reads back, and keeps what it saw.
struct PushWork {
    private let workspace: Workspace
    private let bound: BoundProject
    private let project: VaultProject
    private let rules: PushPlan.Rules
    private let values: PushValues
    /// Whether it is a part of more, which sees to the shared variables and to what is live.
    private let isPart: Bool
    private let known: PlatformReading?
    /// Held from before the platform is read; nil for a dry run, which changes nothing and waits for
    /// nobody, and for a part of more, which takes it when it runs.
    private let lock: ProjectLock?
    private let command: String?

    /// - Parameters:
    ///   - atHand: Values that this process holds, by record: what `set --push` was given.
    ///   - command: How the audit log names it, where not by the command's words.
    /// - Throws: What finding and binding the project throws.
    init(
        _ workspace: Workspace, rules: PushPlan.Rules,
        atHand: [Identifier: PushValues.Held] = [:], command: String? = nil
    ) throws {
        self.command = command
        self.workspace = workspace
        (isPart, known) = (false, nil)
        let found = try ProjectResolver(workspace).existing(
            in: try workspace.session.index(.listing))
        values = PushValues(workspace.session, project: found.name, atHand: atHand)
        lock = try Self.lock(found, workspace)
        bound = try BoundProject.inVault(
            found, try PlatformSession(workspace), workspace, readsLists: true)
        project = bound.local ?? found
        var rules = rules
        rules.ownUser = bound.access.account?.userID
        self.rules = rules
    }

    private static func lock(
        _ project: VaultProject, _ workspace: Workspace
    ) throws -> ProjectLock? {
        if workspace.options.dryRun { return nil }
        let lock = try ProjectLock(project, besides: workspace.session.path, workspace)
        // What another push wrote while this one waited is no change of somebody else's.
        workspace.session.forgetVault()
        return lock
    }

    /// A push of records of a project that was found already.
    ///
    /// - Parameters:
    ///   - isPart: Whether it is a part of more, which sees to the shared variables and to what is live.
    ///   - known: What was just read of the project; nil to read it.
    init(
        _ workspace: Workspace, _ bound: BoundProject, _ project: VaultProject,
        rules: PushPlan.Rules, isPart: Bool = false, knowing known: PlatformReading? = nil
    ) {
        self.workspace = workspace
        self.bound = bound
        self.project = project
        var rules = rules
        rules.ownUser = bound.access.account?.userID
        self.rules = rules
        self.isPart = isPart
        self.known = known
        (lock, command) = (nil, nil)
        values = PushValues(workspace.session, project: project.name, atHand: [:])
    }

    /// Pushes, or stops after the plan.
    ///
    /// - Parameters:
    ///   - asks: False where the command has asked already.
    ///   - sends: False to compare and keep what was seen, and to send nothing.
    func run(asks: Bool = true, sends: Bool = true) throws -> PushReport {
        let lock = try lock ?? Self.lock(project, workspace)
        defer { withExtendedLifetime(lock) {} }
        return try perform(asks: asks, sends: sends, knowing: try known ?? read())
    }

    private func perform(
        asks: Bool, sends: Bool, knowing reading: PlatformReading
    ) throws -> PushReport {
        let client = bound.access.client
        let (environments, platform) = (reading.environments, reading.records)
        let (listing, listedAt) = (reading.listing, reading.listedAt)
        let platformTime = reading.platformTime
        let index = try workspace.session.index(.everything)
        try checkPlaces(environments, index)
        var variables = index.variables.filter { $0.project == project.id }
            .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        try values.checkHeld(among: variables, isMeant: rules.includes)
        let resolution = try resolution(index, variables, platform)
        for position in variables.indices {
            guard let remote = resolution.remotes[variables[position].id] else { continue }
            variables[position].remote = remote
        }
        let exchange = PlaceExchange(variables: variables, platform: platform, rules: rules)
        for position in variables.indices {
            guard let remote = exchange.remotes[variables[position].id] else { continue }
            variables[position].remote = remote
        }
        let adopted = try adopted(variables, platform)
        let plan = PushPlan(
            variables: variables, platform: platform, adopted: adopted,
            leftovers: resolution.leftovers + exchange.replaced.values,
            successors: resolution.successors, abandoned: resolution.abandoned, rules: rules)
        var report = PushReport(project: project.name, plan: plan)
        report.reading = reading
        let seen = Seen(
            platform: platform, listedAt: listedAt, platformTime: platformTime,
            resolution: resolution,
            versions: Dictionary(
                uniqueKeysWithValues: variables.map { ($0.id, $0.currentVersion) }))
        guard plan.conflicts.isEmpty else {
            if !workspace.options.dryRun { try keep(seen, [:], []) }
            return report
        }
        guard sends else {
            if !workspace.options.dryRun {
                try keep(seen, adopted, plan.forgotten)
            }
            return report
        }
        if !plan.steps.isEmpty, try accept(plan, &report) {
            // Versions were sealed again, and equal ones are one now.
            values.forget()
            return try perform(asks: asks, sends: sends, knowing: reading)
        }
        if plan.steps.contains(where: \.sendsValue) { try values.open() }
        let application = PushApplication(
            client: client, project: bound.platform.id, environments: environments,
            productionBranch: bound.platform.link?.productionBranch, platform: platform,
            listing: listing,
            origin: .init(
                project: project.id, author: author(of: plan),
                now: workspace.context.now),
            values: values.current, keep: { try keep($0) }, progress: progress())
        // What a plan with a step uses was compared with the checkpoint, so they are open.
        application.keptValues = values.stored
        // A dry run does not look at values that nobody accepted.
        let isSeen = report.changes.map { $0.count == 0 } ?? true
        let problems = isSeen ? try application.problems(of: plan, among: variables) : []
        guard problems.isEmpty else {
            throw CommandError(
                .usage,
                "The platform would refuse this: \(problems.joined(separator: "; ")).",
                hint: "Nothing was sent.\(adviceOnPlaces(plan, environments))")
        }
        if asks || workspace.options.dryRun {
            let answer = try workspace.confirm(
                report.planLines,
                "Push to \(bound.platform.name)?")
            guard answer else {
                report.isDryRun = true
                return report
            }
            // Nobody knows how long the question was open.
            listing.expire()
        }
        let deletions = deletions(of: exchange, listing)
        try keep(seen, adopted, plan.forgotten, exchanging: (exchange, deletions))
        if !plan.steps.isEmpty {
            var hasBegun = false
            let begunAt = workspace.context.now()
            do {
                report.outcomes = try audited(plan, index) {
                    hasBegun = true
                    return try Interrupts.deferred { try application.send(plan) }
                }
            } catch let error as VaultError {
                // Whoever has this done as a part of more has a sentence of its own.
                guard asks, hasBegun else { throw error }
                // The vault is as it was; the platform may not be.
                var failure = CommandError(mapping: error)
                failure.message += " Changes may have been sent before that."
                failure.hint = "Mend that, then push again: it first looks at what arrived."
                throw failure
            }
            let deleted = Set(
                report.outcomes.filter { $0.step.isDeletion && !$0.isFailed }
                    .compactMap(\.step.remoteID))
            let ended = (deletions + resolution.pending)
                .filter { deleted.contains($0.target?.id ?? "") }.map(\.id)
            if !ended.isEmpty { try keep(PushNote(ended: ended)) }
            Interrupts.endIfPending()
            report.overtaken = overtaken(plan.unchanged, platform, listing.last)
            report.overtaken += madeMeanwhile(report.outcomes, variables, listing.last)
            try keepSeen(listing, begunAt: begunAt)
            if !isPart { try keepLive() }
            let after = try workspace.session.index(.listing)
            report.pending = after.project(project.id).map { PendingChanges(of: $0, in: after) }
        }
        return report
    }

    /// How to leave custom environments that the platform does not have.
    private func adviceOnPlaces(_ plan: PushPlan, _ environments: CustomEnvironmentNames) -> String
    {
        plan.steps.prefix(3).compactMap { step in
            let missing = step.attributes.scope.customEnvironments.filter {
                environments.id(of: $0) == nil
            }
            guard step.variable != nil, !missing.isEmpty else { return nil }
            let place = Scope(
                targets: [], customEnvironments: missing, branch: step.attributes.scope.branch)
            return
                " Take \(step.key) out of there with: zg-env rm \(word: step.key) -p \(word: project.name)\(place.optionText)"
        }.joined(separator: ".")
    }

    /// Has what a plan sends accepted: the project, its records, the account, sends without an answer.
    ///
    /// - Returns: Whether that took a write, so that the plan is to be made again.
    private func accept(_ plan: PushPlan, _ report: inout PushReport) throws -> Bool {
        let session = workspace.session
        let keys = try session.keys(.values)
        let index = try session.opened().index(with: keys, extent: .everything)
        let use = CheckpointUse.sending(
            project: project.id, records: Set(plan.steps.compactMap { $0.variable?.id }),
            account: bound.access.account?.name)
        if workspace.options.dryRun {
            let changes = CheckpointComparison(of: index).limited(
                to: index.objectsNotAccepted(for: use))
            report.changes = ChangesText(changes, in: index)
            return false
        }
        // What is compared must be what this process went to the platform with.
        guard index.project(project.id)?.binding == project.binding else {
            throw CommandError(
                .conflict,
                "\(project.name) was bound to something else meanwhile.",
                hint: "Nothing was sent. Run the command again.")
        }
        return try AcceptanceGate(workspace).require(use, in: index, with: keys)
    }

    /// Sends between two lines of the audit log.
    private func audited(
        _ plan: PushPlan, _ index: VaultIndex, _ send: () throws -> [PushOutcome]
    ) throws -> [PushOutcome] {
        return try workspace.audited(
            Set(plan.steps.map(\.key)).sorted(), project: project.name,
            command: command, seen: index.metadata, send,
            failed: { $0.contains(where: \.isFailed) })
    }

    /// A target that neither side knows is a slip, and pushing nothing would look like success.
    private func checkPlaces(_ environments: CustomEnvironmentNames, _ index: VaultIndex) throws {
        let known = index.variables.filter { $0.project == project.id }.flatMap {
            $0.attributes.scope.customEnvironments
        }
        for name in rules.places?.customEnvironments ?? []
        where environments.id(of: name) == nil && !known.contains(name) {
            throw CommandError(
                .usage,
                "\(project.name) has no environment \(name).",
                hint: "Nothing was sent. The targets are production, preview and development.")
        }
    }

    /// Reads what the platform has.
    private func read() throws -> PlatformReading {
        if isPart { return try readAsPart() }
        if let reading = bound.reading {
            try SharedListing.keep(of: bound, workspace)
            let environments = CustomEnvironmentNames(reading.lists.customEnvironments)
            let listed = reading.lists.variables.map(\.variable)
            let listing = FreshListing(
                bound.access.client, project: bound.platform.id, environments: environments)
            listing.take(
                listed, elapsed: reading.lists.elapsed, pauseCount: reading.lists.pauseCount)
            return PlatformReading(
                environments: environments,
                records: listed.map { PlatformRecord($0, environments: environments) },
                listing: listing, listedAt: reading.askedAt, platformTime: reading.platformTime)
        }
        let environments = CustomEnvironmentNames(
            try bound.access.client.customEnvironments(ofProject: bound.platform.id))
        try SharedListing.keep(of: bound, workspace)
        let listedAt = workspace.context.now()
        let listing = FreshListing(
            bound.access.client, project: bound.platform.id, environments: environments)
        return PlatformReading(
            environments: environments, records: try listing.current(), listing: listing,
            listedAt: listedAt, platformTime: bound.access.client.platformTime)
    }

    /// The same with as few requests as possible: the names of custom environments are asked for where one is
    /// meant.
    private func readAsPart() throws -> PlatformReading {
        let listedAt = workspace.context.now()
        let client = bound.access.client
        let (elapsed, pauseCount) = (client.elapsed, client.pauseCount)
        let listed = try client.environmentVariables(ofProject: bound.platform.id)
        let platformTime = client.platformTime
        let index = try workspace.session.index(.listing)
        let hasCustom =
            !(rules.places?.customEnvironments ?? []).isEmpty
            || listed.contains { !$0.customEnvironmentIds.isEmpty }
            || index.variables.contains {
                $0.project == project.id && !$0.attributes.scope.customEnvironments.isEmpty
            }
        let names = CustomEnvironmentNames(
            hasCustom ? try client.customEnvironments(ofProject: bound.platform.id) : [])
        let listing = FreshListing(client, project: bound.platform.id, environments: names)
        listing.take(listed, elapsed: elapsed, pauseCount: pauseCount)
        return PlatformReading(
            environments: names, records: listed.map { PlatformRecord($0, environments: names) },
            listing: listing, listedAt: listedAt, platformTime: platformTime)
    }

    /// Records never pushed whose value the platform already has: compared, then taken as pushed.
    private func adopted(
        _ variables: [Variable], _ platform: [PlatformRecord]
    ) throws -> [Identifier: PlatformRecord] {
        let candidates = PushPlan.adoptionCandidates(
            variables: variables, platform: platform, rules: rules
        ).filter { $0.variable.currentVersion > 0 && $0.record.attributes.kind != .sensitive }
        guard !candidates.isEmpty else { return [:] }
        let arena = SecretArena()
        let answers = try read(candidates.map(\.record), into: arena)
        var adopted: [Identifier: PlatformRecord] = [:]
        for (candidate, answer) in zip(candidates, answers) {
            guard let theirs = try answer.get() else { continue }
            if try values.comparable(candidate.variable)?.equals(theirs) == true {
                adopted[candidate.variable.id] = candidate.record
            }
        }
        return adopted
    }

    /// The platform's values, in few requests; nil where it shows none.
    private func read(
        _ records: [PlatformRecord], into arena: SecretArena
    ) throws -> [Result<SecretSlice?, VercelAPIError>] {
        try PlatformValues(bound.access.client, project: bound.platform.id)
            .read(records, into: arena, trustsEmpty: true)
    }

    /// Looks up what became of writes that an earlier push began and could not end.
    private func resolution(
        _ index: VaultIndex, _ variables: [Variable], _ platform: [PlatformRecord]
    ) throws -> SendResolution {
        // What `rm --push` removed may be on its way there since an earlier push.
        let included = Set(
            variables.filter { rules.includes($0) || $0.name == rules.vacated?.key }.map(\.id))
        let sends = try index.sends(of: project.id).filter { send in
            send.platformProject == bound.platform.id
                && send.variable.map { included.contains($0) } ?? true
        }
        if sends.isEmpty { return SendResolution() }
        let candidates = SendResolution.candidates(
            sends, variables: variables, platform: platform
        ).filter { $0.record.attributes.kind != .sensitive }
        let arena = SecretArena()
        let answers = try read(candidates.map(\.record), into: arena)
        var evidence: [Identifier: SendResolution.Evidence] = [:]
        for (candidate, answer) in zip(candidates, answers) {
            guard let theirs = try answer.get() else { continue }
            evidence[candidate.send.id] = try values.evidence(of: candidate, theirs)
        }
        return SendResolution(
            of: sends, variables: variables, platform: platform, evidence: evidence,
            account: accountName, time: workspace.context.now())
    }

    /// What the journal says of records that go because those of the vault change places.
    private func deletions(
        of exchange: PlaceExchange, _ listing: FreshListing
    ) -> [SendEntry] {
        exchange.replaced.map { id, record in
            SendEntry(
                createdAt: workspace.context.now(), action: .delete, project: project.id,
                variable: id, platformProject: bound.platform.id, author: accountName,
                target: .init(id: record.id, updatedAt: record.updatedAt), key: record.key,
                attributes: record.attributes, version: 0, sentAfter: listing.time)
        }
    }

    /// The platform's id of the user who sends, by which a colleague's change is told from this push's. A
    /// token of the environment does not say whose it is, so Vercel is asked where a value is sent that it
    /// does not show; empty where nobody knows.
    private func author(of plan: PushPlan) -> String {
        if let known = bound.access.account?.userID { return known }
        let isHidden = plan.steps.contains { $0.sendsValue && $0.attributes.kind == .sensitive }
        return isHidden ? (try? bound.access.client.unrepeated().user().id) ?? "" : ""
    }

    private var accountName: String {
        bound.access.account?.userID ?? project.binding?.accountID ?? ""
    }

    private func keep(_ note: PushNote) throws {
        let (account, time) = (accountName, workspace.context.now())
        let platformTime = bound.access.client.platformTime
        try workspace.session.update(with: try workspace.session.keys(.index)) {
            $0.keep(
                note, of: project.id, account: account, time: time, platformTime: platformTime)
        }
    }

    /// What the platform showed before anything was sent.
    private struct Seen {
        let platform: [PlatformRecord]
        let listedAt: UInt64
        let platformTime: UInt64
        let resolution: SendResolution
        /// The vault's current versions at that time, by record.
        let versions: [Identifier: UInt64]
    }

    /// Keeps what was seen before anything is sent: changes made elsewhere, adopted records, and
    /// removed ones that are gone there too.
    private func keep(
        _ seen: Seen, _ adopted: [Identifier: PlatformRecord], _ forgotten: [Identifier],
        exchanging exchange: (PlaceExchange, deletions: [SendEntry])? = nil
    ) throws {
        let (account, time) = (accountName, workspace.context.now())
        let live = bound.platform.liveDeployment
        let keys = try workspace.session.keys(.index)
        try workspace.session.update(with: keys) { transaction in
            transaction.keep(seen.resolution, account: account, time: time)
            if let exchange { transaction.keep(exchange.0, deletions: exchange.deletions) }
            transaction.adopt(
                adopted, versions: seen.versions, account: account, time: time)
            transaction.forget(forgotten, by: seen.platformTime)
            transaction.see(
                seen.platform, listedAt: seen.listedAt, platformTime: seen.platformTime,
                of: project.id)
            transaction.see(live: live, of: project.id, time: time)
        }
    }

    /// Records that needed nothing, and that somebody has changed since the plan was made.
    private func overtaken(
        _ variables: [Variable], _ planned: [PlatformRecord], _ now: [PlatformRecord]
    ) -> [RecordNote] {
        func byID(_ records: [PlatformRecord]) -> [String: PlatformRecord] {
            Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        }
        let (planned, now) = (byID(planned), byID(now))
        return variables.compactMap { variable in
            guard let before = variable.remote.flatMap({ planned[$0.id] }) else { return nil }
            let record = now[before.id]
            guard record?.updatedAt != before.updatedAt else { return nil }
            return RecordNote(
                key: variable.name, scope: variable.attributes.scope,
                reason: record.map {
                    "it was changed on Vercel\($0.phrase(for: $0.author, as: rules.ownUser))"
                } ?? "it was removed on Vercel")
        }
    }

    /// Records in places that this push has just left, which somebody made while it ran.
    private func madeMeanwhile(
        _ outcomes: [PushOutcome], _ variables: [Variable], _ now: [PlatformRecord]
    ) -> [RecordNote] {
        let sent = Set(outcomes.filter { !$0.isFailed }.compactMap { $0.step.variable?.id })
        let made = Set(outcomes.compactMap { $0.record?.id })
        return PushPlan.conflicts(
            inPlacesOf: variables.filter { sent.contains($0.id) }, among: variables,
            platform: now.filter { !made.contains($0.id) })
    }

    /// Keeps what the last listing shows of records that this push did not touch.
    private func keepSeen(_ listing: FreshListing, begunAt: UInt64) throws {
        guard
            try workspace.session.index(.listing).learns(
                from: listing.last, listedAt: begunAt, of: project.id)
        else { return }
        let platformTime = bound.access.client.platformTime
        try workspace.session.update(with: try workspace.session.keys(.index)) {
            $0.see(
                listing.last, listedAt: begunAt, platformTime: platformTime, of: project.id)
        }
    }

    private func keepLive() throws {
        guard let now = try? bound.access.client.project(bound.platform.id) else { return }
        let (live, time) = (now.liveDeployment, workspace.context.now())
        try workspace.session.update(with: try workspace.session.keys(.index)) {
            $0.see(live: live, of: project.id, time: time)
        }
    }

    private func progress() -> (Int, Int) -> Void {
        guard let line = workspace.interaction.progressLine else { return { _, _ in } }
        return { done, all in
            if done < all { line.update("Pushed \(done) of \(all) …") } else { line.finish() }
        }
    }
}

internal import CommandLineKit
internal import EnvOperations
internal import Sealing
internal import SharedProjects
internal import Vault
internal import VercelAPI

/// Pushes a project: reads both sides, plans, asks, sends, reads back, and records what it saw.
struct PushWork {
    private let workspace: Workspace
    private let bound: LinkedProject
    private let project: VaultProject
    private var rules: PushPlan.Rules
    private var values: PushValues
    /// Whether the caller handles the shared variables and the live deployment.
    private let isPart: Bool
    private let known: VercelReading?
    /// Taken before Vercel is read; nil for a dry run, which changes nothing, and for a push that is
    /// part of another operation and takes the lock in ``run(asks:sends:)``.
    private let lock: ProjectLock?
    private let command: String?
    /// Whether the vault must fit the schema.
    private let checksSchema: Bool

    /// - Parameters:
    ///   - atHand: The values given to `set --push`, by record.
    ///   - command: The command name for the audit log, if not that of the command line.
    ///   - checksSchema: Whether the vault must fit the schema.
    init(
        _ workspace: Workspace, rules: PushPlan.Rules,
        atHand: [Identifier: PushValues.Held] = [:], command: String? = nil,
        checksSchema: Bool = false
    ) throws {
        (self.command, self.checksSchema) = (command, checksSchema)
        self.workspace = workspace
        (isPart, known) = (false, nil)
        let found = try ProjectResolver(workspace).existing(
            in: try workspace.session.index(.listing))
        values = PushValues(workspace.session, project: found.name, atHand: atHand)
        lock = try Self.lock(found, workspace)
        bound = try LinkedProject.inVault(
            found, try VercelSession(workspace), workspace, readsLists: true)
        project = bound.local ?? found
        var rules = rules
        rules.ownUser = bound.access.account?.knownUserID
        self.rules = rules
    }

    private static func lock(
        _ project: VaultProject, _ workspace: Workspace
    ) throws -> ProjectLock? {
        if workspace.options.dryRun { return nil }
        let lock = try ProjectLock(project, besides: workspace.session.path, workspace)
        // Reads again what another push wrote while this one waited for the lock.
        workspace.session.closeVault()
        return lock
    }

    /// Creates a push for a bound project.
    ///
    /// - Parameters:
    ///   - isPart: Whether the caller handles the shared variables and the live deployment.
    ///   - known: A recent reading of the project; nil to read it.
    init(
        _ workspace: Workspace, _ bound: LinkedProject, _ project: VaultProject,
        rules: PushPlan.Rules, isPart: Bool = false, knowing known: VercelReading? = nil
    ) {
        self.workspace = workspace
        self.bound = bound
        self.project = project
        var rules = rules
        rules.ownUser = bound.access.account?.knownUserID
        self.rules = rules
        self.isPart = isPart
        self.known = known
        (lock, command, checksSchema) = (nil, nil, false)
        values = PushValues(workspace.session, project: project.name, atHand: [:])
    }

    /// Pushes, or stops after the plan.
    ///
    /// - Parameters:
    ///   - asks: False if the command has asked already.
    ///   - sends: False to compare and record what was seen without sending.
    ///   - followUp: What the caller does after the push, to ask about both at once; nil for nothing.
    func run(
        asks: Bool = true, sends: Bool = true, followUp: FollowUp? = nil
    ) throws -> PushReport {
        let lock = try lock ?? Self.lock(project, workspace)
        defer { withExtendedLifetime(lock) {} }
        let reading = try known ?? read()
        if !isPart {
            HiddenProduction.warn(reading.records, of: project.name, workspace.context)
            bound.keepLabels(reading.records, askedAt: reading.listedAt, workspace)
        }
        return try perform(asks: asks, sends: sends, followUp, knowing: reading)
    }

    /// What happens after a push.
    struct FollowUp {
        /// Lines of the plan.
        let plan: [String]
        /// The end of the question, such as "redeploy production".
        let words: String
    }

    /// What is known before anything is sent.
    private struct Preparation {
        let reading: VercelReading
        let index: VaultIndex
        /// All records of the project.
        let variables: [Variable]
        let claimed: ClaimedRecords
        let stricter: StricterTypes
        var plan: PushPlan
        var report: PushReport
    }

    /// - Parameter confirmed: The plan that the user has seen and confirmed, if there was one.
    private func perform(
        asks: Bool, sends: Bool, _ followUp: FollowUp?, knowing reading: VercelReading,
        confirmed: PushPlan? = nil
    ) throws -> PushReport {
        var push = try prepared(reading)
        // A rotation refuses by itself.
        if sends { try refuseHidden(push.plan, reading.records) }
        guard push.plan.conflicts.isEmpty, sends else {
            if !workspace.options.dryRun { try keep(push) }
            return push.report
        }
        if !push.plan.steps.isEmpty { try check(push.plan) }
        if push.plan.steps.contains(where: \.sendsValue) { try values.open() }
        try leaveOutRejected(&push)
        if let confirmed {
            guard push.plan.sendsSame(as: confirmed) else {
                throw CommandError(
                    .conflict, "\(project.name) was changed while the command was running.",
                    hint: "Nothing was sent. Run the command again.")
            }
        } else {
            guard try isConfirmed(push, asks: asks, followUp) else {
                push.report.isDryRun = true
                return push.report
            }
            try confirmWeaker(push.plan, reading.listing)
        }
        let parts = try divide(push)
        if !parts.isEmpty {
            var again = self
            again.rules.parts.formUnion(parts)
            again.values = PushValues(workspace.session, project: project.name, atHand: [:])
            return try again.perform(
                asks: asks, sends: true, nil, knowing: reading, confirmed: push.plan)
        }
        try keep(push)
        if !push.plan.steps.isEmpty { try send(&push, asks: asks) }
        return push.report
    }

    /// Compares both sides, and plans.
    private func prepared(_ reading: VercelReading) throws -> Preparation {
        let platform = reading.records
        let index = try workspace.session.index(.everything)
        var variables = index.variables.filter { $0.project == project.id }
            .sorted { ($0.name, $0.id) < ($1.name, $1.id) }
        try rules.leaveOutOffers(of: &variables, in: project, of: index, workspace.context)
        try reading.environments.check(rules.places, variables, in: project.name)
        try values.checkHeld(among: variables, isMeant: rules.includes)
        let claimed = try ClaimedRecords(
            index, of: project.id, variables, platform, account: bound.accountID)
        claimed.apply(to: &variables)
        let stricter = StricterTypes(variables: variables, platform: platform, rules: rules)
        stricter.apply(to: &variables)
        var state = ProjectState(
            variables: variables, others: index.otherAgreements[project.id] ?? [],
            sends: try index.sends(of: project.id).filter {
                $0.vercelProject == bound.platform.id
            }, platform: platform, rules: rules)
        try compare(&state)
        var plan = PushPlan(state)
        // A rotation puts back only the records that it began with.
        if isPart { plan.refuseDivision() }
        var report = PushReport(
            project: project.name, plan: plan, offersQuestions: workspace.interaction.canConfirm)
        report.reading = reading
        return Preparation(
            reading: reading, index: index, variables: variables, claimed: claimed,
            stricter: stricter, plan: plan, report: report)
    }

    /// Leaves out what Vercel would reject.
    private func leaveOutRejected(_ push: inout Preparation) throws {
        let problems = try push.plan.problems(
            on: vercel(push.reading.environments),
            productionBranch: bound.platform.link?.productionBranch, among: push.variables,
            insisted: rules.force ? rules.keys ?? [] : [], values: values.current)
        guard problems.general.isEmpty else {
            throw CommandError(
                .usage,
                "Vercel would reject this push: \(problems.general.joined(separator: "; ")).",
                hint: "Nothing was sent."
                    + adviceOnEnvironments(push.plan, push.reading.environments)
                    + (problems.hasTooMany
                        ? " Remove variables that are not needed with: zg-env rm KEY -p \(word: project.name) --push"
                        : ""))
        }
        push.report.leaveOut(problems, of: &push.plan)
    }

    /// Shows the plan, and asks.
    private func isConfirmed(
        _ push: Preparation, asks: Bool, _ followUp: FollowUp?
    ) throws -> Bool {
        let (report, options) = (push.report, workspace.options)
        let schemaLines =
            isPart
            ? []
            : try PushSchema(
                push.plan, of: project, in: push.index, places: rules.places,
                requires: checksSchema, workspace
            ).lines
        let policyLines =
            asks || command != nil
            ? SeparateProduction.planLines(
                push.plan.secrets, in: project.name, of: bound, asks: asks, workspace) : []
        // Only a question shows the plan.
        if options.yes || options.dryRun || !asks {
            for line in schemaLines { workspace.context.warn("schema", "\(line).") }
            if !options.dryRun { report.warnOfEmpty(workspace.context) }
        }
        // `set` and `import` have said it.
        let readable = asks && command == nil ? report.readableNotice : nil
        if options.yes, !options.dryRun, let readable { workspace.note("\(readable).") }
        guard asks || options.dryRun else { return true }
        let lines = report.planLines + [readable].compactMap(\.self) + policyLines
        let question =
            "Push to \(bound.platform.name)\(followUp.map { " and \($0.words)" } ?? "")?"
        guard
            try workspace.confirm(
                (lines.isEmpty ? lines : lines + schemaLines) + (followUp?.plan ?? []), question)
        else { return false }
        // The question may have been open for any time.
        push.reading.listing.expire()
        return true
    }

    /// Sends the steps, reads back, and finds out what is not live yet.
    private func send(_ push: inout Preparation, asks: Bool) throws {
        let (plan, listing) = (push.plan, push.reading.listing)
        let sender = RequestSender(
            vercel(push.reading.environments),
            .init(
                project: project.id, remoteProject: bound.platform.id, author: author(of: plan),
                now: workspace.context.now),
            planned: push.reading.records, listing: listing,
            values: plan.values(sent: values.current, kept: values.stored),
            keep: { try keep($0) }, progress: progress())
        var hasBegun = false
        let begunAt = workspace.context.now()
        do {
            push.report.outcomes = try workspace.audited(
                Set(plan.steps.map(\.key)).sorted(), project: project.name,
                command: command, seen: push.index.metadata
            ) {
                hasBegun = true
                return try Interrupts.deferred { try plan.send(through: sender) }
            } failed: {
                $0.contains(where: \.isFailed)
            }
        } catch let error as VaultError {
            // A caller with a larger operation reports this in its own words.
            guard asks || command != nil, hasBegun else { throw error }
            // The vault is unchanged, but Vercel may not be.
            var failure = CommandError(mapping: error)
            failure.effect = .mayBeSent
            failure.hint =
                "Fix the cause, then push again: zg-env starts by checking which changes Vercel already has."
            throw failure
        }
        Interrupts.endIfPending()
        tellGroup(push.report.outcomes)
        guard Interrupts.pending == nil else {
            throw CommandError(
                .failed, "Canceled.", effect: .mayBeSent,
                hint:
                    "To finish, push again: zg-env starts by checking which changes Vercel already has."
            )
        }
        push.report.overtaken =
            overtaken(
                plan.unchanged + plan.unlisted, plan.agreedRecords, push.reading.records,
                listing.last) + plan.occupied(after: push.report.outcomes, listing.last)
        let after = try lookAgain(listing.last, listedAt: begunAt)
        let known = after.project(project.id)
        push.report.pending = known.map { PendingChanges(of: $0, in: after) }
        push.report.lacksProduction = known?.live == nil
    }

    /// Refuses what Vercel's list is not complete enough for. Nothing is sent then, and nothing of it
    /// is kept.
    private func refuseHidden(_ plan: PushPlan, _ platform: ListedRecords) throws {
        guard !platform.isComplete, rules.prune || !plan.blocked.isEmpty else { return }
        let blocked = Set(plan.blocked.map(\.key))
        let others = Set(plan.steps.compactMap(\.variable?.name)).subtracting(blocked).sorted()
        let rest =
            rules.prune || others.isEmpty
            ? ""
            : "Changes that do not affect production can be pushed separately: zg-env push \(ConflictAdvice.words(others))-p \(word: project.name)"
        throw HiddenProduction.refusal(
            platform, of: project.name,
            rules.prune
                ? "--prune could delete the wrong ones, and nothing was sent"
                : "nothing was sent: \(VariableName.list(blocked.sorted()))",
            rest: rest)
    }

    /// Asks before Vercel shows a value that it hides now, which --yes does not answer.
    private func confirmWeaker(_ plan: PushPlan, _ listing: FreshListing) throws {
        let exposed = plan.weakened.filter(\.isExposure)
        guard !exposed.isEmpty, !rules.allowsWeaker else { return }
        let lines = exposed.map { weakening in
            let step = weakening.step
            return
                "\(step.key) (\(step.attributes.scope.description)): \(WeakerType.clause(from: weakening.before, to: step.attributes.kind))"
        }
        guard workspace.interaction.canConfirm else {
            let keys = ConflictAdvice.words(exposed.map(\.step.key))
            throw CommandError(
                .usage,
                "This push needs --allow-weaker: \(lines.joined(separator: "; ")).",
                hint:
                    "Nothing was sent. If that is intended, run: zg-env push \(keys)-p \(word: project.name)\(rules.force ? " --force" : "") --allow-weaker"
            )
        }
        guard
            try workspace.interaction.confirm(
                "Vercel hides these values now. After this push it shows them:", lines, "Send them?"
            )
        else { throw CommandError(.failed, "Canceled.", hint: "Nothing was sent.") }
        listing.expire()
    }

    /// Returns the commands that remove variables from custom environments that Vercel does not have.
    private func adviceOnEnvironments(_ plan: PushPlan, _ environments: CustomEnvironmentNames)
        -> String
    {
        plan.steps.prefix(3).compactMap { step in
            let missing = step.attributes.scope.customEnvironments.filter {
                environments.id(of: $0) == nil
            }
            guard step.variable != nil, !missing.isEmpty else { return nil }
            let place = Scope(
                targets: [], customEnvironments: missing, branch: step.attributes.scope.branch)
            return
                " Remove \(step.key) from that environment with: zg-env rm \(word: step.key) -p \(word: project.name)\(place.optionText)"
        }.joined(separator: ".")
    }

    /// Checks that nothing stops the values of a plan from being sent.
    private func check(_ plan: PushPlan) throws {
        let session = workspace.session
        let keys = try session.keys(.values)
        let index = try session.opened().index(with: keys, extent: .everything)
        let records = Set(plan.steps.compactMap { $0.variable?.id })
        if workspace.options.dryRun {
            return try HeldGate.check(
                records, in: index, .ofSending, warnsOnly: true, workspace.context)
        }
        // The binding must be the one that this process used to read Vercel.
        guard index.project(project.id)?.binding == project.binding else {
            throw CommandError(
                .conflict,
                "\(project.name) was linked to another Vercel project while the command was "
                    + "running.",
                hint: "Nothing was sent. Run the command again.")
        }
        try SendingGate.check(records, in: index, workspace.context)
    }

    /// Reads the project's variables and custom environments from Vercel.
    private func read() throws -> VercelReading {
        if isPart { return try readAsPart() }
        if let reading = bound.reading {
            try SharedListing.keep(of: bound, workspace)
            let environments = CustomEnvironmentNames(reading.lists.customEnvironments)
            let listed = reading.lists.variables.map(\.variable)
            let records = ListedRecords(listed, environments: environments)
            let listing = FreshListing(vercel(environments))
            listing.take(
                records, elapsed: reading.lists.elapsed, pauseCount: reading.lists.pauseCount)
            return VercelReading(
                environments: environments, records: records, listing: listing,
                listedAt: reading.askedAt, vercelTime: reading.vercelTime)
        }
        let environments = CustomEnvironmentNames(
            try bound.access.client.customEnvironments(ofProject: bound.platform.id))
        try SharedListing.keep(of: bound, workspace)
        let listedAt = workspace.context.now()
        let listing = FreshListing(vercel(environments))
        return VercelReading(
            environments: environments,
            records: try PlatformError.unwrapping { try listing.current() }, listing: listing,
            listedAt: listedAt, vercelTime: bound.access.client.vercelTime)
    }

    /// Reads with as few requests as possible: custom environments only if a variable applies to one.
    private func readAsPart() throws -> VercelReading {
        let listedAt = workspace.context.now()
        let client = bound.access.client
        let (elapsed, pauseCount) = (client.elapsed, client.pauseCount)
        let listed = try client.environmentVariables(ofProject: bound.platform.id)
        let vercelTime = client.vercelTime
        let index = try workspace.session.index(.listing)
        let hasCustom =
            !(rules.places?.customEnvironments ?? []).isEmpty
            || listed.variables.contains { !$0.customEnvironmentIds.isEmpty }
            || index.variables.contains {
                $0.project == project.id && !$0.attributes.scope.customEnvironments.isEmpty
            }
        let names = CustomEnvironmentNames(
            hasCustom ? try client.customEnvironments(ofProject: bound.platform.id) : [])
        let records = ListedRecords(listed, environments: names)
        let listing = FreshListing(vercel(names))
        listing.take(records, elapsed: elapsed, pauseCount: pauseCount)
        return VercelReading(
            environments: names, records: records, listing: listing, listedAt: listedAt,
            vercelTime: vercelTime)
    }

    private func vercel(_ environments: CustomEnvironmentNames) -> VercelPlatform {
        VercelPlatform(
            bound.access.client, project: bound.platform.id, environments: environments)
    }

    /// Finds out which versions those records have that may have changed.
    private func compare(_ state: inout ProjectState) throws {
        let candidates = state.candidates
        guard !candidates.isEmpty else { return }
        let arena = SecretArena()
        let answers = try VercelValues(bound.access.client, project: bound.platform.id)
            .read(candidates.map(\.record), into: arena, trustsEmpty: true)
        var found: [String: Int?] = [:]
        for (candidate, answer) in zip(candidates, answers) {
            guard let theirs = try answer.get() else { continue }
            if let place = try values.place(of: theirs, in: candidate) {
                found.updateValue(place, forKey: candidate.record.id)
            }
        }
        state.take(found)
    }

    /// Divides the records of the vault that are several on Vercel, so that each has its own.
    ///
    /// - Returns: All parts.
    private func divide(_ push: Preparation) throws -> Set<Identifier> {
        let plan = push.plan
        guard !plan.divided.isEmpty else { return [] }
        let held = values
        let values = try plan.divided.map { try held.current($0.variable) }
        let time = workspace.context.now()
        return try workspace.session.commit { transaction, _ in
            push.stricter.apply(to: &transaction.index.variables)
            var parts = Set(plan.divided.map(\.variable.id))
            for ((variable, scopes), value) in zip(plan.divided, values) {
                guard
                    let now = transaction.index.variables.first(where: { $0.id == variable.id }),
                    now.currentVersion == variable.currentVersion,
                    now.attributes == variable.attributes, now.isLive
                else {
                    throw CommandError(
                        .conflict,
                        "\(variable.name) was changed while the command was running.",
                        hint: "Nothing was sent. Run the command again.")
                }
                for scope in scopes {
                    let edits = try value.withBytes {
                        try transaction.assign(
                            $0, as: variable.currentVersion, to: scope, of: variable.name,
                            in: project.id, at: time)
                    }
                    parts.formUnion(edits.map { transaction.index.variables[$0.position].id })
                }
            }
            return parts
        }
    }

    /// Returns Vercel's id of the user who pushes, to tell a colleague's change from this push's; empty
    /// if unknown. The user of a token from the environment is requested from Vercel only if a
    /// sensitive value is sent.
    private func author(of plan: PushPlan) -> String {
        if let account = bound.access.account { return account.knownUserID ?? "" }
        let isHidden = plan.steps.contains { $0.sendsValue && $0.attributes.kind == .sensitive }
        return isHidden ? (try? bound.access.client.withoutRetries().user().id) ?? "" : ""
    }

    private func keep(_ note: SendNote) throws {
        let (account, time) = (bound.accountID, workspace.context.now())
        let vercelTime = bound.access.client.vercelTime
        try workspace.session.commit { transaction, _ in
            transaction.keep(
                note, of: project.id, account: account, time: time, vercelTime: vercelTime)
        }
    }

    /// Stores what was decided before anything is sent: what listing and journal show to be agreed on,
    /// and removed records that Vercel no longer has either. Notes what was only seen.
    private func keep(_ push: Preparation) throws {
        let (account, time) = (bound.accountID, workspace.context.now())
        let live = bound.platform.liveDeployment
        let (reading, plan) = (push.reading, push.plan)
        try workspace.session.commit { transaction, _ in
            push.claimed.apply(to: &transaction.index.variables)
            push.stricter.apply(to: &transaction.index.variables)
            transaction.keep(
                plan.agreed, of: project.id, account: account, time: time,
                vercelTime: reading.vercelTime)
            transaction.end(plan.settled)
            transaction.forget(plan.forgotten, by: reading.vercelTime)
            transaction.index.endVacated(
                reading.records, listedAt: reading.listedAt,
                vercelTime: reading.vercelTime, of: project.id)
            transaction.index.forgetRemovals(
                of: project.id, builtWithout: live, seenAt: time)
        }
        try workspace.session.note(
            reading.records, listedAt: reading.listedAt,
            vercelTime: reading.vercelTime, of: project.id)
        try workspace.session.note(live: live, at: time, of: project.id)
    }

    /// Returns notes on records without a step that somebody changed after the plan was made.
    private func overtaken(
        _ variables: [Variable], _ adopted: [Identifier: VercelRecord],
        _ planned: ListedRecords, _ listed: ListedRecords
    ) -> [RecordNote] {
        let (planned, now) = (planned.keyed(by: \.id), listed.keyed(by: \.id))
        return variables.compactMap { variable in
            // What was not listed then was as both sides agreed.
            let known = variable.remote.map { ($0.id, $0.agreedUpdatedAt) }
            let before = adopted[variable.id] ?? variable.remote.flatMap { planned[$0.id] }
            guard let (id, time) = before.map({ ($0.id, $0.updatedAt) }) ?? known else {
                return nil
            }
            let record = now[id]
            guard record?.updatedAt != time, record != nil || listed.isComplete else { return nil }
            return RecordNote(
                key: variable.name, scope: variable.attributes.scope,
                reason: record.map {
                    "it was changed on Vercel\($0.phrase(for: $0.author, as: rules.ownUser))"
                } ?? "it was removed on Vercel")
        }
    }

    /// Tells the group of a shared project what Vercel has now.
    private func tellGroup(_ outcomes: [PushOutcome]) {
        let session = workspace.session
        do {
            let shared = try SharedProject.all(in: try session.index(.listing))
            guard shared.contains(where: { $0.project == project.id }) else { return }
            let claims = outcomes.compactMap(\.written).map { written in
                RemoteClaim(
                    variable: written.variable, version: written.version,
                    remoteID: written.record.id, key: written.record.key,
                    kind: written.record.attributes.kind, scope: written.record.attributes.scope,
                    updatedAt: written.record.updatedAt)
            }
            if claims.isEmpty { return }
            try session.commit { $1.add(GroupNews(claims: claims)) }
        } catch {
            // What was sent is on Vercel; a colleague's push compares values instead.
            workspace.context.warn(
                "group-not-told",
                "The group was not told what Vercel has. \(CommandError(mapping: error).message)")
        }
    }

    /// Returns the vault with what Vercel shows after the push: what the last listing says of other
    /// records, and what is live.
    private func lookAgain(_ listed: ListedRecords, listedAt: UInt64) throws -> VaultIndex {
        let (session, client) = (workspace.session, bound.access.client)
        let vercelTime = client.vercelTime
        let now = isPart ? nil : try? client.project(bound.platform.id)
        let live = (now ?? bound.platform).liveDeployment
        let time = workspace.context.now()
        try session.note(listed, listedAt: listedAt, vercelTime: vercelTime, of: project.id)
        if now != nil { try session.note(live: live, at: time, of: project.id) }
        var index = try session.index(.listing)
        index.see(listed, listedAt: listedAt, vercelTime: vercelTime, of: project.id)
        index.see(live: live, of: project.id, time: time)
        return index
    }

    private func progress() -> (Int, Int) -> Void {
        guard let line = workspace.interaction.progressLine else { return { _, _ in } }
        return { done, all in
            if done < all { line.update("Pushed \(done) of \(all) …") } else { line.finish() }
        }
    }
}

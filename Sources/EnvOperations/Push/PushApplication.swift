package import Sealing
package import Vault
package import VercelAPI

/// Sends a plan, reads back what can be read back, and updates the vault after each request.
package final class PushApplication {
    /// Returns the value of a record of the vault.
    package typealias ValueSource = (Variable) throws -> SecretSlice

    /// The common part of the journal entries of a push.
    package struct Origin {
        /// The vault's project.
        package let project: Identifier
        /// Vercel's id of the token's user; empty if unknown.
        package let author: String
        /// This machine's clock, in milliseconds since 1970.
        package let now: () -> UInt64

        package init(project: Identifier, author: String, now: @escaping () -> UInt64) {
            self.project = project
            self.author = author
            self.now = now
        }
    }

    let client: VercelClient
    let project: String
    let environments: CustomEnvironmentNames
    private let productionBranch: String?
    let values: ValueSource
    let origin: Origin
    /// The listing that is read again right before each write.
    let listing: FreshListing
    /// Vercel's records when the plan was made, by id.
    let planned: [String: VercelRecord]
    /// The modification times that Vercel's records have if nobody else changed them, by id.
    var expectedTimes: [String: UInt64]
    /// The ids of records that may have had the sent value before the last attempt.
    var resent: Set<String> = []
    private let keep: (PushNote) throws -> Void
    private let progress: (Int, Int) -> Void
    /// Returns values that a step keeps, to compare them with Vercel's; nil while they are locked.
    package var keptValues: ValueSource?
    /// The outcome of each step of the plan, in its order; nil for unsent steps.
    var outcomes: [PushOutcome?] = []
    /// What the vault has to record with the next journal entry.
    private var note = PushNote()
    /// Open journal entries by the place of their step.
    private var open: [Int: SendEntry] = [:]
    /// A local error during a request: the vault, or decrypting a value.
    var localFailure: (any Error)?
    /// Journal entries for old records of renamed variables, by Vercel's id.
    private var openLeftovers: [String: Identifier] = [:]

    /// Variables per request. The response to a larger one would take so long that it might be
    /// lost.
    private static let batchSize = 100
    /// Records deleted per request, which is Vercel's maximum.
    private static let deletionBatchSize = 1_000
    /// The time in milliseconds after which entries of a retried request get a new time, because an
    /// entry does not explain changes long after its time.
    private static let entryLifetime: UInt64 = 10_000

    /// - Parameters:
    ///   - project: Vercel's id of the project.
    ///   - platform: Vercel's records when the plan was made.
    ///   - listing: Vercel's records right before each write.
    ///   - keep: Saves in the vault what Vercel has now and what is sent next. Called before each
    ///     request that changes something, and at the end.
    ///   - progress: Called with the number of finished steps and of all steps.
    package init(
        client: VercelClient, project: String, environments: CustomEnvironmentNames,
        productionBranch: String?, platform: ListedRecords, listing: FreshListing,
        origin: Origin,
        values: @escaping ValueSource, keep: @escaping (PushNote) throws -> Void,
        progress: @escaping (Int, Int) -> Void
    ) {
        self.client = client
        self.project = project
        self.environments = environments
        self.productionBranch = productionBranch
        self.values = values
        self.origin = origin
        self.listing = listing
        planned = Dictionary(firstOf: platform.map { ($0.id, $0) })
        expectedTimes = planned.mapValues(\.updatedAt)
        self.keep = keep
        self.progress = progress
    }

    /// What is wrong with the steps of a plan that send values.
    package struct Problems {
        /// A sentence for each variable that Vercel would reject, or whose value is ciphertext, a
        /// reference or a placeholder, by key.
        package fileprivate(set) var keys: [String: String] = [:]
        /// Problems of the project and of all values together.
        package fileprivate(set) var general: [String] = []
        /// Whether an environment would have too many variables.
        package fileprivate(set) var hasTooMany = false
        /// Records whose value is empty.
        package fileprivate(set) var empty: Set<Identifier> = []
    }

    /// Checks every step that sends a value against Vercel's limits, before anything is sent.
    ///
    /// - Parameters:
    ///   - variables: All records of the project. Those that Vercel already has count for the size
    ///     of a deployment; records that only Vercel has do not.
    ///   - insisted: Keys whose ciphertext or reference is meant to be sent.
    package func problems(
        of plan: PushPlan, among variables: [Variable], insisted: Set<String>
    ) throws -> Problems {
        var problems = Problems()
        var entries: [EnvironmentVariableRules.Entry] = []
        for step in plan.steps {
            guard let new = try newVariable(step) else { continue }
            for name in step.attributes.scope.customEnvironments
            where environments.id(of: name) == nil {
                problems.general.append(
                    "\(step.key): the project has no custom environment \(name)")
            }
            let broken = EnvironmentVariableRules.problems(
                of: new, productionBranch: productionBranch)
            if let first = broken.first {
                problems.keys[step.key] = first.description
            } else if !insisted.contains(step.key),
                new.value.withBytes({
                    FileStandIns.isPlaceholder($0)
                        || ValueWarning.isCiphertextOrReference($0, of: step.key)
                })
            {
                problems.keys[step.key] =
                    "its value is encrypted, a placeholder, or refers to a secret elsewhere (zg-env push \(step.key) --force sends it as it is)"
            }
            if new.value.count == 0, let id = step.variable?.id { problems.empty.insert(id) }
            if problems.keys[step.key] == nil {
                entries.append(entry(step.key, step.attributes.scope, new.value.count))
            }
        }
        let tooMany = countProblems(of: plan, without: Set(problems.keys.keys))
        problems.hasTooMany = !tooMany.isEmpty
        problems.general += tooMany
        guard !entries.isEmpty else { return problems }
        let sent = Set(plan.steps.compactMap { $0.variable?.id })
        for variable in variables where variable.isLive && !sent.contains(variable.id) {
            // A value that is not available here is not sent either; Vercel will count it.
            guard let remote = variable.remote, remote.pushedVersion == variable.currentVersion,
                let value = try? values(variable)
            else { continue }
            entries.append(entry(variable.name, variable.attributes.scope, value.count))
        }
        problems.general += EnvironmentVariableRules.totalProblems(of: entries).map(\.description)
        return problems
    }

    /// Returns the environments that would have too many variables.
    ///
    /// - Parameter left: Keys whose steps are not sent.
    private func countProblems(of plan: PushPlan, without left: Set<String>) -> [String] {
        var scopes = planned.mapValues(\.attributes.scope)
        let before = scopes.values.map { entry("", $0, 0) }
        var new: [Scope] = []
        for step in plan.steps where !left.contains(step.key) {
            switch step.action {
            case .create: new.append(step.attributes.scope)
            case .update(let id, _): scopes[id] = step.attributes.scope
            case .delete(let id): scopes[id] = nil
            }
        }
        let after = (scopes.values + new).map { entry("", $0, 0) }
        return EnvironmentVariableRules.countProblems(of: after, before: before)
            .map(\.description)
    }

    private func entry(
        _ key: String, _ scope: Scope, _ byteCount: Int
    ) -> EnvironmentVariableRules.Entry {
        .init(
            key: key, valueByteCount: byteCount,
            targets: scope.targets.names.map { .init(rawValue: $0) }, gitBranch: scope.branch,
            customEnvironmentIds: scope.customEnvironments)
    }

    /// Sends the steps in order. If a record changed after the plan was made, nothing is sent and
    /// only these conflicts are returned; a conflict found later stops only its own step. After a
    /// permanent failure, the remaining steps are reported as not sent.
    package func send(_ plan: PushPlan) throws -> [PushOutcome] {
        outcomes = Array(repeating: nil, count: plan.steps.count)
        try rejectChanged(plan)
        guard outcomes.allSatisfy({ $0 == nil }) else {
            try flush()
            return outcomes.compactMap { $0 }
        }
        var places = plan.steps.indices[...]
        var underWay = places.prefix(0)
        do {
            while !places.isEmpty {
                underWay = group(places, of: plan)
                try send(underWay.map { ($0, plan.steps[$0]) })
                places = places.dropFirst(underWay.count)
                progress(plan.steps.count - places.count, plan.steps.count)
            }
        } catch let error as VercelAPIError {
            if error.isKnownNotDone { end(Array(underWay)) }
            for place in places where outcomes[place] == nil {
                let isUnderWay = underWay.contains(place)
                outcomes[place] = PushOutcome(
                    step: plan.steps[place],
                    end: .failed(isUnderWay ? error.description : "not sent", error), record: nil,
                    isSent: isUnderWay && !error.isKnownNotDone)
            }
        }
        explainExistingVariables()
        try flush()
        try readBack(outcomes.indices.filter { outcomes[$0]?.isVerified ?? false })
        try readBack(try repair())
        return outcomes.compactMap { $0 }
    }

    /// Returns the next steps that one request sends.
    private func group(_ places: Range<Int>, of plan: PushPlan) -> Range<Int> {
        guard let first = places.first.map({ plan.steps[$0] }) else { return places }
        func run(_ limit: Int, _ belongs: (PushPlan.Step) -> Bool) -> Range<Int> {
            let run = places.prefix(limit).prefix { belongs(plan.steps[$0]) }
            return run.isEmpty ? places.prefix(1) : run
        }
        switch first.action {
        case .create: return run(Self.batchSize) { $0.action == .create }
        case .update: return run(Self.batchSize, isBatchable)
        case .delete: return run(Self.deletionBatchSize) { $0.isDeletion }
        }
    }

    // MARK: The journal

    /// Adds what is sent next to the journal, together with the results so far.
    ///
    /// - Parameter steps: The steps of the request, by their places in the plan.
    func begin(_ steps: [(place: Int, step: PushPlan.Step)]) throws {
        let time = origin.now()
        for (place, step) in steps {
            let send = entry(step, at: time)
            note.begun.append(send)
            if let before = open.updateValue(send, forKey: place) { note.ended.append(before.id) }
            // The vault forgets the old record when it first records the new one.
            if case .create = step.action, let old = step.variable?.remote,
                let updatedAt = expectedTimes[old.id], openLeftovers[old.id] == nil
            {
                let deletion = SendEntry(
                    createdAt: time, action: .delete, project: origin.project,
                    variable: step.variable?.id, vercelProject: project, author: origin.author,
                    target: .init(id: old.id, updatedAt: updatedAt), key: old.key,
                    attributes: old.agreed, version: 0, sentAfter: listing.time)
                note.begun.append(deletion)
                openLeftovers[old.id] = deletion.id
            }
        }
        try flush()
    }

    /// Records that the outcome of these steps is known. Saved with the next request.
    func end(_ places: [Int], _ records: [PushRecord] = []) {
        note.records += records
        note.ended += places.compactMap { open.removeValue(forKey: $0)?.id }
    }

    /// Records that a record is gone.
    ///
    /// - Parameter step: The step that deleted it.
    func endDeletion(of id: String, by step: PushPlan.Step) {
        if step.variable == nil, let record = planned[id],
            record.attributes.scope.targets.contains(.production)
        {
            note.departed.append(record)
        }
        if let leftover = openLeftovers.removeValue(forKey: id) { note.ended.append(leftover) }
    }

    /// Saves the pending note in the vault.
    func flush() throws {
        guard !note.isEmpty else { return }
        try keep(note)
        note = PushNote()
    }

    /// Gives entries a new time if the first attempt was long ago.
    func renewOld(_ steps: [(place: Int, step: PushPlan.Step)]) throws(VercelAPIError) {
        let old = steps.filter { place, _ in
            open[place].map { listing.time > $0.sentAfter &+ Self.entryLifetime } ?? false
        }
        guard !old.isEmpty else { return }
        do {
            try begin(old)
        } catch {
            localFailure = error
            throw VercelAPIError(.notSent, reason: "the vault could not be written")
        }
    }

    /// Records when an attempt without response was over.
    func closeWindow(of steps: [(place: Int, step: PushPlan.Step)]) throws {
        for (place, _) in steps {
            guard let send = open[place], listing.time > 0 else { continue }
            let closed = send.until(listing.time)
            note.ended.append(send.id)
            note.begun.append(closed)
            open[place] = closed
        }
        try flush()
    }

    private func entry(_ step: PushPlan.Step, at time: UInt64) -> SendEntry {
        let (action, id): (SendEntry.Action, String?) =
            switch step.action {
            case .create: (.create, nil)
            case .update(let id, _): (.change, id)
            case .delete(let id): (.delete, id)
            }
        return SendEntry(
            createdAt: time, action: action, project: origin.project, variable: step.variable?.id,
            vercelProject: project, author: origin.author,
            target: id.map { .init(id: $0, updatedAt: expectedTimes[$0] ?? 0) }, key: step.key,
            attributes: step.attributes,
            version: step.sendsValue ? step.variable?.currentVersion ?? 0 : 0,
            sentAfter: listing.time)
    }

    func newVariable(_ step: PushPlan.Step) throws -> NewEnvironmentVariable? {
        guard step.sendsValue, let variable = step.variable else { return nil }
        let scope = step.attributes.scope
        return NewEnvironmentVariable(
            key: step.key, value: try values(variable),
            type: .init(rawValue: step.attributes.kind.name),
            targets: scope.targets.names.map { .init(rawValue: $0) }, gitBranch: scope.branch,
            customEnvironmentIds: scope.customEnvironments.map { environments.id(of: $0) ?? $0 },
            comment: step.attributes.comment)
    }
}

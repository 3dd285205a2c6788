package import Sealing
package import Vault
package import VercelAPI

/// Sends a plan, reads back what can be read back, and tells the vault after each request.
package final class PushApplication {
    /// Gives the value of a record of the vault.
    package typealias ValueSource = (Variable) throws -> SecretSlice

    /// What entries of the journal say of a push as a whole.
    package struct Origin {
        /// The vault's project.
        package let project: Identifier
        /// The platform's id of the user whose token it is; empty when unknown.
        package let author: String
        /// This machine's clock, in milliseconds since 1970.
        package let now: () -> UInt64

        /// Names all three.
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
    /// The platform's times of change before the push, by id.
    var timesBefore: [String: UInt64]
    private let keep: (PushNote) throws -> Void
    private let progress: (Int, Int) -> Void
    /// What became of each step of the plan, in its order; nil for those not yet sent.
    var outcomes: [PushOutcome?] = []
    /// What the vault is to be told with the next entry of the journal.
    private var note = PushNote()
    /// Entries of the journal that are open, by the place of their step.
    private var open: [Int: Identifier] = [:]
    /// Entries for old records of renamed variables, by the platform's id.
    private var openLeftovers: [String: Identifier] = [:]

    /// Variables sent in one request: the answer of a larger one would take long enough to be lost.
    private static let batchSize = 100

    /// - Parameters:
    ///   - project: The platform's id.
    ///   - platform: What the platform had when the plan was made.
    ///   - keep: Writes to the vault what the platform has now and what is sent next; called before
    ///     each request that changes something, and at the end.
    ///   - progress: Told how many steps of how many are done.
    package init(
        client: VercelClient, project: String, environments: CustomEnvironmentNames,
        productionBranch: String?, platform: [PlatformRecord], origin: Origin,
        values: @escaping ValueSource, keep: @escaping (PushNote) throws -> Void,
        progress: @escaping (Int, Int) -> Void
    ) {
        self.client = client
        self.project = project
        self.environments = environments
        self.productionBranch = productionBranch
        self.values = values
        self.origin = origin
        timesBefore = Dictionary(
            platform.map { ($0.id, $0.updatedAt) }, uniquingKeysWith: { first, _ in first })
        self.keep = keep
        self.progress = progress
    }

    /// Holds every step that sends a value against the platform's limits, before anything is sent.
    ///
    /// - Parameter variables: All records of the project; those that the platform has already count
    ///   for the size of a deployment. What only the platform has is not counted.
    /// - Returns: One sentence a problem, with the key where it is one key's.
    package func problems(of plan: PushPlan, among variables: [Variable]) throws -> [String] {
        var problems: [String] = []
        var entries: [EnvironmentVariableRules.Entry] = []
        for step in plan.steps {
            guard let new = try newVariable(step) else { continue }
            for name in step.attributes.scope.customEnvironments
            where environments.id(of: name) == nil {
                problems.append("\(step.key): the project has no environment \(name)")
            }
            problems += EnvironmentVariableRules.problems(
                of: new, productionBranch: productionBranch
            ).map { "\(step.key): \($0.description)" }
            entries.append(entry(step.key, step.attributes.scope, new.value.count))
        }
        guard !entries.isEmpty else { return problems }
        let sent = Set(plan.steps.compactMap { $0.variable?.id })
        for variable in variables where variable.isLive && !sent.contains(variable.id) {
            // A value that cannot be had here is not sent either: the platform will count it.
            guard let remote = variable.remote, remote.pushedVersion == variable.currentVersion,
                let value = try? values(variable)
            else { continue }
            entries.append(entry(variable.name, variable.attributes.scope, value.count))
        }
        return problems
            + EnvironmentVariableRules.totalProblems(of: entries).map(\.description)
    }

    private func entry(
        _ key: String, _ scope: Scope, _ byteCount: Int
    ) -> EnvironmentVariableRules.Entry {
        .init(
            key: key, valueByteCount: byteCount,
            targets: scope.targets.names.map { .init(rawValue: $0) }, gitBranch: scope.branch,
            customEnvironmentIds: scope.customEnvironments)
    }

    /// Sends the steps in order. After a failure that will not pass by itself nothing more is sent,
    /// and the rest is reported as not sent.
    package func send(_ plan: PushPlan) throws -> [PushOutcome] {
        outcomes = Array(repeating: nil, count: plan.steps.count)
        var places = plan.steps.indices[...]
        var underWay = places.prefix(0)
        do {
            while let place = places.first {
                underWay = places.prefix(1)
                if case .create = plan.steps[place].action {
                    underWay = places.prefix(Self.batchSize).prefix {
                        if case .create = plan.steps[$0].action { true } else { false }
                    }
                    try create(underWay.map { ($0, plan.steps[$0]) })
                } else {
                    try sendOne(plan.steps[place], at: place)
                }
                places = places.dropFirst(underWay.count)
                progress(plan.steps.count - places.count, plan.steps.count)
            }
        } catch let error as VercelAPIError {
            if error.isKnownNotDone { end(Array(underWay)) }
            for place in places where outcomes[place] == nil {
                let reason = underWay.contains(place) ? error.description : "not sent"
                outcomes[place] = PushOutcome(
                    step: plan.steps[place], end: .failed(reason, error), record: nil)
            }
        }
        nameWhatIsInTheWay()
        try flush()
        try readBack(outcomes.indices.filter { outcomes[$0]?.isVerified ?? false })
        try readBack(try repair())
        return outcomes.compactMap { $0 }
    }

    // MARK: The journal

    /// Puts what is sent next into the journal, together with what became of what was sent before.
    ///
    /// - Parameter steps: What the request sends, by their places in the plan.
    func begin(_ steps: [(place: Int, step: PushPlan.Step)]) throws {
        let time = origin.now()
        for (place, step) in steps {
            let send = entry(step, at: time)
            note.begun.append(send)
            open[place] = send.id
            // The vault forgets the old record with the first word of the new one.
            if case .create = step.action, let old = step.variable?.remote,
                let updatedAt = timesBefore[old.id], openLeftovers[old.id] == nil
            {
                let deletion = SendEntry(
                    createdAt: time, action: .delete, project: origin.project,
                    variable: step.variable?.id, platformProject: project, author: origin.author,
                    target: .init(id: old.id, updatedAt: updatedAt), key: old.key,
                    attributes: old.agreed, version: 0)
                note.begun.append(deletion)
                openLeftovers[old.id] = deletion.id
            }
        }
        try flush()
    }

    /// Notes that the outcome of these steps is known; the vault is told with the next request.
    func end(_ places: [Int], _ records: [PushRecord] = []) {
        note.records += records
        note.ended += places.compactMap { open.removeValue(forKey: $0) }
    }

    /// Notes that a record was seen to be gone.
    func endDeletion(of id: String) {
        if let leftover = openLeftovers.removeValue(forKey: id) { note.ended.append(leftover) }
    }

    /// Tells the vault what it is to know.
    func flush() throws {
        guard !note.isEmpty else { return }
        try keep(note)
        note = PushNote()
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
            platformProject: project, author: origin.author,
            target: id.map { .init(id: $0, updatedAt: timesBefore[$0] ?? 0) }, key: step.key,
            attributes: step.attributes,
            version: step.sendsValue ? step.variable?.currentVersion ?? 0 : 0)
    }

    func newVariable(_ step: PushPlan.Step) throws -> NewEnvironmentVariable? {
        guard let variable = step.variable else { return nil }
        switch step.action {
        case .delete, .update(_, withValue: false): return nil
        case .create, .update(_, withValue: true): break
        }
        let scope = step.attributes.scope
        return NewEnvironmentVariable(
            key: step.key, value: try values(variable),
            type: .init(rawValue: step.attributes.kind.name),
            targets: scope.targets.names.map { .init(rawValue: $0) }, gitBranch: scope.branch,
            customEnvironmentIds: scope.customEnvironments.map { environments.id(of: $0) ?? $0 },
            comment: step.attributes.comment)
    }
}

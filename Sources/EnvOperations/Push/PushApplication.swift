package import Sealing
package import Vault
package import VercelAPI

/// Sends a plan, reads back what can be read back, and tells the vault after each request.
package final class PushApplication {
    /// Gives the value of a record of the vault.
    package typealias ValueSource = (Variable) throws -> SecretSlice

    private let client: VercelClient
    private let project: String
    private let environments: CustomEnvironmentNames
    private let productionBranch: String?
    private let values: ValueSource
    private let keep: ([PushRecord]) throws -> Void
    private let progress: (Int, Int) -> Void
    private var outcomes: [PushOutcome] = []

    /// Variables sent in one request: the answer of a larger one would take long enough to be lost.
    private static let batchSize = 100

    /// - Parameters:
    ///   - project: The platform's id.
    ///   - keep: Writes to the vault what the platform has now; called after each request.
    ///   - progress: Told how many steps of how many are done.
    package init(
        client: VercelClient, project: String, environments: CustomEnvironmentNames,
        productionBranch: String?, values: @escaping ValueSource,
        keep: @escaping ([PushRecord]) throws -> Void, progress: @escaping (Int, Int) -> Void
    ) {
        self.client = client
        self.project = project
        self.environments = environments
        self.productionBranch = productionBranch
        self.values = values
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
        let sent = Set(plan.steps.compactMap(\.variable?.id))
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
        outcomes = []
        var pending = plan.steps[...]
        do {
            while let step = pending.first {
                if case .create = step.action {
                    let batch = pending.prefix(Self.batchSize).prefix {
                        if case .create = $0.action { true } else { false }
                    }
                    try create(Array(batch))
                    pending = pending.dropFirst(batch.count)
                } else {
                    try sendOne(step)
                    pending = pending.dropFirst()
                }
                progress(plan.steps.count - pending.count, plan.steps.count)
            }
        } catch let error as VercelAPIError {
            let done = outcomes.count
            for step in plan.steps.dropFirst(done) {
                let reason = step == plan.steps[done] ? error.description : "not sent"
                outcomes.append(PushOutcome(step: step, end: .failed(reason, error), record: nil))
            }
        }
        try readBack()
        return outcomes
    }

    private func newVariable(_ step: PushPlan.Step) throws -> NewEnvironmentVariable? {
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

    // MARK: Creating

    private func create(_ steps: [PushPlan.Step]) throws {
        let new = try steps.compactMap { try newVariable($0) }
        let batch: EnvironmentVariableBatch
        do throws(VercelAPIError) {
            batch = try client.createEnvironmentVariables(new, inProject: project)
        } catch {
            guard error.code == .outcomeUnknown else { throw error }
            try lookUp(steps, after: error)
            return
        }
        var left = batch.created.map { PlatformRecord($0, environments: environments) }
        for step in steps {
            let match = left.firstIndex {
                $0.key == step.key && $0.attributes.scope.overlaps(step.attributes.scope)
            }
            if let match {
                outcomes.append(
                    PushOutcome(step: step, end: .verified, record: left.remove(at: match)))
            } else {
                let refusal = batch.failed.first {
                    $0.key == step.key
                        && ($0.targets.isEmpty
                            || Set($0.targets) == Set(step.attributes.scope.targets.names))
                }
                outcomes.append(
                    PushOutcome(
                        step: step,
                        end: .failed(
                            refusal?.error.description
                                ?? "the platform did not say that it was made",
                            refusal?.error), record: nil))
            }
        }
        try keepOutcomes(steps.count)
    }

    /// Before the request none of these was there, so what is there now with the same key and scope
    /// was made by it; reading the values back follows anyway.
    private func lookUp(_ steps: [PushPlan.Step], after error: VercelAPIError) throws {
        let now = try listed()
        for step in steps {
            let match = now.first {
                $0.key == step.key && $0.attributes.scope == step.attributes.scope
            }
            outcomes.append(
                PushOutcome(
                    step: step, end: match == nil ? .failed(error.description, error) : .verified,
                    record: match))
        }
        try keepOutcomes(steps.count)
    }

    // MARK: Changing and deleting

    private func sendOne(_ step: PushPlan.Step) throws {
        switch step.action {
        case .create: return
        case .delete(let id):
            do throws(VercelAPIError) {
                _ = try client.deleteEnvironmentVariable(id, ofProject: project)
            } catch {
                // Gone is what was asked for, whoever did it.
                guard error.code == .notFound else { try refused(step, error); return }
            }
            outcomes.append(PushOutcome(step: step, end: .verified, record: nil))
        case .update(let id, _):
            let changes = try change(step)
            do throws(VercelAPIError) {
                let answer = try client.changeEnvironmentVariable(
                    id, ofProject: project, changes)
                var record = answer.map { PlatformRecord($0, environments: environments) }
                if record == nil { record = try listed().first { $0.id == id } }
                outcomes.append(PushOutcome(step: step, end: .verified, record: record))
            } catch {
                try refused(step, error)
                return
            }
        }
        try keepOutcomes(1)
    }

    /// Reports a step that the platform refused for itself; anything else ends the push.
    private func refused(_ step: PushPlan.Step, _ error: VercelAPIError) throws(VercelAPIError) {
        guard error.isRefusal else { throw error }
        outcomes.append(
            PushOutcome(step: step, end: .failed(error.description, error), record: nil))
    }

    private func change(_ step: PushPlan.Step) throws -> EnvironmentVariableChange {
        let scope = step.attributes.scope
        var change = EnvironmentVariableChange()
        if let old = step.variable?.remote?.key, old != step.key { change.key = step.key }
        change.targets = scope.targets.names.map { .init(rawValue: $0) }
        change.customEnvironmentIds = scope.customEnvironments.map { environments.id(of: $0) ?? $0 }
        change.gitBranch = .some(scope.branch)
        change.comment = step.attributes.comment ?? ""
        if let new = try newVariable(step) {
            change.value = new.value
            change.type = new.type
        } else if step.variable?.remote?.agreed.kind != step.attributes.kind {
            change.type = .init(rawValue: step.attributes.kind.name)
        }
        return change
    }

    // MARK: Reading back

    private func listed() throws(VercelAPIError) -> [PlatformRecord] {
        try client.environmentVariables(ofProject: project).map {
            PlatformRecord($0, environments: environments)
        }
    }

    /// Looks at every record that was written: is it there, with that scope and type, and with that
    /// value where the platform shows it; and is every deleted one gone.
    private func readBack() throws {
        let positions = outcomes.indices.filter {
            if case .verified = outcomes[$0].end { true } else { false }
        }
        guard !positions.isEmpty else { return }
        let now: [PlatformRecord]
        let arena = SecretArena()
        let read: [Result<ReadEnvironmentVariable, VercelAPIError>]
        let readable = positions.filter { outcomes[$0].isReadable }
        do {
            now = try listed()
            read = try client.environmentVariables(
                readable.compactMap { position in
                    outcomes[position].record.map { (project, $0.id) }
                }, valuesInto: arena)
        } catch {
            for position in positions {
                outcomes[position].end = .failed(
                    "sent, but it could not be read back: \(error.description)", error)
            }
            return
        }
        let found = Dictionary(now.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let answers = Dictionary(uniqueKeysWithValues: zip(readable, read))
        for position in positions {
            outcomes[position].end = try judge(
                outcomes[position], found: found, answer: answers[position])
            if let id = outcomes[position].record?.id { outcomes[position].record = found[id] }
        }
        try keepOutcomes(outcomes.count)
    }

    private func judge(
        _ outcome: PushOutcome, found: [String: PlatformRecord],
        answer: Result<ReadEnvironmentVariable, VercelAPIError>?
    ) throws -> PushOutcome.End {
        if case .delete(let id) = outcome.step.action {
            return found[id] == nil ? .verified : .failed("it is still on the platform", nil)
        }
        guard let record = outcome.record.flatMap({ found[$0.id] }) else {
            return .failed("the platform does not have it", nil)
        }
        let wanted = outcome.step.attributes
        guard record.key == outcome.step.key else {
            return .failed("the platform has it under the name \(record.key)", nil)
        }
        guard record.attributes.scope == wanted.scope else {
            return .failed(
                "the platform has it for \(record.attributes.scope.description) only", nil)
        }
        guard record.attributes.kind == wanted.kind else {
            return .failed(
                "the platform made it \(record.attributes.kind.name) instead of \(wanted.kind.name)",
                nil)
        }
        guard case .update(_, withValue: false) = outcome.step.action else {
            return try judgeValue(outcome, answer)
        }
        return .verified
    }

    private func judgeValue(
        _ outcome: PushOutcome, _ answer: Result<ReadEnvironmentVariable, VercelAPIError>?
    ) throws -> PushOutcome.End {
        guard let variable = outcome.step.variable, outcome.isReadable else {
            return .unverified("sent, cannot be read back")
        }
        switch answer {
        case .success(let read):
            guard let value = read.value else { return .unverified("sent, cannot be read back") }
            let sent = try values(variable)
            let isEqual = sent.withBytes { sent in
                value.withBytes { sent.isEqualInConstantTime(to: $0) }
            }
            return isEqual
                ? .verified
                : .failed(
                    value.count == 0
                        ? "the platform stored an empty value" : "the platform holds another value",
                    nil)
        case .failure(let error):
            return .failed("sent, but it could not be read back: \(error.description)", error)
        case nil: return .unverified("sent, cannot be read back")
        }
    }

    /// Tells the vault what the last `count` outcomes left on the platform.
    private func keepOutcomes(_ count: Int) throws {
        let records = outcomes.suffix(count).compactMap { outcome -> PushRecord? in
            guard let variable = outcome.step.variable else { return nil }
            if case .delete = outcome.step.action {
                guard case .verified = outcome.end else { return nil }
                return PushRecord(variable: variable.id, version: 0, record: nil, agreed: nil)
            }
            guard let record = outcome.record else { return nil }
            switch outcome.end {
            case .verified, .unverified:
                return PushRecord(
                    variable: variable.id, version: variable.currentVersion, record: record,
                    agreed: outcome.step.attributes)
            case .failed:
                // Not agreed: the next push sends it again.
                return PushRecord(
                    variable: variable.id, version: 0, record: record, agreed: record.attributes)
            }
        }
        if !records.isEmpty { try keep(records) }
    }
}

extension PushOutcome {
    /// Tells whether the platform shows the value that was sent.
    fileprivate var isReadable: Bool {
        guard record != nil, step.attributes.kind != .sensitive else { return false }
        switch step.action {
        case .delete, .update(_, withValue: false): return false
        case .create, .update(_, withValue: true): return true
        }
    }
}

extension VercelAPIError {
    /// Tells whether the platform refused this one record, so that others may still be sent.
    fileprivate var isRefusal: Bool {
        switch code {
        case .badRequest, .conflict, .notFound, .notPossible, .tooLarge, .invalidRequest: true
        default: false
        }
    }
}

internal import Vault
internal import VercelAPI

/// The requests that change the platform.
extension PushApplication {
    private typealias Placed = (place: Int, step: PushPlan.Step)

    /// How often a creation is sent at most whose outcome is not known and that is not there.
    private static let maximumCreations = 3

    // MARK: Creating

    /// Makes variables in one request; what may or may not have been made is looked up first and
    /// sent again only where it is missing.
    func create(_ steps: [(place: Int, step: PushPlan.Step)]) throws {
        var missing = steps
        for attempt in 1...Self.maximumCreations {
            let new = try missing.compactMap { try newVariable($0.step) }
            // Those of an earlier attempt are in the journal already.
            if attempt == 1 { try begin(missing) }
            let batch: EnvironmentVariableBatch
            do throws(VercelAPIError) {
                batch = try client.createEnvironmentVariables(new, inProject: project)
            } catch {
                guard error.code == .outcomeUnknown else { throw error }
                missing = try lookUp(missing)
                if missing.isEmpty { return }
                if attempt == Self.maximumCreations { throw error }
                continue
            }
            // An earlier attempt that arrives late is in the way of the later one.
            missing = take(batch, for: missing, isRepeat: attempt > 1)
            if !missing.isEmpty { end(try lookUp(missing).map(\.place)) }
            return
        }
    }

    /// - Returns: Those that are refused because they are there, after an attempt whose outcome is
    ///   not known. They count as refused unless they are found.
    private func take(
        _ batch: EnvironmentVariableBatch, for steps: [Placed], isRepeat: Bool
    ) -> [Placed] {
        var doubtful: [Placed] = []
        var left = batch.created.map { PlatformRecord($0, environments: environments) }
        for (place, step) in steps {
            let match = left.firstIndex {
                $0.key == step.key && $0.attributes.scope.overlaps(step.attributes.scope)
            }
            if let match {
                outcomes[place] = PushOutcome(
                    step: step, end: .verified, record: left.remove(at: match))
                continue
            }
            let refusal = batch.failed.first {
                $0.key == step.key
                    && ($0.targets.isEmpty
                        || Set($0.targets) == Set(step.attributes.scope.targets.names))
            }
            outcomes[place] = PushOutcome(
                step: step,
                end: .failed(
                    refusal?.error.description ?? "the platform did not say that it was made",
                    refusal?.error), record: nil)
            if isRepeat, refusal?.error.code == .conflict { doubtful.append((place, step)) }
        }
        keepSent(steps.map(\.place).filter { place in !doubtful.contains { $0.place == place } })
        return doubtful
    }

    /// Before the request none of these was there, so what is there now with the same key and scope
    /// was most likely made by it. Where the value that is read back differs it was not.
    ///
    /// - Returns: Those that are not there.
    private func lookUp(_ steps: [Placed]) throws -> [Placed] {
        let now = try listed()
        var missing: [Placed] = []
        for (place, step) in steps {
            let match = now.first {
                $0.key == step.key && $0.attributes.scope == step.attributes.scope
            }
            guard let match else {
                missing.append((place, step))
                continue
            }
            outcomes[place] = PushOutcome(
                step: step, end: .verified, record: match, isPresumed: true)
        }
        let absent = Set(missing.map(\.place))
        keepSent(steps.map(\.place).filter { !absent.contains($0) })
        return missing
    }

    // MARK: Changing and deleting

    /// Changes or deletes one record.
    func sendOne(_ step: PushPlan.Step, at place: Int) throws {
        let changes = try update(step)
        try begin([(place, step)])
        switch step.action {
        case .create: return
        case .delete(let id):
            do throws(VercelAPIError) {
                _ = try client.deleteEnvironmentVariable(id, ofProject: project)
            } catch {
                // Gone is what was asked for, whoever did it.
                guard error.code == .notFound else { return try refused(step, at: place, error) }
            }
            outcomes[place] = PushOutcome(step: step, end: .verified, record: nil)
        case .update(let id, _):
            guard let changes else { return }
            do throws(VercelAPIError) {
                let answer = try client.changeEnvironmentVariable(
                    id, ofProject: project, changes)
                var record = answer.map { PlatformRecord($0, environments: environments) }
                if record == nil { record = try listed().first { $0.id == id } }
                outcomes[place] = PushOutcome(step: step, end: .verified, record: record)
            } catch {
                // Its answer was lost or unreadable: what the platform has now tells more.
                // Of a value that is never shown it would be a guess: somebody else may have changed it.
                guard !error.isRefusal, !error.isKnownNotDone, error.code != .cancelled,
                    step.attributes.kind != .sensitive, let record = changed(id)
                else { return try refused(step, at: place, error) }
                outcomes[place] = PushOutcome(
                    step: step, end: .verified, record: record, isPresumed: true)
            }
        }
        keepSent([place])
    }

    /// The record as it is now, where it was changed since the push began; nil also where that cannot
    /// be seen.
    private func changed(_ id: String) -> PlatformRecord? {
        guard let record = (try? listed())?.first(where: { $0.id == id }),
            let before = timesBefore[id], record.updatedAt > before
        else { return nil }
        return record
    }

    /// What an update sends; nil for another step.
    private func update(_ step: PushPlan.Step) throws -> EnvironmentVariableChange? {
        if case .update = step.action { try change(step) } else { nil }
    }

    /// Reports a step that the platform refused for itself; anything else ends the push.
    private func refused(
        _ step: PushPlan.Step, at place: Int, _ error: VercelAPIError
    ) throws(VercelAPIError) {
        guard error.isRefusal else { throw error }
        outcomes[place] = PushOutcome(
            step: step, end: .failed(error.description, error), record: nil)
        if error.isKnownNotDone { end([place]) }
    }

    /// Sends once more what the platform accepted and then kept otherwise: an empty or other value
    /// must not stay there until somebody pushes again.
    ///
    /// - Returns: The places to be read back.
    func repair() throws -> [Int] {
        var repaired: [Int] = []
        for place in outcomes.indices {
            guard let outcome = outcomes[place], case .failed(_, nil) = outcome.end,
                !outcome.isPresumed, let record = outcome.record,
                // The platform gives a sensitive variable no other type.
                record.attributes.kind == outcome.step.attributes.kind
            else { continue }
            let step = PushPlan.Step(
                variable: outcome.step.variable, key: outcome.step.key,
                attributes: outcome.step.attributes,
                action: .update(id: record.id, withValue: outcome.step.sendsValue))
            let changes = try change(step)
            timesBefore[record.id] = record.updatedAt
            try begin([(place, step)])
            let answer: EnvironmentVariable?
            do throws(VercelAPIError) {
                answer = try client.changeEnvironmentVariable(
                    record.id, ofProject: project, changes)
            } catch {
                // What was said of the first attempt stands.
                if error.isKnownNotDone { end([place]) }
                continue
            }
            guard let answer else { continue }
            outcomes[place]?.end = .verified
            outcomes[place]?.record = PlatformRecord(answer, environments: environments)
            repaired.append(place)
        }
        keepSent(repaired)
        try flush()
        return repaired
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

    /// The records of the platform now.
    func listed() throws(VercelAPIError) -> [PlatformRecord] {
        try client.environmentVariables(ofProject: project).map {
            PlatformRecord($0, environments: environments)
        }
    }

    /// Has the vault know what was sent and is not proved yet, so that a push that ends here is known
    /// to have begun and the next one sends it again.
    private func keepSent(_ places: [Int]) {
        end(
            places,
            places.compactMap { place in
                guard let outcome = outcomes[place], let variable = outcome.step.variable,
                    case .verified = outcome.end
                else { return nil }
                // A deleted record is not forgotten before it was seen to be gone.
                return outcome.record.map {
                    PushRecord(
                        variable: variable.id,
                        knowledge: .sent($0, withValue: outcome.step.sendsValue))
                }
            })
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

    /// Tells whether what was sent was surely not done, by no attempt.
    var isKnownNotDone: Bool {
        if isAfterRepeat || code == .outcomeUnknown { return false }
        if let transport { return !transport.mayHaveReachedServer }
        // A refusal. What 408, 5xx and unreadable answers mean is open.
        if let status { return (400..<500).contains(status) && status != 408 }
        return [.invalidRequest, .libraryMissing, .outOfMemory].contains(code)
    }
}

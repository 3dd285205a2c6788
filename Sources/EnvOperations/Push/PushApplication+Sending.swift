internal import Vault
internal import VercelAPI

/// The requests that change the platform. Right before each attempt of one the listing is read again
/// where it is older than a second, and a record that is not as planned is left alone.
extension PushApplication {
    typealias Placed = (place: Int, step: PushPlan.Step)

    /// How often something is sent at most whose outcome is not known and that is not there.
    private static let maximumAttempts = 3

    /// Sends steps of one kind in one request.
    func send(_ steps: [Placed]) throws {
        switch steps.first?.step.action {
        case .create: try create(steps)
        case .update: try change(steps)
        case .delete: try delete(steps)
        case nil: break
        }
    }

    // MARK: What somebody else changed

    /// Notes a conflict for each step whose record was changed since the plan was made, or whose place was
    /// taken.
    func refuseChanged(_ plan: PushPlan) throws {
        let records = try listing.current()
        let byID = try listing.currentByID()
        for (place, step) in plan.steps.enumerated() {
            if step.remoteID != nil {
                if isChanged(step, in: byID) { refuse((place, step), byID, isSent: false) }
                continue
            }
            let taken = records.first {
                planned[$0.id] == nil && $0.key == step.key
                    && $0.attributes.scope.overlaps(step.attributes.scope)
            }
            if let taken {
                var outcome = PushOutcome(
                    step: step, end: .conflict("it was created on Vercel\(author(of: taken))"),
                    record: nil, isSent: false)
                outcome.way = outcome.way(against: taken)
                outcomes[place] = outcome
            }
        }
    }

    /// Tells whether a record is another one than planned with. One that is gone is as a deletion wants it.
    private func isChanged(_ step: PushPlan.Step, in records: [String: PlatformRecord]) -> Bool {
        guard let id = step.remoteID else { return false }
        guard let record = records[id] else { return !step.isDeletion }
        return record.updatedAt != expectedTimes[id]
    }

    /// Leaves a record alone that somebody else changed.
    private func refuse(_ step: Placed, _ records: [String: PlatformRecord], isSent: Bool) {
        let record = step.step.remoteID.flatMap { records[$0] }
        let what =
            record.map { "it was changed on Vercel\(author(of: $0))" }
            ?? "it was removed on Vercel"
        var outcome = PushOutcome(
            step: step.step, end: .conflict(what), record: nil, isSent: isSent)
        outcome.way = outcome.way(against: record)
        outcomes[step.place] = outcome
        end(
            [step.place],
            [step.step.variable.map { PushRecord(variable: $0.id, knowledge: .seen(record)) }]
                .compactMap { $0 })
    }

    /// Who changed a record, as the end of a sentence.
    func author(of record: PlatformRecord) -> String {
        record.phrase(for: record.author, as: origin.author)
    }

    /// The check before each attempt: is everything still as planned?
    func check(_ steps: [Placed]) -> VercelClient.SendCheck {
        { () throws(VercelAPIError) in
            let records = try self.listing.currentByID()
            try self.renewOld(steps)
            guard !steps.contains(where: { self.isChanged($0.step, in: records) }) else {
                throw VercelAPIError(.notSent, reason: "it was changed on Vercel meanwhile")
            }
        }
    }

    /// What is left to send after a check said no.
    ///
    /// - Parameter isSent: Whether an earlier attempt may have been carried out.
    func unchanged(_ steps: [Placed], isSent: Bool) throws -> [Placed] {
        if let localFailure { throw localFailure }
        let records = try listing.currentByID()
        let changed = steps.filter { isChanged($0.step, in: records) }
        for step in changed { refuse(step, records, isSent: isSent) }
        let places = Set(changed.map(\.place))
        return steps.filter { !places.contains($0.place) }
    }

    // MARK: Creating

    /// Makes variables in one request; what may or may not have been made is looked up first and
    /// sent again only where it is missing.
    private func create(_ steps: [Placed]) throws {
        var missing = steps
        defer { listing.expire() }
        for attempt in 1...Self.maximumAttempts {
            let new = try missing.compactMap { try newVariable($0.step) }
            // Those of an earlier attempt are in the journal already.
            if attempt == 1 { try begin(missing) }
            let batch: EnvironmentVariableBatch
            do throws(VercelAPIError) {
                batch = try client.createEnvironmentVariables(new, inProject: project)
            } catch {
                guard error.code == .outcomeUnknown else { throw error }
                listing.expire()
                missing = try lookUp(missing)
                if missing.isEmpty { return }
                if attempt == Self.maximumAttempts { throw error }
                continue
            }
            // An earlier attempt that arrives late is in the way of the later one.
            missing = take(batch, for: missing, isRepeat: attempt > 1)
            listing.expire()
            if !missing.isEmpty { end(try lookUp(missing).map(\.place)) }
            return
        }
    }

    /// - Returns: Those to be looked up: refused because they are there after an attempt whose outcome is
    ///   not known, or not named by the answer. They count as failed unless they are found.
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
            let refusal = self.refusal(of: step, in: batch)
            outcomes[place] = PushOutcome(
                step: step,
                end: .failed(
                    refusal?.error.description ?? "the platform did not say that it was made",
                    refusal?.error), record: nil)
            if refusal == nil || isRepeat && refusal?.error.code == .conflict {
                doubtful.append((place, step))
            }
        }
        keepSent(steps.map(\.place).filter { place in !doubtful.contains { $0.place == place } })
        return doubtful
    }

    private func refusal(
        of step: PushPlan.Step, in batch: EnvironmentVariableBatch
    ) -> FailedVariable? {
        batch.failed.first {
            $0.key == step.key
                && ($0.targets.isEmpty
                    || Set($0.targets) == Set(step.attributes.scope.targets.names))
        }
    }

    /// Before the request none of these was there, so what is there now with the same key and scope
    /// was most likely made by it. Where the value that is read back differs it was not.
    ///
    /// - Returns: Those that are not there.
    private func lookUp(_ steps: [Placed]) throws -> [Placed] {
        let now = try listing.current()
        var missing: [Placed] = []
        for (place, step) in steps {
            let match = now.first {
                planned[$0.id] == nil && $0.key == step.key
                    && $0.attributes.scope == step.attributes.scope
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

    // MARK: Changing

    /// Tells whether a step can share its request with others: it sends a value for exactly the key and
    /// scope of its record, so that an upsert changes that record. The type stays, or becomes sensitive.
    func isBatchable(_ step: PushPlan.Step) -> Bool {
        guard case .update(let id, withValue: true) = step.action, let record = planned[id],
            record.key == step.key, record.attributes.scope == step.attributes.scope,
            step.attributes.scope.customEnvironments.isEmpty,
            // An upsert cannot take a comment away.
            step.attributes.comment != nil || record.attributes.comment == nil
        else { return false }
        let (old, new) = (record.attributes.kind, step.attributes.kind)
        guard old == new || new == .sensitive && [.plain, .encrypted].contains(old) else {
            return false
        }
        return !planned.values.contains {
            $0.id != id && $0.key == step.key && $0.attributes.scope.overlaps(step.attributes.scope)
        }
    }

    /// Changes records in one request, as far as nobody else changed them.
    private func change(_ steps: [Placed]) throws {
        try begin(steps)
        var left = steps
        var attempt = 0
        while !left.isEmpty {
            var failure: VercelAPIError?
            do throws(VercelAPIError) {
                left = left.count == 1 ? try changeOne(left[0]) : try upsert(left)
                if left.isEmpty { break }
                attempt += 1
            } catch {
                if error.code == .notSent, !error.isAfterRepeat {
                    left = try unchanged(left, isSent: attempt > 0)
                    continue
                }
                if error.isRefusal, left.count > 1 {
                    // One of them may be the cause; each is judged by itself.
                    for step in left { try change([step]) }
                    return
                }
                if error.isKnownNotDone || error.isRefusal || error.code == .cancelled {
                    guard let (place, step) = left.first, left.count == 1 else { throw error }
                    return try refused(step, at: place, error)
                }
                attempt += 1
                failure = error
            }
            left = try unconfirmed(left, failure, isLast: attempt >= Self.maximumAttempts)
        }
    }

    /// - Returns: The step where the answer does not hold the record.
    private func changeOne(_ placed: Placed) throws(VercelAPIError) -> [Placed] {
        let (place, step) = placed
        guard let id = step.remoteID else { return [] }
        let changes: EnvironmentVariableChange
        do {
            changes = try change(step)
        } catch let error as VercelAPIError {
            throw error
        } catch {
            localFailure = error
            throw VercelAPIError(.notSent, reason: "the value could not be opened")
        }
        let answer = try client.changeEnvironmentVariable(
            id, ofProject: project, changes, check: check([placed]))
        // One that names another record says nothing of this one.
        guard let answer, answer.id == id else { return [placed] }
        accept(PlatformRecord(answer, environments: environments), of: step, at: place)
        return []
    }

    /// Changes several records by one request that names them by key and scope.
    ///
    /// - Returns: Those that the answer does not name.
    private func upsert(_ steps: [Placed]) throws(VercelAPIError) -> [Placed] {
        let new: [NewEnvironmentVariable]
        do {
            new = try steps.compactMap { try newVariable($0.step) }
        } catch {
            localFailure = error
            throw VercelAPIError(.notSent, reason: "a value could not be opened")
        }
        let batch = try client.createEnvironmentVariables(
            new, inProject: project, isUpsert: true, check: check(steps))
        let records = batch.created.map { PlatformRecord($0, environments: environments) }
        var silent: [Placed] = []
        for (place, step) in steps {
            if let record = records.first(where: { $0.id == step.remoteID }) {
                accept(record, of: step, at: place)
            } else if let refusal = refusal(of: step, in: batch) {
                outcomes[place] = PushOutcome(
                    step: step, end: .failed(refusal.error.description, refusal.error), record: nil)
                if refusal.error.isKnownNotDone { end([place]) }
            } else {
                silent.append((place, step))
            }
        }
        return silent
    }

    /// Takes the platform's word for a change; it is read back later.
    private func accept(_ record: PlatformRecord, of step: PushPlan.Step, at place: Int) {
        outcomes[place] = PushOutcome(step: step, end: .verified, record: record)
        expectedTimes[record.id] = record.updatedAt
        keepSent([place])
    }

    /// Looks up what became of changes whose answer never came, or does not hold the record.
    ///
    /// A value that is never shown cannot be told from another one. Where the record moved between two
    /// listings of this push, its author may be this one and no answer came, it is sent again.
    ///
    /// - Parameters:
    ///   - failure: How the request ended; nil where the platform said that it was done.
    ///   - isLast: Tells that nothing is to be sent again.
    /// - Returns: Those to be sent again.
    /// - Throws: The failure where a record has not moved, once the others are judged.
    private func unconfirmed(
        _ steps: [Placed], _ failure: VercelAPIError?, isLast: Bool
    ) throws -> [Placed] {
        if let localFailure { throw localFailure }
        listing.expire()
        let records = try listing.currentByID()
        try closeWindow(of: steps)
        var again: [Placed] = []
        var isUnmoved = false
        for (place, step) in steps {
            guard let record = step.remoteID.flatMap({ records[$0] }) else {
                refuse((place, step), records, isSent: true)
                continue
            }
            let isMoved = record.updatedAt != expectedTimes[record.id]
            // Where nobody knows who this is, a value that is not shown may be somebody else's.
            let isUnknown =
                origin.author.isEmpty && step.sendsValue && step.attributes.kind == .sensitive
            let isForeign =
                record.author != nil
                && (isUnknown || !origin.author.isEmpty && record.author != origin.author)
            if isMoved, isForeign {
                refuse((place, step), records, isSent: true)
            } else if isMoved,
                failure == nil || step.attributes.kind != .sensitive || !step.sendsValue
            {
                outcomes[place] = PushOutcome(
                    step: step, end: .verified, record: record, isPresumed: true)
                keepSent([place])
            } else if failure != nil, !isMoved || isLast {
                isUnmoved = true
            } else if isLast {
                outcomes[place] = PushOutcome(
                    step: step, end: .failed("Vercel did not say that it kept the change", nil),
                    record: nil)
            } else if !Self.mayBe(record, of: step) {
                refuse((place, step), records, isSent: true)
            } else {
                expectedTimes[record.id] = record.updatedAt
                resent.insert(record.id)
                again.append((place, step))
            }
        }
        if isUnmoved, let failure { throw failure }
        return again
    }

    /// Tells whether a record may be what a step wanted, but for its value. A team's policy may have made it
    /// sensitive.
    private static func mayBe(_ record: PlatformRecord, of step: PushPlan.Step) -> Bool {
        record.key == step.key && record.attributes.scope == step.attributes.scope
            && [step.attributes.kind, .sensitive].contains(record.attributes.kind)
    }

    // MARK: Ends

    /// Reports a step that the platform refused for itself; anything else ends the push.
    func refused(
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
                    || outcome.step.attributes.kind == .sensitive
            else { continue }
            let step = PushPlan.Step(
                variable: outcome.step.variable, key: outcome.step.key,
                attributes: outcome.step.attributes,
                action: .update(id: record.id, withValue: outcome.step.sendsValue))
            expectedTimes[record.id] = record.updatedAt
            try begin([(place, step)])
            do throws(VercelAPIError) {
                if try changeOne((place, step)).isEmpty { repaired.append(place) }
            } catch {
                if let localFailure { throw localFailure }
                // After a retry that may have arrived, the change may be this one's: that stays open.
                if error.code == .notSent, !error.isAfterRepeat {
                    _ = try unchanged([(place, step)], isSent: true)
                } else if error.isKnownNotDone {
                    // What was said of the first attempt stands.
                    end([place])
                }
            }
        }
        try flush()
        return repaired
    }

    private func change(_ step: PushPlan.Step) throws -> EnvironmentVariableChange {
        let scope = step.attributes.scope
        var change = EnvironmentVariableChange()
        if let old = step.remoteID.flatMap({ planned[$0] })?.key, old != step.key {
            change.key = step.key
        }
        change.targets = scope.targets.names.map { .init(rawValue: $0) }
        change.customEnvironmentIds = scope.customEnvironments.map { environments.id(of: $0) ?? $0 }
        change.gitBranch = .some(scope.branch)
        change.comment = step.attributes.comment ?? ""
        if let new = try newVariable(step) {
            change.value = new.value
            change.type = new.type
        } else if let variable = step.variable,
            variable.remote?.agreed.kind != step.attributes.kind
        {
            change.type = .init(rawValue: step.attributes.kind.name)
        }
        return change
    }

    /// Has the vault know what was sent and is not proved yet, so that a push that ends here is known
    /// to have begun and the next one sends it again.
    func keepSent(_ places: [Int]) {
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
                        knowledge: .sent(
                            $0, withValue: outcome.step.sendsValue,
                            inPlaceOf: resent.contains($0.id) ? nil : planned[$0.id]))
                }
            })
    }
}

extension VercelAPIError {
    /// Tells whether the platform refused this one record, so that others may still be sent.
    var isRefusal: Bool {
        switch code {
        case .badRequest, .conflict, .notFound, .notPossible, .tooLarge, .invalidRequest: true
        default: false
        }
    }

    /// Tells whether what was sent was surely not done, by no attempt.
    var isKnownNotDone: Bool {
        if isAfterRepeat || code == .outcomeUnknown { return false }
        if isBeforeSending { return true }
        if let transport { return !transport.mayHaveReachedServer }
        // A refusal. What 408, 5xx and unreadable answers mean is open.
        if let status { return (400..<500).contains(status) && status != 408 }
        return [.invalidRequest, .libraryMissing, .outOfMemory].contains(code)
    }
}

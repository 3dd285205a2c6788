internal import Sealing
internal import Vault

/// The requests that change the platform. Right before each attempt, a listing older than a second
/// is read again, and records that do not match the plan are left unchanged.
extension RequestSender {
    typealias Placed = (place: Int, step: SyncRequest)

    /// The most attempts for a request with unknown outcome that had no visible effect.
    private static let maximumAttempts = 3

    /// Sends steps of one kind in one request.
    func send(_ steps: [Placed]) throws {
        switch steps.first?.step.action {
        case .create: try create(steps)
        case .change: try change(steps)
        case .delete: try delete(steps)
        case nil: break
        }
    }

    // MARK: Changes by others

    /// Records a conflict for each step whose record changed since the plan was made, or whose
    /// place was taken.
    func rejectChanged(_ requests: [SyncRequest]) throws {
        let records = try listing.current()
        let byID = try listing.currentByID()
        for (place, step) in requests.enumerated() {
            if step.recordID != nil {
                if isChanged(step, in: byID) { refuse((place, step), byID, isSent: false) }
                continue
            }
            let taken = records.first {
                planned[$0.id] == nil && traits.isSameName($0.key, step.key)
                    && $0.attributes.scope.overlaps(step.attributes.scope)
            }
            if let taken {
                var outcome = RequestOutcome(
                    request: step, end: .conflict("it was created on Vercel\(author(of: taken))"),
                    record: nil, isSent: false)
                outcome.way = outcome.way(against: taken)
                outcomes[place] = outcome
            }
        }
    }

    /// Returns whether a record differs from the plan. For a deletion, a missing record does not.
    private func isChanged(_ step: SyncRequest, in records: [String: VercelRecord]) -> Bool {
        guard let id = step.recordID else { return false }
        guard let record = records[id] else { return !step.isDeletion }
        return record.updatedAt != expectedTimes[id]
    }

    /// Records a conflict for a record that another user changed.
    private func refuse(_ step: Placed, _ records: [String: VercelRecord], isSent: Bool) {
        let record = step.step.recordID.flatMap { records[$0] }
        let what =
            record.map { "it was changed on Vercel\(author(of: $0))" }
            ?? "it was removed on Vercel"
        var outcome = RequestOutcome(
            request: step.step, end: .conflict(what), record: nil, isSent: isSent)
        outcome.way = outcome.way(against: record)
        outcomes[step.place] = outcome
        end(
            [step.place],
            step.step.owner.map { [RecordUpdate(variable: $0.variable, knowledge: .seen(record))] }
                ?? []
        )
    }

    /// Returns the author of a record's last change as the end of a sentence.
    func author(of record: VercelRecord) -> String {
        record.phrase(for: record.author, as: origin.author)
    }

    /// Returns the check before each attempt, which throws if a record no longer matches the plan.
    func check(_ steps: [Placed]) -> SendCheck {
        { () throws(PlatformError) in
            let records = try self.listing.currentByID()
            try self.renewOld(steps)
            guard !steps.contains(where: { self.isChanged($0.step, in: records) }) else {
                throw PlatformError(
                    .notSent, "it was changed on Vercel while the command was running")
            }
        }
    }

    /// Returns the steps that remain after a check failed.
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

    /// Creates variables in one request. After an unknown outcome, only the missing ones are sent
    /// again.
    private func create(_ steps: [Placed]) throws {
        var missing = steps
        defer { listing.expire() }
        for attempt in 1...Self.maximumAttempts {
            let new = try missing.map { try outgoing($0.step) }
            // Those of an earlier attempt are already in the journal.
            if attempt == 1 { try begin(missing) }
            let batch: WrittenRecords
            do throws(PlatformError) {
                batch = try platform.create(new)
            } catch {
                guard error.code == .outcomeUnknown else { throw error }
                listing.expire()
                missing = try lookUp(missing)
                if missing.isEmpty { return }
                if attempt == Self.maximumAttempts { throw error }
                continue
            }
            // A delayed earlier attempt can conflict with the later one.
            missing = take(batch, for: missing, isRepeat: attempt > 1)
            listing.expire()
            if !missing.isEmpty { end(try lookUp(missing).map(\.place)) }
            return
        }
    }

    /// - Returns: The steps to look up: rejected as existing after an attempt with unknown outcome,
    ///   or missing in the response. They count as failed unless they are found.
    private func take(
        _ batch: WrittenRecords, for steps: [Placed], isRepeat: Bool
    ) -> [Placed] {
        var doubtful: [Placed] = []
        var left = batch.records
        for (place, step) in steps {
            let match = left.firstIndex {
                traits.isSameName($0.key, step.key)
                    && $0.attributes.scope.overlaps(step.attributes.scope)
            }
            if let match {
                outcomes[place] = RequestOutcome(
                    request: step, end: .verified, record: left.remove(at: match))
                continue
            }
            let refusal = self.refusal(of: step, in: batch)
            outcomes[place] = RequestOutcome(
                request: step,
                end: .failed(
                    refusal?.error.description ?? "Vercel did not confirm its creation",
                    refusal?.error), record: nil)
            if refusal == nil || isRepeat && refusal?.error.code == .conflict {
                doubtful.append((place, step))
            }
        }
        recordSent(steps.map(\.place).filter { place in !doubtful.contains { $0.place == place } })
        return doubtful
    }

    private func refusal(
        of step: SyncRequest, in batch: WrittenRecords
    ) -> WrittenRecords.Refusal? {
        batch.refused.first {
            $0.key.map { traits.isSameName($0, step.key) } ?? false
                && ($0.targets.isEmpty
                    || Set($0.targets) == Set(step.attributes.scope.targets.names))
        }
    }

    /// Searches records of attempts with unknown outcome. None existed before the request, so a
    /// record with the same key and scope was most likely created by it, unless its value differs
    /// when read back.
    ///
    /// - Returns: The missing ones.
    private func lookUp(_ steps: [Placed]) throws -> [Placed] {
        let now = try listing.current()
        var missing: [Placed] = []
        for (place, step) in steps {
            let match = now.first {
                planned[$0.id] == nil && traits.isSameName($0.key, step.key)
                    && $0.attributes.scope == step.attributes.scope
            }
            guard let match else {
                missing.append((place, step))
                continue
            }
            outcomes[place] = RequestOutcome(
                request: step, end: .verified, record: match, isPresumed: true)
        }
        return missing
    }

    // MARK: Changing

    /// Returns whether a step can share its request with others.
    func isBatchable(_ step: SyncRequest) -> Bool {
        guard case .change(let before, withValue: true) = step.action,
            let record = planned[before.id]
        else { return false }
        return platform.canChangeTogether(
            record, (step.key, step.attributes), among: planned.values)
    }

    /// Changes records in one request, except those that another user changed.
    private func change(_ steps: [Placed]) throws {
        try begin(steps)
        var left = steps
        var attempt = 0
        while !left.isEmpty {
            var failure: PlatformError?
            do throws(PlatformError) {
                left = try change(together: left)
                if left.isEmpty { break }
                attempt += 1
            } catch {
                if error.code == .notSent, !error.isAfterRepeat {
                    left = try unchanged(left, isSent: attempt > 0)
                    continue
                }
                if error.isRefusal, left.count > 1 {
                    // One of them may be the cause, so each is sent by itself.
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

    /// Changes records in one request.
    ///
    /// - Returns: The steps that are missing in the response.
    private func change(together steps: [Placed]) throws(PlatformError) -> [Placed] {
        let records: [OutgoingRecord]
        do {
            records = try steps.map { try outgoing($0.step) }
        } catch {
            localFailure = error
            throw PlatformError(.notSent, "a value could not be decrypted")
        }
        let batch = try platform.change(records, check: check(steps))
        var silent: [Placed] = []
        for (place, step) in steps {
            // A response with another record says nothing about this one.
            if let record = batch.records.first(where: { $0.id == step.recordID }) {
                accept(record, of: step, at: place)
            } else if let refusal = refusal(of: step, in: batch) {
                outcomes[place] = RequestOutcome(
                    request: step, end: .failed(refusal.error.description, refusal.error),
                    record: nil)
                if refusal.error.isKnownNotDone { end([place]) }
            } else {
                silent.append((place, step))
            }
        }
        return silent
    }

    /// Accepts Vercel's response to a change, which is read back later.
    private func accept(_ record: VercelRecord, of step: SyncRequest, at place: Int) {
        outcomes[place] = RequestOutcome(request: step, end: .verified, record: record)
        expectedTimes[record.id] = record.updatedAt
        recordSent([place])
    }

    /// Looks up changes whose response was lost or does not contain the record.
    ///
    /// A hidden value cannot be compared. If the response was lost, the record changed between two
    /// listings of this push, and its author may be this user, the value is sent again.
    ///
    /// - Parameters:
    ///   - failure: How the request ended; nil if Vercel reported success.
    ///   - isLast: Whether nothing may be sent again.
    /// - Returns: The steps to send again.
    /// - Throws: The failure if a record has not changed, after the others are judged.
    private func unconfirmed(
        _ steps: [Placed], _ failure: PlatformError?, isLast: Bool
    ) throws -> [Placed] {
        if let localFailure { throw localFailure }
        listing.expire()
        let records = try listing.currentByID()
        try closeWindow(of: steps)
        var again: [Placed] = []
        var isUnmoved = false
        for (place, step) in steps {
            guard let record = step.recordID.flatMap({ records[$0] }) else {
                refuse((place, step), records, isSent: true)
                continue
            }
            let isMoved = record.updatedAt != expectedTimes[record.id]
            // If this user is unknown, a hidden value may be another user's.
            let isUnknown =
                origin.author.isEmpty && step.sendsValue && traits.hides(step.attributes.kind)
            let isForeign =
                record.author != nil
                && (isUnknown || !origin.author.isEmpty && record.author != origin.author)
            if isMoved, isForeign {
                refuse((place, step), records, isSent: true)
            } else if isMoved,
                failure == nil || !traits.hides(step.attributes.kind) || !step.sendsValue
            {
                outcomes[place] = RequestOutcome(
                    request: step, end: .verified, record: record, isPresumed: true)
            } else if failure != nil, !isMoved || isLast {
                isUnmoved = true
            } else if isLast {
                outcomes[place] = RequestOutcome(
                    request: step, end: .failed("Vercel did not confirm the change", nil),
                    record: nil)
            } else if !mayBe(record, of: step) {
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

    /// Returns whether a record may be the result of a step, apart from its value. A team's policy
    /// may have made it sensitive.
    private func mayBe(_ record: VercelRecord, of step: SyncRequest) -> Bool {
        traits.isSameName(record.key, step.key)
            && record.attributes.scope == step.attributes.scope
            && [step.attributes.kind, .sensitive].contains(record.attributes.kind)
    }

    // MARK: Ends

    /// Reports a step that Vercel rejected by itself; any other error ends the push.
    func refused(
        _ step: SyncRequest, at place: Int, _ error: PlatformError
    ) throws(PlatformError) {
        guard error.isRefusal else { throw error }
        outcomes[place] = RequestOutcome(
            request: step, end: .failed(error.description, error), record: nil)
        if error.isKnownNotDone { end([place]) }
    }

    /// Sends again what Vercel accepted but stored differently, so that an empty or wrong value
    /// does not stay until the next push.
    ///
    /// - Returns: The places to read back.
    func repair() throws -> [Int] {
        var repaired: [Int] = []
        for place in outcomes.indices {
            guard let outcome = outcomes[place], case .failed(_, nil) = outcome.end,
                !outcome.isPresumed, let record = outcome.record,
                // Vercel never changes a sensitive variable back.
                record.attributes.kind == outcome.request.attributes.kind
                    || outcome.request.attributes.kind == .sensitive
            else { continue }
            let step = outcome.request.changing(record)
            expectedTimes[record.id] = record.updatedAt
            try begin([(place, step)])
            do throws(PlatformError) {
                if try change(together: [(place, step)]).isEmpty { repaired.append(place) }
            } catch {
                if let localFailure { throw localFailure }
                // After a retry that may have arrived, the change may be ours, so it stays
                // unresolved.
                if error.code == .notSent, !error.isAfterRepeat {
                    _ = try unchanged([(place, step)], isSent: true)
                    continue
                }
                listing.expire()
                // The result of the first attempt still applies.
                if error.isKnownNotDone { end([place]) }
            }
        }
        try flush()
        return repaired
    }

    /// Records what was sent but is not verified yet, so that the next push sends it again if this
    /// one ends here.
    func recordSent(_ places: [Int]) {
        end(
            // The journal has a deletion until it is known to be done.
            places.filter { outcomes[$0]?.request.isDeletion != true },
            places.compactMap { place in
                // A deleted record is only forgotten once it is known to be gone.
                guard let outcome = outcomes[place], case .verified = outcome.end,
                    let record = outcome.record
                else { return nil }
                let before = planned[record.id]
                guard let owner = outcome.request.owner else {
                    return before.map {
                        RecordUpdate(
                            variable: nil,
                            knowledge: .released(
                                record.id,
                                from: $0.attributes.scope.subtracting(record.attributes.scope)))
                    }
                }
                return RecordUpdate(
                    variable: owner.variable,
                    knowledge: .sent(
                        record, withValue: outcome.request.sendsValue,
                        inPlaceOf: resent.contains(record.id) ? nil : before))
            })
    }
}

internal import Sealing
internal import Vault
internal import VercelAPI

/// Proving that what was sent arrived.
extension PushApplication {
    /// Looks at every record that was written: is it there, with that scope and type, and with that
    /// value where the platform shows it; and is every deleted one gone.
    func readBack(_ places: [Int]) throws {
        guard !places.isEmpty else { return }
        let found: [String: PlatformRecord]
        let arena = SecretArena()
        let read: [Result<SecretSlice?, VercelAPIError>]
        let readable = places.filter { place in
            outcomes[place].map { $0.isReadable || keepsValue($0) } ?? false
        }
        do {
            listing.expire()
            found = try listing.currentByID()
            read = try PlatformValues(client, project: project).read(
                readable.compactMap { outcomes[$0]?.record }, into: arena, trustsEmpty: true,
                isExpected: { number, value in self.isSent(value, at: readable[number]) })
        } catch {
            for place in places {
                outcomes[place]?.end = .failed(
                    "sent, but it could not be read back: \(error.description)", error)
            }
            return
        }
        let answers = Dictionary(uniqueKeysWithValues: zip(readable, read))
        var proved: [PushRecord] = []
        for place in places {
            guard var outcome = outcomes[place] else { continue }
            outcome.end = try judge(outcome, found: found, answer: answers[place])
            let listed = outcome.record.flatMap { found[$0.id] }
            if outcome.isConflict, let record = outcome.record, let listed,
                listed.updatedAt <= record.updatedAt
            {
                // What is there came before the answer, which is not what both sides agree on.
                outcome.record = record.agreed(at: planned[record.id]?.updatedAt ?? 0)
            }
            // What the platform answered stays agreed on where somebody has changed the record since.
            if outcome.isConflict {
                outcome.way = outcome.way(against: listed)
            } else {
                outcome.record = listed
            }
            outcomes[place] = outcome
            proved += outcome.proved(listed: listed)
            if case .delete(let id) = outcome.step.action, found[id] == nil {
                endDeletion(of: id, by: outcome.step)
            }
        }
        end([], proved)
        try flush()
    }

    /// Tells whether a value is the one that was sent, or that was to stay. Where that cannot be told it is
    /// looked at again.
    private func isSent(_ value: SecretSlice, at place: Int) -> Bool {
        guard let outcome = outcomes[place], let variable = outcome.step.variable,
            let ours = outcome.step.sendsValue
                ? try? values(variable) : try? keptValues?(variable)
        else { return false }
        return ours.isEqual(to: value)
    }

    /// Tells whether a step left a value as it was that Vercel shows and that the vault has.
    private func keepsValue(_ outcome: PushOutcome) -> Bool {
        guard case .update(_, withValue: false) = outcome.step.action, outcome.record != nil,
            ![.sensitive, .system].contains(outcome.step.attributes.kind),
            let variable = outcome.step.variable, variable.currentVersion > 0,
            // One that was never pushed, and sends no value, was found to be equal.
            variable.currentVersion == variable.remote?.pushedVersion || variable.remote == nil
        else { return false }
        return keptValues != nil
    }

    private func judge(
        _ outcome: PushOutcome, found: [String: PlatformRecord],
        answer: Result<SecretSlice?, VercelAPIError>?
    ) throws -> PushOutcome.End {
        if case .delete(let id) = outcome.step.action {
            return found[id] == nil ? .verified : .failed("it is still on the platform", nil)
        }
        guard let answered = outcome.record else {
            return .failed("the platform does not have it", nil)
        }
        guard let record = found[answered.id] else {
            return outcome.isPresumed
                ? .failed("the platform does not have it", nil)
                : .conflict("it was removed on Vercel right after it was sent")
        }
        if let overtaken = overtaken(outcome, answered, record) { return overtaken }
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
        // An upsert leaves a comment as it is that somebody writes meanwhile. Where no answer came, what is there
        // may be somebody else's.
        if (record.attributes.comment ?? "") != (wanted.comment ?? "") {
            return .conflict("it was changed on Vercel\(author(of: record)) meanwhile")
        }
        if outcome.step.sendsValue { return try judgeValue(outcome, answer) }
        guard case .success(let theirs?) = answer,
            let ours = try outcome.step.variable.flatMap({ try keptValues?($0) })
        else { return .verified }
        return ours.isEqual(to: theirs)
            ? .verified : .conflict("its value was changed on Vercel right before that")
    }

    /// Holds the time of change and the author in the list against those of the answer.
    ///
    /// - Returns: Nil where they agree, and the record has moved if it was to move.
    private func overtaken(
        _ outcome: PushOutcome, _ answered: PlatformRecord, _ listed: PlatformRecord
    ) -> PushOutcome.End? {
        let before = planned[listed.id]?.updatedAt
        // Vercel may leave the time as it is where no value was sent; then its answer says so.
        if listed.updatedAt == before,
            outcome.step.sendsValue || answered.updatedAt != listed.updatedAt
        {
            return .failed("Vercel answered, and kept nothing of it", nil)
        }
        let isSameAuthor =
            answered.author == nil || listed.author == nil || answered.author == listed.author
        guard answered.updatedAt == listed.updatedAt, isSameAuthor else {
            let who = author(of: listed)
            return .conflict("it was changed on Vercel\(who) right after it was sent")
        }
        return nil
    }

    private func judgeValue(
        _ outcome: PushOutcome, _ answer: Result<SecretSlice?, VercelAPIError>?
    ) throws -> PushOutcome.End {
        guard let variable = outcome.step.variable, outcome.isReadable else {
            return .unverified("sent, cannot be read back")
        }
        switch answer {
        case .success(let read):
            guard let value = read else { return .unverified("sent, cannot be read back") }
            let isEqual = try values(variable).isEqual(to: value)
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
}

extension PushOutcome {
    /// Tells whether the step was not done, or somebody else's change was found.
    package var isFailed: Bool {
        switch end {
        case .failed, .conflict: true
        case .verified, .unverified: false
        }
    }

    /// Why it was not done, or what somebody else's change was; nil where it was done.
    package var failureReason: String? {
        switch end {
        case .failed(let reason, _), .conflict(let reason): reason
        case .verified, .unverified: nil
        }
    }

    /// Tells whether it is done as far as is known.
    var isVerified: Bool {
        if case .verified = end { true } else { false }
    }

    /// Tells whether the platform shows the value that was sent.
    fileprivate var isReadable: Bool {
        record != nil && step.attributes.kind != .sensitive && step.sendsValue
    }

    /// What ends a conflict with a record of Vercel; nil where it is gone.
    func way(against record: PlatformRecord?) -> RecordNote.Way {
        step.variable == nil ? .taking : .init(record, sendsValue: !step.isDeletion)
    }

    /// Tells whether somebody else's change was found.
    package var isConflict: Bool {
        if case .conflict = end { true } else { false }
    }

    /// What the vault is to know after reading back; empty where it knows that already.
    ///
    /// - Parameter listed: The record as it is now; nil where it is gone.
    fileprivate func proved(listed: PlatformRecord?) -> [PushRecord] {
        guard let variable = step.variable else { return [] }
        func record(_ knowledge: PushRecord.Knowledge) -> PushRecord {
            PushRecord(variable: variable.id, knowledge: knowledge)
        }
        if step.isDeletion { return isVerified ? [record(.gone)] : [] }
        guard let platform = self.record else { return [] }
        let version = step.sendsValue ? variable.currentVersion : nil
        switch end {
        case .verified, .unverified:
            return [record(.agreed(platform, version: version, attributes: step.attributes))]
        case .conflict:
            return [
                record(.agreed(platform, version: version, attributes: platform.attributes)),
                record(.seen(listed)),
            ]
        case .failed(_, nil) where isPresumed:
            // Somebody else's after all, and the next push is to say so.
            return [record(.gone)]
        case .failed(_, nil):
            // Not agreed: the next push sends it again.
            return [
                record(
                    .agreed(
                        platform, version: step.sendsValue ? 0 : nil,
                        attributes: platform.attributes))
            ]
        case .failed(_, .some): return []
        }
    }
}

extension SecretSlice {
    /// Compares in a time that depends on the lengths alone.
    fileprivate func isEqual(to other: SecretSlice) -> Bool {
        withBytes { mine in other.withBytes { mine.isEqualInConstantTime(to: $0) } }
    }
}

internal import Sealing
package import Vault

/// Verifies that what was sent arrived.
extension RequestSender {
    /// Verifies every written record: that it exists with its scope, type and, if Vercel shows it,
    /// value; and that deleted ones are gone.
    func readBack(_ all: [Int]) throws {
        guard !all.isEmpty else { return }
        // Of two changes of one record, the last one shows what became of both.
        let last = Dictionary(
            all.compactMap { place in outcomes[place]?.record.map { ($0.id, place) } },
            uniquingKeysWith: max)
        let overwritten = all.filter { place in
            outcomes[place]?.record.map { last[$0.id] != place } ?? false
        }
        let places = all.filter { !overwritten.contains($0) }
        let found: [String: VercelRecord]
        let arena = SecretArena()
        let read: [Result<SecretSlice?, PlatformError>]
        let readable = places.filter { place in
            outcomes[place].map { isReadable($0) || keepsValue($0) } ?? false
        }
        do {
            listing.expire()
            found = try listing.currentByID()
            read = try platform.values(
                of: readable.compactMap { outcomes[$0]?.record }, into: arena,
                isExpected: { number, value in self.isSent(value, at: readable[number]) })
        } catch {
            for place in places {
                outcomes[place]?.end = .failed(
                    "sent, but it could not be read back: \(error.description)", error)
            }
            return
        }
        let answers = Dictionary(uniqueKeysWithValues: zip(readable, read))
        var proved: [RecordUpdate] = []
        var settled: [Int] = []
        for place in places {
            guard var outcome = outcomes[place] else { continue }
            outcome.end = try judge(outcome, found: found, answer: answers[place])
            let listed = outcome.record.flatMap { found[$0.id] }
            if outcome.isConflict, let record = outcome.record, let listed,
                listed.updatedAt <= record.updatedAt
            {
                // The listed record precedes the response, so the two sides do not agree on that.
                outcome.record = record.agreed(at: planned[record.id]?.updatedAt ?? 0)
            }
            // If another user has changed the record since, the response is what both sides agreed
            // on.
            if outcome.isConflict {
                outcome.way = outcome.way(against: listed)
            } else {
                outcome.record = listed
            }
            outcomes[place] = outcome
            let news = outcome.proved(listed: listed)
            proved += news
            if !news.isEmpty { settled.append(place) }
            if case .delete(let before) = outcome.request.action, found[before.id] == nil {
                endDeletion(of: before.id, by: outcome.request)
            }
        }
        for place in overwritten {
            guard let id = outcomes[place]?.record?.id, let later = last[id] else { continue }
            if let end = outcomes[later]?.end { outcomes[place]?.end = end }
            if settled.contains(later) { settled.append(place) }
        }
        end(settled, proved)
        try flush()
    }

    /// Returns whether a value is the one that was sent or kept. If that is unknown, the value is
    /// read again.
    private func isSent(_ value: SecretSlice, at place: Int) -> Bool {
        guard let request = outcomes[place]?.request,
            let ours = request.sendsValue ? try? values.sent(request) : try? values.kept(request)
        else { return false }
        return ours.equals(value)
    }

    /// Returns whether Vercel shows the value that was sent.
    private func isReadable(_ outcome: RequestOutcome) -> Bool {
        outcome.record != nil && !traits.hides(outcome.request.attributes.kind)
            && outcome.request.sendsValue
    }

    /// Returns whether a step kept a value that Vercel shows and the vault has.
    private func keepsValue(_ outcome: RequestOutcome) -> Bool {
        guard case .change(_, withValue: false) = outcome.request.action, outcome.record != nil
        else { return false }
        let kind = outcome.request.attributes.kind
        return !traits.hides(kind) && kind != .system && outcome.request.hasKnownValue
    }

    private func judge(
        _ outcome: RequestOutcome, found: [String: VercelRecord],
        answer: Result<SecretSlice?, PlatformError>?
    ) throws -> RequestOutcome.End {
        if case .delete(let before) = outcome.request.action {
            return found[before.id] == nil ? .verified : .failed("it is still on Vercel", nil)
        }
        guard let answered = outcome.record else {
            return .failed("it is not on Vercel", nil)
        }
        guard let record = found[answered.id] else {
            guard listing.last.isComplete else {
                return .failed("sent, but Vercel does not list it, and may only hide it", nil)
            }
            return outcome.isPresumed
                ? .failed("it is not on Vercel", nil)
                : .conflict("it was removed on Vercel right after it was sent")
        }
        if let overtaken = overtaken(outcome, answered, record) { return overtaken }
        let wanted = outcome.request.attributes
        guard traits.isSameName(record.key, outcome.request.key) else {
            return .failed("Vercel has it under the name \(record.key)", nil)
        }
        guard record.attributes.scope == wanted.scope else {
            return .failed(
                "Vercel has it only for \(record.attributes.scope.description)", nil)
        }
        guard record.attributes.kind == wanted.kind else {
            return .failed(
                "Vercel stored it as \(record.attributes.kind.name) instead of \(wanted.kind.name)",
                nil)
        }
        // An upsert keeps a comment that another user writes meanwhile. Without a response, the
        // record may be another user's.
        if (record.attributes.comment ?? "") != (wanted.comment ?? "") {
            return .conflict(
                "it was changed on Vercel\(author(of: record)) while the command was running")
        }
        if outcome.request.sendsValue { return try judgeValue(outcome, answer) }
        guard case .success(let theirs?) = answer, let ours = try values.kept(outcome.request)
        else { return .verified }
        return ours.equals(theirs)
            ? .verified : .conflict("its value was changed on Vercel right before the update")
    }

    /// Compares modification time and author of the listed record with the response.
    ///
    /// - Returns: Nil if they match and a record that had to change did.
    private func overtaken(
        _ outcome: RequestOutcome, _ answered: VercelRecord, _ listed: VercelRecord
    ) -> RequestOutcome.End? {
        let before = planned[listed.id]?.updatedAt
        // Vercel may keep the time if no value was sent; the response then has the same time.
        if listed.updatedAt == before,
            outcome.request.sendsValue && traits.showsEachChange
                || answered.updatedAt != listed.updatedAt
        {
            return .failed("Vercel accepted the change but did not store it", nil)
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
        _ outcome: RequestOutcome, _ answer: Result<SecretSlice?, PlatformError>?
    ) throws -> RequestOutcome.End {
        guard isReadable(outcome) else {
            return .unverified("sent, but cannot be read back")
        }
        switch answer {
        case .success(let value?):
            if try values.sent(outcome.request)?.equals(value) ?? false { return .verified }
            return .failed(
                value.count == 0 ? "Vercel stored an empty value" : "Vercel has a different value",
                nil)
        case .failure(let error):
            return .failed("sent, but it could not be read back: \(error.description)", error)
        case .success(nil), nil: return .unverified("sent, but cannot be read back")
        }
    }
}

extension RequestOutcome {
    /// Whether the step failed, or another user's change was found.
    package var isFailed: Bool { failureReason != nil }

    /// Why it failed, or the other user's change; nil after success.
    package var failureReason: String? {
        switch end {
        case .failed(let reason, _), .conflict(let reason): reason
        case .verified, .unverified: nil
        }
    }

    /// The record that this step wrote, as it was read back, with the version sent; nil unless it is
    /// this step's for certain.
    package var written: (variable: Identifier, record: VercelRecord, version: UInt64?)? {
        guard !isFailed, isVerified || !isPresumed, !request.isDeletion,
            let owner = request.owner, let record
        else { return nil }
        return (owner.variable, record, request.sendsValue ? owner.version : nil)
    }

    var isVerified: Bool {
        if case .verified = end { true } else { false }
    }

    /// Returns how to resolve a conflict with a record of Vercel; nil means that it is gone.
    func way(against record: VercelRecord?) -> RecordNote.Way {
        request.owner == nil ? .taking : .init(record, sendsValue: !request.isDeletion)
    }

    /// Whether another user's change was found.
    package var isConflict: Bool {
        if case .conflict = end { true } else { false }
    }

    /// Returns what the vault has to record after reading back; empty if nothing is new.
    ///
    /// - Parameter listed: The current record; nil if it is gone.
    fileprivate func proved(listed: VercelRecord?) -> [RecordUpdate] {
        if let before = request.before, request.isDeletion {
            return isVerified ? [RecordUpdate(variable: nil, knowledge: .gone(before.id))] : []
        }
        guard let owner = request.owner else { return [] }
        func record(_ knowledge: RecordUpdate.Knowledge) -> RecordUpdate {
            RecordUpdate(variable: owner.variable, knowledge: knowledge)
        }
        guard let platform = self.record else { return [] }
        let version = request.sendsValue ? owner.version : nil
        switch end {
        case .verified, .unverified:
            // A value that was known to be there is there still.
            let version = version ?? (request.hasKnownValue ? owner.version : nil)
            var agreed = request.attributes
            if !request.agreed.isEmpty { agreed.scope = request.agreed }
            return [record(.agreed(platform, version: version, attributes: agreed))]
        case .conflict:
            return [
                record(.agreed(platform, version: version, attributes: platform.attributes)),
                record(.seen(listed)),
            ]
        case .failed(_, nil) where isPresumed:
            // The record is another user's after all, and the next push reports that.
            return [record(.gone(platform.id))]
        case .failed(_, nil):
            // Not recorded as agreed, so that the next push sends it again.
            return [
                record(
                    .agreed(
                        platform, version: request.sendsValue ? 0 : nil,
                        attributes: platform.attributes))
            ]
        case .failed(_, .some): return []
        }
    }
}

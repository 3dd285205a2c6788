internal import Threads

/// Which entries of an account count, and what its last message says.
extension NATSStore {
    /// How long a leader that was just chosen may be behind before its answer counts.
    static let staleMilliseconds = 2_000
    /// Entries one behind the other that do not count. There are as many as relays that wrote at the same
    /// moment, seldom more than one.
    private static let passedOverLimit = 1_000

    /// What became of an entry that the stream says it has.
    enum Standing {
        /// It is there, and counts.
        case counts
        /// It does not count: it is to be written again.
        case isPassedOver
        /// It became too old.
        case isGone
    }

    /// The last entry of an account, as far as this relay knows; asked for where it does not.
    func tip(of account: String) throws(StoreError) -> LogTip {
        if let tip = log.tip(of: account) { return tip }
        return try freshTip(of: account)
    }

    /// The last entry of an account, as the stream's leader has it. Where there is none any more, numbers
    /// begin anew; what this relay knows of the last one stays true for whoever missed it.
    func freshTip(of account: String) throws(StoreError) -> LogTip {
        for attempt in 0..<(Self.staleMilliseconds / 10) {
            if attempt > 0 { WorkThread.pause(milliseconds: 10) }
            guard let last = try api.last(of: names.entries(of: account), in: names.events) else {
                return LogTip(beginningAt: try api.lastSequence(of: names.events))
            }
            // A leader may have a message a moment later than it came here from another server.
            guard last.sequence >= log.last(of: account) ?? 0 else { continue }
            guard let entry = LogEntry(last.data) else { throw JetStream.unclear }
            let tip = try tip(at: place(entry, last.sequence, of: account), of: account)
            log.set(tip, of: account)
            return log.tip(of: account) ?? tip
        }
        throw StoreError(.unavailable, "The events cannot be read from NATS.")
    }

    /// What the subject says up to an entry: what the last one says that counts.
    private func tip(
        at last: PlacedEntry, of account: String
    ) throws(StoreError) -> LogTip {
        var placed = last
        for _ in 0..<Self.passedOverLimit {
            guard !placed.counts else {
                var tip = LogTip(placed.entry, sequence: placed.sequence)
                tip.sequence = last.sequence
                return tip
            }
            guard let before = try entry(placed.before, of: account) else {
                // That is too old. Whoever wrote this one knew it.
                return LogTip(before: placed.entry, sequence: last.sequence)
            }
            placed = before
        }
        throw StoreError(.unavailable, "Other relays write to this account without a pause.")
    }

    /// The entry with a number; nil where it is gone.
    private func entry(
        _ sequence: Int64, of account: String
    ) throws(StoreError) -> PlacedEntry? {
        if let placed = log.entry(sequence, of: account) { return placed }
        let subject = names.entries(of: account)
        guard let found = try first(from: sequence, subject), found.sequence == sequence else {
            return nil
        }
        guard let entry = LogEntry(found.data) else { throw JetStream.unclear }
        return try place(entry, sequence, of: account)
    }

    /// Finds out what stands before an entry.
    func place(
        _ entry: LogEntry, _ sequence: Int64, of account: String
    ) throws(StoreError) -> PlacedEntry {
        if let placed = log.entry(sequence, of: account), placed.entry == entry { return placed }
        let subject = names.entries(of: account)
        var before = entry.previous
        // From one that it names to what stands right before it there are few.
        for _ in 0..<Self.passedOverLimit where before > 0 && before < sequence {
            guard let found = try first(from: before + 1, subject) else {
                throw StoreError(.unavailable, "The events cannot be read from NATS.")
            }
            guard found.sequence < sequence else { break }
            before = found.sequence
        }
        let placed = PlacedEntry(entry, sequence: sequence, before: before)
        log.add(placed, of: account)
        return placed
    }

    /// The first message of a subject from a number on. It is known that there is one, which a leader that was
    /// just chosen may not have yet.
    private func first(
        from sequence: Int64, _ subject: String
    ) throws(StoreError) -> JetStream.Kept? {
        for attempt in 0..<(Self.staleMilliseconds / 10) {
            if attempt > 0 { WorkThread.pause(milliseconds: 10) }
            if let found = try api.first(of: subject, from: sequence, in: names.events) {
                return found
            }
        }
        return nil
    }

    /// Finds out whether an entry that was just written counts. This relay has read it from the stream then,
    /// in the order in which all relays read it: what the server said is not enough.
    func standing(
        of entry: LogEntry, _ sequence: Int64, of account: String
    ) throws(StoreError) -> Standing {
        try awaitEvents(through: sequence)
        guard let placed = try self.entry(sequence, of: account), placed.entry == entry else {
            throw StoreError(.unavailable, "NATS does not have what it was given.")
        }
        return placed.counts ? .counts : .isPassedOver
    }

    /// Finds out whether an event is there that the stream says it has.
    func standing(
        ofMessage messageID: String, _ sequence: Int64, of account: String
    ) throws(StoreError) -> Standing {
        try awaitEvents(through: sequence)
        if try api.firstSequence(of: names.events) > sequence { return .isGone }
        for attempt in 0..<(Self.staleMilliseconds / 10) {
            if attempt > 0 { WorkThread.pause(milliseconds: 10) }
            guard let found = try api.message(sequence, in: names.events) else { continue }
            // Where something else has this number, what the stream remembers is not so.
            guard found.messageID == messageID, found.subject == names.entries(of: account) else {
                return .isPassedOver
            }
            guard let entry = LogEntry(found.data) else { throw JetStream.unclear }
            return try place(entry, sequence, of: account).counts ? .counts : .isPassedOver
        }
        throw StoreError(.unavailable, "The events cannot be read from NATS.")
    }

    /// Waits until this relay has read the stream up to a number.
    private func awaitEvents(through sequence: Int64) throws(StoreError) {
        guard events.wait(for: sequence, milliseconds: settings.patience) else {
            throw StoreError(.unavailable, "The events cannot be read from NATS.")
        }
    }
}

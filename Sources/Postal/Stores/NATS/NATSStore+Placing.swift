internal import Threads

/// Which entries of an account count, and the state after its last message.
extension NATSStore {
    /// How long a new leader may lag before its response counts.
    static let staleMilliseconds = 2_000
    /// Most consecutive entries that do not count. There is one per relay that wrote at the same
    /// moment, rarely more than one.
    private static let skippedEntryLimit = 1_000

    /// The state of an entry that the stream has accepted.
    enum Standing {
        /// It is stored and counts.
        case counts
        /// It does not count and must be written again.
        case isSkipped
        /// It expired.
        case isGone
    }

    /// Returns the state of an account, from the cache if possible.
    func tip(of account: String) throws(StoreError) -> LogTip {
        if let tip = log.tip(of: account) { return tip }
        return try freshTip(of: account)
    }

    /// Returns the state of an account according to the stream's leader. Without messages, numbers
    /// restart; cached knowledge of the last one stays valid for devices that missed it.
    func freshTip(of account: String) throws(StoreError) -> LogTip {
        for attempt in 0..<(Self.staleMilliseconds / 10) {
            if attempt > 0 { WorkThread.pause(milliseconds: 10) }
            guard let last = try api.last(of: names.entries(of: account), in: names.events) else {
                return LogTip(beginningAt: try api.lastSequence(of: names.events))
            }
            // A leader may get a message a moment after another server has sent it here.
            guard last.sequence >= log.last(of: account) ?? 0 else { continue }
            guard let entry = LogEntry(last.data) else { throw JetStream.unclear }
            let tip = try tip(at: place(entry, last.sequence, of: account), of: account)
            log.set(tip, of: account)
            return log.tip(of: account) ?? tip
        }
        throw StoreError(.unavailable, "Cannot read the events from NATS.")
    }

    /// Returns the state after an entry: that of the last entry that counts.
    private func tip(
        at last: PlacedEntry, of account: String
    ) throws(StoreError) -> LogTip {
        var placed = last
        for _ in 0..<Self.skippedEntryLimit {
            guard !placed.counts else {
                var tip = LogTip(placed.entry, sequence: placed.sequence)
                tip.sequence = last.sequence
                return tip
            }
            guard let before = try entry(placed.before, of: account) else {
                // That entry expired, but the writer of this one knew it.
                return LogTip(before: placed.entry, sequence: last.sequence)
            }
            placed = before
        }
        throw StoreError(.unavailable, "Other relays keep writing to this account.")
    }

    /// Returns the entry with a number; nil if it is gone.
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

    /// Determines what precedes an entry.
    func place(
        _ entry: LogEntry, _ sequence: Int64, of account: String
    ) throws(StoreError) -> PlacedEntry {
        if let placed = log.entry(sequence, of: account), placed.entry == entry { return placed }
        let subject = names.entries(of: account)
        var before = entry.previous
        // Few entries are between the one it names and its predecessor.
        for _ in 0..<Self.skippedEntryLimit where before > 0 && before < sequence {
            guard let found = try first(from: before + 1, subject) else {
                throw StoreError(.unavailable, "Cannot read the events from NATS.")
            }
            guard found.sequence < sequence else { break }
            before = found.sequence
        }
        let placed = PlacedEntry(entry, sequence: sequence, before: before)
        log.add(placed, of: account)
        return placed
    }

    /// Returns the first message of a subject from a number on, which is known to exist although a
    /// new leader may not have it yet.
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

    /// Determines whether an entry that was just written counts. Waits until this relay has read it
    /// in the stream's order, because the server's response is not sufficient.
    func standing(
        of entry: LogEntry, _ sequence: Int64, of account: String
    ) throws(StoreError) -> Standing {
        try awaitEvents(through: sequence)
        guard let placed = try self.entry(sequence, of: account), placed.entry == entry else {
            throw StoreError(.unavailable, "NATS lost an accepted event.")
        }
        return placed.counts ? .counts : .isSkipped
    }

    /// Determines whether an event that the stream claims to have exists.
    func standing(
        ofMessage messageID: String, _ sequence: Int64, of account: String
    ) throws(StoreError) -> Standing {
        try awaitEvents(through: sequence)
        if try api.firstSequence(of: names.events) > sequence { return .isGone }
        for attempt in 0..<(Self.staleMilliseconds / 10) {
            if attempt > 0 { WorkThread.pause(milliseconds: 10) }
            guard let found = try api.message(sequence, in: names.events) else { continue }
            // With another message under this number, the stream's duplicate memory is wrong.
            guard found.messageID == messageID, found.subject == names.entries(of: account) else {
                return .isSkipped
            }
            guard let entry = LogEntry(found.data) else { throw JetStream.unclear }
            return try place(entry, sequence, of: account).counts ? .counts : .isSkipped
        }
        throw StoreError(.unavailable, "Cannot read the events from NATS.")
    }

    /// Waits until this relay has read the stream up to a number.
    private func awaitEvents(through sequence: Int64) throws(StoreError) {
        guard events.wait(for: sequence, milliseconds: settings.patience) else {
            throw StoreError(.unavailable, "Cannot read the events from NATS.")
        }
    }
}

internal import Threads

extension NATSStore {
    /// Entries checked per step for one device.
    private static let stepCount = 256

    /// An entry and its number.
    typealias Found = (sequence: Int64, entry: LogEntry)

    package func read(_ requests: [ReadRequest]) throws(StoreError) -> [DeviceEvents] {
        do throws(StoreError) {
            return try readSnapshot(requests)
        } catch {
            hasFailedReads.look { $0 = true }
            throw error
        }
    }

    private func readSnapshot(_ requests: [ReadRequest]) throws(StoreError) -> [DeviceEvents] {
        // Every event that any relay reported as stored is visible here, or the read fails.
        let seen = events.seen
        let newest = try api.lastSequence(of: names.events)
        // A new leader may lag behind what was already received here.
        guard newest >= seen, events.wait(for: newest, milliseconds: settings.patience)
        else {
            throw StoreError(.unavailable, "Cannot read the events from NATS.")
        }
        var answers: [DeviceEvents] = []
        for request in requests { answers.append(try events(for: request, through: newest)) }
        return answers
    }

    /// The state of one account during a read for a device.
    private struct Head {
        let account: String
        let tip: LogTip
        /// The next event; nil after the last.
        var next: Found?
        /// Events up to this number are gone, and the device has missed some.
        var gap: Int64?
        /// How many; nil if unknown.
        var gapCount: Int?
    }

    /// - Parameter newest: Later events are left for the next read, because some accounts were
    ///   checked before they arrived.
    private func events(
        for request: ReadRequest, through newest: Int64
    ) throws(StoreError) -> DeviceEvents {
        guard let device = register.device(request.device.id)?.record, device.phase == .active
        else { return DeviceEvents(through: request.after, hasMore: false) }
        var after = max(request.after, device.start)
        var missed: DeviceEvents.Missed?
        var heads: [Head] = []
        for account in device.accounts {
            heads.append(
                try head(of: account, after: after, place: place(of: account, at: after, request)))
        }
        // Expired or surplus events; one range if they are adjacent.
        var through = gapEnd(heads)
        if let surplus = try surplus(heads, after: after) { through = max(through ?? 0, surplus) }
        if let through {
            missed = try self.missed(heads, after: after, through: through)
            after = through
            for place in heads.indices where (heads[place].next?.sequence ?? .max) <= after {
                heads[place].next = try nextEvent(
                    of: heads[place].account, after: after, tip: heads[place].tip)
            }
        }
        var events = DeviceEvents(
            missed: missed, through: max(after, request.after), hasMore: false)
        let name = RecipientName(device: request.device.id)
        var (byteCount, steps) = (0, 0)
        while let place = heads.indices.filter({ heads[$0].next != nil }).min(by: {
            (heads[$0].next?.sequence ?? 0) < (heads[$1].next?.sequence ?? 0)
        }), let found = heads[place].next, found.sequence <= newest {
            let isGapBefore = heads.contains { head in
                head.gap.map { $0 > after && $0 < found.sequence } ?? false
            }
            guard byteCount < request.byteLimit, steps < Self.stepCount, !isGapBefore else {
                events.hasMore = true
                break
            }
            if let sealed = try copy(of: found.entry, for: name) {
                byteCount += sealed.count
                events.copies.append(.init(number: found.sequence, sealed: sealed))
            }
            events.through = max(events.through, found.sequence)
            steps += 1
            heads[place].next = try nextEvent(
                of: heads[place].account, after: found.sequence, tip: heads[place].tip)
        }
        return events
    }

    /// Returns an account's position at a number, if it is still known.
    private func place(
        of account: String, at number: Int64, _ request: ReadRequest
    ) -> DeviceRecord.Place? {
        if let had = register.acknowledgement(of: request.device.id)?.record, had.number == number {
            return had.places[account]
        }
        guard let record = register.device(request.device.id)?.record, record.start == number else {
            return nil
        }
        return record.places[account]
    }

    private func head(
        of account: String, after: Int64, place: DeviceRecord.Place?
    ) throws(StoreError) -> Head {
        let tip = try tip(of: account)
        var head = Head(account: account, tip: tip)
        // The account has no messages left; missed events are reported with its next entry.
        guard tip.sequence > 0, tip.lastEvent > after else { return head }
        let first = try nextEntry(of: account, after: after, tip: tip)
        let lastBefore = first?.entry.lastEvent ?? tip.lastEvent
        if lastBefore > after {
            let before = first?.entry.ordinalBefore ?? tip.ordinal
            head.gap = lastBefore
            if let place, place.epoch == tip.epoch {
                head.gapCount = Int(clamping: max(0, before - place.ordinal))
            }
        }
        if let first {
            head.next =
                first.entry.isEvent
                ? first : try nextEvent(of: account, after: first.sequence, tip: tip)
        }
        return head
    }

    /// Returns the end of gaps that precede every event that is still stored.
    private func gapEnd(_ heads: [Head]) -> Int64? {
        let first = heads.compactMap { $0.next?.sequence }.min() ?? .max
        return heads.compactMap(\.gap).filter { $0 < first }.max()
    }

    /// Returns the last number beyond the most events that may wait for a device.
    private func surplus(_ heads: [Head], after: Int64) throws(StoreError) -> Int64? {
        var total = 0
        for head in heads {
            guard let next = head.next else { continue }
            total += Int(clamping: head.tip.ordinal - next.entry.ordinalBefore)
        }
        guard total > limits.eventsOfDevice else { return nil }
        // The smallest number after which no more events remain than may wait.
        var (low, high) = (after, heads.map(\.tip.lastEvent).max() ?? after)
        while low < high {
            let middle = low + (high - low) / 2
            if try count(heads, after: middle) <= limits.eventsOfDevice {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }

    private func count(_ heads: [Head], after: Int64) throws(StoreError) -> Int {
        var total = 0
        for head in heads { total += try waiting(head, after: after) }
        return total
    }

    private func waiting(_ head: Head, after: Int64) throws(StoreError) -> Int {
        guard head.tip.sequence > 0,
            let next = try nextEvent(of: head.account, after: after, tip: head.tip)
        else { return 0 }
        return Int(clamping: head.tip.ordinal - next.entry.ordinalBefore)
    }

    /// Counts the events that a device misses between two numbers: stored ones that are skipped,
    /// and deleted ones if their number is known.
    private func missed(
        _ heads: [Head], after: Int64, through: Int64
    ) throws(StoreError) -> DeviceEvents.Missed {
        var (count, isKnown) = (0, true)
        for head in heads {
            if let gap = head.gap, gap <= through {
                if let gone = head.gapCount { count += gone } else { isKnown = false }
            }
            if let next = head.next, next.sequence <= through {
                count += Int(clamping: head.tip.ordinal - next.entry.ordinalBefore)
                count -= try waiting(head, after: through)
            }
        }
        return .init(count: isKnown ? count : 0, through: through)
    }

    /// Returns the first event above a number, if any.
    private func nextEvent(
        of account: String, after: Int64, tip: LogTip
    ) throws(StoreError) -> Found? {
        var after = after
        while tip.lastEvent > after {
            guard let found = try nextEntry(of: account, after: after, tip: tip) else { return nil }
            if found.entry.isEvent { return found }
            after = found.sequence
        }
        return nil
    }

    /// Returns the first entry above a number that counts.
    func nextEntry(of account: String, after: Int64, tip: LogTip) throws(StoreError) -> Found? {
        var after = after
        while let placed = try nextPlaced(of: account, after: after) {
            if placed.counts { return (placed.sequence, placed.entry) }
            after = placed.sequence
        }
        return nil
    }

    /// Returns the first entry above a number. Asks a new leader again if it lacks an entry that is
    /// known to exist.
    private func nextPlaced(
        of account: String, after: Int64
    ) throws(StoreError) -> PlacedEntry? {
        if let placed = log.next(of: account, after: after) { return placed }
        let subject = names.entries(of: account)
        for attempt in 0..<(Self.staleMilliseconds / 10) {
            if attempt > 0 { WorkThread.pause(milliseconds: 10) }
            if let found = try api.first(of: subject, from: after + 1, in: names.events) {
                guard let entry = LogEntry(found.data) else { throw JetStream.unclear }
                // Nothing is between this and `after`, unless the entry names one before that.
                if entry.previous < after {
                    return try place(entry, found.sequence, of: account)
                }
                let placed = PlacedEntry(
                    entry, sequence: found.sequence, before: entry.previous)
                log.add(placed, of: account)
                return placed
            }
            // The leader has none: it expired.
            let last = try freshTip(of: account)
            if last.sequence <= after { return nil }
        }
        throw StoreError(.unavailable, "Cannot read the events from NATS.")
    }

    private func copy(
        of entry: LogEntry, for name: RecipientName
    ) throws(StoreError) -> [UInt8]? {
        switch entry.content {
        case .mark: return nil
        case .copies(let table): return table.copy(for: name)
        case .parts(let parts):
            guard let part = parts.last(where: { $0.first <= name }) else { return nil }
            return try table(part.number)?.copy(for: name)
        }
    }

    /// Returns the copies of a separate message; nil if it is gone.
    private func table(_ number: Int64) throws(StoreError) -> CopyTable? {
        if let table = log.table(number) { return table }
        guard let found = try api.message(number, in: names.events) else { return nil }
        guard let table = CopyTable(found.data) else { throw JetStream.unclear }
        log.add(table, sequence: number)
        return table
    }
}

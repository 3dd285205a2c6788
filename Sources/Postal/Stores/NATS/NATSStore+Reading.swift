internal import Threads

extension NATSStore {
    /// Entries that are looked at in one go for one device.
    private static let stepCount = 256

    /// An entry and its number.
    typealias Found = (sequence: Int64, entry: LogEntry)

    package func read(_ requests: [ReadRequest]) throws(StoreError) -> [DeviceEvents] {
        do throws(StoreError) {
            return try readNow(requests)
        } catch {
            hasFailedReads.look { $0 = true }
            throw error
        }
    }

    private func readNow(_ requests: [ReadRequest]) throws(StoreError) -> [DeviceEvents] {
        // What any relay was told to be kept is seen here, or nothing is.
        let seen = events.seen
        let newest = try api.lastSequence(of: names.events)
        // A leader that was just chosen may be behind what came here already.
        guard newest >= seen, events.wait(for: newest, milliseconds: settings.patience)
        else {
            throw StoreError(.unavailable, "The events cannot be read from NATS.")
        }
        var answers: [DeviceEvents] = []
        for request in requests { answers.append(try events(for: request, through: newest)) }
        return answers
    }

    /// One account while it is read for a device.
    private struct Head {
        let account: String
        let tip: LogTip
        /// The next event; nil behind the last.
        var next: Found?
        /// Events up to this number are gone, and the device has not had all of them.
        var gap: Int64?
        /// How many; nil where that is not known.
        var gapCount: Int?
    }

    /// - Parameter newest: What comes later is left for the next time: of several accounts one may have been
    ///   looked at before, and another one after something came.
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
        // Either what is too old, or what is too much; both in one line where they meet.
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

    /// Where an account's count stood at a number, as far as that was kept.
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
        // An account that has nothing any more: what there was is told with the next entry.
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

    /// The end of gaps that come before every event that is still there.
    private func gapEnd(_ heads: [Head]) -> Int64? {
        let first = heads.compactMap { $0.next?.sequence }.min() ?? .max
        return heads.compactMap(\.gap).filter { $0 < first }.max()
    }

    /// The last number that is too much, by the most that may wait for a device.
    private func surplus(_ heads: [Head], after: Int64) throws(StoreError) -> Int64? {
        var total = 0
        for head in heads {
            guard let next = head.next else { continue }
            total += Int(clamping: head.tip.ordinal - next.entry.ordinalBefore)
        }
        guard total > limits.eventsOfDevice else { return nil }
        // The smallest number above which no more are left than may wait.
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

    /// How many events a device misses between two numbers: those that are there and are passed over, and
    /// those that are gone, where that can be known.
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

    /// The first event above a number; nil where the last one is not above it.
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

    /// The first entry above a number that counts.
    func nextEntry(of account: String, after: Int64, tip: LogTip) throws(StoreError) -> Found? {
        var after = after
        while let placed = try nextPlaced(of: account, after: after) {
            if placed.counts { return (placed.sequence, placed.entry) }
            after = placed.sequence
        }
        return nil
    }

    /// The first entry above a number. A leader that was just chosen may not have it yet, though it is known
    /// to be there; then it is asked again.
    private func nextPlaced(
        of account: String, after: Int64
    ) throws(StoreError) -> PlacedEntry? {
        if let placed = log.next(of: account, after: after) { return placed }
        let subject = names.entries(of: account)
        for attempt in 0..<(Self.staleMilliseconds / 10) {
            if attempt > 0 { WorkThread.pause(milliseconds: 10) }
            if let found = try api.first(of: subject, from: after + 1, in: names.events) {
                guard let entry = LogEntry(found.data) else { throw JetStream.unclear }
                // Nothing is between this and `after`. Where the entry names one before that, another one
                // may be between those.
                if entry.previous < after {
                    return try place(entry, found.sequence, of: account)
                }
                let placed = PlacedEntry(
                    entry, sequence: found.sequence, before: entry.previous)
                log.add(placed, of: account)
                return placed
            }
            // Nothing there by the leader's word: it was too old.
            let last = try freshTip(of: account)
            if last.sequence <= after { return nil }
        }
        throw StoreError(.unavailable, "The events cannot be read from NATS.")
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

    /// The copies of one message beside an entry; nil where they are gone already.
    private func table(_ number: Int64) throws(StoreError) -> CopyTable? {
        if let table = log.table(number) { return table }
        guard let found = try api.message(number, in: names.events) else { return nil }
        guard let table = CopyTable(found.data) else { throw JetStream.unclear }
        log.add(table, sequence: number)
        return table
    }
}

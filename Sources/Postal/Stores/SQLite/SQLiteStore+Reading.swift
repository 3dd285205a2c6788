extension SQLiteStore {
    /// Numbers checked per step for one device.
    private static let stepCount = 64

    package func read(_ requests: [ReadRequest]) throws(StoreError) -> [DeviceEvents] {
        try read { (connection) throws(StoreError) in
            var answers: [DeviceEvents] = []
            for request in requests { answers.append(try events(for: request, connection)) }
            return answers
        }
    }

    private func events(
        for request: ReadRequest, _ connection: SQLiteConnection
    ) throws(StoreError) -> DeviceEvents {
        var entry: (ordinal: Int64, start: Int64, missed: Int64, missedThrough: Int64)?
        try connection.query(
            "SELECT ordinal, start, missed, missed_through FROM devices WHERE name = ?1",
            [.text(request.device.id)]
        ) { (row) throws(StoreError) in
            entry = (row.integer(0), row.integer(1), row.integer(2), row.integer(3))
        }
        guard let entry else { return DeviceEvents(through: request.after, hasMore: false) }
        var after = max(request.after, entry.start)
        var missed: DeviceEvents.Missed?
        if entry.missed > 0, after < entry.missedThrough {
            missed = .init(count: Int(entry.missed), through: entry.missedThrough)
            after = entry.missedThrough
        }
        let accounts = try connection.numbers(
            "SELECT account FROM memberships WHERE device = ?1", [.integer(entry.ordinal)])
        var numbers = try numbers(of: accounts, after: after, connection)
        if numbers.count >= min(Self.stepCount, limits.eventsOfDevice + 1),
            let surplus = try surplus(of: accounts, after: after, connection)
        {
            missed = .init(count: (missed?.count ?? 0) + surplus.count, through: surplus.through)
            after = surplus.through
            numbers = try self.numbers(of: accounts, after: after, connection)
        }
        var events = DeviceEvents(
            missed: missed, through: max(after, request.after),
            hasMore: numbers.count >= Self.stepCount)
        var byteCount = 0
        for number in numbers {
            if byteCount >= request.byteLimit {
                events.hasMore = true
                break
            }
            try connection.query(
                "SELECT sealed FROM copies WHERE event = ?1 AND device = ?2",
                [.integer(number), .integer(entry.ordinal)]
            ) { (row) throws(StoreError) in
                let sealed = row.bytes(0)
                byteCount += sealed.count
                events.copies.append(.init(number: number, sealed: sealed))
            }
            events.through = number
        }
        return events
    }

    /// Returns the next numbers of some accounts in order, at most one step.
    private func numbers(
        of accounts: [Int64], after: Int64, _ connection: SQLiteConnection
    ) throws(StoreError) -> [Int64] {
        var numbers: [Int64] = []
        for account in accounts {
            numbers += try connection.numbers(
                """
                SELECT number FROM events WHERE account = ?1 AND number > ?2
                ORDER BY number LIMIT ?3
                """, [.integer(account), .integer(after), .integer(Int64(Self.stepCount))])
        }
        if accounts.count > 1 { numbers.sort() }
        return Array(numbers.prefix(Self.stepCount))
    }

    /// Counts the oldest events beyond the most that may wait for a device.
    private func surplus(
        of accounts: [Int64], after: Int64, _ connection: SQLiteConnection
    ) throws(StoreError) -> (count: Int, through: Int64)? {
        let limit = limits.eventsOfDevice
        var (total, newest) = (0, [Int64]())
        for account in accounts {
            total += Int(
                try connection.number(
                    "SELECT count(*) FROM events WHERE account = ?1 AND number > ?2",
                    .integer(account), .integer(after)) ?? 0)
        }
        guard total > limit else { return nil }
        for account in accounts {
            newest += try connection.numbers(
                """
                SELECT number FROM events WHERE account = ?1 AND number > ?2
                ORDER BY number DESC LIMIT ?3
                """, [.integer(account), .integer(after), .integer(Int64(limit + 1))])
        }
        newest.sort(by: >)
        return (total - limit, newest[limit])
    }
}

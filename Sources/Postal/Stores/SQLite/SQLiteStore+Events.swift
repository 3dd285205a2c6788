extension SQLiteStore {
    package func append(_ events: [AcceptedEvent]) -> [AppendOutcome] {
        guard !events.isEmpty else { return [] }
        do throws(StoreError) {
            // Sealing is slow, so it happens before the transaction, which finds devices that
            // joined meanwhile.
            let recipients = try read { (connection) throws(StoreError) in
                try Self.recipients(of: events, connection)
            }
            var outcomes: [AppendOutcome] = []
            while outcomes.count < events.count {
                let start = outcomes.count
                var (end, copies) = (start, 0)
                repeat {
                    copies += recipients[end].count
                    end += 1
                } while end < events.count && copies + recipients[end].count <= Self.copyLimit
                outcomes += keep((start..<end).map { (events[$0], recipients[$0]) })
            }
            return outcomes
        } catch {
            return events.map { _ in .failed(error) }
        }
    }

    /// Copies per transaction, to bound memory and waiting.
    private static let copyLimit = 10_000

    private func keep(
        _ events: [(event: AcceptedEvent, devices: [SealedRecipient])]
    ) -> [AppendOutcome] {
        let prepared = events.map { event, devices in
            PreparedEvent(event: event, copies: Sealer.copies(of: event, for: devices))
        }
        do throws(StoreError) {
            let outcomes = try writer.write { (connection) throws(StoreError) in
                var outcomes: [AppendOutcome] = []
                for event in prepared { outcomes.append(try Self.insert(event, connection)) }
                return outcomes
            }
            var (numbers, accounts) = ([Int64](), Set<String>())
            for (outcome, pair) in zip(outcomes, events) {
                guard case .kept(let number) = outcome else { continue }
                numbers.append(number)
                accounts.insert(pair.event.account)
            }
            if !numbers.isEmpty { watcher.tell(kept: numbers, of: accounts) }
            return outcomes
        } catch {
            return events.map { _ in .failed(error) }
        }
    }

    package func newest() throws(StoreError) -> Int64 {
        try read { (connection) throws(StoreError) in try Self.newest(connection) }
    }

    /// An event with the copies for the devices registered at the time.
    private struct PreparedEvent: Sendable {
        let event: AcceptedEvent
        let copies: [(device: SealedRecipient, sealed: [UInt8])]
    }

    /// Returns the devices of each event's account; none for a repeated event.
    private static func recipients(
        of events: [AcceptedEvent], _ connection: SQLiteConnection
    ) throws(StoreError) -> [[SealedRecipient]] {
        var found: [String: [SealedRecipient]] = [:]
        var lists: [[SealedRecipient]] = []
        for event in events {
            let known = try connection.number(
                "SELECT 1 FROM events WHERE digest = ?1", .bytes(event.digest))
            if known != nil {
                lists.append([])
                continue
            }
            if found[event.account] == nil {
                found[event.account] = try recipients(of: event.account, after: 0, connection)
            }
            lists.append(found[event.account] ?? [])
        }
        return lists
    }

    private static func recipients(
        of account: String, after ordinal: Int64, _ connection: SQLiteConnection
    ) throws(StoreError) -> [SealedRecipient] {
        var list: [SealedRecipient] = []
        try connection.query(
            """
            SELECT device, key FROM accounts
            JOIN memberships ON memberships.account = accounts.ordinal
            JOIN devices ON devices.ordinal = memberships.device
            WHERE accounts.name = ?1 AND memberships.device > ?2 ORDER BY device
            """, [.text(account), .integer(ordinal)]
        ) { (row) throws(StoreError) in
            list.append(SealedRecipient(ordinal: row.integer(0), publicKey: row.bytes(1)))
        }
        return list
    }

    private static func insert(
        _ prepared: PreparedEvent, _ connection: SQLiteConnection
    ) throws(StoreError) -> AppendOutcome {
        let event = prepared.event
        // Queried first, because a refused insertion uses up a number.
        let known = try connection.number(
            "SELECT 1 FROM events WHERE digest = ?1", .bytes(event.digest))
        guard known == nil else { return .duplicate }
        let account = try ordinal(ofAccount: event.account, connection)
        try connection.run(
            "INSERT INTO events (digest, account, accepted) VALUES (?1, ?2, ?3)",
            .bytes(event.digest), .integer(account), .integer(event.acceptedAt))
        let number = connection.lastRow
        // Ordinals are never reused and a device's accounts never change: devices that joined
        // meanwhile are above the last known one, and removed ones are gone.
        let last = prepared.copies.last?.device.ordinal ?? 0
        let joined = try recipients(of: event.account, after: last, connection)
        for (device, sealed) in prepared.copies + Sealer.copies(of: event, for: joined) {
            try connection.run(
                """
                INSERT INTO copies (event, device, sealed)
                SELECT ?1, ordinal, ?3 FROM devices WHERE ordinal = ?2
                """, .integer(number), .integer(device.ordinal), .bytes(sealed))
        }
        return .kept(number: number)
    }

    /// Returns the number of an account, which is created if new.
    static func ordinal(
        ofAccount name: String, _ connection: SQLiteConnection
    ) throws(StoreError) -> Int64 {
        try connection.run("INSERT OR IGNORE INTO accounts (name) VALUES (?1)", .text(name))
        return try connection.number("SELECT ordinal FROM accounts WHERE name = ?1", .text(name))
            ?? 0
    }
}

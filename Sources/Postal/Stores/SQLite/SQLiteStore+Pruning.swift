extension SQLiteStore {
    /// Events or devices per transaction, so that webhooks do not wait.
    private static let pruneCount: Int64 = 20

    package func prune(now: Int64) throws(StoreError) {
        let oldest = now - limits.keptMilliseconds
        while try removeEvents(before: oldest) {}
        while try removeSurplus() {}
        while try freeAcknowledged() {}
        try writer.write { (connection) throws(StoreError) in
            try connection.run("DELETE FROM invites WHERE expires <= ?1", .integer(now))
            // A relay polls four times a second, so it has seen these.
            try connection.run(
                """
                DELETE FROM removals
                WHERE sequence <= (SELECT max(sequence) FROM removals) - 10000
                """)
        }
    }

    /// Deletes events that are too old. Devices that did not get them miss one more each.
    private func removeEvents(before time: Int64) throws(StoreError) -> Bool {
        try writer.write { (connection) throws(StoreError) in
            let numbers = try connection.numbers(
                "SELECT number FROM events WHERE accepted <= ?1 ORDER BY number LIMIT ?2",
                [.integer(time), .integer(Self.pruneCount)])
            for number in numbers {
                try Self.removeCopies(of: number, connection)
                try connection.run("DELETE FROM events WHERE number = ?1", .integer(number))
            }
            return !numbers.isEmpty
        }
    }

    /// Deletes the copies of events beyond the most that may wait in an account: no device can still
    /// get them. The events stay, so that repeated ones are detected.
    private func removeSurplus() throws(StoreError) -> Bool {
        let limit = Int64(limits.eventsOfDevice)
        return try writer.write { (connection) throws(StoreError) in
            var found = false
            let accounts = try connection.numbers("SELECT ordinal FROM accounts", [])
            for account in accounts {
                let last = try connection.number(
                    """
                    SELECT number FROM events WHERE account = ?1
                    ORDER BY number DESC LIMIT 1 OFFSET ?2
                    """, .integer(account), .integer(limit))
                guard let last else { continue }
                let numbers = try connection.numbers(
                    """
                    SELECT number FROM events WHERE account = ?1 AND number <= ?2
                    AND number > (SELECT freed FROM accounts WHERE ordinal = ?1)
                    ORDER BY number LIMIT ?3
                    """, [.integer(account), .integer(last), .integer(Self.pruneCount)])
                guard let freed = numbers.last else { continue }
                for number in numbers { try Self.removeCopies(of: number, connection) }
                try connection.run(
                    "UPDATE accounts SET freed = ?2 WHERE ordinal = ?1", .integer(account),
                    .integer(freed))
                found = true
            }
            return found
        }
    }

    private static func removeCopies(
        of number: Int64, _ connection: SQLiteConnection
    ) throws(StoreError) {
        try connection.run(
            """
            UPDATE devices SET missed = missed + 1, missed_through = max(missed_through, ?1)
            WHERE acknowledged < ?1 AND ordinal IN (SELECT device FROM copies WHERE event = ?1)
            """, .integer(number))
        try connection.run("DELETE FROM copies WHERE event = ?1", .integer(number))
    }

    /// Deletes acknowledged copies.
    private func freeAcknowledged() throws(StoreError) -> Bool {
        try writer.write { (connection) throws(StoreError) in
            let devices = try connection.numbers(
                "SELECT ordinal FROM devices WHERE freed < acknowledged LIMIT ?1",
                [.integer(Self.pruneCount)])
            for device in devices {
                try connection.run(
                    """
                    DELETE FROM copies WHERE device = ?1 AND event IN (
                        SELECT number FROM memberships
                        JOIN events ON events.account = memberships.account
                        JOIN devices ON devices.ordinal = memberships.device
                        WHERE memberships.device = ?1
                        AND number > devices.freed AND number <= devices.acknowledged)
                    """, .integer(device))
                try connection.run(
                    "UPDATE devices SET freed = acknowledged WHERE ordinal = ?1", .integer(device))
            }
            return !devices.isEmpty
        }
    }
}

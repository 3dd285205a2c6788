extension SQLiteStore {
    package func add(_ invite: Invite) throws(StoreError) {
        try writer.write { (connection) throws(StoreError) in
            try connection.run(
                "INSERT INTO invites (digest, accounts, expires) VALUES (?1, ?2, ?3)",
                .bytes(invite.digest), .text(invite.accounts.joined(separator: ",")),
                .integer(invite.expiresAt))
        }
    }

    package func redeem(
        inviteDigest: [UInt8], id: String, tokenDigest: [UInt8], publicKey: [UInt8], now: Int64
    ) throws(StoreError) -> Device? {
        try writer.write { (connection) throws(StoreError) in
            var accounts: [String]?
            try connection.query(
                "SELECT accounts FROM invites WHERE digest = ?1 AND expires > ?2",
                [.bytes(inviteDigest), .integer(now)]
            ) { (row) throws(StoreError) in
                accounts = row.text(0).split(separator: ",").map(String.init)
            }
            guard let accounts else { return nil }
            try connection.run("DELETE FROM invites WHERE digest = ?1", .bytes(inviteDigest))
            let newest = try Self.newest(connection)
            try connection.run(
                """
                INSERT INTO devices (name, token, key, joined, start, acknowledged, freed)
                VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?5)
                """, .text(id), .bytes(tokenDigest), .bytes(publicKey), .integer(now),
                .integer(newest))
            let device = connection.lastRow
            for account in accounts {
                let ordinal = try Self.ordinal(ofAccount: account, connection)
                try connection.run(
                    "INSERT OR IGNORE INTO memberships (account, device) VALUES (?1, ?2)",
                    .integer(ordinal), .integer(device))
            }
            return Device(
                id: id, tokenDigest: tokenDigest, publicKey: publicKey, accounts: accounts,
                joinedAt: now, start: newest, acknowledged: newest)
        }
    }

    package func device(id: String) throws(StoreError) -> Device? {
        try read { (connection) throws(StoreError) in
            try Self.devices(
                connection, "SELECT \(Self.deviceColumns) FROM devices WHERE name = ?1", [.text(id)]
            ).first
        }
    }

    package func devices() throws(StoreError) -> [Device] {
        try read { (connection) throws(StoreError) in
            try Self.devices(
                connection, "SELECT \(Self.deviceColumns) FROM devices ORDER BY ordinal", [])
        }
    }

    package func removeDevice(id: String) throws(StoreError) -> Bool {
        try writer.write { (connection) throws(StoreError) in
            let ordinal = try connection.number(
                "SELECT ordinal FROM devices WHERE name = ?1", .text(id))
            guard let ordinal else { return false }
            try connection.run(
                """
                DELETE FROM copies WHERE device = ?1 AND event IN (
                    SELECT number FROM memberships
                    JOIN events ON events.account = memberships.account
                    WHERE memberships.device = ?1 AND number > (
                        SELECT freed FROM devices WHERE ordinal = ?1))
                """, .integer(ordinal))
            try connection.run("DELETE FROM memberships WHERE device = ?1", .integer(ordinal))
            try connection.run("DELETE FROM devices WHERE ordinal = ?1", .integer(ordinal))
            try connection.run(
                "INSERT INTO removals (device) VALUES (?1)", .text(id))
            return true
        }
    }

    package func acknowledge(_ numbers: [String: Int64]) throws(StoreError) {
        guard !numbers.isEmpty else { return }
        try writer.write { (connection) throws(StoreError) in
            for (id, number) in numbers {
                try connection.run(
                    """
                    UPDATE devices SET acknowledged = ?2,
                        missed = CASE WHEN missed_through <= ?2 THEN 0 ELSE missed END
                    WHERE name = ?1 AND acknowledged < ?2
                    """, .text(id), .integer(number))
            }
        }
    }

    private static let deviceColumns = "name, token, key, joined, start, acknowledged, ordinal"

    private static func devices(
        _ connection: SQLiteConnection, _ text: String, _ values: [SQLiteValue]
    ) throws(StoreError) -> [Device] {
        var devices: [Device] = []
        try connection.query(text, values) { (row) throws(StoreError) in
            var accounts: [String] = []
            try connection.query(
                """
                SELECT accounts.name FROM memberships
                JOIN accounts ON accounts.ordinal = memberships.account
                WHERE memberships.device = ?1 ORDER BY accounts.name
                """, [.integer(row.integer(6))]
            ) { (row) throws(StoreError) in accounts.append(row.text(0)) }
            devices.append(
                Device(
                    id: row.text(0), tokenDigest: row.bytes(1), publicKey: row.bytes(2),
                    accounts: accounts, joinedAt: row.integer(3), start: row.integer(4),
                    acknowledged: row.integer(5)))
        }
        return devices
    }
}

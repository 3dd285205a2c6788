/// The tables of a database, and the settings of each connection.
///
/// Names of accounts and devices, numbers and times are in the clear, because they are needed for
/// delivery. Tokens, invites and event ids are digests; copies are sealed.
enum SQLiteSchema {
    /// "ZGPO", to recognize our databases.
    static let applicationID: Int64 = 0x5A47_504F
    static let version: Int64 = 1

    /// Configures a new connection.
    static func configure(_ connection: SQLiteConnection) throws(StoreError) {
        // The journal mode is stored in the file; the others belong to the connection.
        try connection.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            PRAGMA trusted_schema = OFF;
            PRAGMA temp_store = MEMORY;
            PRAGMA wal_autocheckpoint = 2000;
            PRAGMA journal_size_limit = 67108864;
            """)
    }

    /// Creates missing tables, and refuses other databases.
    static func prepare(_ connection: SQLiteConnection) throws(StoreError) {
        if try isPrepared(connection) { return }
        // A second process waits here and then finds the tables.
        try connection.execute("BEGIN IMMEDIATE")
        do throws(StoreError) {
            if try !isPrepared(connection) { try connection.execute(tables) }
            try connection.execute("COMMIT")
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            throw error
        }
    }

    private static func isPrepared(_ connection: SQLiteConnection) throws(StoreError) -> Bool {
        let version = try connection.number("PRAGMA user_version") ?? 0
        let application = try connection.number("PRAGMA application_id") ?? 0
        let tables = try connection.number("SELECT count(*) FROM sqlite_schema") ?? 0
        if version == 0, application == 0, tables == 0 { return false }
        guard application == applicationID, version > 0 else {
            throw StoreError(.damaged, "The file is an SQLite database, but not a relay database.")
        }
        guard version <= self.version else {
            throw StoreError(
                .newerFormat, "The database was written by a newer version of zg-env-postal.")
        }
        return true
    }

    private static let tables = """
        CREATE TABLE accounts (
            ordinal INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            freed INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE devices (
            ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL UNIQUE,
            token BLOB NOT NULL,
            key BLOB NOT NULL,
            joined INTEGER NOT NULL,
            start INTEGER NOT NULL,
            acknowledged INTEGER NOT NULL,
            freed INTEGER NOT NULL,
            missed INTEGER NOT NULL DEFAULT 0,
            missed_through INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE memberships (
            account INTEGER NOT NULL,
            device INTEGER NOT NULL,
            PRIMARY KEY (account, device)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX memberships_of_device ON memberships (device);
        CREATE TABLE invites (
            digest BLOB NOT NULL PRIMARY KEY,
            accounts TEXT NOT NULL,
            expires INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE events (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            digest BLOB NOT NULL UNIQUE,
            account INTEGER NOT NULL,
            accepted INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX events_of_account ON events (account, number);
        CREATE INDEX events_by_time ON events (accepted);
        CREATE TABLE copies (
            event INTEGER NOT NULL,
            device INTEGER NOT NULL,
            sealed BLOB NOT NULL,
            PRIMARY KEY (event, device)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE removals (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            device TEXT NOT NULL
        ) STRICT;
        CREATE TABLE checks (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            count INTEGER NOT NULL
        ) STRICT;
        INSERT INTO checks VALUES (1, 0);
        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """
}

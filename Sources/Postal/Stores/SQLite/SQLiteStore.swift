internal import SystemFiles
internal import Threads

/// A store in one SQLite file, for one relay and the management commands.
package final class SQLiteStore: PostalStore {
    let path: String
    let limits: StoreLimits
    let writer: SQLiteWriter
    let watcher: SQLiteWatcher
    private let readers: Monitor<Readers>
    private let lock: Monitor<FileLock?>

    private struct Readers {
        var idle: [SQLiteConnection] = []
        var isClosed = false
    }

    /// - Parameters:
    ///   - createsFile: Whether to create a missing file.
    ///   - servesAlone: Whether to lock the database for this relay; fails if another relay has the
    ///     lock.
    package init(
        path: String, createsFile: Bool, servesAlone: Bool, limits: StoreLimits
    ) throws(StoreError) {
        self.path = path
        self.limits = limits
        try SQLiteFile.prepare(path, creates: createsFile)
        lock = Monitor(servesAlone ? try SQLiteFile.lockForRelay(at: path) : nil)
        let connection = try Self.connection(path)
        try SQLiteSchema.prepare(connection)
        let watched = try Self.connection(path)
        readers = Monitor(Readers())
        watcher = try SQLiteWatcher(watched)
        writer = try SQLiteWriter(connection)
    }

    package func close() {
        watcher.close()
        writer.close()
        readers.change { readers in
            readers.isClosed = true
            readers.idle = []
        }
        lock.change { $0 = nil }
    }

    package func observe(_ observer: @escaping @Sendable (StoreChange) -> Void) {
        watcher.observe(observer)
    }

    /// Does nothing, since there is only one relay.
    package func announceStream(of device: String, at relay: String) {}

    package func check() throws(StoreError) {
        try writer.write { (connection) throws(StoreError) in
            try connection.run("UPDATE checks SET count = count + 1")
        }
    }

    package func status() throws(StoreError) -> StoreStatus {
        try read { (connection) throws(StoreError) in
            StoreStatus(
                devices: Int(try connection.number("SELECT count(*) FROM devices") ?? 0),
                invites: Int(try connection.number("SELECT count(*) FROM invites") ?? 0),
                events: Int(try connection.number("SELECT count(*) FROM events") ?? 0),
                newest: try Self.newest(connection), byteCount: SQLiteFile.byteCount(path))
        }
    }

    /// Lends a connection for reading, within one snapshot of the database.
    func read<R>(
        _ body: (SQLiteConnection) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        let idle = readers.look { $0.idle.popLast() }
        let connection: SQLiteConnection
        if let idle { connection = idle } else { connection = try Self.connection(path) }
        defer {
            readers.look { readers in
                if !readers.isClosed, !connection.isInTransaction {
                    readers.idle.append(connection)
                }
            }
        }
        try connection.execute("BEGIN")
        do throws(StoreError) {
            let result = try body(connection)
            try connection.execute("COMMIT")
            return result
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    /// The newest number ever used.
    static func newest(_ connection: SQLiteConnection) throws(StoreError) -> Int64 {
        try connection.number("SELECT seq FROM sqlite_sequence WHERE name = 'events'") ?? 0
    }

    private static func connection(_ path: String) throws(StoreError) -> SQLiteConnection {
        let connection = try SQLiteConnection(path: path)
        try SQLiteSchema.configure(connection)
        // Not `query_only`: the first reader after a crash must recover the log.
        return connection
    }
}

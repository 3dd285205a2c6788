internal import CSQLite

/// A bound value of a statement.
enum SQLiteValue {
    case integer(Int64)
    case bytes([UInt8])
    case text(String)
}

/// A database connection, for one thread at a time.
@safe
final class SQLiteConnection: @unchecked Sendable {
    private var database: OpaquePointer?
    private var statements: [String: Statement] = [:]

    @safe private struct Statement {
        let pointer: OpaquePointer
    }

    /// Opens an existing file.
    ///
    /// - Parameter busyMilliseconds: How long to wait for locks of other processes.
    init(path: String, busyMilliseconds: Int32 = 10_000) throws(StoreError) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let status = unsafe sqlite3_open_v2(path, &database, flags, nil)
        guard status == SQLITE_OK else {
            unsafe sqlite3_close_v2(database)
            unsafe database = nil
            throw Self.error(status)
        }
        unsafe sqlite3_busy_timeout(database, busyMilliseconds)
        if let database = unsafe database { _ = unsafe zg_sqlite_set_defensive(database) }
    }

    deinit {
        for statement in statements.values { unsafe sqlite3_finalize(statement.pointer) }
        unsafe sqlite3_close_v2(database)
    }

    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(database) == 0 }

    var lastRow: Int64 { unsafe sqlite3_last_insert_rowid(database) }

    /// Executes several statements without values.
    func execute(_ text: String) throws(StoreError) {
        let status = unsafe sqlite3_exec(database, text, nil, nil, nil)
        guard status == SQLITE_OK else { throw Self.error(status) }
    }

    /// Executes one statement.
    func run(_ text: String, _ values: SQLiteValue...) throws(StoreError) {
        try query(text, values) { (_) throws(StoreError) in }
    }

    /// Returns the first column of the first row, or nil without rows.
    func number(_ text: String, _ values: SQLiteValue...) throws(StoreError) -> Int64? {
        try numbers(text, values).first
    }

    /// Returns the first column of all rows.
    func numbers(_ text: String, _ values: [SQLiteValue]) throws(StoreError) -> [Int64] {
        var numbers: [Int64] = []
        try query(text, values) { (row) throws(StoreError) in numbers.append(row.integer(0)) }
        return numbers
    }

    /// Executes a statement, prepared once, and calls `body` with each row.
    func query(
        _ text: String, _ values: [SQLiteValue], _ body: (SQLiteRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        let statement = unsafe try prepared(text).pointer
        defer {
            unsafe sqlite3_reset(statement)
            unsafe sqlite3_clear_bindings(statement)
        }
        for (offset, value) in values.enumerated() {
            let status = unsafe Self.bind(value, to: statement, at: Int32(offset + 1))
            guard status == SQLITE_OK else { throw Self.error(status) }
        }
        while true {
            switch unsafe sqlite3_step(statement) {
            case SQLITE_ROW: unsafe try body(SQLiteRow(statement: statement))
            case SQLITE_DONE: return
            case let status: throw Self.error(status)
            }
        }
    }

    private func prepared(_ text: String) throws(StoreError) -> Statement {
        if let statement = statements[text] { return statement }
        var pointer: OpaquePointer?
        let status = unsafe sqlite3_prepare_v3(
            database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard status == SQLITE_OK, let pointer = unsafe pointer else { throw Self.error(status) }
        let statement = unsafe Statement(pointer: pointer)
        statements[text] = statement
        return statement
    }

    private static func bind(
        _ value: SQLiteValue, to statement: OpaquePointer, at place: Int32
    ) -> Int32 {
        switch value {
        case .integer(let number): unsafe sqlite3_bind_int64(statement, place, number)
        case .bytes(let bytes):
            unsafe bytes.withUnsafeBytes {
                unsafe zg_sqlite_bind_bytes(statement, place, $0.baseAddress, Int32($0.count))
            }
        case .text(var text):
            text.withUTF8 { bytes -> Int32 in
                guard let start = bytes.baseAddress else {
                    return unsafe zg_sqlite_bind_text(statement, place, "", 0)
                }
                return unsafe zg_sqlite_bind_text(statement, place, start, Int32(bytes.count))
            }
        }
    }

    /// Maps a result code. SQLite's message may contain stored data, so it is not used.
    static func error(_ status: Int32) -> StoreError {
        let number = "SQLite result \(status)"
        return switch status & 0xFF {
        case SQLITE_FULL: StoreError(.unavailable, "No space left for the database.")
        case SQLITE_READONLY: StoreError(.unavailable, "Cannot write to the database.")
        case SQLITE_IOERR:
            StoreError(.unavailable, "Disk error while accessing the database (\(number)).")
        case SQLITE_BUSY, SQLITE_LOCKED:
            StoreError(.unavailable, "The database is locked by other processes.")
        case SQLITE_CANTOPEN: StoreError(.unavailable, "Cannot open the database.")
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            StoreError(.damaged, "The file is damaged or not a database.")
        default: StoreError(.unavailable, "The database failed (\(number)).")
        }
    }
}

/// The current row of a statement; valid until the next step.
@safe
struct SQLiteRow {
    private let statement: OpaquePointer

    init(statement: OpaquePointer) { unsafe self.statement = statement }

    func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(statement, column) }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(statement, column) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(statement, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
}

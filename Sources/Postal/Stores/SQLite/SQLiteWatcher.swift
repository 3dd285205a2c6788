internal import Threads

/// Reports changes of a database, also by other processes. Polls four times a second, which costs
/// one read of shared memory.
final class SQLiteWatcher: Sendable {
    private struct State {
        var observer: (@Sendable (StoreChange) -> Void)?
        /// Numbers that were already reported.
        var told: Set<Int64> = []
        var isEnding = false
    }

    private static let intervalMilliseconds: Int64 = 250

    private let state = Monitor(State())
    private let thread: WorkThread

    /// - Parameter connection: For the watcher alone.
    init(_ connection: SQLiteConnection) throws(StoreError) {
        let state = state
        let start = try Position(connection)
        let thread = WorkThread {
            var position = start
            while state.wait(milliseconds: Self.intervalMilliseconds, { $0.isEnding ? true : nil })
                == nil
            {
                // A failed read is retried at the next poll.
                let changes = (try? position.changes(on: connection, told: state)) ?? []
                guard !changes.isEmpty, let observer = state.look({ $0.observer }) else { continue }
                for change in changes { observer(change) }
            }
        }
        guard let thread else { throw StoreError(.unavailable, "Cannot start a thread.") }
        self.thread = thread
    }

    func observe(_ observer: @escaping @Sendable (StoreChange) -> Void) {
        state.look { $0.observer = observer }
    }

    /// Reports events that this process stored.
    func tell(kept numbers: [Int64], of accounts: Set<String>) {
        let observer = state.look { state in
            state.told.formUnion(numbers)
            return state.observer
        }
        observer?(.events(accounts: accounts))
    }

    func close() {
        state.change { $0.isEnding = true }
        thread.join()
    }

    /// The newest state that was reported.
    private struct Position: Sendable {
        var version: Int64
        var event: Int64
        var removal: Int64

        init(_ connection: SQLiteConnection) throws(StoreError) {
            version = try connection.number("PRAGMA data_version") ?? 0
            event = try SQLiteStore.newest(connection)
            removal = try connection.number("SELECT coalesce(max(sequence), 0) FROM removals") ?? 0
        }

        mutating func changes(
            on connection: SQLiteConnection, told: Monitor<State>
        ) throws(StoreError) -> [StoreChange] {
            let newVersion = try connection.number("PRAGMA data_version") ?? 0
            guard newVersion != version else { return [] }
            var accounts: Set<String> = []
            var removed: [String] = []
            var (lastEvent, lastRemoval) = (event, removal)
            let known = told.look { $0.told }
            try connection.query(
                """
                SELECT number, name FROM events JOIN accounts ON ordinal = account
                WHERE number > ?1 ORDER BY number
                """, [.integer(event)]
            ) { (row) throws(StoreError) in
                lastEvent = row.integer(0)
                if !known.contains(lastEvent) { accounts.insert(row.text(1)) }
            }
            try connection.query(
                "SELECT sequence, device FROM removals WHERE sequence > ?1 ORDER BY sequence",
                [.integer(removal)]
            ) { (row) throws(StoreError) in
                lastRemoval = row.integer(0)
                removed.append(row.text(1))
            }
            (version, event, removal) = (newVersion, lastEvent, lastRemoval)
            told.look { state in state.told = state.told.filter { $0 > lastEvent } }
            var changes: [StoreChange] = []
            if !accounts.isEmpty { changes.append(.events(accounts: accounts)) }
            if !removed.isEmpty { changes.append(.removed(devices: removed)) }
            return changes
        }
    }
}

internal import Threads

/// The only thread that writes; it commits all waiting changes in one transaction with one fsync.
final class SQLiteWriter: Sendable {
    private typealias Change = (SQLiteConnection) throws(StoreError) -> Void

    /// A waiting change and its result.
    private final class Job: @unchecked Sendable {
        let change: Change
        var result: Result<Void, StoreError>?

        init(_ change: @escaping Change) { self.change = change }
    }

    private struct State {
        var waiting: [Job] = []
        var isEnding = false
    }

    /// Most changes per transaction, so that none waits long for the others.
    private static let batchCount = 512

    private let state = Monitor(State())
    private let thread: WorkThread

    /// - Parameter connection: For the writer alone.
    init(_ connection: SQLiteConnection) throws(StoreError) {
        let state = state
        let thread = WorkThread {
            while let jobs = state.wait({ state -> [Job]?? in
                if state.waiting.isEmpty { return state.isEnding ? .some(nil) : nil }
                let jobs = Array(state.waiting.prefix(Self.batchCount))
                state.waiting.removeFirst(jobs.count)
                return jobs
            }) ?? nil {
                let results = Self.commit(jobs, on: connection)
                state.change { _ in
                    for (job, result) in zip(jobs, results) { job.result = result }
                }
            }
        }
        guard let thread else { throw StoreError(.unavailable, "Cannot start a thread.") }
        self.thread = thread
    }

    /// Runs a change in a transaction, and returns when it is durable.
    func write<R>(
        _ change: @escaping (SQLiteConnection) throws(StoreError) -> R
    ) throws(StoreError) -> R {
        var value: R?
        // The caller waits for the writer's thread, so only one of them accesses `value`.
        let job = Job { (connection) throws(StoreError) in value = try change(connection) }
        let isTaken = state.change { state in
            if !state.isEnding { state.waiting.append(job) }
            return !state.isEnding
        }
        guard isTaken else { throw StoreError(.unavailable, "The store is closed.") }
        let result = state.wait { _ in job.result }
        try result?.get()
        guard let value else { throw StoreError(.unavailable, "The store is closed.") }
        return value
    }

    /// Finishes the waiting changes and ends the thread.
    func close() {
        state.change { $0.isEnding = true }
        thread.join()
    }

    /// Runs all changes in one transaction. A failed change is rolled back alone; if the
    /// transaction fails, all fail.
    private static func commit(
        _ jobs: [Job], on connection: SQLiteConnection
    ) -> [Result<Void, StoreError>] {
        var results: [Result<Void, StoreError>] = []
        do throws(StoreError) {
            try connection.execute("BEGIN IMMEDIATE")
            for job in jobs {
                try connection.execute("SAVEPOINT one")
                do throws(StoreError) {
                    try job.change(connection)
                    results.append(.success(()))
                } catch {
                    // A full disk may already have ended the transaction.
                    guard connection.isInTransaction else { throw error }
                    try connection.execute("ROLLBACK TO one")
                    results.append(.failure(error))
                }
                try connection.execute("RELEASE one")
            }
            try connection.execute("COMMIT")
            return results
        } catch {
            if connection.isInTransaction { try? connection.execute("ROLLBACK") }
            return jobs.map { _ in .failure(error) }
        }
    }
}

internal import CLinux
internal import CommandLineKit
internal import Glibc
internal import Vault

/// Runs work on several threads under one global lock, since they share state that is not thread-safe,
/// such as the vault of a command. A thread releases the lock while it waits for the network, a program
/// or a clock, so that only the waiting overlaps.
///
/// Vault changes of several threads at about the same time become one write.
@safe
final class GlobalLock {
    /// How long a write waits for writes of other threads.
    private static let gatheringMilliseconds = 25
    /// How long a signal waits for a thread that holds the lock.
    private static let patience = Duration.seconds(2)

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// The number of threads that have not ended.
    private var workers = 0
    private var writes: [Write] = []

    /// Whether several threads are running.
    private(set) var isActive = false

    init() {
        // Unlocking a mutex that the thread does not hold fails then, which `away` relies on.
        var attributes = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&attributes)
        unsafe pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
        unsafe pthread_mutex_init(mutex, &attributes)
        unsafe pthread_mutexattr_destroy(&attributes)
        unsafe pthread_cond_init(changed, nil)
    }

    deinit {
        unsafe pthread_cond_destroy(changed)
        unsafe pthread_mutex_destroy(mutex)
        unsafe changed.deallocate()
        unsafe mutex.deallocate()
    }

    /// Calls `work` with each number below `count`, at most `limit` at a time, and returns when all calls
    /// have ended.
    ///
    /// - Parameter work: Returns false to prevent further calls. Escaping, although it does not outlive
    ///   the call: `withoutActuallyEscaping` would put the length of this file's path into the program,
    ///   which must be the same from every directory.
    func run(_ count: Int, limit: Int, _ work: @escaping (Int) -> Bool) {
        guard count > 1, limit > 1, !isActive, runThreads(count, limit, work) else {
            for place in 0..<count {
                guard work(place) else { return }
            }
            return
        }
    }

    /// Releases the lock for `body`, which must not use shared state, except in ``back(_:)``.
    func away<R, Failure: Error>(_ body: () throws(Failure) -> R) throws(Failure) -> R {
        // Unlocking fails if the thread has released the lock already.
        guard isActive, unsafe pthread_mutex_unlock(mutex) == 0 else { return try body() }
        defer { unsafe pthread_mutex_lock(mutex) }
        return try body()
    }

    /// Takes the lock for a part of a body of ``away(_:)`` that uses shared state.
    func back<R>(_ body: () -> R) -> R {
        // Locking fails if the thread holds the lock.
        guard isActive, unsafe pthread_mutex_lock(mutex) == 0 else { return body() }
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body()
    }

    /// Ends the process if a signal is pending and the lock cannot be taken: its holder may hang, as in a
    /// call to a keyring. For a thread that has released the lock.
    func endIfStuck() {
        let end = ContinuousClock.now + Self.patience
        while Interrupts.pending != nil {
            if unsafe pthread_mutex_trylock(mutex) == 0 {
                unsafe pthread_mutex_unlock(mutex)
                return
            }
            if ContinuousClock.now >= end { return Interrupts.endIfPending() }
            usleep(10_000)
        }
    }

    /// Releases the lock until another thread calls ``notify()`` or writes, or until the time is over.
    func pause(atMost time: Duration) {
        guard isActive else { return }
        var end = Self.time(after: time)
        unsafe pthread_cond_timedwait(changed, mutex, &end)
    }

    /// Ends every ``pause(atMost:)``.
    func notify() { unsafe pthread_cond_broadcast(changed) }

    /// Returns the end of a span by the clock of condition variables.
    private static func time(after span: Duration) -> timespec {
        var end = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &end)
        let (seconds, attoseconds) = span.components
        end.tv_sec += Int(min(max(seconds, 0), 3_600))
        end.tv_nsec += Int(max(attoseconds, 0) / 1_000_000_000)
        if end.tv_nsec >= 1_000_000_000 {
            (end.tv_sec, end.tv_nsec) = (end.tv_sec + 1, end.tv_nsec - 1_000_000_000)
        }
        return end
    }

    // MARK: Threads

    /// The state shared by the threads of one ``run(_:limit:_:)``.
    private final class Round {
        let turns: GlobalLock
        let count: Int
        var work: ((Int) -> Bool)?
        var next = 0
        var mayBegin = true

        init(_ turns: GlobalLock, _ count: Int, _ work: @escaping (Int) -> Bool) {
            (self.turns, self.count, self.work) = (turns, count, work)
        }

        func go() {
            turns.take()
            while mayBegin, next < count, let work {
                let place = next
                next += 1
                if !work(place) { mayBegin = false }
            }
            turns.end()
        }
    }

    /// - Returns: False if no thread could be created; then nothing was done.
    private func runThreads(_ count: Int, _ limit: Int, _ work: @escaping (Int) -> Bool) -> Bool {
        let round = Round(self, count, work)
        defer { round.work = nil }
        var threads: [pthread_t] = []
        take()
        isActive = true
        for _ in 0..<min(count, limit) {
            let context = unsafe Unmanaged.passRetained(round).toOpaque()
            var thread = pthread_t()
            let status = unsafe pthread_create(
                &thread, nil,
                { context in
                    guard let context = unsafe context else { return nil }
                    unsafe Unmanaged<Round>.fromOpaque(context).takeRetainedValue().go()
                    return nil
                }, context)
            guard status == 0 else {
                unsafe Unmanaged<Round>.fromOpaque(context).release()
                break
            }
            threads.append(thread)
        }
        workers = threads.count
        unsafe pthread_mutex_unlock(mutex)
        for thread in threads { pthread_join(thread, nil) }
        isActive = false
        return !threads.isEmpty
    }

    private func take() {
        unsafe pthread_mutex_lock(mutex)
    }

    private func end() {
        workers -= 1
        // Writes may be waiting for this thread.
        unsafe pthread_cond_broadcast(changed)
        unsafe pthread_mutex_unlock(mutex)
    }

    // MARK: Writing

    /// Changes the vault, and adds what it reports to features.
    typealias Body = (inout VaultTransaction, inout News) throws -> Void

    private final class Write {
        let keys: VaultKeys
        var body: Body?
        var isDone = false
        var failure: (any Error)?

        init(_ keys: VaultKeys, _ body: @escaping Body) {
            (self.keys, self.body) = (keys, body)
        }
    }

    /// Changes the vault, together with the changes of other threads at about the same time.
    ///
    /// - Parameters:
    ///   - body: Changes only the index of the transaction, and reads no value that another body
    ///     stores. If it throws, other changes are kept.
    ///   - commit: Writes all changes at once.
    func write(
        _ keys: VaultKeys, _ body: @escaping Body,
        commit: (VaultKeys, Body) throws -> Void
    ) throws {
        let write = Write(keys, body)
        defer { write.body = nil }
        writes.append(write)
        var end = Self.time(after: .milliseconds(Self.gatheringMilliseconds))
        var isLate = false
        while !write.isDone {
            if isLate || writes.count >= workers {
                self.commit(commit)
            } else {
                isLate = unsafe pthread_cond_timedwait(changed, mutex, &end) != 0
            }
        }
        if let failure = write.failure { throw failure }
    }

    private func commit(_ commit: (VaultKeys, Body) throws -> Void) {
        let part = writes
        writes = []
        guard let first = part.first else { return }
        let keys = (part.first { $0.keys.opensValues } ?? first).keys
        do {
            try commit(keys) { transaction, news in
                for write in part {
                    let before = (transaction.index, news)
                    do {
                        try write.body?(&transaction, &news)
                    } catch {
                        (transaction.index, news) = before
                        write.failure = error
                    }
                }
            }
        } catch {
            for write in part where write.failure == nil { write.failure = error }
        }
        for write in part { write.isDone = true }
        unsafe pthread_cond_broadcast(changed)
    }
}

internal import Glibc

/// A value guarded by a mutex, with a condition variable.
///
/// The standard library's `Mutex` has no condition variable, and reports no synchronization to
/// ThreadSanitizer because that library is built without it.
@safe
package final class Monitor<State: ~Copyable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    package init(_ state: consuming State) {
        self.state = state
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe mutex.initialize(to: pthread_mutex_t())
        unsafe condition.initialize(to: pthread_cond_t())
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    /// Calls `body` with exclusive access, then wakes all waiting threads.
    package func change<R: ~Copyable, E>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer {
            unsafe pthread_cond_broadcast(condition)
            unsafe pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Calls `body` with exclusive access, without waking waiting threads.
    package func look<R: ~Copyable, E>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return try body(&state)
    }

    /// Calls `body` now and after every change until it returns a value.
    ///
    /// - Parameter milliseconds: The timeout; nil for none.
    /// - Returns: The value, or nil after the timeout.
    package func wait<R>(milliseconds: Int64? = nil, _ body: (inout State) -> R?) -> R? {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        var end = timespec()
        if let milliseconds {
            unsafe clock_gettime(CLOCK_MONOTONIC, &end)
            let nanoseconds = Int64(end.tv_nsec) + milliseconds % 1_000 * 1_000_000
            end.tv_sec += Int(milliseconds / 1_000 + nanoseconds / 1_000_000_000)
            end.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
        while true {
            if let result = body(&state) { return result }
            if milliseconds == nil {
                unsafe pthread_cond_wait(condition, mutex)
            } else if unsafe pthread_cond_timedwait(condition, mutex, &end) == ETIMEDOUT {
                return body(&state)
            }
        }
    }
}

internal import CLinux
internal import CSodium
internal import Synchronization

/// Counts what this process took of guarded memory, and how much of it the kernel refused to lock.
///
/// `sodium_malloc` hides a failing `mlock`, so every allocation asks again and keeps the answer here.
package enum SecretMemory {
    private static let allocations = Atomic<Int>(0)
    private static let unlocked = Atomic<Int>(0)

    /// How many guarded allocations were made since the process started. Each costs four mappings.
    package static var allocationCount: Int { allocations.load(ordering: .relaxed) }

    /// How many of them could not be kept out of swap (RLIMIT_MEMLOCK).
    package static var unlockedCount: Int { unlocked.load(ordering: .relaxed) }

    /// libsodium, initialised once. False where it cannot be: nothing may be sealed then.
    static let isAvailable: Bool = sodium_init() >= 0

    /// - Parameter survivesFork: Whether a forked process gets the bytes too, rather than zeros. The
    ///   locks on memory do not go along.
    static func allocate(
        _ count: Int, survivesFork: Bool = false
    ) throws(SealingError) -> UnsafeMutableRawPointer {
        guard isAvailable else { throw .libraryUnavailable }
        guard count >= 0, let base = unsafe sodium_malloc(max(count, 1)) else { throw .outOfMemory }
        allocations.add(1, ordering: .relaxed)
        if unsafe sodium_mlock(base, max(count, 1)) != 0 { unlocked.add(1, ordering: .relaxed) }
        unsafe sodium_memzero(base, max(count, 1))
        if !survivesFork { _ = unsafe zg_wipe_on_fork(base, max(count, 1)) }
        return unsafe base
    }

    static func free(_ base: UnsafeMutableRawPointer) {
        unsafe sodium_free(base)
    }
}

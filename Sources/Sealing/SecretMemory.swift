internal import CLinux
internal import CSodium
internal import Synchronization
internal import Threads

/// Counts what this process took of guarded memory, and how much of it the kernel refused to lock.
///
/// `sodium_malloc` hides a failing `mlock`, so every allocation asks again and keeps the answer here.
///
/// Regions as small as keys are not given back to the kernel but kept, wiped and closed to every
/// access, for the next key of that size: a command that tries many secrets makes and drops many.
package enum SecretMemory {
    private static let allocations = Atomic<Int>(0)
    private static let unlocked = Atomic<Int>(0)
    /// Addresses of regions that are kept, by size.
    private static let kept = Monitor<[Int: [UInt]]>([:])
    private static let keptByteCount = 64
    private static let keptLimit = 16

    /// How many guarded allocations were made since the process started. Each costs four mappings.
    package static var allocationCount: Int { allocations.load(ordering: .relaxed) }

    /// How many of them could not be kept out of swap (RLIMIT_MEMLOCK).
    package static var unlockedCount: Int { unlocked.load(ordering: .relaxed) }

    /// libsodium, initialised once. False where it cannot be: nothing may be sealed then.
    static let isAvailable: Bool = sodium_init() >= 0

    /// - Parameters:
    ///   - survivesFork: Whether a forked process gets the bytes too, rather than zeros. The locks on
    ///     memory do not go along.
    ///   - zeroed: Whether the bytes must be zero. They are something else where nobody looks at them
    ///     before they are written.
    static func allocate(
        _ count: Int, survivesFork: Bool = false, zeroed: Bool = true
    ) throws(SealingError) -> UnsafeMutableRawPointer {
        guard isAvailable else { throw .libraryUnavailable }
        if let base = unsafe takeKept(count) { return unsafe base }
        guard count >= 0, let base = unsafe sodium_malloc(max(count, 1)) else { throw .outOfMemory }
        allocations.add(1, ordering: .relaxed)
        if unsafe zg_lock_again(base, max(count, 1)) != 0 { unlocked.add(1, ordering: .relaxed) }
        if zeroed { unsafe sodium_memzero(base, max(count, 1)) }
        if !survivesFork { _ = unsafe zg_wipe_on_fork(base, max(count, 1)) }
        return unsafe base
    }

    /// - Parameter count: What was asked for when it was allocated.
    static func free(_ base: UnsafeMutableRawPointer, count: Int) {
        if unsafe !keep(base, count) { unsafe sodium_free(base) }
    }

    private static func keep(_ base: UnsafeMutableRawPointer, _ count: Int) -> Bool {
        guard count > 0, count <= keptByteCount else { return false }
        unsafe sodium_memzero(base, count)
        let address = UInt(bitPattern: base)
        return kept.look { kept in
            guard kept[count, default: []].count < keptLimit,
                unsafe sodium_mprotect_noaccess(base) == 0
            else { return false }
            kept[count, default: []].append(address)
            return true
        }
    }

    private static func takeKept(_ count: Int) -> UnsafeMutableRawPointer? {
        guard count > 0, count <= keptByteCount else { return nil }
        guard let address = kept.look({ $0[count]?.popLast() }),
            let base = unsafe UnsafeMutableRawPointer(bitPattern: address)
        else { return nil }
        // One that cannot be opened again stays closed, and another one is taken.
        return unsafe sodium_mprotect_readwrite(base) == 0 ? base : nil
    }
}

internal import CLinux
internal import CSodium
internal import Synchronization
internal import Threads

/// Allocates guarded memory, and counts allocations that the kernel refused to lock.
///
/// `sodium_malloc` hides a failed `mlock`, so every allocation locks again and records the result.
///
/// Small freed regions are cached, wiped and inaccessible, for the next key of that size: a command
/// that tries many secrets allocates and frees many.
package enum SecretMemory {
    private static let allocations = Atomic<Int>(0)
    private static let unlocked = Atomic<Int>(0)
    /// The addresses of cached regions, by size.
    private static let kept = Monitor<[Int: [UInt]]>([:])
    private static let keptByteCount = 64
    private static let keptLimit = 16

    /// The number of guarded allocations since the process started. Each takes four mappings.
    package static var allocationCount: Int { allocations.load(ordering: .relaxed) }

    /// The number of those that may be swapped out (RLIMIT_MEMLOCK).
    package static var unlockedCount: Int { unlocked.load(ordering: .relaxed) }

    /// Initializes libsodium once. False on failure, in which case nothing may be sealed.
    static let isAvailable: Bool = sodium_init() >= 0

    /// - Parameters:
    ///   - survivesFork: Whether a forked process gets the bytes instead of zeros. Memory locks are
    ///     not inherited.
    ///   - zeroed: Whether the bytes must be zero. Otherwise they are undefined until written.
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

    /// - Parameter count: The size of the allocation.
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
        // If a region cannot be made accessible again, leave it and allocate another.
        return unsafe sodium_mprotect_readwrite(base) == 0 ? base : nil
    }
}

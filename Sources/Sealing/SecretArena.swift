/// Guarded memory for the many secrets of one operation: few large regions, handed out in order,
/// wiped as a whole when the arena goes.
///
/// A guarded region of its own costs four mappings, so 2,000 values in 2,000 regions would take
/// 80 ms and 65,000 mappings are the kernel's limit. Regions double, so an arena of any size needs
/// fewer than 32. Not for use from several threads at once.
@safe
@usableFromInline
package final class SecretArena {
    @safe
    private struct Region {
        let base: UnsafeMutableRawPointer
        let capacity: Int
    }

    private var regions: [Region] = []
    /// Of the last region, apart from it: every value of thousands looks at them.
    private var (lastCapacity, lastUsed) = (0, 0)
    private var lastBase: UnsafeMutableRawPointer?
    private let firstRegionByteCount: Int
    /// What the next region holds at least; 0 where nobody said.
    private var expectedByteCount = 0
    private let survivesFork: Bool
    private let zeroed: Bool

    /// Makes an empty arena. Memory is taken with the first allocation.
    ///
    /// - Parameters:
    ///   - firstRegionByteCount: Size of the first region; each further one is twice as large.
    ///   - survivesFork: Whether a forked process gets the bytes too, for what it is to be given. It
    ///     must wipe them.
    ///   - zeroed: Whether what it hands out is zero. False for much that is written whole before
    ///     anybody reads it.
    package init(
        firstRegionByteCount: Int = 64 << 10, survivesFork: Bool = false, zeroed: Bool = true
    ) {
        self.firstRegionByteCount = max(firstRegionByteCount, 4096)
        self.survivesFork = survivesFork
        self.zeroed = zeroed
    }

    deinit {
        for region in regions { unsafe SecretMemory.free(region.base, count: region.capacity) }
    }

    /// Says how many bytes are about to be taken, so that one region of that size holds them: regions that
    /// double leave up to half of their pages unused, and each is touched when it is made.
    package func reserve(_ byteCount: Int) {
        guard byteCount > lastCapacity - lastUsed else { return }
        expectedByteCount = byteCount
    }

    /// Takes `count` bytes: zeros, unless the arena was made for what is written whole.
    package func allocate(count: Int) throws(SealingError) -> SecretSlice {
        guard count >= 0 else { throw .outOfMemory }
        if let lastBase = unsafe lastBase, lastCapacity - lastUsed >= count {
            defer { lastUsed += count }
            return unsafe SecretSlice(arena: self, start: lastBase + lastUsed, count: count)
        }
        let doubled = (regions.last?.capacity).map { $0.multipliedReportingOverflow(by: 2) }
        let grown = doubled.map { $0.overflow ? Int.max : $0.partialValue } ?? firstRegionByteCount
        let wanted = expectedByteCount > 0 ? expectedByteCount : grown
        expectedByteCount = 0
        let capacity = max(count, min(wanted, 64 << 20))
        let base = unsafe try SecretMemory.allocate(
            capacity, survivesFork: survivesFork, zeroed: zeroed)
        unsafe regions.append(Region(base: base, capacity: capacity))
        unsafe lastBase = base
        (lastCapacity, lastUsed) = (capacity, count)
        return unsafe SecretSlice(arena: self, start: base, count: count)
    }

    /// Copies bytes that are elsewhere. The caller still owns, and wipes, the original.
    package func copy(_ bytes: RawSpan) throws(SealingError) -> SecretSlice {
        let slice = try allocate(count: bytes.byteCount)
        slice.withMutableBytes { $0.copy(from: bytes) }
        return slice
    }
}

/// A stretch of a ``SecretArena``, which it keeps alive. Copying it copies no bytes, and its
/// description shows none.
///
/// Public, and the lending inlinable, for speed alone: only then is it made for what other targets do
/// with the bytes, and it is done for each of thousands of values.
@safe
public struct SecretSlice: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    @usableFromInline let arena: SecretArena
    /// A region stays where it is as long as its arena.
    @usableFromInline let start: UnsafeMutableRawPointer
    /// Number of bytes.
    public let count: Int

    fileprivate init(arena: SecretArena, start: UnsafeMutableRawPointer, count: Int) {
        self.arena = arena
        unsafe self.start = unsafe start
        self.count = count
    }

    /// Lends the bytes to `body`. They must not outlive the call.
    @inlinable
    public func withBytes<R: ~Copyable, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try withExtendedLifetime(arena) { () throws(E) in
            try body(unsafe RawSpan(_unsafeStart: start, byteCount: count))
        }
    }

    /// Lends the bytes for writing.
    @inlinable
    public func withMutableBytes<R: ~Copyable, E>(
        _ body: (inout MutableRawSpan) throws(E) -> R
    ) throws(E) -> R {
        try withExtendedLifetime(arena) { () throws(E) in
            var span = unsafe MutableRawSpan(_unsafeStart: start, byteCount: count)
            return try body(&span)
        }
    }

    /// The part `range` of this slice, which must lie inside.
    public func part(_ range: Range<Int>) -> SecretSlice {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe SecretSlice(
            arena: arena, start: start + range.lowerBound, count: range.count)
    }

    /// Says that there is a secret, and nothing of it.
    public var description: String { "(secret)" }
    /// Says that there is a secret, and nothing of it.
    public var debugDescription: String { "(secret)" }
    /// Has no children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Guarded memory for the many secrets of one operation: a few large regions, allocated
/// sequentially and wiped when the arena is released.
///
/// A guarded region takes four mappings, so 2,000 values in 2,000 regions would take 80 ms, and the
/// kernel's limit is 65,000 mappings. Regions double in size, so an arena of any size needs fewer
/// than 32. Not thread-safe.
@safe
@usableFromInline
package final class SecretArena {
    @safe
    private struct Region {
        let base: UnsafeMutableRawPointer
        let capacity: Int
    }

    private var regions: [Region] = []
    /// Fields of the last region, kept separately because each of thousands of values reads them.
    private var (lastCapacity, lastUsed) = (0, 0)
    private var lastBase: UnsafeMutableRawPointer?
    private let firstRegionByteCount: Int
    /// The minimum size of the next region; 0 if unknown.
    private var expectedByteCount = 0
    private let survivesFork: Bool
    private let zeroed: Bool

    /// Creates an empty arena, which allocates memory on first use.
    ///
    /// - Parameters:
    ///   - firstRegionByteCount: The size of the first region; each one is twice as large as the
    ///     last.
    ///   - survivesFork: Whether a forked process gets the bytes too, in which case it must wipe
    ///     them.
    ///   - zeroed: Whether allocations are zeroed. False for large allocations that are completely
    ///     written before they are read.
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

    /// Announces how many bytes will be allocated, so that one region of that size holds them.
    /// Doubling would leave up to half of the pages unused, and all are touched on creation.
    package func reserve(_ byteCount: Int) {
        guard byteCount > lastCapacity - lastUsed else { return }
        expectedByteCount = byteCount
    }

    /// Allocates `count` bytes, zeroed unless the arena was created otherwise.
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

    /// Copies bytes. The caller still owns the original and must wipe it.
    package func copy(_ bytes: RawSpan) throws(SealingError) -> SecretSlice {
        let slice = try allocate(count: bytes.byteCount)
        slice.withMutableBytes { $0.copy(from: bytes) }
        return slice
    }
}

/// A part of a ``SecretArena``, which it keeps alive. Copies share the bytes, and descriptions do
/// not show them.
///
/// Public with inlinable accessors only for speed: clients specialize them, which matters for
/// thousands of values.
@safe
public struct SecretSlice: CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    @usableFromInline let arena: SecretArena
    /// A region does not move during the lifetime of its arena.
    @usableFromInline let start: UnsafeMutableRawPointer
    /// The number of bytes.
    public let count: Int

    fileprivate init(arena: SecretArena, start: UnsafeMutableRawPointer, count: Int) {
        self.arena = arena
        unsafe self.start = unsafe start
        self.count = count
    }

    /// Passes the bytes to `body`. They must not outlive the call.
    @inlinable
    public func withBytes<R: ~Copyable, E>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        try withExtendedLifetime(arena) { () throws(E) in
            try body(unsafe RawSpan(_unsafeStart: start, byteCount: count))
        }
    }

    /// Passes the mutable bytes to `body`.
    @inlinable
    public func withMutableBytes<R: ~Copyable, E>(
        _ body: (inout MutableRawSpan) throws(E) -> R
    ) throws(E) -> R {
        try withExtendedLifetime(arena) { () throws(E) in
            var span = unsafe MutableRawSpan(_unsafeStart: start, byteCount: count)
            return try body(&span)
        }
    }

    /// Returns the part `range` of this slice, which must be in bounds.
    public func part(_ range: Range<Int>) -> SecretSlice {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        return unsafe SecretSlice(
            arena: arena, start: start + range.lowerBound, count: range.count)
    }

    /// Compares in a time that depends only on the lengths.
    package func equals(_ other: SecretSlice) -> Bool {
        withBytes { mine in other.withBytes { mine.isEqualInConstantTime(to: $0) } }
    }

    /// A placeholder that reveals nothing about the secret.
    public var description: String { "(secret)" }
    /// A placeholder that reveals nothing about the secret.
    public var debugDescription: String { "(secret)" }
    /// An empty mirror, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

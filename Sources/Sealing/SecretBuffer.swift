/// Secret bytes of a length not known beforehand: text read from a descriptor, output being built.
///
/// Grows by doubling into new guarded memory; the old is wiped.
package struct SecretBuffer: ~Copyable {
    private var storage: SecretBytes
    /// Number of bytes written so far.
    package private(set) var count = 0

    /// Makes an empty buffer that holds `capacity` bytes before it grows.
    package init(capacity: Int = 4096) throws(SealingError) {
        storage = try SecretBytes(count: max(capacity, 256))
    }

    /// Appends a copy of `bytes`.
    package mutating func append(_ bytes: RawSpan) throws(SealingError) {
        try reserve(bytes.byteCount)
        let start = count
        storage.withMutableBytes { target in
            var tail = target._mutatingExtracting(droppingFirst: start)
            tail.copy(from: bytes)
        }
        count += bytes.byteCount
    }

    /// Appends one byte.
    package mutating func append(_ byte: UInt8) throws(SealingError) {
        try reserve(1)
        let start = count
        storage.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: start, as: UInt8.self) }
        count += 1
    }

    /// Lets `body` write up to `limit` bytes behind the last one, and keeps as many as it says.
    ///
    /// - Parameter body: Returns how many bytes it wrote; must not be more than `limit`.
    package mutating func appendWritten<E>(
        limit: Int, by body: (inout MutableRawSpan) throws(E) -> Int
    ) throws(E) -> Int where E: Error {
        let start = count
        let written = try storage.withMutableBytes { (target) throws(E) -> Int in
            var tail = target._mutatingExtracting(droppingFirst: start)
            var window = tail._mutatingExtracting(first: limit)
            return try body(&window)
        }
        precondition(written >= 0 && written <= limit)
        count += written
        return written
    }

    /// How many bytes can be appended before it grows.
    package var room: Int { storage.count - count }

    /// Makes room for `additional` bytes more.
    package mutating func reserve(_ additional: Int) throws(SealingError) {
        let (needed, overflow) = count.addingReportingOverflow(additional)
        guard !overflow else { throw .outOfMemory }
        guard needed > storage.count else { return }
        var larger = try SecretBytes(count: max(needed, storage.count * 2))
        let used = count
        storage.withBytes { old in
            larger.withMutableBytes { $0.copy(from: old.extracting(first: used)) }
        }
        storage = larger
    }

    /// Lends the bytes written so far to `body`.
    package borrowing func withBytes<R: ~Copyable, E>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        let used = count
        return try storage.withBytes { (all) throws(E) -> R in
            try body(all.extracting(first: used))
        }
    }

    /// Drops the last `number` bytes.
    package mutating func removeLast(_ number: Int) {
        precondition(number >= 0 && number <= count)
        let start = count - number
        storage.withMutableBytes { target in
            for offset in start..<(start + number) {
                target.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self)
            }
        }
        count = start
    }
}

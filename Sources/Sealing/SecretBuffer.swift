/// Secret bytes of unknown length: text read from a descriptor, or output under construction.
///
/// Grows by doubling into new guarded memory, and wipes the old.
package struct SecretBuffer: ~Copyable {
    private var storage: SecretBytes
    /// The number of bytes written so far.
    package private(set) var count = 0

    /// Creates an empty buffer with room for `capacity` bytes.
    package init(capacity: Int = 4096) throws(SealingError) {
        storage = try SecretBytes(count: max(capacity, 256))
    }

    package mutating func append(_ bytes: RawSpan) throws(SealingError) {
        try reserve(bytes.byteCount)
        let start = count
        storage.withMutableBytes { target in
            var tail = target._mutatingExtracting(droppingFirst: start)
            tail.copy(from: bytes)
        }
        count += bytes.byteCount
    }

    package mutating func append(_ bytes: [UInt8]) throws(SealingError) {
        try bytes.withBytes { (bytes) throws(SealingError) in try append(bytes) }
    }

    package mutating func append(_ secret: SecretSlice) throws(SealingError) {
        try secret.withBytes { (bytes) throws(SealingError) in try append(bytes) }
    }

    package mutating func append(_ other: borrowing SecretBuffer) throws(SealingError) {
        try other.withBytes { (bytes) throws(SealingError) in try append(bytes) }
    }

    package mutating func append(_ byte: UInt8) throws(SealingError) {
        try reserve(1)
        let start = count
        storage.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: start, as: UInt8.self) }
        count += 1
    }

    /// Appends up to `limit` bytes that `body` writes.
    ///
    /// - Parameter body: Returns the number of bytes written, at most `limit`.
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

    /// The number of bytes that can be appended without growing.
    package var room: Int { storage.count - count }

    /// Makes room for `additional` more bytes.
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

    /// Passes the bytes written so far to `body`.
    package borrowing func withBytes<R: ~Copyable, E>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        let used = count
        return try storage.withBytes { (all) throws(E) -> R in
            try body(all.extracting(first: used))
        }
    }

    /// Removes and wipes the last `number` bytes.
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

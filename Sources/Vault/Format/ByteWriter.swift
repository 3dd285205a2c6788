internal import Glibc

/// Writes the little-endian encoding that ``ByteReader`` reads.
///
/// Manages its own memory, because an index has a hundred thousand fields, and an array would check
/// its reference count for each.
@safe
package struct ByteWriter: ~Copyable {
    private var base: UnsafeMutableRawPointer
    private var capacity: Int
    /// The number of bytes written so far.
    package private(set) var count = 0

    /// Creates an empty writer.
    package init(reserving capacity: Int = 0) {
        self.capacity = max(capacity, 64)
        guard let base = unsafe malloc(self.capacity) else { fatalError("out of memory") }
        unsafe self.base = unsafe base
    }

    deinit { unsafe free(base) }

    /// A copy of the bytes written so far.
    package var bytes: [UInt8] {
        unsafe [UInt8](UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Passes the bytes written so far to `body`.
    package borrowing func withBytes<R: ~Copyable, E>(_ body: (RawSpan) throws(E) -> R) throws(E)
        -> R
    {
        let span = unsafe RawSpan(_unsafeStart: base, byteCount: count)
        return try body(span)
    }

    /// Removes the last `count` bytes.
    package mutating func removeLast(_ count: Int) {
        precondition(count >= 0 && count <= self.count)
        self.count -= count
    }

    /// Appends `additional` bytes and returns where they start.
    private mutating func next(_ additional: Int) -> UnsafeMutableRawPointer {
        let start = count
        count += additional
        if count > capacity { grow() }
        return unsafe base + start
    }

    private mutating func grow() {
        capacity = max(count, capacity * 2)
        guard let larger = unsafe realloc(base, capacity) else { fatalError("out of memory") }
        unsafe base = unsafe larger
    }

    private mutating func integer<T: FixedWidthInteger>(_ value: T) {
        unsafe next(MemoryLayout<T>.size).storeBytes(of: value.littleEndian, as: T.self)
    }

    /// Appends one byte.
    package mutating func byte(_ value: UInt8) { integer(value) }
    /// Appends 1 or 0.
    package mutating func flag(_ value: Bool) { integer(value ? 1 as UInt8 : 0) }
    /// Appends a `u16`.
    package mutating func uint16(_ value: UInt16) { integer(value) }
    /// Appends a `u32`.
    package mutating func uint32(_ value: UInt32) { integer(value) }
    /// Appends a `u64`.
    package mutating func uint64(_ value: UInt64) { integer(value) }

    /// Appends bytes without a length.
    package mutating func raw(_ value: [UInt8]) {
        unsafe value.withUnsafeBytes { unsafe copy($0) }
    }

    private mutating func copy(_ source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress, source.count > 0 else { return }
        unsafe next(source.count).copyMemory(from: start, byteCount: source.count)
    }

    /// Appends 16 bytes.
    package mutating func identifier(_ value: Identifier) {
        integer(value.parts.0.bigEndian.littleEndian)
        integer(value.parts.1.bigEndian.littleEndian)
    }

    /// Appends a string: u32 length and UTF-8.
    package mutating func text(_ value: String) {
        var value = value
        value.withUTF8 { text in
            uint32(UInt32(text.count))
            unsafe copy(UnsafeRawBufferPointer(text))
        }
    }

    /// Appends an optional string: one byte 0 or 1, then the string.
    package mutating func optionalText(_ value: String?) {
        flag(value != nil)
        if let value { text(value) }
    }

    /// Writes a section: u32 length, then what `body` writes.
    package mutating func section(_ body: (inout ByteWriter) -> Void) {
        let start = count
        uint32(0)
        body(&self)
        setLength(count - start - 4, at: start)
    }

    /// Replaces four bytes that were written before with a length.
    mutating func setLength(_ length: Int, at start: Int) {
        precondition(start >= 0 && start + 4 <= count)
        let length = UInt32(length)
        unsafe base.storeBytes(of: length.littleEndian, toByteOffset: start, as: UInt32.self)
    }
}

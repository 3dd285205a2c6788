internal import Sealing

/// Reads untrusted little-endian bytes sequentially, with bounds checks.
///
/// Borrows its buffer and must not outlive it.
@safe
package struct ByteReader {
    private let bytes: UnsafeRawBufferPointer
    package private(set) var offset: Int
    private let end: Int

    /// Passes a reader of `bytes` to `body`.
    package static func read<R: ~Copyable>(
        _ bytes: RawSpan, _ body: (inout ByteReader) throws(VaultError) -> R
    ) throws(VaultError) -> R {
        try unsafe bytes.withUnsafeBytes { (buffer) throws(VaultError) in
            var reader = unsafe ByteReader(buffer, 0..<buffer.count)
            return try body(&reader)
        }
    }

    private init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        unsafe self.bytes = unsafe bytes
        offset = range.lowerBound
        end = range.upperBound
    }

    /// The number of bytes that are left.
    package var remaining: Int { end - offset }

    private static var truncated: VaultError {
        VaultError(damaged: .bounds, "the vault ends in the middle of an entry")
    }

    /// Reads one byte.
    package mutating func byte() throws(VaultError) -> UInt8 {
        guard remaining >= 1 else { throw Self.truncated }
        defer { offset += 1 }
        return unsafe bytes[offset]
    }

    @inline(__always)
    private mutating func integer<T: FixedWidthInteger>(_: T.Type) throws(VaultError) -> T {
        guard remaining >= MemoryLayout<T>.size else { throw Self.truncated }
        defer { offset += MemoryLayout<T>.size }
        return unsafe T(
            littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: T.self))
    }

    // Inlined, because an index has a hundred thousand of them.
    /// Reads a `u16`.
    @inline(__always)
    package mutating func uint16() throws(VaultError) -> UInt16 { try integer(UInt16.self) }
    /// Reads a `u32`.
    @inline(__always)
    package mutating func uint32() throws(VaultError) -> UInt32 { try integer(UInt32.self) }
    /// Reads a `u64`.
    @inline(__always)
    package mutating func uint64() throws(VaultError) -> UInt64 { try integer(UInt64.self) }

    /// Reads a count, and checks it against the limit and the bytes left.
    package mutating func count(
        limit: Int, minimumByteCount: Int, of what: StaticString
    ) throws(VaultError) -> Int {
        let count = Int(try uint32())
        guard count <= limit, count * minimumByteCount <= remaining else {
            throw VaultError(damaged: .bounds, "the number of \(what) is out of range")
        }
        return count
    }

    /// Copies the next `count` bytes.
    package mutating func bytes(_ count: Int) throws(VaultError) -> [UInt8] {
        guard count >= 0, remaining >= count else { throw Self.truncated }
        defer { offset += count }
        return unsafe [UInt8](UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
    }

    /// Returns a reader for the next `count` bytes, which this one skips.
    package mutating func section(_ count: Int) throws(VaultError) -> ByteReader {
        guard count >= 0, remaining >= count else { throw Self.truncated }
        defer { offset += count }
        return unsafe ByteReader(bytes, offset..<offset + count)
    }

    /// Reads 16 bytes.
    @inline(__always)
    package mutating func identifier() throws(VaultError) -> Identifier {
        let high = UInt64(bigEndian: try integer(UInt64.self).littleEndian)
        let low = UInt64(bigEndian: try integer(UInt64.self).littleEndian)
        return Identifier(high: high, low: low)
    }

    /// Reads a string: u32 length and UTF-8.
    package mutating func text(limit: Int) throws(VaultError) -> String {
        let count = Int(try uint32())
        guard count <= limit, remaining >= count else {
            throw VaultError(damaged: .bounds, "a string is longer than allowed")
        }
        defer { offset += count }
        let slice = unsafe UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
        // Nearly every string of an index is ASCII, and needs no validation.
        if unsafe Self.isASCII(slice) {
            return unsafe String(decoding: slice, as: UTF8.self)
        }
        guard let text = unsafe String(validating: slice, as: UTF8.self) else {
            throw VaultError(damaged: .encoding, "a string is not valid UTF-8")
        }
        return text
    }

    /// Skips a valid string and returns its length in bytes.
    package mutating func skipText(limit: Int) throws(VaultError) -> Int {
        let start = offset
        var ahead = self
        let count = Int(try ahead.uint32())
        guard count <= limit, ahead.remaining >= count else {
            throw VaultError(damaged: .bounds, "a string is longer than allowed")
        }
        let first = start + 4
        let slice = unsafe UnsafeRawBufferPointer(rebasing: bytes[first..<first + count])
        if unsafe !Self.isASCII(slice) { _ = try text(limit: limit) }
        offset = first + count
        return count
    }

    /// Skips a string and returns whether it equals `text`, byte for byte.
    package mutating func isNext(_ text: String) throws(VaultError) -> Bool {
        let content = try section(Int(try uint32()))
        var text = text
        return text.withUTF8 { text in
            guard text.count == content.remaining else { return false }
            return unsafe text.elementsEqual(
                content.bytes[content.offset..<content.end])
        }
    }

    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var (offset, found) = (0, 0 as UInt64)
        while offset + 8 <= bytes.count {
            unsafe found |= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            offset += 8
        }
        while offset < bytes.count {
            unsafe found |= UInt64(bytes[offset])
            offset += 1
        }
        return found & 0x8080_8080_8080_8080 == 0
    }

    /// Reads an optional string: one byte 0 or 1, then the string.
    package mutating func optionalText(limit: Int) throws(VaultError) -> String? {
        try flag() ? try text(limit: limit) : nil
    }

    /// Reads a byte that is 0 or 1.
    package mutating func flag() throws(VaultError) -> Bool {
        switch try byte() {
        case 0: return false
        case 1: return true
        default: throw VaultError(damaged: .encoding, "a flag is neither 0 nor 1")
        }
    }

    /// Throws unless all bytes were read.
    package func expectEnd(of what: StaticString) throws(VaultError) {
        guard remaining == 0 else {
            throw VaultError(damaged: .encoding, "there are bytes after the end of \(what)")
        }
    }

    /// Reads bytes that must be zero.
    ///
    /// - Parameter damage: The kind of damage reported for nonzero bytes.
    package mutating func expectZeros(_ count: Int, else damage: VaultDamage) throws(VaultError) {
        guard count >= 0, remaining >= count else { throw Self.truncated }
        defer { offset += count }
        let isZero = unsafe RawSpan(
            _unsafeBytes: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
        ).isAllZeros
        guard isZero else { throw VaultError(damaged: damage, "reserved bytes are not zero") }
    }
}

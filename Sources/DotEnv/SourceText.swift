/// The bytes of a `.env` text during one call.
///
/// Reading past the end returns 0: texts with a NUL are refused before any scanner runs. A value of
/// this type never outlives the closure that created it.
@safe
struct SourceText {
    private let base: UnsafePointer<UInt8>?
    let count: Int

    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        count = bytes.count
    }

    @inline(__always)
    subscript(index: Int) -> UInt8 {
        guard UInt(bitPattern: index) < UInt(bitPattern: count), let base = unsafe base else {
            return 0
        }
        return unsafe base[index]
    }

    /// Returns the eight bytes at `index` as one number, for skipping plain stretches. 0 near the
    /// end.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        guard index >= 0, index <= count - 8, let base = unsafe base else { return 0 }
        return unsafe UnsafeRawPointer(base).loadUnaligned(fromByteOffset: index, as: UInt64.self)
    }

    /// Calls `body` with the bytes of `range`, clamped to the text.
    func withBytes<R, E: Error>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(E) -> R
    ) throws(E) -> R {
        let clamped = range.clamped(to: 0..<count)
        guard let base = unsafe base else {
            return try unsafe body(UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return try unsafe body(
            UnsafeRawBufferPointer(start: base + clamped.lowerBound, count: clamped.count))
    }

    /// Appends the bytes of `range`, clamped to the text, to `sink`.
    func copy(_ range: Range<Int>, into sink: inout some ByteSink & ~Copyable) {
        unsafe withBytes(range) { bytes in
            unsafe sink.append(contentsOf: bytes.bytes)
        }
    }

    /// Returns the name in `range`. Names may be in ordinary memory, values may not.
    func name(_ range: Range<Int>) -> String {
        unsafe withBytes(range) { bytes in
            unsafe String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Returns whether two ranges contain the same bytes.
    func isEqual(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        guard left.count == right.count else { return false }
        if left.lowerBound == right.lowerBound { return true }
        for offset in 0..<left.count
        where self[left.lowerBound + offset] != self[right.lowerBound + offset] {
            return false
        }
        return true
    }

    /// Returns whether `literal` is at `index`.
    func has(_ literal: StaticString, at index: Int) -> Bool {
        literal.withUTF8Buffer { buffer in
            for offset in 0..<buffer.count where unsafe self[index + offset] != buffer[offset] {
                return false
            }
            return true
        }
    }

    func contains(_ byte: UInt8, in range: Range<Int>) -> Bool {
        firstIndex(of: byte, from: range.lowerBound, to: range.upperBound) < range.upperBound
    }

    /// Returns the first index of `byte` from `start` on, or `end`.
    func firstIndex(of byte: UInt8, from start: Int, to end: Int) -> Int {
        let pattern = 0x0101_0101_0101_0101 &* UInt64(byte)
        var index = start
        while index + 8 <= end {
            let difference = word(at: index) ^ pattern
            let found =
                (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080
            if found != 0 {
                // The lowest set bit is exact, regardless of borrows above it.
                return index + (UInt64(littleEndian: found).trailingZeroBitCount >> 3)
            }
            index += 8
        }
        while index < end, self[index] != byte { index += 1 }
        return min(index, max(start, end))
    }
}

extension RawSpan {
    /// Calls `body` with the bytes as a text.
    func withText<R, E: Error>(_ body: (SourceText) throws(E) -> R) throws(E) -> R {
        try unsafe withUnsafeBytes { (bytes) throws(E) -> R in
            try body(unsafe SourceText(bytes))
        }
    }
}

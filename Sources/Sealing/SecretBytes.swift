internal import CSodium

/// Secret bytes of fixed length in their own guarded memory: surrounded by guard pages, locked if
/// the kernel allows it, wiped when freed. For keys and passphrases; for many values, use a
/// ``SecretArena``.
///
/// Intentionally cannot be copied, compared with `==`, printed or encoded.
@safe
package struct SecretBytes: ~Copyable {
    private let base: UnsafeMutableRawPointer
    package let count: Int

    /// Allocates `count` zero bytes.
    package init(count: Int) throws(SealingError) {
        unsafe self.base = try SecretMemory.allocate(count)
        self.count = count
    }

    /// Copies bytes. The caller still owns the original and must wipe it.
    package init(copying bytes: RawSpan) throws(SealingError) {
        try self.init(count: bytes.byteCount)
        withMutableBytes { $0.copy(from: bytes) }
    }

    /// Returns `count` random bytes from the kernel's generator.
    package static func random(count: Int) throws(SealingError) -> SecretBytes {
        let bytes = try SecretBytes(count: count)
        unsafe randombytes_buf(bytes.base, count)
        return bytes
    }

    deinit {
        unsafe SecretMemory.free(base, count: count)
    }

    /// The address of the bytes, for libsodium. Valid during the lifetime of this value.
    var pointer: UnsafeMutableRawPointer { unsafe base }

    /// Passes the bytes to `body`. They must not outlive the call.
    package borrowing func withBytes<R: ~Copyable, E>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        let span = unsafe RawSpan(_unsafeStart: base, byteCount: count)
        return try body(span)
    }

    /// Passes the mutable bytes to `body`.
    package mutating func withMutableBytes<R: ~Copyable, E>(
        _ body: (inout MutableRawSpan) throws(E) -> R
    ) throws(E) -> R {
        var span = unsafe MutableRawSpan(_unsafeStart: base, byteCount: count)
        return try body(&span)
    }

    /// Returns whether both contain the same bytes, in a time that is independent of where they
    /// differ.
    package borrowing func isEqualInConstantTime(to other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return unsafe sodium_memcmp(base, other.base, count) == 0
    }
}

extension MutableRawSpan {
    /// Copies all of `source` to the start of this span, which must be at least as long.
    package mutating func copy(from source: RawSpan) {
        precondition(source.byteCount <= byteCount)
        unsafe withUnsafeMutableBytes { target in
            unsafe source.withUnsafeBytes { bytes in
                unsafe target.copyMemory(from: bytes)
            }
        }
    }
}

extension RawSpan {
    /// A copy outside of secret memory, for bytes that are not secret, such as sealed ones.
    package var array: [UInt8] { unsafe withUnsafeBytes { unsafe Array($0) } }

    /// The byte at `offset`, which must be in bounds.
    package func byte(at offset: Int) -> UInt8 {
        unsafe withUnsafeBytes { unsafe $0[offset] }
    }

    /// Whether the last byte is a line feed.
    package var endsInLineFeed: Bool { byteCount > 0 && byte(at: byteCount - 1) == 0x0A }

    /// The length of the line end that the bytes end in: 2 for CR LF, 1 for LF, otherwise 0.
    package var finalLineEndByteCount: Int {
        guard endsInLineFeed else { return 0 }
        return byteCount > 1 && byte(at: byteCount - 2) == 0x0D ? 2 : 1
    }

    /// Whether all bytes are zero, in a time that depends only on their number.
    package var isAllZeros: Bool {
        unsafe withUnsafeBytes { bytes in
            var (offset, found) = (0, 0 as UInt64)
            while offset + 8 <= bytes.count {
                unsafe found |= bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                offset += 8
            }
            while offset < bytes.count {
                unsafe found |= UInt64(bytes[offset])
                offset += 1
            }
            return found == 0
        }
    }

    /// The little-endian integer in the first four bytes, which must exist.
    package var leadingUInt32: UInt32 {
        precondition(byteCount >= 4)
        return unsafe withUnsafeBytes {
            unsafe UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self))
        }
    }

    /// Returns whether both contain the same bytes, in a time that depends only on the lengths.
    package func isEqualInConstantTime(to other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        if byteCount == 0 { return true }
        return unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else {
                    return false
                }
                return unsafe sodium_memcmp(left, right, byteCount) == 0
            }
        }
    }
}

internal import CSodium

/// BLAKE2b, libsodium's `crypto_generichash`.
package enum Digest {
    package static let byteCount = 32
    /// The size of ``long(_:then:)``.
    package static let longByteCount = 64

    /// Hashes `bytes` without a key: a checksum, not a proof of origin.
    package static func checksum(_ bytes: RawSpan) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        unsafe bytes.withUnsafeBytes { input in
            _ = unsafe zg_generichash(
                &digest, byteCount, input.baseAddress, input.count, nil, 0)
        }
        return digest
    }

    /// Hashes the concatenation of two byte sequences.
    package static func checksum(_ bytes: RawSpan, then more: RawSpan) -> [UInt8] {
        hash(bytes, then: more, byteCount: byteCount)
    }

    /// Hashes the concatenation of two byte sequences to 64 bytes.
    package static func long(_ bytes: RawSpan, then more: RawSpan) -> [UInt8] {
        hash(bytes, then: more, byteCount: longByteCount)
    }

    private static func hash(
        _ bytes: RawSpan, then more: RawSpan, byteCount: Int
    ) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: byteCount)
        unsafe bytes.withUnsafeBytes { first in
            unsafe more.withUnsafeBytes { second in
                _ = unsafe zg_generichash_both(
                    &digest, byteCount, first.baseAddress, first.count, second.baseAddress,
                    second.count)
            }
        }
        return digest
    }

    /// Returns the code that a holder of `key` (16 to 64 bytes, in secret memory) gives `bytes`: 32
    /// bytes, not secret.
    package static func code(of bytes: RawSpan, key: borrowing SecretBytes) -> [UInt8] {
        precondition((16...64).contains(key.count))
        var code = [UInt8](repeating: 0, count: byteCount)
        unsafe bytes.withUnsafeBytes { input in
            _ = unsafe zg_generichash(
                &code, byteCount, input.baseAddress, input.count, key.pointer, key.count)
        }
        return code
    }

    /// Hashes `bytes` with `key` (16 to 64 bytes), into secret memory.
    package static func keyed(
        _ bytes: RawSpan, key: RawSpan
    ) throws(SealingError) -> SecretBytes {
        precondition((16...64).contains(key.byteCount))
        let digest = try SecretBytes(count: byteCount)
        unsafe bytes.withUnsafeBytes { input in
            unsafe key.withUnsafeBytes { key in
                _ = unsafe zg_generichash(
                    digest.pointer, byteCount, input.baseAddress, input.count, key.baseAddress,
                    key.count)
            }
        }
        return digest
    }
}

internal import CSodium

/// Random bytes that are not secret: nonces, salts, identifiers.
package enum Random {
    /// Returns `count` bytes from the kernel's generator.
    package static func bytes(_ count: Int) -> [UInt8] {
        precondition(SecretMemory.isAvailable)
        var bytes = [UInt8](repeating: 0, count: count)
        unsafe randombytes_buf(&bytes, count)
        return bytes
    }
}

internal import CSodium

/// Key derivation with libsodium's `crypto_kdf_derive_from_key` (BLAKE2b).
package enum KeyDerivation {
    /// Derives the key with number `id` and label `context` from `key`.
    ///
    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - context: Exactly eight ASCII characters, unique for each use.
    /// - Returns: 32 bytes.
    package static func derive(
        from key: borrowing SecretBytes, id: UInt64, context: StaticString
    ) throws(SealingError) -> SecretBytes {
        precondition(key.count == 32 && context.utf8CodeUnitCount == 8)
        let derived = try SecretBytes(count: 32)
        context.withUTF8Buffer { label in
            if let label = label.baseAddress {
                _ = unsafe zg_kdf_derive(derived.pointer, derived.count, id, label, key.pointer)
            }
        }
        return derived
    }
}

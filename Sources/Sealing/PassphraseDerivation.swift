internal import CSodium

/// Argon2id 1.3, libsodium's `crypto_pwhash`.
package enum PassphraseDerivation {
    package static let saltByteCount = 16

    /// Derives a 32-byte key from a passphrase. Takes the time and memory of `cost`.
    ///
    /// - Throws: ``SealingError/costOutOfBounds`` or ``SealingError/derivationFailed`` (out of
    ///   memory).
    package static func deriveKey(
        from passphrase: borrowing SecretBytes, salt: [UInt8], cost: PassphraseCost
    ) throws(SealingError) -> SecretBytes {
        precondition(salt.count == saltByteCount)
        guard cost.isAcceptable else { throw .costOutOfBounds }
        let key = try SecretBytes(count: 32)
        let status = unsafe zg_pwhash(
            key.pointer, key.count, passphrase.pointer, passphrase.count, salt, cost.operations,
            Int(cost.memoryByteCount))
        guard status == 0 else { throw .derivationFailed }
        return key
    }
}

internal import CSodium

/// Anonymous public-key encryption, libsodium's `crypto_box_seal`: anyone with the public key can
/// write, and only the owner of the secret key can read.
package enum SealedBox {
    package static let publicKeyByteCount = 32
    /// The number of bytes that sealing adds.
    package static let overheadByteCount = 48

    package struct KeyPair: ~Copyable {
        /// 32 bytes; not secret.
        package let publicKey: [UInt8]
        fileprivate let secretKey: SecretBytes

        /// Derives the pair from a 32-byte seed.
        package init(seed: borrowing SecretBytes) throws(SealingError) {
            precondition(seed.count == 32)
            let secret = try SecretBytes(count: 32)
            var publicKey = [UInt8](repeating: 0, count: 32)
            _ = unsafe zg_box_seed_keypair(&publicKey, secret.pointer, seed.pointer)
            self.publicKey = publicKey
            self.secretKey = secret
        }
    }

    /// Returns whether `publicKey` can be sealed to. A point of low order cannot: with it, every
    /// secret key results in the same shared secret.
    package static func isUsable(_ publicKey: [UInt8]) -> Bool {
        let sealed = try? [UInt8]().withBytes { (nothing) throws(SealingError) in
            try seal(nothing, to: publicKey)
        }
        return sealed != nil
    }

    /// Seals `plaintext` to a 32-byte public key.
    ///
    /// - Throws: ``SealingError/unusableKey`` for a point of low order.
    package static func seal(
        _ plaintext: RawSpan, to publicKey: [UInt8]
    ) throws(SealingError) -> [UInt8] {
        precondition(SecretMemory.isAvailable && publicKey.count == publicKeyByteCount)
        var sealed = [UInt8](repeating: 0, count: plaintext.byteCount + overheadByteCount)
        let status = unsafe plaintext.withUnsafeBytes { text in
            unsafe zg_box_seal(&sealed, text.baseAddress, text.count, publicKey)
        }
        guard status == 0 else { throw .unusableKey }
        return sealed
    }

    /// Opens bytes that were sealed to the public key of `keyPair`, into `plaintext`.
    ///
    /// - Parameter plaintext: Exactly 48 bytes shorter than `sealed`.
    /// - Throws: ``SealingError/notAuthentic`` for another key or changed bytes.
    package static func open(
        _ sealed: RawSpan, with keyPair: borrowing KeyPair, into plaintext: inout MutableRawSpan
    ) throws(SealingError) {
        guard sealed.byteCount > overheadByteCount,
            plaintext.byteCount == sealed.byteCount - overheadByteCount
        else { throw .notAuthentic }
        let publicKey = keyPair.publicKey
        let status = unsafe sealed.withUnsafeBytes { sealed in
            unsafe plaintext.withUnsafeMutableBytes { target in
                guard let start = sealed.baseAddress, let target = target.baseAddress else {
                    return Int32(-1)
                }
                return unsafe zg_box_seal_open(
                    target, start, sealed.count, publicKey, keyPair.secretKey.pointer)
            }
        }
        guard status == 0 else { throw .notAuthentic }
    }
}

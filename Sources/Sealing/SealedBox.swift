internal import CSodium

/// Anonymous public-key sealing, libsodium's `crypto_box_seal`: whoever has the public key can
/// write, only the holder of the secret key can read.
package enum SealedBox {
    /// Bytes of a public key.
    package static let publicKeyByteCount = 32
    /// Bytes that sealing adds to the text.
    package static let overheadByteCount = 48

    /// A key pair for opening.
    package struct KeyPair: ~Copyable {
        /// 32 bytes, no secret.
        package let publicKey: [UInt8]
        fileprivate let secretKey: SecretBytes

        /// Makes the pair that belongs to a 32 byte seed. The same seed gives the same pair.
        package init(seed: borrowing SecretBytes) throws(SealingError) {
            precondition(seed.count == 32)
            let secret = try SecretBytes(count: 32)
            var publicKey = [UInt8](repeating: 0, count: 32)
            _ = unsafe zg_box_seed_keypair(&publicKey, secret.pointer, seed.pointer)
            self.publicKey = publicKey
            self.secretKey = secret
        }
    }

    /// Tells whether something can be sealed to `publicKey`: not to a point of low order, with which
    /// every secret key agrees on the same shared secret.
    package static func isUsable(_ publicKey: [UInt8]) -> Bool {
        do throws(SealingError) {
            _ = try [UInt8]().withBytes { (nothing) throws(SealingError) in
                try seal(nothing, to: publicKey)
            }
            return true
        } catch {
            return false
        }
    }

    /// Seals `plaintext` to a public key of 32 bytes.
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

    /// Opens what was sealed to the public key of `keyPair`, into `plaintext`.
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

internal import CSodium

/// Detached signatures, libsodium's `crypto_sign` (Ed25519).
package struct SigningKeyPair: ~Copyable {
    package static let publicKeyByteCount = 32
    package static let signatureByteCount = 64

    /// 32 bytes; not secret.
    package let publicKey: [UInt8]
    private let secretKey: SecretBytes

    /// Derives the pair from a 32-byte seed.
    package init(seed: borrowing SecretBytes) throws(SealingError) {
        precondition(seed.count == 32)
        let secret = try SecretBytes(count: 64)
        var publicKey = [UInt8](repeating: 0, count: Self.publicKeyByteCount)
        _ = unsafe zg_sign_seed_keypair(&publicKey, secret.pointer, seed.pointer)
        self.publicKey = publicKey
        secretKey = secret
    }

    /// Returns the 64-byte signature of `bytes`.
    package borrowing func signature(of bytes: RawSpan) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Self.signatureByteCount)
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe zg_sign_detached(
                &signature, bytes.baseAddress, bytes.count, secretKey.pointer)
        }
        return signature
    }

    /// Returns whether the last 64 bytes of `object` are a signature, with the secret half of
    /// `publicKey`, of all bytes before them. False for a public key of low order.
    package static func isSigned(_ object: RawSpan, by publicKey: [UInt8]) -> Bool {
        guard object.byteCount >= signatureByteCount, publicKey.count == publicKeyByteCount else {
            return false
        }
        let length = object.byteCount - signatureByteCount
        return unsafe object.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            return unsafe zg_sign_verify(start + length, start, length, publicKey) == 0
        }
    }
}

internal import CSodium

/// XChaCha20-Poly1305 (IETF), libsodium's `crypto_aead_xchacha20poly1305_ietf`.
///
/// Nonces are 24 random bytes, which do not repeat in practice and need no counter.
package enum AuthenticatedCipher {
    package static let keyByteCount = 32
    package static let nonceByteCount = 24
    /// The size of the authentication tag, which sealing adds.
    package static let tagByteCount = 16

    /// Seals `plaintext` and appends ciphertext and tag to `output`.
    ///
    /// - Parameters:
    ///   - nonce: 24 bytes, fresh for every call.
    ///   - key: 32 bytes.
    package static func seal(
        _ plaintext: RawSpan, nonce: [UInt8], additionalData: [UInt8], key: RawSpan,
        appendingTo output: inout [UInt8]
    ) {
        precondition(nonce.count == nonceByteCount && key.byteCount == keyByteCount)
        let start = output.count
        let length = plaintext.byteCount
        // Appended as an array: a repeated element would be appended byte by byte.
        let room = [UInt8](repeating: 0, count: length + tagByteCount)
        if output.isEmpty { output = room } else { output += room }
        unsafe output.withUnsafeMutableBytes { output in
            let target = unsafe UnsafeMutableRawBufferPointer(rebasing: output[start...])
            unsafe withPointers(key, plaintext) { key, text in
                if let target = target.baseAddress {
                    _ = unsafe zg_aead_encrypt(
                        target, text.baseAddress, length, additionalData, additionalData.count,
                        nonce, key)
                }
            }
        }
    }

    /// Seals under a key in secret memory.
    package static func seal(
        _ plaintext: RawSpan, nonce: [UInt8], additionalData: [UInt8],
        key: borrowing SecretBytes, appendingTo output: inout [UInt8]
    ) {
        key.withBytes {
            seal(
                plaintext, nonce: nonce, additionalData: additionalData, key: $0,
                appendingTo: &output)
        }
    }

    /// Seals with a fresh nonce.
    ///
    /// - Returns: Nonce, ciphertext and tag.
    package static func sealed(
        _ plaintext: RawSpan, additionalData: [UInt8], key: RawSpan
    ) -> [UInt8] {
        let nonce = randomNonce()
        var sealed = nonce
        seal(
            plaintext, nonce: nonce, additionalData: additionalData, key: key,
            appendingTo: &sealed)
        return sealed
    }

    /// Seals with a fresh nonce, under a key in secret memory.
    package static func sealed(
        _ plaintext: RawSpan, additionalData: [UInt8], key: borrowing SecretBytes
    ) -> [UInt8] {
        key.withBytes { sealed(plaintext, additionalData: additionalData, key: $0) }
    }

    /// Opens sealed bytes into `plaintext`.
    ///
    /// - Parameters:
    ///   - nonce: 24 bytes, as stored beside the ciphertext.
    ///   - plaintext: Exactly 16 bytes shorter than `ciphertext`; zeroed on failure.
    /// - Throws: ``SealingError/notAuthentic``, whatever the cause.
    package static func open(
        _ ciphertext: RawSpan, nonce: RawSpan, additionalData: RawSpan, key: RawSpan,
        into plaintext: inout MutableRawSpan
    ) throws(SealingError) {
        precondition(nonce.byteCount == nonceByteCount && key.byteCount == keyByteCount)
        guard ciphertext.byteCount >= tagByteCount,
            plaintext.byteCount == ciphertext.byteCount - tagByteCount
        else { throw .notAuthentic }
        let status = unsafe plaintext.withUnsafeMutableBytes { target in
            unsafe nonce.withUnsafeBytes { nonce in
                unsafe withPointers(key, ciphertext) { key, sealed in
                    guard let start = sealed.baseAddress, let nonce = nonce.baseAddress else {
                        return Int32(-1)
                    }
                    return unsafe additionalData.withUnsafeBytes { data in
                        unsafe zg_aead_decrypt(
                            target.baseAddress, start, sealed.count, data.baseAddress,
                            data.count, nonce, key)
                    }
                }
            }
        }
        guard status == 0 else { throw .notAuthentic }
    }

    /// Opens with a nonce and additional data in arrays.
    package static func open(
        _ ciphertext: RawSpan, nonce: [UInt8], additionalData: [UInt8], key: RawSpan,
        into plaintext: inout MutableRawSpan
    ) throws(SealingError) {
        try nonce.withBytes { (nonce) throws(SealingError) in
            try additionalData.withBytes { (data) throws(SealingError) in
                try open(
                    ciphertext, nonce: nonce, additionalData: data, key: key, into: &plaintext)
            }
        }
    }

    /// Opens under a key in secret memory.
    package static func open(
        _ ciphertext: RawSpan, nonce: [UInt8], additionalData: [UInt8],
        key: borrowing SecretBytes, into plaintext: inout MutableRawSpan
    ) throws(SealingError) {
        try key.withBytes { (key) throws(SealingError) in
            try open(
                ciphertext, nonce: nonce, additionalData: additionalData, key: key,
                into: &plaintext)
        }
    }

    /// Opens nonce, ciphertext and tag into an arena.
    package static func opened(
        _ sealed: [UInt8], additionalData: [UInt8], key: borrowing SecretBytes,
        in arena: SecretArena
    ) throws(SealingError) -> SecretSlice {
        let plainCount = sealed.count - nonceByteCount - tagByteCount
        guard plainCount >= 0 else { throw .notAuthentic }
        let slice = try arena.allocate(count: plainCount)
        try Array(sealed[nonceByteCount...]).withBytes { (ciphertext) throws(SealingError) in
            try slice.withMutableBytes { (out) throws(SealingError) in
                try open(
                    ciphertext, nonce: Array(sealed[..<nonceByteCount]),
                    additionalData: additionalData, key: key, into: &out)
            }
        }
        return slice
    }

    /// Opens in place, without copying.
    ///
    /// - Parameter ciphertext: Includes the tag. Contains the plaintext afterwards, or zeros if it
    ///   is not authentic.
    /// - Returns: The part with the plaintext.
    package static func openInPlace(
        _ ciphertext: SecretSlice, nonce: [UInt8], additionalData: [UInt8],
        key: borrowing SecretBytes
    ) throws(SealingError) -> SecretSlice {
        precondition(nonce.count == nonceByteCount && key.count == keyByteCount)
        guard ciphertext.count >= tagByteCount else { throw .notAuthentic }
        let status = key.withBytes { key in
            ciphertext.withMutableBytes { bytes in
                unsafe bytes.withUnsafeMutableBytes { bytes in
                    unsafe key.withUnsafeBytes { key in
                        guard let start = bytes.baseAddress, let key = key.baseAddress else {
                            return Int32(-1)
                        }
                        return unsafe zg_aead_decrypt(
                            start, start, bytes.count, additionalData, additionalData.count, nonce,
                            key)
                    }
                }
            }
        }
        guard status == 0 else { throw .notAuthentic }
        return ciphertext.part(0..<ciphertext.count - tagByteCount)
    }

    /// Opens one of many values into an arena's slice, with a key in an arena.
    ///
    /// - Parameters:
    ///   - sealed: Nonce, ciphertext and tag.
    ///   - plaintext: Exactly as long as the plaintext; zeroed on failure.
    /// - Throws: ``SealingError/notAuthentic``.
    package static func open(
        sealed: RawSpan, additionalData: RawSpan, key: SecretSlice, into plaintext: SecretSlice
    ) throws(SealingError) {
        // Called for thousands of values; in this module, the generic closures are specialized.
        guard sealed.byteCount >= nonceByteCount else { throw .notAuthentic }
        try key.withBytes { (key) throws(SealingError) in
            try plaintext.withMutableBytes { (out) throws(SealingError) in
                try open(
                    sealed.extracting(droppingFirst: nonceByteCount),
                    nonce: sealed.extracting(first: nonceByteCount),
                    additionalData: additionalData, key: key, into: &out)
            }
        }
    }

    /// Returns a tag over data without a plaintext, which proves that someone with the key wrote
    /// it.
    ///
    /// - Parameter nonce: 24 bytes, fresh for every call.
    package static func tag(
        of data: RawSpan, nonce: [UInt8], key: borrowing SecretBytes
    ) -> [UInt8] {
        precondition(nonce.count == nonceByteCount && key.count == keyByteCount)
        var tag = [UInt8](repeating: 0, count: tagByteCount)
        key.withBytes { key in
            unsafe withPointers(key, data) { key, data in
                _ = unsafe zg_aead_encrypt(&tag, nil, 0, data.baseAddress, data.count, nonce, key)
            }
        }
        return tag
    }

    /// Returns whether `tag` is valid for `data`.
    package static func holds(
        _ tag: [UInt8], of data: RawSpan, nonce: [UInt8], key: borrowing SecretBytes
    ) -> Bool {
        precondition(nonce.count == nonceByteCount && key.count == keyByteCount)
        guard tag.count == tagByteCount else { return false }
        return key.withBytes { key in
            unsafe withPointers(key, data) { key, data in
                unsafe zg_aead_decrypt(
                    nil, tag, tag.count, data.baseAddress, data.count, nonce, key)
            }
        } == 0
    }

    package static func randomNonce() -> [UInt8] { Random.bytes(nonceByteCount) }

    private static func withPointers<R>(
        _ key: RawSpan, _ bytes: RawSpan,
        _ body: (UnsafeRawPointer, UnsafeRawBufferPointer) -> R
    ) -> R {
        unsafe key.withUnsafeBytes { key in
            unsafe bytes.withUnsafeBytes { bytes in
                guard let key = key.baseAddress else { preconditionFailure("a key is not empty") }
                return unsafe body(key, bytes)
            }
        }
    }
}

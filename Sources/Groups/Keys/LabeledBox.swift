internal import Sealing

/// Sealed boxes of 32 secret bytes after a text that says what they are for.
package enum LabeledBox {
    /// Guarded memory for the text of a box. One serves many boxes, because an allocation takes longer
    /// than sealing.
    static func scratch() throws(GroupError) -> SecretBytes {
        try sealing(try SecretBytes(count: 256))
    }

    /// Seals `text`, then the secret, to a public key.
    static func seal(
        _ secret: RawSpan, after text: [UInt8], to publicKey: [UInt8],
        scratch: inout SecretBytes
    ) throws(GroupError) -> [UInt8] {
        let count = text.count + secret.byteCount
        scratch.withMutableBytes { plain in
            text.withBytes { plain.copy(from: $0) }
            var rest = plain._mutatingExtracting(droppingFirst: text.count)
            rest.copy(from: secret)
        }
        return try sealing(
            try scratch.withBytes { (plain) throws(SealingError) in
                try SealedBox.seal(plain.extracting(first: count), to: publicKey)
            })
    }

    /// Seals with memory of its own.
    static func seal(
        _ secret: RawSpan, after text: [UInt8], to publicKey: [UInt8]
    ) throws(GroupError) -> [UInt8] {
        var scratch = try scratch()
        return try seal(secret, after: text, to: publicKey, scratch: &scratch)
    }

    /// Opens a box of 32 secret bytes, and compares its text in constant time.
    static func open(
        _ sealed: [UInt8], with pair: borrowing SealedBox.KeyPair, expecting text: [UInt8],
        scratch: inout SecretBytes
    ) throws(GroupError) -> SecretBytes {
        let count = text.count + 32
        guard sealed.count == count + SealedBox.overheadByteCount else {
            throw GroupError(SealingError.notAuthentic)
        }
        do throws(SealingError) {
            try scratch.withMutableBytes { (bytes) throws(SealingError) in
                var plain = bytes._mutatingExtracting(first: count)
                try sealed.withBytes { (sealed) throws(SealingError) in
                    try SealedBox.open(sealed, with: pair, into: &plain)
                }
            }
            return try scratch.withBytes { (plain) throws(SealingError) in
                let isExpected = text.withBytes {
                    plain.extracting(first: text.count).isEqualInConstantTime(to: $0)
                }
                guard isExpected else { throw SealingError.notAuthentic }
                return try SecretBytes(copying: plain.extracting(text.count..<count))
            }
        } catch { throw GroupError(error) }
    }

    /// Opens a box of 32 secret bytes into an arena.
    static func open(
        _ sealed: [UInt8], with pair: borrowing SealedBox.KeyPair, expecting text: [UInt8],
        in arena: SecretArena
    ) throws(GroupError) -> SecretSlice {
        var scratch = try scratch()
        let secret = try open(sealed, with: pair, expecting: text, scratch: &scratch)
        return try sealing(
            try secret.withBytes { (bytes) throws(SealingError) in try arena.copy(bytes) })
    }

    /// Copies a secret into memory of its own.
    static func copy(_ slice: SecretSlice) throws(GroupError) -> SecretBytes {
        try sealing(
            try slice.withBytes { (bytes) throws(SealingError) in
                try SecretBytes(copying: bytes)
            })
    }
}

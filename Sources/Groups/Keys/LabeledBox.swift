internal import Sealing

/// Sealed boxes of 32 secret bytes after a text that says what they are for.
package enum LabeledBox {
    /// Seals `text`, then the secret, to a public key.
    static func seal(
        _ secret: RawSpan, after text: [UInt8], to publicKey: [UInt8]
    ) throws(GroupError) -> [UInt8] {
        try sealing { () throws(SealingError) in
            var plain = try SecretBuffer(capacity: 256)
            try text.withBytes { (text) throws(SealingError) in try plain.append(text) }
            try plain.append(secret)
            return try plain.withBytes { (plain) throws(SealingError) in
                try SealedBox.seal(plain, to: publicKey)
            }
        }
    }

    /// Opens a box, compares its text in constant time, and returns the secret, which fills the rest:
    /// 32 bytes.
    static func open(
        _ sealed: [UInt8], with pair: borrowing SealedBox.KeyPair, expecting text: [UInt8],
        in arena: SecretArena
    ) throws(GroupError) -> SecretSlice {
        guard sealed.count == text.count + 32 + SealedBox.overheadByteCount else {
            throw GroupError(SealingError.notAuthentic)
        }
        let plain: SecretSlice
        do throws(SealingError) {
            plain = try arena.allocate(count: text.count + 32)
            try sealed.withBytes { (sealed) throws(SealingError) in
                try plain.withMutableBytes { (out) throws(SealingError) in
                    try SealedBox.open(sealed, with: pair, into: &out)
                }
            }
        } catch { throw GroupError(error) }
        let isExpected = text.withBytes { text in
            plain.part(0..<text.byteCount).withBytes { $0.isEqualInConstantTime(to: text) }
        }
        guard isExpected else { throw GroupError(SealingError.notAuthentic) }
        return plain.part(text.count..<text.count + 32)
    }

    static func copy(_ slice: SecretSlice) throws(GroupError) -> SecretBytes {
        try sealing { () throws(SealingError) in
            try slice.withBytes { (bytes) throws(SealingError) in
                try SecretBytes(copying: bytes)
            }
        }
    }
}

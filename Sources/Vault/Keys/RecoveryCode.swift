package import Sealing

/// 128 random bits that open the values: printed once, and kept on paper. ``CodeText`` describes the
/// text.
package final class RecoveryCode {
    private let bytes: SecretBytes

    private init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }

    package static func random() throws(VaultError) -> RecoveryCode {
        try guarding { () throws(SealingError) in
            RecoveryCode(try SecretBytes.random(count: CodeText.byteCount))
        }
    }

    /// Parses a code.
    ///
    /// - Returns: nil for a text that is not a code or has a typing error; see ``CodeText/form(of:)``.
    package convenience init?(reading text: borrowing SecretBytes) throws(VaultError) {
        let read = try guarding { () throws(SealingError) in try CodeText.bytes(reading: text) }
        guard let read else { return nil }
        self.init(read)
    }

    /// The code with hyphens, as people keep it: 34 bytes of ASCII.
    package func text() throws(VaultError) -> SecretBytes {
        try guarding { () throws(SealingError) in try CodeText.text(of: bytes) }
    }

    /// Derives the key that wraps the root: BLAKE2b of "zgv3/recovery" and the slot's salt, keyed
    /// with the code's 16 bytes. The code is random, so it needs no slow hash.
    func wrappingKey(salt: [UInt8]) throws(VaultError) -> SecretBytes {
        try guarding { () throws(SealingError) in
            try (Array("zgv3/recovery".utf8) + salt).withBytes { (message) throws(SealingError) in
                try bytes.withBytes { (key) throws(SealingError) in
                    try Digest.keyed(message, key: key)
                }
            }
        }
    }
}

internal import Sealing
internal import Vault

/// Names and seals the files of the answer cache; `docs/answer-cache.md` has it to the byte.
final class AnswerSealing {
    private let nameKey: SecretBytes
    private let sealingKey: SecretBytes
    private let vault: [UInt8]

    /// - Parameter key: The answer cache key of a vault's index key.
    init(key: borrowing SecretBytes, vault: Identifier) throws(SealingError) {
        nameKey = try KeyDerivation.derive(from: key, id: 1, context: "zgv2answ")
        sealingKey = try KeyDerivation.derive(from: key, id: 2, context: "zgv2answ")
        self.vault = vault.bytes
    }

    /// The name of the file for an address: 64 hexadecimal digits that say nothing without the key.
    func name(of address: AnswerAddress) throws(SealingError) -> String {
        try name(of: vault + address.bytes)
    }

    /// A name for a text that must not be kept as it is, such as a token: equal texts have equal
    /// names.
    func name(of secret: SecretSlice) throws(SealingError) -> String {
        let digest = try secret.withBytes { (bytes) throws(SealingError) in
            try nameKey.withBytes { (key) throws(SealingError) in
                try Digest.keyed(bytes, key: key)
            }
        }
        return Self.hexadecimal(digest)
    }

    private func name(of bytes: [UInt8]) throws(SealingError) -> String {
        let digest = try bytes.withBytes { (bytes) throws(SealingError) in
            try nameKey.withBytes { (key) throws(SealingError) in
                try Digest.keyed(bytes, key: key)
            }
        }
        return Self.hexadecimal(digest)
    }

    private static func hexadecimal(_ digest: borrowing SecretBytes) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let bytes = digest.withBytes { bytes in
            (0..<bytes.byteCount).flatMap { place in
                let byte = bytes.byte(at: place)
                return [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The file's bytes: a nonce and the sealed answer, padded.
    func seal(_ answer: KeptAnswer, as name: String) -> [UInt8] {
        let bytes = answer.bytes
        var plain = AnswerAddress.bytes(of: UInt32(clamping: bytes.count)) + bytes
        let padded = Padding.paddedByteCount(ofIndex: plain.count)
        plain += repeatElement(0, count: padded - plain.count)
        let nonce = AuthenticatedCipher.randomNonce()
        var file = nonce
        plain.withBytes {
            AuthenticatedCipher.seal(
                $0, nonce: nonce, additionalData: additionalData(name), key: sealingKey,
                appendingTo: &file)
        }
        return file
    }

    /// Opens a file; nil for one that was changed, cut, moved from another name, or sealed by another
    /// vault or under another index key.
    func open(_ file: [UInt8], as name: String) -> KeptAnswer? {
        let overhead = AuthenticatedCipher.nonceByteCount + AuthenticatedCipher.tagByteCount
        guard file.count > overhead else { return nil }
        let nonce = Array(file.prefix(AuthenticatedCipher.nonceByteCount))
        var plain = [UInt8](repeating: 0, count: file.count - overhead)
        let isAuthentic = unsafe plain.withUnsafeMutableBytes { buffer in
            var target = unsafe MutableRawSpan(_unsafeBytes: buffer)
            return Array(file.dropFirst(AuthenticatedCipher.nonceByteCount)).withBytes { sealed in
                do throws(SealingError) {
                    try AuthenticatedCipher.open(
                        sealed, nonce: nonce, additionalData: additionalData(name),
                        key: sealingKey, into: &target)
                    return true
                } catch { return false }
            }
        }
        guard isAuthentic, let count = AnswerAddress.number(plain.prefix(4)),
            count <= plain.count - 4
        else { return nil }
        return KeptAnswer(Array(plain[4..<(4 + count)]))
    }

    private func additionalData(_ name: String) -> [UInt8] {
        var label = Array("zgv2/answer".utf8)
        label += repeatElement(0, count: 16 - label.count)
        return label + vault + Array(name.utf8)
    }
}

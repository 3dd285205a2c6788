internal import Sealing
internal import Vault

/// Names and seals the files of the answer cache; `docs/answer-cache.md` has it to the byte.
final class AnswerSealing {
    private let nameKey: SecretBytes
    private let file: SealedFile
    private let vault: [UInt8]

    /// - Parameter key: The answer cache key of a vault's index key.
    init(key: borrowing SecretBytes, vault: Identifier) throws(SealingError) {
        nameKey = try KeyDerivation.derive(from: key, id: 1, context: "zgv2answ")
        file = SealedFile(
            key: try KeyDerivation.derive(from: key, id: 2, context: "zgv2answ"))
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

    /// The file's bytes.
    func seal(_ answer: KeptAnswer, as name: String) -> [UInt8] {
        file.seal(answer.bytes, additionalData: additionalData(name))
    }

    /// Opens a file; nil for one that was changed, cut, moved from another name, or sealed by another
    /// vault or under another index key.
    func open(_ bytes: [UInt8], as name: String) -> KeptAnswer? {
        file.open(bytes, additionalData: additionalData(name)).flatMap { KeptAnswer($0) }
    }

    private func additionalData(_ name: String) -> [UInt8] {
        var label = Array("zgv2/answer".utf8)
        label += repeatElement(0, count: 16 - label.count)
        return label + vault + Array(name.utf8)
    }
}

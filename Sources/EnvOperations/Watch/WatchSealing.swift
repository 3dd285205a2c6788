internal import JSON
package import Sealing
package import Vault

/// Seals what is kept of the watching: choices and progress name projects, so neither is on the disk
/// in clear; `docs/notifications.md` has it to the byte.
package final class WatchSealing {
    /// What is sealed.
    package enum Content: UInt64, Sendable {
        /// What somebody wants to be told.
        case choices = 1
        /// What was seen, and what is still to be told.
        case progress = 2
        /// How far a relay's events were read.
        case postal = 3
    }

    /// The longest file, in bytes.
    package static let byteLimit = 16 << 20
    private static let format: UInt8 = 1

    private let keys: [Content: SecretBytesBox]
    private let vault: [UInt8]

    private final class SecretBytesBox {
        let bytes: SecretBytes
        init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
    }

    /// - Parameter key: The notification key of a vault's index key.
    package init(key: borrowing SecretBytes, vault: Identifier) throws(SealingError) {
        self.vault = vault.bytes
        var keys: [Content: SecretBytesBox] = [:]
        for content in [Content.choices, .progress, .postal] {
            keys[content] = .init(
                try KeyDerivation.derive(from: key, id: content.rawValue, context: "zgv2noti"))
        }
        self.keys = keys
    }

    /// The file's bytes; nil where the value is too long to be kept.
    package func seal(_ value: some Encodable, as content: Content) -> [UInt8]? {
        guard let key = keys[content], let data = try? JSONEncoder().encode(value) else {
            return nil
        }
        let text = [Self.format] + data
        guard text.count < Self.byteLimit - 8_192 else { return nil }
        var plain = AnswerAddress.bytes(of: UInt32(clamping: text.count)) + text
        plain += repeatElement(
            0, count: Padding.paddedByteCount(ofIndex: plain.count) - plain.count)
        let nonce = AuthenticatedCipher.randomNonce()
        var file = nonce
        plain.withBytes {
            AuthenticatedCipher.seal(
                $0, nonce: nonce, additionalData: additionalData(content), key: key.bytes,
                appendingTo: &file)
        }
        return file
    }

    /// Opens a file; nil for one that was changed or cut, or sealed by another vault or under another
    /// index key, or that holds something else.
    package func open<Value: Decodable>(
        _ file: [UInt8], as content: Content, _ type: Value.Type = Value.self
    ) -> Value? {
        let overhead = AuthenticatedCipher.nonceByteCount + AuthenticatedCipher.tagByteCount
        guard file.count > overhead, file.count <= Self.byteLimit, let key = keys[content] else {
            return nil
        }
        let nonce = Array(file.prefix(AuthenticatedCipher.nonceByteCount))
        var plain = [UInt8](repeating: 0, count: file.count - overhead)
        let isAuthentic = unsafe plain.withUnsafeMutableBytes { buffer in
            var target = unsafe MutableRawSpan(_unsafeBytes: buffer)
            return Array(file.dropFirst(AuthenticatedCipher.nonceByteCount)).withBytes { sealed in
                do throws(SealingError) {
                    try AuthenticatedCipher.open(
                        sealed, nonce: nonce, additionalData: additionalData(content),
                        key: key.bytes, into: &target)
                    return true
                } catch { return false }
            }
        }
        guard isAuthentic, let count = AnswerAddress.number(plain.prefix(4)),
            count >= 1, count <= plain.count - 4, plain[4] == Self.format
        else { return nil }
        return try? JSONDecoder().decode(Value.self, from: Array(plain[5..<(4 + count)]))
    }

    private func additionalData(_ content: Content) -> [UInt8] {
        var label = Array("zgv2/notify".utf8)
        label += repeatElement(0, count: 15 - label.count)
        return label + [UInt8(content.rawValue)] + vault
    }
}

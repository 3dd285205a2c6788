package import Sealing

/// Seals files stored beside a vault: nonce and `AEAD` of the content, which is preceded by its
/// length and zero-padded like the index (docs/vault-format.md).
package final class SealedFile {
    private let key: SecretBytes
    private let data: [UInt8]

    /// - Parameters:
    ///   - label: Identifies the kind of file, at most 15 bytes; part of the associated data with
    ///     `number` and `vault`.
    ///   - number: Distinguishes kinds with the same label.
    package init(
        key: consuming SecretBytes, label: String, number: UInt8 = 0, vault: Identifier
    ) {
        self.key = key
        let label = Array(label.utf8)
        data = label + repeatElement(0, count: 15 - label.count) + [number] + vault.bytes
    }

    /// Returns the sealed file.
    package func seal(_ content: [UInt8]) -> [UInt8] {
        let count = UInt32(clamping: content.count)
        var plain = (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + content
        plain += repeatElement(
            0, count: Padding.paddedByteCount(ofIndex: plain.count) - plain.count)
        let nonce = AuthenticatedCipher.randomNonce()
        var file = nonce
        plain.withBytes {
            AuthenticatedCipher.seal(
                $0, nonce: nonce, additionalData: data, key: key, appendingTo: &file)
        }
        return file
    }

    /// Opens a sealed file. Returns nil if it was changed, truncated, or sealed with a different key,
    /// for another vault or as another kind.
    package func open(_ file: [UInt8]) -> [UInt8]? {
        let overhead = AuthenticatedCipher.nonceByteCount + AuthenticatedCipher.tagByteCount
        guard file.count >= overhead + 4 else { return nil }
        let nonce = Array(file.prefix(AuthenticatedCipher.nonceByteCount))
        var plain = [UInt8](repeating: 0, count: file.count - overhead)
        let isAuthentic = unsafe plain.withUnsafeMutableBytes { buffer in
            var target = unsafe MutableRawSpan(_unsafeBytes: buffer)
            return Array(file.dropFirst(AuthenticatedCipher.nonceByteCount)).withBytes { sealed in
                do throws(SealingError) {
                    try AuthenticatedCipher.open(
                        sealed, nonce: nonce, additionalData: data, key: key, into: &target)
                    return true
                } catch { return false }
            }
        }
        let count = plain.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        guard isAuthentic, count <= plain.count - 4 else { return nil }
        return Array(plain[4..<(4 + count)])
    }
}

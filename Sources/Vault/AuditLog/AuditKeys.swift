internal import Sealing

/// The keys of a vault's audit log: the current one, and those of former index keys.
final class AuditKeys {
    private let present: SecretBytes
    private let former: [SecretSlice]
    /// The key that opened the last line, tried first because most lines share a key.
    private var lastUsed: Int?

    /// Derives the current key, and reads the former ones from the index.
    init(_ keys: VaultKeys, index: VaultIndex) throws(VaultError) {
        present = try keys.index.derivedKey(for: .auditLog)
        former = index.formerLogKeys
    }

    /// Opens a sealed body. Returns nil if no key opens it.
    func open(
        _ sealed: [UInt8], nonce: [UInt8], associatedData: [UInt8]
    ) throws(VaultError) -> [UInt8]? {
        let order = [former.count] + former.indices.reversed()
        for position in ([lastUsed].compactMap { $0 }) + order.filter({ $0 != lastUsed }) {
            let opened =
                position == former.count
                ? present.withBytes { Self.open(sealed, nonce, associatedData, $0) }
                : former[position].withBytes { Self.open(sealed, nonce, associatedData, $0) }
            if let opened {
                lastUsed = position
                return opened
            }
        }
        return nil
    }

    private static func open(
        _ sealed: [UInt8], _ nonce: [UInt8], _ associatedData: [UInt8], _ key: RawSpan
    ) -> [UInt8]? {
        var plain = [UInt8](
            repeating: 0, count: max(sealed.count - AuthenticatedCipher.tagByteCount, 0))
        let isAuthentic = unsafe plain.withUnsafeMutableBytes { buffer in
            var target = unsafe MutableRawSpan(_unsafeBytes: buffer)
            return sealed.withBytes { sealed in
                do throws(SealingError) {
                    try AuthenticatedCipher.open(
                        sealed, nonce: nonce, additionalData: associatedData, key: key,
                        into: &target)
                    return true
                } catch { return false }
            }
        }
        return isAuthentic ? plain : nil
    }
}

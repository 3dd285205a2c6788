internal import Sealing

/// A keyed hash that recognizes a text without storing it, with a new key for each use.
struct ClipboardFingerprint: ~Copyable {
    /// Length of the encoding: a 32-byte key, then a 32-byte hash.
    static let byteCount = 64

    private let bytes: SecretBytes

    init(of text: RawSpan) throws {
        let key = try SecretBytes.random(count: 32)
        let hash = try key.withBytes { try Digest.keyed(text, key: $0) }
        var bytes = try SecretBytes(count: Self.byteCount)
        bytes.withMutableBytes { target in
            key.withBytes { target.copy(from: $0) }
            var tail = target._mutatingExtracting(droppingFirst: 32)
            hash.withBytes { tail.copy(from: $0) }
        }
        self.bytes = bytes
    }

    /// Decodes the bytes of ``withBytes(_:)``; nil if the length is wrong.
    init?(decoding text: borrowing SecretBuffer) throws {
        guard text.count == Self.byteCount else { return nil }
        bytes = try text.withBytes { try SecretBytes(copying: $0) }
    }

    /// Passes the encoding to `body`.
    borrowing func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
        try bytes.withBytes(body)
    }

    /// Identifies this use and reveals nothing about the text.
    var mark: [UInt8] { bytes.withBytes { Digest.checksum($0) } }

    /// Returns whether `text` is the hashed text.
    borrowing func matches(_ text: RawSpan) throws -> Bool {
        try bytes.withBytes { bytes in
            let hash = try Digest.keyed(text, key: bytes.extracting(first: 32))
            return hash.withBytes {
                $0.isEqualInConstantTime(to: bytes.extracting(droppingFirst: 32))
            }
        }
    }
}

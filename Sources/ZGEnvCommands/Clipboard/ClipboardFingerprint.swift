internal import Sealing

/// By which a text is known again without being kept: its keyed hash, under a key for this one use.
struct ClipboardFingerprint: ~Copyable {
    /// Bytes of the encoding: key 32, hash 32.
    static let byteCount = 64

    private let bytes: SecretBytes

    /// Hashes `text` under a new key.
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

    /// Takes what ``withBytes(_:)`` lent to another process; nil for another length.
    init?(decoding text: borrowing SecretBuffer) throws {
        guard text.count == Self.byteCount else { return nil }
        bytes = try text.withBytes { try SecretBytes(copying: $0) }
    }

    /// Lends the encoding.
    borrowing func withBytes<R>(_ body: (RawSpan) throws -> R) rethrows -> R {
        try bytes.withBytes(body)
    }

    /// Names this one use, and tells nothing of the text.
    var mark: [UInt8] { bytes.withBytes { Digest.checksum($0) } }

    /// Tells whether `text` is the one.
    borrowing func matches(_ text: RawSpan) throws -> Bool {
        try bytes.withBytes { bytes in
            let hash = try Digest.keyed(text, key: bytes.extracting(first: 32))
            return hash.withBytes {
                $0.isEqualInConstantTime(to: bytes.extracting(droppingFirst: 32))
            }
        }
    }
}

internal import Sealing
internal import SystemFiles
package import Vault

/// The BLAKE2b hash of a group object, which names it: 32 bytes, ordered bytewise.
package struct GroupHash: Hashable, Comparable, Sendable {
    // Integers rather than an array: a fold holds a hundred thousand of them.
    private let high: Identifier
    private let low: Identifier

    package static let byteCount = 32
    /// The hash of nothing: the first of a sequence has no hash before it.
    package static let zero = GroupHash(high: .zero, low: .zero)

    private init(high: Identifier, low: Identifier) {
        self.high = high
        self.low = low
    }

    /// Returns nil unless there are 32 bytes.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, let high = Identifier(bytes[..<16]),
            let low = Identifier(bytes[16...])
        else { return nil }
        self.init(high: high, low: low)
    }

    /// Returns nil unless there are 64 lowercase hexadecimal digits.
    package init?(hexadecimal digits: some StringProtocol) {
        guard let bytes = Hexadecimal.bytes(of: digits) else { return nil }
        self.init(bytes)
    }

    /// Hashes all bytes of an object.
    package init(of object: [UInt8]) {
        let digest = object.withBytes { Digest.checksum($0) }
        self = GroupHash(digest) ?? .zero
    }

    /// The 32 bytes.
    package var bytes: [UInt8] { high.bytes + low.bytes }

    /// 64 lowercase hexadecimal digits.
    package var hexadecimal: String { Hexadecimal.text(of: bytes) }

    package static func < (left: GroupHash, right: GroupHash) -> Bool {
        left.high == right.high ? left.low < right.low : left.high < right.high
    }

    package func encode(into writer: inout ByteWriter) {
        writer.identifier(high)
        writer.identifier(low)
    }

    package static func decode(from reader: inout ByteReader) throws(VaultError) -> GroupHash {
        GroupHash(high: try reader.identifier(), low: try reader.identifier())
    }
}

extension Identifier {
    /// 16 zeros, which no random id is.
    package static let zero = Identifier([UInt8](repeating: 0, count: 16)) ?? .random()
}

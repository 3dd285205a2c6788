internal import Sealing

/// The location and checksum of a stored version.
package struct StoredVersion: Equatable, Sendable {
    /// A 32-byte checksum. Not an array, because a vault has thousands.
    struct Checksum: Equatable, Sendable {
        private let parts: (UInt64, UInt64, UInt64, UInt64)

        /// Computes the checksum of a chunk.
        init(of chunk: RawSpan) {
            self.init(Digest.checksum(chunk))
        }

        /// - Parameter bytes: 32 bytes.
        init(_ bytes: [UInt8]) {
            func part(_ start: Int) -> UInt64 {
                (0..<8).reversed().reduce(0) { $0 << 8 | UInt64(bytes[start + $1]) }
            }
            parts = (part(0), part(8), part(16), part(24))
        }

        fileprivate init(from reader: inout ByteReader) throws(VaultError) {
            parts = (
                try reader.uint64(), try reader.uint64(), try reader.uint64(),
                try reader.uint64()
            )
        }

        fileprivate func encode(into writer: inout ByteWriter) {
            writer.uint64(parts.0)
            writer.uint64(parts.1)
            writer.uint64(parts.2)
            writer.uint64(parts.3)
        }

        static func == (left: Checksum, right: Checksum) -> Bool { left.parts == right.parts }
    }

    package let variable: Identifier
    /// From 1.
    package let version: UInt64
    /// Covered by the seal; the number is for people.
    package let id: Identifier
    let batch: Identifier
    /// Relative to the first chunk.
    var offset: UInt64
    /// The size of the chunk: nonce, ciphertext and tag.
    let length: UInt32
    /// BLAKE2b-256 of the chunk.
    let checksum: Checksum
    /// Milliseconds since 1970.
    package let createdAt: UInt64
    /// The variable's name when the value was stored, if it was renamed since.
    var formerName: String?

    static let minimumByteCount = 109

    func encode(into writer: inout ByteWriter) {
        writer.identifier(variable)
        writer.uint64(version)
        writer.identifier(id)
        writer.identifier(batch)
        writer.uint64(offset)
        writer.uint32(length)
        checksum.encode(into: &writer)
        writer.uint64(createdAt)
        writer.optionalText(formerName)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> StoredVersion {
        StoredVersion(
            variable: try reader.identifier(), version: try reader.uint64(),
            id: try reader.identifier(), batch: try reader.identifier(),
            offset: try reader.uint64(),
            length: try reader.uint32(), checksum: try Checksum(from: &reader),
            createdAt: try reader.uint64(),
            formerName: try reader.optionalText(limit: VaultFormat.nameLimit))
    }
}

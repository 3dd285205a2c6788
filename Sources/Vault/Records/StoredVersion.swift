internal import Sealing

/// Where one version of a value lies, and what it must hash to.
package struct StoredVersion: Equatable, Sendable {
    /// The name and project that a value was sealed for, where the record was renamed since: the
    /// name is part of what the seal covers.
    package struct SealedName: Equatable, Sendable {
        let project: Identifier
        let name: String
    }

    /// The 32 bytes of a checksum. Not an array: a vault has thousands.
    struct Checksum: Equatable, Sendable {
        private let parts: (UInt64, UInt64, UInt64, UInt64)

        /// Takes the checksum of a chunk.
        init(of chunk: RawSpan) {
            self.init(Digest.checksum(chunk))
        }

        /// Takes 32 bytes.
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

    /// The variable.
    package let variable: Identifier
    /// The version's number, from 1.
    package let version: UInt64
    /// Made with the version, and covered by its seal; the number is for people.
    package let id: Identifier
    /// The batch whose data key opens it.
    package let batch: Identifier
    /// From the front of the chunks.
    var offset: UInt64
    /// Bytes of the chunk: nonce, ciphertext and tag.
    let length: UInt32
    /// BLAKE2b-256 of the chunk.
    let checksum: Checksum
    /// Milliseconds since 1970.
    package let createdAt: UInt64
    var sealedName: SealedName?

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
        writer.flag(sealedName != nil)
        if let sealedName {
            writer.identifier(sealedName.project)
            writer.text(sealedName.name)
        }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> StoredVersion {
        var version = StoredVersion(
            variable: try reader.identifier(), version: try reader.uint64(),
            id: try reader.identifier(), batch: try reader.identifier(),
            offset: try reader.uint64(),
            length: try reader.uint32(), checksum: try Checksum(from: &reader),
            createdAt: try reader.uint64())
        if try reader.flag() {
            version.sealedName = SealedName(
                project: try reader.identifier(),
                name: try reader.text(limit: VaultFormat.nameLimit))
        }
        return version
    }
}

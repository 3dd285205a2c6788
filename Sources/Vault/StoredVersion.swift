/// Where one version of a value lies, and what it must hash to.
package struct StoredVersion: Equatable, Sendable {
    /// The name and project that a value was sealed for, where the record was renamed since: the
    /// name is part of what the seal covers.
    package struct SealedName: Equatable, Sendable {
        let project: Identifier
        let name: String
    }

    /// The variable.
    package let variable: Identifier
    /// The version's number, from 1.
    package let version: UInt64
    /// The batch whose data key opens it.
    package let batch: Identifier
    /// From the front of the chunks.
    var offset: UInt64
    /// Bytes of the chunk: nonce, ciphertext and tag.
    let length: UInt32
    /// BLAKE2b-256 of the chunk.
    let checksum: [UInt8]
    /// Milliseconds since 1970.
    package let createdAt: UInt64
    var sealedName: SealedName?

    static let minimumByteCount = 93

    func encode(into writer: inout ByteWriter) {
        writer.identifier(variable)
        writer.uint64(version)
        writer.identifier(batch)
        writer.uint64(offset)
        writer.uint32(length)
        writer.raw(checksum)
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
            batch: try reader.identifier(), offset: try reader.uint64(),
            length: try reader.uint32(), checksum: try reader.bytes(32),
            createdAt: try reader.uint64())
        if try reader.flag() {
            version.sealedName = SealedName(
                project: try reader.identifier(),
                name: try reader.text(limit: VaultFormat.nameLimit))
        }
        return version
    }
}

/// The identity of a sealed value: 48 bytes in a checkpoint's entry.
package struct VersionName: Hashable, Sendable {
    package let number: UInt64
    /// The version's id, which its seal covers.
    package let id: Identifier
    package var batch: Identifier
    /// Milliseconds since 1970.
    package let createdAt: UInt64

    static let byteCount = 48

    func encode(into writer: inout ByteWriter) {
        writer.uint64(number)
        writer.identifier(id)
        writer.identifier(batch)
        writer.uint64(createdAt)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> VersionName {
        VersionName(
            number: try reader.uint64(), id: try reader.identifier(),
            batch: try reader.identifier(), createdAt: try reader.uint64())
    }
}

extension StoredVersion {
    /// The version's identity in the checkpoint.
    package var name: VersionName {
        VersionName(number: version, id: id, batch: batch, createdAt: createdAt)
    }
}

/// What names one sealed value: 48 bytes of a checkpoint's entry.
package struct VersionName: Hashable, Sendable {
    /// The version's number.
    package let number: UInt64
    /// The version's own name, which its seal covers.
    package let id: Identifier
    /// The batch whose data key opens it.
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
    /// What names it in the checkpoint.
    package var name: VersionName {
        VersionName(number: version, id: id, batch: batch, createdAt: createdAt)
    }
}

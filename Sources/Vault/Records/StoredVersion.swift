/// The location and checksum of a stored version.
package struct StoredVersion: Equatable, Sendable {
    package let variable: Identifier
    /// From 1.
    package internal(set) var version: UInt64
    /// Covered by the seal; the number is for people.
    package let id: Identifier
    var batch: Identifier
    /// Relative to the first block of the file; what is beyond the blocks is new. The file has it
    /// relative to the chunks of the section.
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

    /// Where the chunk is.
    var chunk: Range<UInt64> { offset..<offset + UInt64(length) }

    /// - Parameter offset: Relative to the chunks of the section.
    func encode(into writer: inout ByteWriter, at offset: UInt64) {
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

    /// - Parameter place: The section that the version is in.
    /// - Throws: ``VaultError/Code/damaged``, also for a chunk beyond the section's.
    static func decode(
        from reader: inout ByteReader, in place: SectionExtent
    ) throws(VaultError) -> StoredVersion {
        let (variable, version) = (try reader.identifier(), try reader.uint64())
        let (id, batch) = (try reader.identifier(), try reader.identifier())
        let (offset, length) = (try reader.uint64(), try reader.uint32())
        let found = StoredVersion(
            variable: variable, version: version, id: id, batch: batch,
            offset: place.chunksOffset &+ offset, length: length,
            checksum: try Checksum(from: &reader), createdAt: try reader.uint64(),
            formerName: try reader.optionalText(limit: VaultFormat.nameLimit))
        guard offset <= place.chunksByteCount, UInt64(length) <= place.chunksByteCount - offset
        else { throw VaultError(damaged: .layout, "a value lies outside its section") }
        return found
    }
}

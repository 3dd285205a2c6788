internal import Sealing

/// Where a section and the chunks of its values are: one block of the file.
struct SectionExtent: Equatable, Sendable {
    /// Of a project, or of journal entries that belong to none.
    let id: Identifier
    /// Of the block, relative to the first one. Not stored: blocks follow each other.
    private(set) var offset: UInt64 = 0
    /// Of the sealed section: nonce, padded content, tag.
    let sealedByteCount: UInt64
    let chunksByteCount: UInt64
    /// Of the sealed section. The table is signed, so only this text of it is valid.
    let checksum: Checksum

    /// The place of the first chunk, relative to the first block.
    var chunksOffset: UInt64 { offset + sealedByteCount }
    /// Where the next block begins.
    var end: UInt64 { chunksOffset + chunksByteCount }
    /// The places of the chunks, relative to the first block.
    var chunks: Range<UInt64> { chunksOffset..<end }

    static let byteCount = 64
    /// What the seal adds to the padded content.
    static let addedByteCount =
        AuthenticatedCipher.nonceByteCount + AuthenticatedCipher.tagByteCount

    /// - Parameter offset: Where the block before it ends.
    init(
        id: Identifier, offset: UInt64, sealedByteCount: UInt64, chunksByteCount: UInt64,
        checksum: Checksum
    ) {
        self.id = id
        self.offset = offset
        self.sealedByteCount = sealedByteCount
        self.chunksByteCount = chunksByteCount
        self.checksum = checksum
    }

    /// The same block at another place.
    func moved(to offset: UInt64) -> SectionExtent {
        var moved = self
        moved.offset = offset
        return moved
    }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(id)
        writer.uint64(sealedByteCount)
        writer.uint64(chunksByteCount)
        checksum.encode(into: &writer)
    }

    /// Decodes a row of the table, without its offset.
    static func decode(from reader: inout ByteReader) throws(VaultError) -> SectionExtent {
        SectionExtent(
            id: try reader.identifier(), offset: 0, sealedByteCount: try reader.uint64(),
            chunksByteCount: try reader.uint64(), checksum: try Checksum(from: &reader))
    }

    /// What the seal of a section covers besides its content.
    static func associatedData(vault: Identifier, id: Identifier) -> [UInt8] {
        Array("zgv3/section".utf8) + [0, 0, 0, 0] + vault.bytes + id.bytes
    }
}

extension [SectionExtent] {
    /// Places the blocks one after another.
    ///
    /// - Throws: ``VaultError/Code/damaged`` if a section has an impossible length, or if the last
    ///   block does not end where the file ends.
    mutating func place(in blocksByteCount: UInt64) throws(VaultError) {
        var (end, sealed): (UInt64, UInt64) = (0, 0)
        let step = UInt64(VaultFormat.indexPaddingStep)
        let added = UInt64(SectionExtent.addedByteCount)
        for position in indices {
            let section = self[position]
            guard section.sealedByteCount >= added + step,
                (section.sealedByteCount - added).isMultiple(of: step),
                // Sums do not overflow: both terms are at most 4 GiB.
                section.sealedByteCount <= UInt64(VaultFormat.indexLimit) - sealed,
                section.chunksByteCount <= blocksByteCount,
                end + section.sealedByteCount + section.chunksByteCount <= blocksByteCount
            else {
                throw VaultError(damaged: .layout, "the length of a section is out of range")
            }
            sealed += section.sealedByteCount
            self[position] = section.moved(to: end)
            end = self[position].end
        }
        guard end == blocksByteCount else {
            throw VaultError(damaged: .layout, "the sections do not end where the file ends")
        }
    }
}

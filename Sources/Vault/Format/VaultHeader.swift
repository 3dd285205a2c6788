internal import Sealing

/// The cleartext start of a vault. Untrusted until the index opens with it.
package struct VaultHeader: Equatable, Sendable {
    /// Permanent.
    package var vaultID: Identifier
    /// Incremented by each write.
    package var generation: UInt64
    /// The epoch of the index key in use.
    package var indexEpoch: UInt32
    /// 32 bytes: checks the signature of the index.
    package var publicKey: [UInt8]
    package var slots: [KeySlot]
    var tableNonce: [UInt8]
    /// The size of the sealed table, including its proof and tag.
    package var tableByteCount: UInt64
    /// The size of the file.
    package var fileByteCount: UInt64

    /// The size of the header.
    package var byteCount: Int {
        VaultFormat.fixedHeaderByteCount + slots.count * VaultFormat.slotByteCount
    }

    /// The file offset of the first block.
    var blocksOffset: UInt64 { UInt64(byteCount) + tableByteCount }

    /// The size of all blocks: sections and chunks.
    var blocksByteCount: UInt64 { fileByteCount - blocksOffset }

    func encoded() -> [UInt8] {
        var writer = ByteWriter(reserving: byteCount)
        writer.raw(VaultFormat.magic)
        writer.uint16(VaultFormat.number)
        writer.uint16(0)
        writer.uint32(UInt32(byteCount))
        writer.uint64(fileByteCount)
        writer.identifier(vaultID)
        writer.uint64(generation)
        writer.uint32(indexEpoch)
        writer.raw(publicKey)
        writer.uint32(UInt32(slots.count))
        for slot in slots { slot.encode(into: &writer) }
        writer.raw(tableNonce)
        writer.uint64(tableByteCount)
        let checksum = writer.bytes.withBytes { Digest.checksum($0) }
        writer.raw(checksum)
        return writer.bytes
    }

    /// Returns the length of the header, from the first sixteen bytes of a file.
    static func headerByteCount(ofPrefix prefix: [UInt8]) throws(VaultError) -> Int {
        guard prefix.count == 16, Array(prefix.prefix(8)) == VaultFormat.magic else {
            throw VaultError(damaged: .magic, "this is not a vault file")
        }
        let length = prefix[12...].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length >= VaultFormat.fixedHeaderByteCount, length <= VaultFormat.headerLimit else {
            throw VaultError(damaged: .header, "the length of the vault's header is out of range")
        }
        return length
    }

    /// Decodes a header.
    ///
    /// Verifies the checksum first, so that a flipped bit counts as damage and never as a newer
    /// format or a wrong passphrase. Magic, format, length and checksum have the same place in
    /// every format.
    static func decode(_ bytes: [UInt8]) throws(VaultError) -> VaultHeader {
        let body = bytes.count - VaultFormat.checksumByteCount
        guard body > 0,
            Array(bytes[..<body]).withBytes({ Digest.checksum($0) }) == Array(bytes[body...])
        else {
            throw VaultError(
                damaged: .checksum, "the checksum of the vault's header does not match")
        }
        return try bytes.withBytes { (span) throws(VaultError) in
            try ByteReader.read(span.extracting(first: body)) { (reader) throws(VaultError) in
                try decode(from: &reader, byteCount: bytes.count)
            }
        }
    }

    private static func decode(
        from reader: inout ByteReader, byteCount: Int
    ) throws(VaultError) -> VaultHeader {
        guard try reader.bytes(8) == VaultFormat.magic else {
            throw VaultError(damaged: .magic, "this is not a vault file")
        }
        let format = try reader.uint16()
        guard format <= VaultFormat.number else {
            throw VaultError(
                .newerFormat,
                "the vault has format \(format), which requires a newer version of zg-env")
        }
        guard !(1...VaultFormat.lastPreReleaseNumber).contains(format) else {
            throw VaultError(
                .preReleaseFormat,
                "the vault was created by a pre-release of zg-env, which this version cannot read")
        }
        guard format == VaultFormat.number, try reader.uint16() == 0,
            try reader.uint32() == UInt32(byteCount)
        else { throw VaultError(damaged: .header, "the vault's header is inconsistent") }
        let fileByteCount = try reader.uint64()
        let vaultID = try reader.identifier()
        let generation = try reader.uint64()
        let epoch = try reader.uint32()
        let publicKey = try reader.bytes(32)
        let slotCount = Int(try reader.uint32())
        guard slotCount <= VaultFormat.slotLimit,
            byteCount == VaultFormat.fixedHeaderByteCount + slotCount * VaultFormat.slotByteCount
        else { throw VaultError(damaged: .header, "the number of slots is out of range") }
        var slotReader = try reader.section(slotCount * VaultFormat.slotByteCount)
        var header = VaultHeader(
            vaultID: vaultID, generation: generation, indexEpoch: epoch, publicKey: publicKey,
            slots: [], tableNonce: try reader.bytes(24), tableByteCount: try reader.uint64(),
            fileByteCount: fileByteCount)
        // Problems across slots belong to the header, and are reported before problems within a
        // slot.
        try header.checkBounds(byteCount: byteCount)
        try checkSlots(slotReader, count: slotCount)
        for _ in 0..<slotCount { header.slots.append(try KeySlot.decode(from: &slotReader)) }
        return header
    }

    private func checkBounds(byteCount: Int) throws(VaultError) {
        let added = AuthenticatedCipher.tagByteCount + VaultFormat.indexProofByteCount
        guard tableByteCount <= UInt64(VaultFormat.indexLimit + added),
            tableByteCount > UInt64(added),
            fileByteCount <= VaultFormat.fileLimit,
            fileByteCount >= UInt64(byteCount) + tableByteCount, indexEpoch > 0, generation > 0
        else { throw VaultError(damaged: .header, "the vault's header is inconsistent") }
    }

    /// Checks only ids and kinds.
    private static func checkSlots(_ reader: ByteReader, count: Int) throws(VaultError) {
        var reader = reader
        var ids: Set<Identifier> = []
        var passphrases = 0
        for _ in 0..<count {
            var slot = try reader.section(VaultFormat.slotByteCount)
            ids.insert(try slot.identifier())
            if try slot.byte() == KeySlot.Kind.passphrase.rawValue { passphrases += 1 }
        }
        guard ids.count == count, passphrases <= VaultFormat.passphraseSlotLimit else {
            throw VaultError(
                damaged: .header,
                "two slots have the same ID, or there are too many passphrase slots")
        }
    }

    /// Returns "zgv3/index" and the whole header, so that changing the header makes the index
    /// unreadable.
    static func tableAssociatedData(header: [UInt8]) -> [UInt8] {
        Array("zgv3/index".utf8) + header
    }
}

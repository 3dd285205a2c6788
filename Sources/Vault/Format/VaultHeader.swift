internal import Sealing

/// What stands in clear at the front of a vault. Hostile until the index opens with it.
package struct VaultHeader: Equatable, Sendable {
    /// Names the vault for ever.
    package var vaultID: Identifier
    /// One higher with each write.
    package var generation: UInt64
    /// Which index key is in use.
    package var indexEpoch: UInt32
    /// 32 bytes; values written while the vault is locked are sealed to it.
    package var publicKey: [UInt8]
    /// The ways to open the vault.
    package var slots: [KeySlot]
    var indexNonce: [UInt8]
    /// Bytes of the sealed index, tag included.
    package var indexByteCount: UInt64
    /// Bytes of the whole file.
    package var fileByteCount: UInt64

    /// Bytes of the header itself.
    package var byteCount: Int {
        VaultFormat.fixedHeaderByteCount + slots.count * VaultFormat.slotByteCount
    }

    /// Where the first chunk begins, from the front of the file.
    var chunksOffset: UInt64 { UInt64(byteCount) + indexByteCount }

    /// Bytes of all chunks together.
    var chunksByteCount: UInt64 { fileByteCount - chunksOffset }

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
        writer.raw(indexNonce)
        writer.uint64(indexByteCount)
        let checksum = writer.bytes.withBytes { Digest.checksum($0) }
        writer.raw(checksum)
        return writer.bytes
    }

    /// Reads the length of the header from the first sixteen bytes of a file.
    static func headerByteCount(ofPrefix prefix: [UInt8]) throws(VaultError) -> Int {
        guard prefix.count == 16, Array(prefix.prefix(8)) == VaultFormat.magic else {
            throw VaultError(damaged: .magic, "this is not a vault: it does not begin as one")
        }
        let length = prefix[12...].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard length >= VaultFormat.fixedHeaderByteCount, length <= VaultFormat.headerLimit else {
            throw VaultError(damaged: .header, "the length of the vault's header is out of bounds")
        }
        return length
    }

    /// Reads a header.
    ///
    /// The checksum goes first, so that a flipped bit is damage and never a newer format or a
    /// wrong passphrase. Magic, format, length and checksum stand where they stand in every format.
    static func decode(_ bytes: [UInt8]) throws(VaultError) -> VaultHeader {
        let body = bytes.count - VaultFormat.checksumByteCount
        guard body > 0,
            Array(bytes[..<body]).withBytes({ Digest.checksum($0) }) == Array(bytes[body...])
        else {
            throw VaultError(damaged: .checksum, "the checksum of the vault's header does not hold")
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
            throw VaultError(damaged: .magic, "this is not a vault: it does not begin as one")
        }
        let format = try reader.uint16()
        guard format <= VaultFormat.number else {
            throw VaultError(
                .newerFormat, "the vault has format \(format), made by a newer zg-env")
        }
        guard format != VaultFormat.preReleaseNumber else {
            throw VaultError(
                .preReleaseFormat,
                "the vault was made by a pre-release of zg-env (format \(format)), which this version "
                    + "does not read")
        }
        guard format == VaultFormat.number, try reader.uint16() == 0,
            try reader.uint32() == UInt32(byteCount)
        else { throw VaultError(damaged: .header, "the vault's header contradicts itself") }
        let fileByteCount = try reader.uint64()
        let vaultID = try reader.identifier()
        let generation = try reader.uint64()
        let epoch = try reader.uint32()
        let publicKey = try reader.bytes(32)
        let slotCount = Int(try reader.uint32())
        guard slotCount <= VaultFormat.slotLimit,
            byteCount == VaultFormat.fixedHeaderByteCount + slotCount * VaultFormat.slotByteCount
        else { throw VaultError(damaged: .header, "the number of slots is out of bounds") }
        var slotReader = try reader.section(slotCount * VaultFormat.slotByteCount)
        var header = VaultHeader(
            vaultID: vaultID, generation: generation, indexEpoch: epoch, publicKey: publicKey,
            slots: [], indexNonce: try reader.bytes(24), indexByteCount: try reader.uint64(),
            fileByteCount: fileByteCount)
        // What is wrong among slots is the header's, and told before what is wrong in one of them.
        try header.checkBounds(byteCount: byteCount)
        try checkSlots(slotReader, count: slotCount)
        for _ in 0..<slotCount { header.slots.append(try KeySlot.decode(from: &slotReader)) }
        return header
    }

    private func checkBounds(byteCount: Int) throws(VaultError) {
        guard indexByteCount <= UInt64(VaultFormat.indexLimit + AuthenticatedCipher.tagByteCount),
            indexByteCount > UInt64(AuthenticatedCipher.tagByteCount),
            fileByteCount <= VaultFormat.fileLimit,
            fileByteCount >= UInt64(byteCount) + indexByteCount, indexEpoch > 0, generation > 0
        else { throw VaultError(damaged: .header, "the vault's header contradicts itself") }
    }

    /// Looks at ids and kinds alone.
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
            throw VaultError(damaged: .header, "two slots have one id, or too many a passphrase")
        }
    }

    /// "zgv2/index" and the whole header: a change of the header makes the index unreadable.
    static func indexAssociatedData(header: [UInt8]) -> [UInt8] {
        Array("zgv2/index".utf8) + header
    }
}

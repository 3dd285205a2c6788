internal import Sealing

/// What decides which bytes go where, as somebody with the root last wrote or accepted it, under a code
/// that only the root makes.
struct Checkpoint: Equatable, Sendable {
    /// The generation it was made in.
    let generation: UInt64
    /// 24 bytes.
    let nonce: [UInt8]
    /// 16 bytes: of what is covered, without a text.
    let tag: [UInt8]
    var entries: CheckpointEntries

    init(generation: UInt64, nonce: [UInt8], tag: [UInt8], entries: CheckpointEntries) {
        (self.generation, self.nonce, self.tag) = (generation, nonce, tag)
        self.entries = entries
    }

    /// One of nobody's.
    init() {
        self.init(
            generation: 0, nonce: [UInt8](repeating: 0, count: AuthenticatedCipher.nonceByteCount),
            tag: [UInt8](repeating: 0, count: AuthenticatedCipher.tagByteCount), entries: .init())
    }

    /// Makes the checkpoint of the generation that `header` is of. The header must have its vault id,
    /// generation, epoch, public key and slots; its lengths and nonce do not matter.
    init(
        of entries: CheckpointEntries, under header: VaultHeader, key: borrowing SecretBytes
    ) {
        let nonce = AuthenticatedCipher.randomNonce()
        let covered = Self.covered(entries, header.generation, header)
        self.init(
            generation: header.generation, nonce: nonce,
            tag: covered.withBytes { AuthenticatedCipher.tag(of: $0, nonce: nonce, key: key) },
            entries: entries)
    }

    /// Tells whether somebody with the root made this, for these slots and this public key.
    func holds(under header: VaultHeader, key: borrowing SecretBytes) -> Bool {
        guard generation > 0, generation <= header.generation else { return false }
        return Self.covered(entries, generation, header).withBytes {
            AuthenticatedCipher.holds(tag, of: $0, nonce: nonce, key: key)
        }
    }

    /// What the code covers; docs/vault-format.md section 5.9.
    private static func covered(
        _ entries: CheckpointEntries, _ generation: UInt64, _ header: VaultHeader
    ) -> ByteWriter {
        var writer = ByteWriter(reserving: 4_096 + entries.byteCount)
        writer.raw(Array("zgv2/checkpoint".utf8) + [0])
        writer.identifier(header.vaultID)
        writer.uint64(generation)
        writer.raw(header.publicKey)
        writer.uint32(header.indexEpoch)
        writer.uint32(UInt32(header.slots.count))
        for slot in header.slots { slot.encode(into: &writer) }
        entries.encode(into: &writer)
        return writer
    }

    /// Bytes in the index, behind the section's length.
    var byteCount: Int { 8 + nonce.count + tag.count + entries.byteCount }

    /// Writes what stands in front of the entries' bytes: their number is the last of it.
    func encodeFront(into writer: inout ByteWriter) {
        writer.uint64(generation)
        writer.raw(nonce)
        writer.raw(tag)
        writer.uint32(UInt32(entries.count))
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> Checkpoint {
        Checkpoint(
            generation: try reader.uint64(),
            nonce: try reader.bytes(AuthenticatedCipher.nonceByteCount),
            tag: try reader.bytes(AuthenticatedCipher.tagByteCount),
            entries: try CheckpointEntries.decode(from: &reader))
    }
}

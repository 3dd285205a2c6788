internal import Sealing

/// Everything that determines where values go, as last written or accepted with the root,
/// authenticated by a MAC under a key derived from the root.
struct Checkpoint: Equatable, Sendable {
    /// The generation that created it.
    let generation: UInt64
    /// 24 bytes.
    let nonce: [UInt8]
    /// 16 bytes: a MAC of the covered data.
    let tag: [UInt8]
    var entries: CheckpointEntries

    /// Verifies that this was created with the root, for these slots and this public key.
    func holds(under header: VaultHeader, key: borrowing SecretBytes) -> Bool {
        guard generation > 0, generation <= header.generation else { return false }
        return Self.covered(entries, generation, header).withBytes {
            AuthenticatedCipher.holds(tag, of: $0, nonce: nonce, key: key)
        }
    }

    /// Returns the data that the MAC covers; docs/vault-format.md section 5.9.
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

    /// The size in the index, without the section's length.
    var byteCount: Int { 8 + nonce.count + tag.count + entries.byteCount }

    /// Writes what precedes the entries' bytes, up to and including their number.
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

extension Checkpoint {
    /// An empty checkpoint, which is not valid.
    init() {
        self.init(
            generation: 0, nonce: [UInt8](repeating: 0, count: AuthenticatedCipher.nonceByteCount),
            tag: [UInt8](repeating: 0, count: AuthenticatedCipher.tagByteCount), entries: .init())
    }

    /// Creates the checkpoint for the generation of `header`. The header's vault id, generation,
    /// epoch, public key and slots must be set; its lengths and nonce are not used.
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
}

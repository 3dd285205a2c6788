internal import Sealing

extension Checkpoint {
    /// Makes the checkpoint of the generation that `header` is of. The header must have its vault id,
    /// generation, epoch, public key and slots; its lengths and nonce do not matter.
    static func made(
        of entries: [Entry], under header: VaultHeader, key: borrowing SecretBytes
    ) throws(VaultError) -> Checkpoint {
        let code = try Self.code(of: entries, header.generation, header, key)
        return Checkpoint(
            generation: header.generation,
            authenticationCode: code.withBytes { code in
                (0..<code.byteCount).map { code.byte(at: $0) }
            }, entries: entries)
    }

    /// Checks that somebody with the root made this, for these slots and this public key.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    func check(under header: VaultHeader, key: borrowing SecretBytes) throws(VaultError) {
        let expected = try Self.code(of: entries, generation, header, key)
        let holds = authenticationCode.withBytes { code in
            expected.withBytes { $0.isEqualInConstantTime(to: code) }
        }
        guard holds, generation > 0, generation <= header.generation else {
            throw VaultError(
                damaged: .checkpoint,
                "the slots of the vault or its checkpoint were changed by somebody who cannot open "
                    + "the values")
        }
    }

    /// BLAKE2b-256 under the checkpoint key; docs/vault-format.md section 5.9.
    private static func code(
        of entries: [Entry], _ generation: UInt64, _ header: VaultHeader,
        _ key: borrowing SecretBytes
    ) throws(VaultError) -> SecretBytes {
        var writer = ByteWriter(reserving: 4_096 + 128 * entries.count)
        writer.raw(Array("zgv1/checkpoint".utf8) + [0])
        writer.identifier(header.vaultID)
        writer.uint64(generation)
        writer.raw(header.publicKey)
        writer.uint32(header.indexEpoch)
        writer.uint32(UInt32(header.slots.count))
        for slot in header.slots { slot.encode(into: &writer) }
        encode(entries, into: &writer)
        return try guarding { () throws(SealingError) in
            try writer.bytes.withBytes { (text) throws(SealingError) in
                try key.withBytes { (key) throws(SealingError) in
                    try Digest.keyed(text, key: key)
                }
            }
        }
    }
}

extension VaultKeys {
    /// The checkpoint of the generation that `header` is of; nil while the values are locked.
    func checkpoint(
        of entries: [Checkpoint.Entry], under header: VaultHeader
    ) throws(VaultError) -> Checkpoint? {
        guard let key = try root?.checkpointKey() else { return nil }
        return try Checkpoint.made(of: entries, under: header, key: key)
    }
}

extension Vault {
    /// Checks the checkpoint of an index of this file. Does nothing while the values are locked, or
    /// where there is none: then every record counts as changed.
    func checkCheckpoint(of index: VaultIndex, with keys: VaultKeys) throws(VaultError) {
        guard let checkpoint = index.checkpoint, let key = try keys.root?.checkpointKey() else {
            return
        }
        try checkpoint.check(under: header, key: key)
    }
}

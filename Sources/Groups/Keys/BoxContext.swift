package import Sealing
package import Vault

/// What the text of an epoch's boxes says besides the key.
package struct BoxContext: Sendable {
    /// Zero in entry 1, whose hash is not known yet.
    package let group: GroupHash
    /// The number of the entry that has the box.
    package let entry: UInt64
    package let compartment: Identifier
    package let epoch: UInt32
    package let recipient: Identifier

    private func text(_ label: GroupLabel) -> [UInt8] {
        var writer = ByteWriter()
        writer.raw(label.bytes)
        group.encode(into: &writer)
        writer.uint64(entry)
        writer.identifier(compartment)
        writer.uint32(epoch)
        writer.identifier(recipient)
        return writer.bytes
    }

    /// Seals an epoch's keys to a member.
    ///
    /// - Parameters:
    ///   - readsValues: Whether the member gets the value secret.
    ///   - scratch: Memory of ``LabeledBox``.
    func seal(
        _ index: borrowing IndexKeyOfEpoch, _ value: borrowing ValueSecretOfEpoch,
        to keys: MemberKeys, readsValues: Bool, scratch: inout SecretBytes
    ) throws(GroupError) -> SealedKeys {
        SealedKeys(
            indexBox: try sealIndexKey(index, to: keys, scratch: &scratch),
            valueBox: readsValues
                ? try sealValueSecret(value, to: keys, scratch: &scratch) : nil)
    }

    func sealIndexKey(
        _ key: borrowing IndexKeyOfEpoch, to keys: MemberKeys, scratch: inout SecretBytes
    ) throws(GroupError) -> [UInt8] {
        try key.withBytes { (key) throws(GroupError) in
            try LabeledBox.seal(
                key, after: text(.indexBox), to: keys.indexBox, scratch: &scratch)
        }
    }

    func sealValueSecret(
        _ secret: borrowing ValueSecretOfEpoch, to keys: MemberKeys, scratch: inout SecretBytes
    ) throws(GroupError) -> [UInt8] {
        try secret.withSeed { (seed) throws(GroupError) in
            try LabeledBox.seal(
                seed, after: text(.valueBox), to: keys.valueBox, scratch: &scratch)
        }
    }

    /// Opens an index key and compares it with the commitment of the entry that made the epoch.
    func openIndexKey(
        _ box: [UInt8], with pair: borrowing SealedBox.KeyPair, commitment: GroupHash,
        scratch: inout SecretBytes
    ) throws(GroupError) -> IndexKeyOfEpoch {
        let key = try IndexKeyOfEpoch(
            LabeledBox.open(box, with: pair, expecting: text(.indexBox), scratch: &scratch))
        guard key.commitment(compartment: compartment, epoch: epoch) == commitment else {
            throw GroupError(SealingError.notAuthentic)
        }
        return key
    }

    /// Opens a value secret and compares it with the public key in the entry that made the epoch.
    func openValueSecret(
        _ box: [UInt8], with pair: borrowing SealedBox.KeyPair, publicKey: [UInt8],
        scratch: inout SecretBytes
    ) throws(GroupError) -> ValueSecretOfEpoch {
        let secret = try ValueSecretOfEpoch(
            LabeledBox.open(box, with: pair, expecting: text(.valueBox), scratch: &scratch))
        guard secret.publicKey == publicKey else { throw GroupError(SealingError.notAuthentic) }
        return secret
    }
}

/// What a wrapped data key says besides the key.
package struct DataKeyContext: Sendable {
    package let group: GroupHash
    package let compartment: Identifier
    package let epoch: UInt32
    package let batch: Identifier

    package init(
        group: GroupHash, compartment: Identifier, epoch: UInt32, batch: Identifier
    ) {
        self.group = group
        self.compartment = compartment
        self.epoch = epoch
        self.batch = batch
    }

    /// Label, group, compartment, epoch, batch: 84 bytes.
    var bytes: [UInt8] { common(.dataKey) }

    private func common(_ label: GroupLabel) -> [UInt8] {
        var writer = ByteWriter()
        writer.raw(label.bytes)
        group.encode(into: &writer)
        writer.identifier(compartment)
        writer.uint32(epoch)
        writer.identifier(batch)
        return writer.bytes
    }

    /// Wraps a data key: 164 bytes. Needs no secret besides it.
    package func wrap(
        _ dataKey: borrowing SecretBytes, to publicKey: [UInt8]
    ) throws(GroupError) -> [UInt8] {
        try dataKey.withBytes { (key) throws(GroupError) in
            try LabeledBox.seal(key, after: bytes, to: publicKey)
        }
    }

    /// The associated data of a chunk.
    package func chunkData(
        record: Identifier, version: Identifier, sealedName: String
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.raw(common(.chunk))
        writer.identifier(record)
        writer.identifier(version)
        writer.text(sealedName)
        return writer.bytes
    }
}

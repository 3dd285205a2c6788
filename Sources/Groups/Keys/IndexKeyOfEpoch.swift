package import Sealing
package import Vault

/// The index key of one compartment and epoch: opens names and metadata.
package struct IndexKeyOfEpoch: ~Copyable {
    private static let context: StaticString = "zggroup1"

    private let bytes: SecretBytes
    private let operationsKey: SecretBytes

    /// - Parameter bytes: 32 bytes.
    package init(_ bytes: consuming SecretBytes) throws(GroupError) {
        operationsKey = try Self.derive(1, from: bytes)
        self.bytes = bytes
    }

    package static func random() throws(GroupError) -> IndexKeyOfEpoch {
        try IndexKeyOfEpoch(try sealing(try SecretBytes.random(count: 32)))
    }

    /// Passes the 32 bytes to `body`.
    package borrowing func withBytes<R: ~Copyable, E>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R { try bytes.withBytes(body) }

    /// What an entry publishes of the key, so that all members can compare it.
    package borrowing func commitment(compartment: Identifier, epoch: UInt32) -> GroupHash {
        var writer = ByteWriter()
        writer.raw(GroupLabel.indexKey.bytes)
        writer.identifier(compartment)
        writer.uint32(epoch)
        let digest = writer.withBytes { text in
            bytes.withBytes { Digest.checksum(text, then: $0) }
        }
        return GroupHash(digest) ?? .zero
    }

    /// Seals operations: 24 bytes of nonce, ciphertext, 16 bytes of tag.
    func seal(_ padded: [UInt8], additionalData: [UInt8]) -> [UInt8] {
        padded.withBytes {
            AuthenticatedCipher.sealed($0, additionalData: additionalData, key: operationsKey)
        }
    }

    /// Opens operations. Names are not secret enough for guarded memory.
    func open(_ sealed: [UInt8], additionalData: [UInt8]) throws(GroupError) -> [UInt8] {
        let nonceCount = AuthenticatedCipher.nonceByteCount
        let overhead = nonceCount + AuthenticatedCipher.tagByteCount
        guard sealed.count >= overhead else { throw GroupError(SealingError.notAuthentic) }
        var padded = [UInt8](repeating: 0, count: sealed.count - overhead)
        do throws(SealingError) {
            var target = padded.mutableSpan
            var bytes = unsafe target.mutableBytes
            try Array(sealed[nonceCount...]).withBytes { (ciphertext) throws(SealingError) in
                try AuthenticatedCipher.open(
                    ciphertext, nonce: Array(sealed[..<nonceCount]),
                    additionalData: additionalData, key: operationsKey, into: &bytes)
            }
        } catch { throw GroupError(error) }
        return padded
    }

    /// Seals the index key of an earlier epoch: 72 bytes.
    package borrowing func rung(
        for earlier: borrowing IndexKeyOfEpoch, _ context: RungContext
    ) throws(GroupError) -> [UInt8] {
        let key = try Self.derive(2, from: bytes)
        return earlier.withBytes {
            AuthenticatedCipher.sealed($0, additionalData: context.bytes, key: key)
        }
    }

    /// Opens the index key of an earlier epoch.
    package borrowing func open(
        rung: [UInt8], _ context: RungContext
    ) throws(GroupError) -> IndexKeyOfEpoch {
        guard rung.count == GroupLimits.indexRungByteCount else {
            throw GroupError(SealingError.notAuthentic)
        }
        let key = try Self.derive(2, from: bytes)
        var plain = try sealing(try SecretBytes(count: 32))
        try sealing(
            try Array(rung[24...]).withBytes { (sealed) throws(SealingError) in
                try plain.withMutableBytes { (out) throws(SealingError) in
                    try AuthenticatedCipher.open(
                        sealed, nonce: Array(rung[..<24]), additionalData: context.bytes,
                        key: key, into: &out)
                }
            })
        return try IndexKeyOfEpoch(plain)
    }

    private static func derive(
        _ number: UInt64, from key: borrowing SecretBytes
    ) throws(GroupError) -> SecretBytes {
        try sealing(try KeyDerivation.derive(from: key, id: number, context: context))
    }
}

/// What a rung's seal covers besides the key.
package struct RungContext: Sendable {
    package let group: GroupHash
    package let compartment: Identifier
    /// The earlier epoch.
    package let epoch: UInt32

    /// Label, group, compartment, epoch: 68 bytes.
    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.raw(GroupLabel.rung.bytes)
        group.encode(into: &writer)
        writer.identifier(compartment)
        writer.uint32(epoch)
        return writer.bytes
    }
}

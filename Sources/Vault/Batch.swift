internal import Sealing

/// The data key of one write, wrapped.
package struct Batch: Equatable, Sendable {
    enum Wrapping: UInt8 {
        /// Sealed to the vault's public key, by a write while the values were locked.
        case sealed = 1
        /// Under a key that only the root gives: accepted by somebody who could open it.
        case settled = 2

        var byteCount: Int {
            switch self {
            case .sealed: 112
            case .settled: 72
            }
        }
    }

    /// Names the batch for ever.
    package let id: Identifier
    var wrapping: Wrapping
    var wrapped: [UInt8]

    /// Tells whether somebody with the root has accepted it.
    package var isSettled: Bool { wrapping == .settled }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(id)
        writer.byte(wrapping.rawValue)
        writer.raw(wrapped)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> Batch {
        let id = try reader.identifier()
        guard let wrapping = Wrapping(rawValue: try reader.byte()) else {
            throw VaultError(damaged: .encoding, "a data key is wrapped in an unknown way")
        }
        return Batch(id: id, wrapping: wrapping, wrapped: try reader.bytes(wrapping.byteCount))
    }

    /// Wraps a data key so that only the holder of the root can read it; needs no secret.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for a public key that nothing can be sealed to.
    static func sealed(
        _ dataKey: borrowing SecretBytes, id: Identifier, vault: Identifier, publicKey: [UInt8]
    ) throws(VaultError) -> Batch {
        let wrapped = try guarding { () throws(SealingError) in
            var text = try SecretBuffer(capacity: 64)
            try dataKey.withBytes { (key) throws(SealingError) in try text.append(key) }
            try (vault.bytes + id.bytes).withBytes { (ids) throws(SealingError) in
                try text.append(ids)
            }
            return try text.withBytes { (text) throws(SealingError) in
                try SealedBox.seal(text, to: publicKey)
            }
        }
        return Batch(id: id, wrapping: .sealed, wrapped: wrapped)
    }

    /// Wraps a data key under the settling key, which only the root gives.
    static func settled(
        _ dataKey: RawSpan, id: Identifier, vault: Identifier,
        settlingKey: borrowing SecretBytes
    ) -> Batch {
        let nonce = AuthenticatedCipher.randomNonce()
        var wrapped = nonce
        AuthenticatedCipher.seal(
            dataKey, nonce: nonce, additionalData: associatedData(vault: vault, id: id),
            key: settlingKey, appendingTo: &wrapped)
        return Batch(id: id, wrapping: .settled, wrapped: wrapped)
    }

    private static func associatedData(vault: Identifier, id: Identifier) -> [UInt8] {
        Array("zgv1/batch".utf8) + vault.bytes + id.bytes
    }

    /// Unwraps the data key, of 32 bytes, into `arena`.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for a batch that this root cannot open, or that names
    ///   another vault or batch.
    func unwrapped(
        vault: Identifier, keyPair: borrowing SealedBox.KeyPair,
        settlingKey: borrowing SecretBytes, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        do {
            switch wrapping {
            case .settled: return try unwrappedSettled(vault, settlingKey, arena)
            case .sealed: return try unwrappedSealed(vault, keyPair, arena)
            }
        } catch {
            throw VaultError(error, damaged: .batch, "a data key was made by somebody else")
        }
    }

    private func unwrappedSettled(
        _ vault: Identifier, _ settlingKey: borrowing SecretBytes, _ arena: SecretArena
    ) throws(SealingError) -> SecretSlice {
        let nonceCount = AuthenticatedCipher.nonceByteCount
        return try Array(wrapped[nonceCount...]).withBytes { (sealed) throws(SealingError) in
            try AuthenticatedCipher.open(
                sealed, nonce: Array(wrapped[..<nonceCount]),
                additionalData: Self.associatedData(vault: vault, id: id), key: settlingKey,
                in: arena)
        }
    }

    private func unwrappedSealed(
        _ vault: Identifier, _ keyPair: borrowing SealedBox.KeyPair, _ arena: SecretArena
    ) throws(SealingError) -> SecretSlice {
        let text = try arena.allocate(count: 64)
        try wrapped.withBytes { (sealed) throws(SealingError) in
            try text.withMutableBytes { (out) throws(SealingError) in
                try SealedBox.open(sealed, with: keyPair, into: &out)
            }
        }
        let names = (vault.bytes + id.bytes).withBytes { expected in
            text.part(32..<64).withBytes { $0.isEqualInConstantTime(to: expected) }
        }
        guard names else { throw .notAuthentic }
        return text.part(0..<32)
    }
}

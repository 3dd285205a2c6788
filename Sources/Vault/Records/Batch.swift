internal import Sealing

/// The data key of one write, wrapped.
package struct Batch: Equatable, Sendable {
    enum Wrapping: UInt8 {
        /// Sealed to the vault's public key, by a write while the values were locked.
        case sealed = 1
        /// Under a key that only the root gives, by a write with it, which made the data key.
        case root = 2

        var byteCount: Int {
            switch self {
            case .sealed: 112
            case .root: 72
            }
        }
    }

    /// Names the batch for ever.
    package let id: Identifier
    var wrapping: Wrapping
    var wrapped: [UInt8]

    /// Tells whether anybody could have made it, since it took the public key alone.
    package var isSealed: Bool { wrapping == .sealed }

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

    /// Wraps a data key that this process has just made under the batch key, which only the root gives.
    static func root(
        _ dataKey: RawSpan, id: Identifier, vault: Identifier, batchKey: borrowing SecretBytes
    ) -> Batch {
        let nonce = AuthenticatedCipher.randomNonce()
        var wrapped = nonce
        AuthenticatedCipher.seal(
            dataKey, nonce: nonce, additionalData: associatedData(vault: vault, id: id),
            key: batchKey, appendingTo: &wrapped)
        return Batch(id: id, wrapping: .root, wrapped: wrapped)
    }

    private static func associatedData(vault: Identifier, id: Identifier) -> [UInt8] {
        Array("zgv2/batch".utf8) + vault.bytes + id.bytes
    }

    /// Unwraps the data key of a write with the root, of 32 bytes, into `arena`.
    ///
    /// - Throws: ``VaultError/Code/damaged`` for a batch that this root cannot open, or that names
    ///   another vault or batch.
    func unwrapped(
        vault: Identifier, batchKey: borrowing SecretBytes, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        precondition(wrapping == .root)
        let nonceCount = AuthenticatedCipher.nonceByteCount
        return try madeByVault { () throws(SealingError) in
            try Array(wrapped[nonceCount...]).withBytes { (sealed) throws(SealingError) in
                try AuthenticatedCipher.open(
                    sealed, nonce: Array(wrapped[..<nonceCount]),
                    additionalData: Self.associatedData(vault: vault, id: id), key: batchKey,
                    in: arena)
            }
        }
    }

    /// Unwraps the data key of a locked write, of 32 bytes, into `arena`.
    ///
    /// - Throws: What ``unwrapped(vault:batchKey:in:)`` throws.
    func unwrapped(
        vault: Identifier, keyPair: borrowing SealedBox.KeyPair, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        precondition(wrapping == .sealed)
        return try madeByVault { () throws(SealingError) in
            try unwrappedSealed(vault, keyPair, arena)
        }
    }

    private func madeByVault(
        _ body: () throws(SealingError) -> SecretSlice
    ) throws(VaultError) -> SecretSlice {
        do { return try body() } catch {
            throw VaultError(error, damaged: .batch, "a data key was made by somebody else")
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

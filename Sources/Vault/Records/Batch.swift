internal import Sealing

/// The data key of one write, wrapped under a key derived from the root.
package struct Batch: Equatable, Sendable {
    static let wrappedByteCount = 72
    static let byteCount = 16 + wrappedByteCount

    /// Permanent.
    package let id: Identifier
    /// 24 bytes of nonce, 32 of the key, 16 of tag.
    let wrapped: [UInt8]

    func encode(into writer: inout ByteWriter) {
        writer.identifier(id)
        writer.raw(wrapped)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> Batch {
        Batch(id: try reader.identifier(), wrapped: try reader.bytes(wrappedByteCount))
    }
}

extension Batch {
    /// Wraps a data key under the batch key.
    init(
        _ dataKey: borrowing SecretBytes, id: Identifier, vault: Identifier,
        batchKey: borrowing SecretBytes
    ) {
        let wrapped = dataKey.withBytes {
            AuthenticatedCipher.sealed(
                $0, additionalData: Self.associatedData(vault: vault, id: id), key: batchKey)
        }
        self.init(id: id, wrapped: wrapped)
    }

    private static func associatedData(vault: Identifier, id: Identifier) -> [UInt8] {
        Array("zgv3/batch".utf8) + vault.bytes + id.bytes
    }

    /// Unwraps the data key, 32 bytes, into `arena`.
    ///
    /// - Throws: ``VaultError/Code/damaged`` if the data key does not open: it is corrupt, or was
    ///   sealed for another root, vault or batch.
    func unwrapped(
        vault: Identifier, batchKey: borrowing SecretBytes, in arena: SecretArena
    ) throws(VaultError) -> SecretSlice {
        do {
            return try AuthenticatedCipher.opened(
                wrapped, additionalData: Self.associatedData(vault: vault, id: id), key: batchKey,
                in: arena)
        } catch {
            throw VaultError(
                error, damaged: .batch,
                "a data key failed authentication: it is corrupt or was tampered with")
        }
    }
}

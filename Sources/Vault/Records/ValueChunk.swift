package import Sealing

/// A sealed value: nonce (24), then XChaCha20-Poly1305 of u32 length, value, zeros.
package enum ValueChunk {
    private static let label = Array("zgv3/value".utf8) + [UInt8](repeating: 0, count: 6)

    /// What the seal of a value covers: "zgv3/value" zero-padded to 16 bytes, and the ids of vault,
    /// variable and version; 64 bytes. The signed index says whose version it is, and which.
    struct AssociatedData: ~Copyable {
        private var writer = ByteWriter(reserving: 64)

        init(vault: Identifier) {
            writer.raw(label)
            writer.identifier(vault)
        }

        /// Passes the data of one version to `body`.
        mutating func withBytes<R, E>(
            variable: Identifier, version: Identifier, _ body: (RawSpan) throws(E) -> R
        ) throws(E) -> R {
            writer.removeLast(writer.count - 32)
            writer.identifier(variable)
            writer.identifier(version)
            return try writer.withBytes(body)
        }
    }

    /// Returns the bytes of ``AssociatedData`` for one version.
    static func associatedData(
        vault: Identifier, variable: Identifier, version: Identifier
    ) -> [UInt8] {
        var data = AssociatedData(vault: vault)
        return data.withBytes(variable: variable, version: version) { $0.array }
    }

    /// Seals a value and appends the chunk to `output`.
    ///
    /// - Parameter scratch: A buffer for the padded value; empty before and after.
    /// - Returns: The size of the chunk.
    package static func seal(
        _ value: RawSpan, associatedData: [UInt8], dataKey: borrowing SecretBytes,
        scratch: inout SecretBuffer, appendingTo output: inout [UInt8]
    ) throws(VaultError) -> Int {
        let count = Padding.paddedByteCount(ofValue: 4 + value.byteCount)
        var length = ByteWriter()
        length.uint32(UInt32(value.byteCount))
        let padding = [UInt8](repeating: 0, count: count - 4 - value.byteCount)
        do {
            try scratch.reserve(count)
            try scratch.append(length.bytes)
            try scratch.append(value)
            try scratch.append(padding)
        } catch { throw VaultError(error, damaged: .value, "a value cannot be sealed") }
        let nonce = AuthenticatedCipher.randomNonce()
        let start = output.count
        output.append(contentsOf: nonce)
        scratch.withBytes {
            AuthenticatedCipher.seal(
                $0, nonce: nonce, additionalData: associatedData, key: dataKey,
                appendingTo: &output)
        }
        scratch.removeLast(scratch.count)
        return output.count - start
    }

    /// Opens a chunk into `arena`. `name` is for the error only.
    package static func open(
        _ chunk: RawSpan, associatedData: RawSpan, dataKey: SecretSlice, in arena: SecretArena,
        name: String
    ) throws(VaultError) -> SecretSlice {
        let nonceCount = AuthenticatedCipher.nonceByteCount
        let plainCount = chunk.byteCount - nonceCount - AuthenticatedCipher.tagByteCount
        guard plainCount >= 4 else { throw damage(name) }
        let padded: SecretSlice
        do {
            padded = try arena.allocate(count: plainCount)
            try AuthenticatedCipher.open(
                sealed: chunk, additionalData: associatedData, key: dataKey, into: padded)
        } catch {
            throw VaultError(error, damaged: .value, damage(name).reason)
        }
        let length = padded.withBytes { bytes -> Int? in
            let length = Int(bytes.leadingUInt32)
            guard length <= VaultFormat.valueLimit,
                Padding.paddedByteCount(ofValue: 4 + length) == plainCount,
                bytes.extracting(droppingFirst: 4 + length).isAllZeros
            else { return nil }
            return length
        }
        guard let length else { throw damage(name) }
        return padded.part(4..<4 + length)
    }

    private static func damage(_ name: String) -> VaultError {
        VaultError(
            damaged: .value,
            "the value of \(name) failed authentication: it is corrupt or was tampered with")
    }
}

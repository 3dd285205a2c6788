package import Sealing
internal import Vault

/// A signed change: clear header, sealed operations, sealed values.
///
/// Keeps the object's bytes.
package struct Change: Sendable {
    package let header: ChangeHeader
    /// The hash of all bytes.
    package let name: GroupHash
    package let object: [UInt8]
    /// Everything before the length of the operations, which their seal covers.
    private let headerByteCount: Int
    /// Nonce and ciphertext.
    private let operations: Range<Int>
    /// Empty, or wrapped data key and chunks.
    package let values: Range<Int>

    /// Decodes an object without opening it. The signature is checked when it is opened.
    ///
    /// - Throws: ``GroupError`` for anything but the one valid encoding.
    package init(_ object: [UInt8]) throws(GroupError) {
        try GroupLabel.change.check(object, limit: GroupLimits.change)
        guard object.dropFirst(GroupLabel.byteCount).first != 2 else {
            throw GroupError(.newer, "this version does not read snapshots")
        }
        self.object = object
        name = GroupHash(of: object)
        (header, headerByteCount, operations, values) = try ByteReader.decode(
            object, skipping: GroupLabel.byteCount, of: "a change"
        ) { (reader) throws(VaultError) in
            try reader.require(
                try reader.byte() == 1, .encoding, "a change has an unknown kind")
            let header = try ChangeHeader.decode(from: &reader)
            let end = reader.offset
            let operations = try Self.section(from: &reader)
            try reader.require(
                operations.count >= GroupLimits.sealedText, .bounds,
                "the sealed operations are too short")
            let values = try Self.section(from: &reader)
            try reader.require(
                values.isEmpty
                    || values.count >= GroupLimits.dataKeyByteCount + GroupLimits.sealedText,
                .layout, "the sealed values are too short")
            _ = try reader.section(GroupLimits.signatureByteCount)
            return (header, end, operations, values)
        }
    }

    private static func section(from reader: inout ByteReader) throws(VaultError) -> Range<Int> {
        let count = Int(try reader.uint32())
        let start = reader.offset
        _ = try reader.section(count)
        return start..<start + count
    }

    /// Returns whether the signature fits one of a member's keys.
    package func isSigned(by keys: MemberKeys) -> Bool {
        let key = header.key == .write ? keys.write : keys.authority
        return object.withBytes { SigningKeyPair.isSigned($0, by: key) }
    }

    /// Opens the operations.
    ///
    /// - Parameter key: The index key of the change's epoch.
    /// - Throws: ``GroupError``: `tag` for another key or changed bytes, else what is wrong with the
    ///   operations.
    package func open(with key: borrowing IndexKeyOfEpoch) throws(GroupError) -> ChangeContent {
        let sealed = Array(object[operations])
        let data = Array(object[..<headerByteCount])
        let padded = try key.open(sealed, additionalData: data)
        return try ChangeContent.decode(padded: padded, valuesByteCount: values.count)
    }

    /// Seals and signs a change.
    ///
    /// - Parameters:
    ///   - values: Wrapped data key and chunks, or empty.
    ///   - key: The key pair that the header names.
    /// - Throws: ``GroupError/Code/length`` over 8 MiB.
    package static func sealed(
        _ header: ChangeHeader, _ content: ChangeContent, values: [UInt8] = [],
        with indexKey: borrowing IndexKeyOfEpoch, signedBy key: borrowing SigningKeyPair
    ) throws(GroupError) -> [UInt8] {
        var writer = ByteWriter(reserving: 1_024 + values.count)
        header.encode(into: &writer)
        let sealed = indexKey.seal(content.padded(), additionalData: writer.bytes)
        writer.uint32(UInt32(sealed.count))
        writer.raw(sealed)
        writer.uint32(UInt32(values.count))
        writer.raw(values)
        writer.raw(writer.withBytes { key.signature(of: $0) })
        guard writer.count <= GroupLimits.change else {
            throw GroupError(.length, "a change is larger than 8 MiB")
        }
        return writer.bytes
    }
}

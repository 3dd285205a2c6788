package import Vault

/// An epoch's keys, sealed to one member.
package struct SealedKeys: Equatable, Sendable {
    /// 172 bytes.
    package let indexBox: [UInt8]
    /// 172 bytes; nil for a member that reads no values.
    package let valueBox: [UInt8]?

    func encode(into writer: inout ByteWriter) {
        writer.raw(indexBox)
        writer.optional(valueBox) { $0.raw($1) }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> SealedKeys {
        SealedKeys(
            indexBox: try reader.bytes(GroupLimits.boxByteCount),
            valueBox: try reader.optional { (reader) throws(VaultError) in
                try reader.bytes(GroupLimits.boxByteCount)
            })
    }
}

/// The current keys of a compartment for a member that gains it without a new epoch.
package struct Grant: Equatable, Sendable {
    package let compartment: Identifier
    package let epoch: UInt32
    package let keys: SealedKeys

    static func encode(_ grants: [Grant], into writer: inout ByteWriter) {
        writer.list(grants) { writer, grant in
            writer.identifier(grant.compartment)
            writer.uint32(grant.epoch)
            grant.keys.encode(into: &writer)
        }
    }

    static func decodeList(from reader: inout ByteReader) throws(VaultError) -> [Grant] {
        try reader.ascending(
            limit: GroupLimits.compartments, least: 193, of: "grants", by: \.compartment
        ) { (reader) throws(VaultError) in
            Grant(
                compartment: try reader.identifier(), epoch: try reader.uint32(),
                keys: try SealedKeys.decode(from: &reader))
        }
    }
}

package import Vault

/// New keys of a compartment, in an entry.
package struct NewEpoch: Equatable, Sendable {
    /// An earlier epoch's keys, sealed under the new ones.
    package struct Rung: Equatable, Sendable {
        /// The entry that made the earlier epoch.
        package let entry: GroupHash
        /// 72 bytes.
        package let index: [UInt8]
        /// 148 bytes.
        package let value: [UInt8]
    }

    /// A member that gets the keys.
    package struct Recipient: Equatable, Sendable {
        package let member: Identifier
        package let keys: SealedKeys
    }

    package let compartment: Identifier
    /// From 1.
    package let number: UInt32
    /// X25519, 32 bytes.
    package let valueKey: [UInt8]
    package let indexCommitment: GroupHash
    /// Ascending by entry.
    package let rungs: [Rung]
    /// Ascending by member.
    package let recipients: [Recipient]

    /// Returns the keys that are sealed to a member.
    package func keys(of member: Identifier) -> SealedKeys? {
        recipients.first(withKey: member, by: \.member)?.keys
    }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(compartment)
        writer.uint32(number)
        writer.raw(valueKey)
        indexCommitment.encode(into: &writer)
        writer.list(rungs) { writer, rung in
            rung.entry.encode(into: &writer)
            writer.raw(rung.index)
            writer.raw(rung.value)
        }
        writer.list(recipients) { writer, recipient in
            writer.identifier(recipient.member)
            recipient.keys.encode(into: &writer)
        }
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> NewEpoch {
        let compartment = try reader.identifier()
        let number = try reader.uint32()
        try reader.require(number > 0, .layout, "an epoch has number 0")
        return NewEpoch(
            compartment: compartment, number: number, valueKey: try reader.bytes(32),
            indexCommitment: try GroupHash.decode(from: &reader),
            rungs: try reader.ascending(limit: 2, least: 252, of: "rungs", by: \.entry) {
                (reader) throws(VaultError) in
                Rung(
                    entry: try GroupHash.decode(from: &reader),
                    index: try reader.bytes(GroupLimits.indexRungByteCount),
                    value: try reader.bytes(GroupLimits.valueRungByteCount))
            },
            recipients: try reader.ascending(
                limit: GroupLimits.members, least: 189, of: "recipients", by: \.member
            ) { (reader) throws(VaultError) in
                Recipient(
                    member: try reader.identifier(), keys: try SealedKeys.decode(from: &reader))
            })
    }
}

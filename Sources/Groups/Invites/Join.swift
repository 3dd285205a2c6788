package import Sealing
package import Vault

/// A newcomer's answer to an invite. Layout: `docs/group-format.md`, section 5.
package struct Join: Equatable, Sendable {
    package let group: GroupHash
    package let invite: Identifier
    /// New and random.
    package let member: Identifier
    package let keys: MemberKeys
    /// Milliseconds since 1970.
    package let createdAt: UInt64

    package init(
        group: GroupHash, invite: Identifier, member: Identifier, keys: MemberKeys,
        createdAt: UInt64
    ) {
        self.group = group
        self.invite = invite
        self.member = member
        self.keys = keys
        self.createdAt = createdAt
    }

    /// Returns the object, signed by both of the member's keys and by the code's.
    package func signed(
        write: borrowing SigningKeyPair, authority: borrowing SigningKeyPair,
        code: borrowing SigningKeyPair
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.raw(GroupLabel.join.bytes)
        group.encode(into: &writer)
        writer.identifier(invite)
        writer.identifier(member)
        keys.encode(into: &writer)
        writer.uint64(createdAt)
        writer.raw(writer.withBytes { write.signature(of: $0) })
        writer.raw(writer.withBytes { authority.signature(of: $0) })
        writer.raw(writer.withBytes { code.signature(of: $0) })
        return writer.bytes
    }

    /// Decodes an object, without checking signatures.
    package static func decode(_ object: [UInt8]) throws(GroupError) -> Join {
        try GroupLabel.join.check(object, limit: GroupLimits.join)
        return try ByteReader.decode(object, skipping: GroupLabel.byteCount, of: "a join") {
            (reader) throws(VaultError) in
            let join = Join(
                group: try GroupHash.decode(from: &reader), invite: try reader.identifier(),
                member: try reader.identifier(), keys: try MemberKeys.decode(from: &reader),
                createdAt: try reader.uint64())
            _ = try reader.section(3 * GroupLimits.signatureByteCount)
            return join
        }
    }

    /// Returns whether the three signatures fit.
    ///
    /// - Parameter codeKey: The key in the invite.
    package static func isSigned(_ object: [UInt8], codeKey: [UInt8]) -> Bool {
        do throws(GroupError) {
            let keys = try decode(object).keys
            let signers = [codeKey, keys.authority, keys.write]
            return signers.enumerated().allSatisfy { place, key in
                Array(object.dropLast(place * GroupLimits.signatureByteCount)).withBytes {
                    SigningKeyPair.isSigned($0, by: key)
                }
            }
        } catch { return false }
    }
}

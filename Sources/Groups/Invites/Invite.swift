package import Sealing
package import Vault

/// An admin's signed offer of membership. Layout: `docs/group-format.md`, section 5.
package struct Invite: Equatable, Sendable {
    package let id: Identifier
    package let group: GroupHash
    /// The newest entry when the invite was made; the newcomer accepts only entries that lead to it.
    package let entryNumber: UInt64
    package let entry: GroupHash
    package let author: Identifier
    /// Milliseconds since 1970.
    package let createdAt: UInt64
    package let endsAt: UInt64
    /// The person who gets one more machine; nil for a new person.
    package let person: Identifier?
    package let name: String
    package let rights: MemberRights
    /// Whether an admin's machine admits the newcomer without a question.
    package let isAutomatic: Bool
    /// The public half of the code's pair: 32 bytes.
    package let codeKey: [UInt8]

    package init(
        id: Identifier, group: GroupHash, entryNumber: UInt64, entry: GroupHash,
        author: Identifier, createdAt: UInt64, endsAt: UInt64, person: Identifier?, name: String,
        rights: MemberRights, isAutomatic: Bool, codeKey: [UInt8]
    ) {
        self.id = id
        self.group = group
        self.entryNumber = entryNumber
        self.entry = entry
        self.author = author
        self.createdAt = createdAt
        self.endsAt = endsAt
        self.person = person
        self.name = name
        self.rights = rights
        self.isAutomatic = isAutomatic
        self.codeKey = codeKey
    }

    private static let macByteCount = 32

    /// Returns the object.
    ///
    /// - Parameter key: The author's authority key.
    package func signed(
        with key: borrowing SigningKeyPair, code: borrowing GroupInviteCode
    ) throws(GroupError) -> [UInt8] {
        var writer = ByteWriter()
        writer.raw(GroupLabel.invite.bytes)
        writer.identifier(id)
        group.encode(into: &writer)
        writer.uint64(entryNumber)
        entry.encode(into: &writer)
        writer.identifier(author)
        writer.uint64(createdAt)
        writer.uint64(endsAt)
        writer.optional(person) { $0.identifier($1) }
        writer.text(name)
        rights.encode(into: &writer)
        writer.flag(isAutomatic)
        writer.raw(codeKey)
        let mac = try code.mac(of: writer.bytes, for: id)
        writer.raw(mac.withBytes { mac in (0..<mac.byteCount).map { mac.byte(at: $0) } })
        writer.raw(writer.withBytes { key.signature(of: $0) })
        return writer.bytes
    }

    /// Decodes an object, without checking MAC or signature.
    package static func decode(_ object: [UInt8]) throws(GroupError) -> Invite {
        try GroupLabel.invite.check(object, limit: GroupLimits.invite)
        return try ByteReader.decode(object, skipping: GroupLabel.byteCount, of: "an invite") {
            (reader) throws(VaultError) in
            let id = try reader.identifier()
            let group = try GroupHash.decode(from: &reader)
            let number = try reader.uint64()
            try reader.require(number > 0, .layout, "an invite refers to entry 0")
            let entry = try GroupHash.decode(from: &reader)
            let author = try reader.identifier()
            let (createdAt, endsAt) = (try reader.uint64(), try reader.uint64())
            let person = try reader.optionalIdentifier()
            let name = try reader.filledText(limit: GroupLimits.memberName)
            let rights = try MemberRights.decode(from: &reader)
            let isAutomatic = try reader.flag()
            try reader.require(
                !isAutomatic || rights.role != .admin, .layout,
                "an automatic invite grants the admin role")
            let codeKey = try reader.bytes(SigningKeyPair.publicKeyByteCount)
            _ = try reader.section(macByteCount + GroupLimits.signatureByteCount)
            return Invite(
                id: id, group: group, entryNumber: number, entry: entry, author: author,
                createdAt: createdAt, endsAt: endsAt, person: person, name: name, rights: rights,
                isAutomatic: isAutomatic, codeKey: codeKey)
        }
    }

    /// Returns whether the signature fits an authority key.
    package static func isSigned(_ object: [UInt8], by key: [UInt8]) -> Bool {
        object.withBytes { SigningKeyPair.isSigned($0, by: key) }
    }

    /// Decodes an invite that the holder of a code was given.
    ///
    /// - Throws: ``GroupError/Code/code`` if the MAC, or the code key, is not of this code.
    package static func accept(
        _ object: [UInt8], code: borrowing GroupInviteCode
    ) throws(GroupError) -> Invite {
        let invite = try decode(object)
        let start = object.count - GroupLimits.signatureByteCount - macByteCount
        let mac = try code.mac(of: Array(object[..<start]), for: invite.id)
        let given = Array(object[start..<start + macByteCount])
        let isRight = given.withBytes { given in
            mac.withBytes { $0.isEqualInConstantTime(to: given) }
        }
        let pair = try code.signingKeyPair(for: invite.id)
        guard isRight, pair.publicKey == invite.codeKey else {
            throw GroupError(.code, "the code does not belong to this invite")
        }
        return invite
    }
}

package import Vault

/// A new member.
package struct Admission: Equatable, Sendable {
    /// The invite and the join that the admission answers.
    package struct Origin: Equatable, Sendable {
        package let invite: Identifier
        package let join: GroupHash

        package init(invite: Identifier, join: GroupHash) {
            self.invite = invite
            self.join = join
        }
    }

    package let member: Identifier
    /// The same for all members of one person.
    package let person: Identifier
    package let name: String
    package let rights: MemberRights
    package let keys: MemberKeys
    /// Nil only for the founder.
    package let origin: Origin?
    package internal(set) var grants: [Grant]

    package init(
        member: Identifier, person: Identifier, name: String, rights: MemberRights,
        keys: MemberKeys, origin: Origin? = nil, grants: [Grant] = []
    ) {
        self.member = member
        self.person = person
        self.name = name
        self.rights = rights
        self.keys = keys
        self.origin = origin
        self.grants = grants
    }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(member)
        writer.identifier(person)
        writer.text(name)
        rights.encode(into: &writer)
        keys.encode(into: &writer)
        writer.optional(origin) { writer, origin in
            writer.identifier(origin.invite)
            origin.join.encode(into: &writer)
        }
        Grant.encode(grants, into: &writer)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> Admission {
        Admission(
            member: try reader.identifier(), person: try reader.identifier(),
            name: try reader.filledText(limit: GroupLimits.memberName),
            rights: try MemberRights.decode(from: &reader),
            keys: try MemberKeys.decode(from: &reader),
            origin: try reader.optional { (reader) throws(VaultError) in
                Origin(
                    invite: try reader.identifier(), join: try GroupHash.decode(from: &reader))
            }, grants: try Grant.decodeList(from: &reader))
    }
}

/// Another role or limit of a member.
package struct RoleChange: Equatable, Sendable {
    package let member: Identifier
    package let rights: MemberRights
    /// The heads that the author has, present exactly if a right is lost.
    package let cut: Cut?
    package internal(set) var grants: [Grant]

    package init(
        member: Identifier, rights: MemberRights, cut: Cut? = nil, grants: [Grant] = []
    ) {
        self.member = member
        self.rights = rights
        self.cut = cut
        self.grants = grants
    }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(member)
        rights.encode(into: &writer)
        writer.optional(cut) { $1.encode(into: &$0) }
        Grant.encode(grants, into: &writer)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> RoleChange {
        RoleChange(
            member: try reader.identifier(), rights: try MemberRights.decode(from: &reader),
            cut: try reader.optional(Cut.decode(from:)),
            grants: try Grant.decodeList(from: &reader))
    }
}

/// The end of a membership.
package struct Removal: Equatable, Sendable {
    package let member: Identifier
    package let cut: Cut

    package init(member: Identifier, cut: Cut) {
        self.member = member
        self.cut = cut
    }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(member)
        cut.encode(into: &writer)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> Removal {
        Removal(member: try reader.identifier(), cut: try Cut.decode(from: &reader))
    }
}

/// New keys of a member.
package struct KeyReplacement: Equatable, Sendable {
    package let member: Identifier
    package let keys: MemberKeys
    package let cut: Cut

    func encode(into writer: inout ByteWriter) {
        writer.identifier(member)
        keys.encode(into: &writer)
        cut.encode(into: &writer)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> KeyReplacement {
        KeyReplacement(
            member: try reader.identifier(), keys: try MemberKeys.decode(from: &reader),
            cut: try Cut.decode(from: &reader))
    }
}

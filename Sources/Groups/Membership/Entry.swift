package import Sealing
package import Vault

/// One numbered, signed change of a group's membership. Layout: `docs/group-format.md`, section 3.
package struct Entry: Equatable, Sendable {
    /// From 1.
    package let number: UInt64
    /// The hash of entry 1; zero in entry 1 itself.
    package let group: GroupHash
    /// Zero in entry 1.
    package let previous: GroupHash
    /// The second head, in an entry that joins a fork.
    package let other: GroupHash?
    package let author: Identifier
    /// Milliseconds since 1970, by the author's clock.
    package let createdAt: UInt64
    /// Whether the group has one admin forever; only in entry 1.
    package let hasOneAdmin: Bool
    /// These six are ascending by member, compartment or invite.
    package internal(set) var admissions: [Admission]
    package internal(set) var roles: [RoleChange]
    package let removals: [Removal]
    package let keyReplacements: [KeyReplacement]
    package internal(set) var epochs: [NewEpoch]
    package let voidInvites: [Identifier]

    package init(
        number: UInt64, group: GroupHash, previous: GroupHash, other: GroupHash? = nil,
        author: Identifier, createdAt: UInt64, hasOneAdmin: Bool = false,
        admissions: [Admission] = [], roles: [RoleChange] = [], removals: [Removal] = [],
        keyReplacements: [KeyReplacement] = [], epochs: [NewEpoch] = [],
        voidInvites: [Identifier] = []
    ) {
        self.number = number
        self.group = group
        self.previous = previous
        self.other = other
        self.author = author
        self.createdAt = createdAt
        self.hasOneAdmin = hasOneAdmin
        self.admissions = admissions
        self.roles = roles
        self.removals = removals
        self.keyReplacements = keyReplacements
        self.epochs = epochs
        self.voidInvites = voidInvites
    }

    /// The entries that this one follows: none, one, or two.
    var predecessors: [GroupHash] {
        number == 1 ? [] : [previous] + (other.map { [$0] } ?? [])
    }

    /// The members in roles, removals and key replacements.
    package var changedMembers: [Identifier] {
        roles.map(\.member) + removals.map(\.member) + keyReplacements.map(\.member)
    }

    /// Every public key that the entry introduces.
    package var newKeys: [[UInt8]] {
        admissions.flatMap(\.keys.all) + keyReplacements.flatMap(\.keys.all)
            + epochs.map(\.valueKey)
    }

    /// Returns the epoch of a compartment that the entry makes.
    package func epoch(of compartment: Identifier) -> NewEpoch? {
        epochs.first(withKey: compartment, by: \.compartment)
    }

    /// Returns the signed object.
    ///
    /// - Parameter key: The author's authority key.
    package func signed(with key: borrowing SigningKeyPair) -> [UInt8] {
        var writer = ByteWriter(reserving: 4_096)
        encode(into: &writer)
        writer.raw(writer.withBytes { key.signature(of: $0) })
        return writer.bytes
    }

    /// The number of bytes of the signed object.
    var byteCount: Int {
        var writer = ByteWriter(reserving: 4_096)
        encode(into: &writer)
        return writer.bytes.count + GroupLimits.signatureByteCount
    }

    private func encode(into writer: inout ByteWriter) {
        writer.raw(GroupLabel.entry.bytes)
        writer.uint64(number)
        group.encode(into: &writer)
        previous.encode(into: &writer)
        writer.optional(other) { $1.encode(into: &$0) }
        writer.identifier(author)
        writer.uint64(createdAt)
        writer.flag(hasOneAdmin)
        writer.list(admissions) { $1.encode(into: &$0) }
        writer.list(roles) { $1.encode(into: &$0) }
        writer.list(removals) { $1.encode(into: &$0) }
        writer.list(keyReplacements) { $1.encode(into: &$0) }
        writer.list(epochs) { $1.encode(into: &$0) }
        writer.identifiers(voidInvites)
    }

    /// Decodes an object. Its signature is checked with the membership.
    ///
    /// - Throws: ``GroupError`` for anything but the one valid encoding of an entry.
    package static func decode(_ object: [UInt8]) throws(GroupError) -> Entry {
        try GroupLabel.entry.check(object, limit: GroupLimits.entry)
        return try ByteReader.decode(
            object, skipping: GroupLabel.byteCount, of: "an entry", decode(from:))
    }

    private static func decode(from reader: inout ByteReader) throws(VaultError) -> Entry {
        let number = try reader.uint64()
        try reader.require(number > 0, .layout, "an entry has number 0")
        let isFirst = number == 1
        let group = try GroupHash.decode(from: &reader)
        try reader.require((group == .zero) == isFirst, .layout, "an entry's group is invalid")
        let previous = try GroupHash.decode(from: &reader)
        try reader.require(
            (previous == .zero) == isFirst, .layout, "an entry's predecessor is invalid")
        let other = try reader.optional(GroupHash.decode(from:))
        try reader.require(other == nil || !isFirst, .layout, "entry 1 joins a fork")
        let author = try reader.identifier()
        let createdAt = try reader.uint64()
        let hasOneAdmin = try reader.flag()
        try reader.require(
            isFirst || !hasOneAdmin, .layout, "an entry after the first sets a single admin")
        let members = GroupLimits.members
        let entry = Entry(
            number: number, group: group, previous: previous, other: other, author: author,
            createdAt: createdAt, hasOneAdmin: hasOneAdmin,
            admissions: try reader.ascending(
                limit: members, least: 171, of: "admissions", by: \.member,
                Admission.decode(from:)),
            roles: try reader.ascending(
                limit: members, least: 23, of: "roles", by: \.member, RoleChange.decode(from:)),
            removals: try reader.ascending(
                limit: members, least: 20, of: "removals", by: \.member, Removal.decode(from:)),
            keyReplacements: try reader.ascending(
                limit: members, least: 148, of: "key replacements", by: \.member,
                KeyReplacement.decode(from:)),
            epochs: try reader.ascending(
                limit: GroupLimits.compartments, least: 92, of: "epochs", by: \.compartment,
                NewEpoch.decode(from:)),
            voidInvites: try reader.identifiers(limit: GroupLimits.invites, of: "canceled invites"))
        _ = try reader.section(GroupLimits.signatureByteCount)
        return entry
    }
}

package import Groups
package import Vault

/// What a vault keeps about one group that it belongs to, in a journal entry of kind
/// `GroupEntryKind.membership`. Layout: `docs/group-format.md`, section 9.
package struct GroupMembership: Sendable {
    /// Whether the vault takes part.
    package enum Standing: UInt8, CaseIterable, Sendable {
        /// It answered an invite, and no admin has admitted it yet.
        case invited = 1
        case active = 2
        /// It was removed by an admin.
        case ended = 3
        /// It left. Only what is needed to attach the projects again is kept.
        case left = 4
    }

    /// Another member, as of the last sync, for texts.
    package struct Person: Equatable, Sendable {
        package let member: Identifier
        /// Shared by the machines of one person.
        package let person: Identifier
        package let name: String
        package let rights: MemberRights
        package let isActive: Bool
        /// When an admin admitted them, by the admin's clock, in milliseconds since 1970.
        package let joinedAt: UInt64
        /// The time of their newest change that this vault can read, by their clock; 0 for none.
        package let wroteAt: UInt64
        /// Who removed them, and when; nil for an active member.
        package let removal: Removal?

        package var role: GroupRole { rights.role }
    }

    /// The end of a membership.
    package struct Removal: Equatable, Sendable {
        package let author: Identifier
        /// By the author's clock, in milliseconds since 1970.
        package let time: UInt64
    }

    /// A project of the group that this vault does not share at present.
    package struct DetachedProject: Equatable, Sendable {
        package let compartment: Identifier
        /// The project in this vault, which is attached again; nil if it was removed here, so that it
        /// comes back only when somebody asks for it.
        package let project: Identifier?
        /// Its last name here, without `@` and the group.
        package let name: String
        package let isAdopted: Bool
    }

    /// An entry with its number.
    package struct NewestEntry: Equatable, Sendable {
        package let name: GroupHash
        package let number: UInt64

        package init(name: GroupHash, number: UInt64) { (self.name, self.number) = (name, number) }
    }

    /// The id of the journal entry.
    package let id: Identifier
    package let group: GroupHash
    /// What this vault calls the group.
    package var name: String
    /// The address of the place.
    package var place: String
    /// This vault's id in the group.
    package let member: Identifier
    package var standing: Standing
    /// The invite that was answered; the zero id for the founder.
    package let invite: Identifier
    /// The newest entries seen, ascending: one, or several if the membership is forked. Later
    /// histories must contain them.
    package var heads: [GroupHash]
    /// The head that this member's changes and entries name: the one with the highest number.
    package var newest: NewestEntry
    /// What this member may do, as of the last sync.
    package var rights: MemberRights
    package var people: [Person]
    /// Ascending by compartment.
    package var detached: [DetachedProject]
    /// When a sync last brought something, in milliseconds since 1970; 0 for never.
    package var syncedAt: UInt64
    /// When the entry was made.
    package let createdAt: UInt64

    package init(
        group: GroupHash, name: String, place: String, member: Identifier, standing: Standing,
        invite: Identifier = .zero, rights: MemberRights, createdAt: UInt64
    ) {
        id = .random()
        self.group = group
        (self.name, self.place) = (name, place)
        (self.member, self.standing, self.invite) = (member, standing, invite)
        (heads, people, detached, syncedAt) = ([], [], [], 0)
        newest = NewestEntry(name: .zero, number: 0)
        self.rights = rights
        self.createdAt = createdAt
    }

    /// Whether this vault is an admin, as of the last sync.
    package var isActiveAdmin: Bool { rights.role == .admin && standing == .active }

    /// The name of a member, or the first digits of its id.
    package func name(of member: Identifier) -> String {
        people.first { $0.member == member }?.name ?? String(member.hexadecimal.prefix(8))
    }

    /// The name of a member, with the first digits of its id if another member has that name, too.
    package func label(of member: Identifier) -> String {
        let name = name(of: member)
        guard people.count(where: { $0.name == name }) > 1 else { return name }
        return "\(name) (\(member.hexadecimal.prefix(8)))"
    }

    /// How this vault's own membership ended; nil unless it was removed.
    package var removal: Removal? { people.first { $0.member == member }?.removal }

    /// - Throws: ``VaultError/Code/damaged``.
    package init(_ entry: JournalEntry) throws(VaultError) {
        self = try StoredBytes.decode(try entry.sealedSection().rest, of: "a group") {
            (reader) throws(VaultError) in try GroupMembership(entry, from: &reader)
        }
    }

    private init(_ entry: JournalEntry, from reader: inout ByteReader) throws(VaultError) {
        (id, createdAt) = (entry.id, entry.createdAt)
        group = try GroupHash.decode(from: &reader)
        name = try reader.filledText(limit: GroupLimits.name)
        place = try reader.text(limit: GroupLimits.text)
        member = try reader.identifier()
        guard let standing = Standing(rawValue: try reader.byte()) else {
            throw VaultError(damaged: .encoding, "a group has an unknown standing")
        }
        self.standing = standing
        invite = try reader.identifier()
        heads = try reader.hashes(limit: 1_000, of: "entries of a group")
        newest = NewestEntry(
            name: try GroupHash.decode(from: &reader), number: try reader.uint64())
        rights = try MemberRights.decode(from: &reader)
        people = try reader.ascending(
            limit: 100_000, least: 56, of: "members of a group", by: \.member
        ) { (reader) throws(VaultError) in
            Person(
                member: try reader.identifier(), person: try reader.identifier(),
                name: try reader.text(limit: GroupLimits.memberName),
                rights: try MemberRights.decode(from: &reader), isActive: try reader.flag(),
                joinedAt: try reader.uint64(), wroteAt: try reader.uint64(),
                removal: try reader.optional { (reader) throws(VaultError) in
                    Removal(author: try reader.identifier(), time: try reader.uint64())
                })
        }
        detached = try reader.ascending(
            limit: GroupLimits.compartments, least: 22, of: "projects that are not shared",
            by: \.compartment
        ) { (reader) throws(VaultError) in
            DetachedProject(
                compartment: try reader.identifier(), project: try reader.optionalIdentifier(),
                name: try reader.text(limit: GroupLimits.text), isAdopted: try reader.flag())
        }
        syncedAt = try reader.uint64()
    }

    /// Returns the groups of a vault by name, without those that it left.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    package static func all(in index: VaultIndex) throws(VaultError) -> [GroupMembership] {
        try index.groupEntries(.membership).map(GroupMembership.init(_:))
            .filter { $0.standing != .left }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    }

    /// Returns the membership of a group, whatever became of it.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    package static func of(
        _ group: GroupHash, in index: VaultIndex
    ) throws(VaultError) -> GroupMembership? {
        for entry in index.groupEntries(.membership) {
            let membership = try GroupMembership(entry)
            if membership.group == group { return membership }
        }
        return nil
    }

    /// Returns the group that a project is shared with, while this vault is a member.
    ///
    /// - Throws: ``VaultError/Code/damaged``.
    package static func active(
        of shared: SharedProject, in index: VaultIndex
    ) throws(VaultError) -> GroupMembership? {
        try all(in: index).first { $0.group == shared.group && $0.standing == .active }
    }

    /// Returns the journal entry.
    ///
    /// - Parameter sealed: What ``MemberSecrets`` sealed for this entry.
    package func entry(sealed: [UInt8]) -> JournalEntry {
        JournalEntry(
            id: id, kind: GroupEntryKind.membership.rawValue, createdAt: createdAt,
            payload: JournalEntry.payload(sealed: sealed, rest: content), section: id)
    }

    /// What follows the sealed keys.
    var content: [UInt8] {
        var writer = ByteWriter(reserving: 1_024)
        group.encode(into: &writer)
        writer.text(name)
        writer.text(place)
        writer.identifier(member)
        writer.byte(standing.rawValue)
        writer.identifier(invite)
        writer.hashes(heads)
        newest.name.encode(into: &writer)
        writer.uint64(newest.number)
        rights.encode(into: &writer)
        writer.list(people.sorted { $0.member < $1.member }) { writer, person in
            writer.identifier(person.member)
            writer.identifier(person.person)
            writer.text(person.name)
            person.rights.encode(into: &writer)
            writer.flag(person.isActive)
            writer.uint64(person.joinedAt)
            writer.uint64(person.wroteAt)
            writer.optional(person.removal) { writer, removal in
                writer.identifier(removal.author)
                writer.uint64(removal.time)
            }
        }
        writer.list(detached.sorted { $0.compartment < $1.compartment }) { writer, project in
            writer.identifier(project.compartment)
            writer.optional(project.project) { $0.identifier($1) }
            writer.text(project.name)
            writer.flag(project.isAdopted)
        }
        writer.uint64(syncedAt)
        return writer.bytes
    }
}

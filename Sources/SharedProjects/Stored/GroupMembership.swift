package import Groups
package import Vault

/// What a vault keeps about one group that it belongs to, in a journal entry of kind
/// `GroupEntryKind.membership`. Layout: `docs/group-format.md`, section 9.
package struct GroupMembership: Sendable {
    /// Whether the vault takes part.
    package enum Standing: UInt8, Sendable {
        /// It answered an invite, and no admin has admitted it yet.
        case invited = 1
        case active = 2
        /// It was removed, or has left.
        case ended = 3
    }

    /// Another member, as of the last sync, for texts.
    package struct Person: Equatable, Sendable {
        package let member: Identifier
        /// Shared by the machines of one person.
        package let person: Identifier
        package let name: String
        package let role: GroupRole
        package let isActive: Bool
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
        (heads, people, syncedAt) = ([], [], 0)
        newest = NewestEntry(name: .zero, number: 0)
        self.rights = rights
        self.createdAt = createdAt
    }

    /// The name of a member, or the first digits of its id.
    package func name(of member: Identifier) -> String {
        people.first { $0.member == member }?.name ?? String(member.hexadecimal.prefix(8))
    }

    /// - Throws: ``VaultError/Code/damaged``.
    package init(_ entry: JournalEntry) throws(VaultError) {
        id = entry.id
        createdAt = entry.createdAt
        let rest = try entry.sealedSection().rest
        var found = try Self.parts(of: rest)
        group = found.group
        (name, place, member) = (found.name, found.place, found.member)
        (standing, invite) = (found.standing, found.invite)
        (heads, newest, rights) = (found.heads, found.newest, found.rights)
        syncedAt = found.syncedAt
        people = []
        swap(&people, &found.people)
    }

    private typealias Parts = (
        group: GroupHash, name: String, place: String, member: Identifier, standing: Standing,
        invite: Identifier, heads: [GroupHash], newest: NewestEntry, rights: MemberRights,
        people: [Person], syncedAt: UInt64
    )

    private static func parts(of bytes: [UInt8]) throws(VaultError) -> Parts {
        try StoredBytes.decode(bytes, of: "a group") { (reader) throws(VaultError) in
            let group = try GroupHash.decode(from: &reader)
            let name = try reader.filledText(limit: GroupLimits.name)
            let place = try reader.text(limit: GroupLimits.text)
            let member = try reader.identifier()
            guard let standing = Standing(rawValue: try reader.byte()) else {
                throw VaultError(damaged: .encoding, "a group has an unknown standing")
            }
            let invite = try reader.identifier()
            let heads = try reader.hashes(limit: 1_000, of: "entries of a group")
            let newest = NewestEntry(
                name: try GroupHash.decode(from: &reader), number: try reader.uint64())
            let rights = try MemberRights.decode(from: &reader)
            let people = try reader.ascending(
                limit: 100_000, least: 38, of: "members of a group", by: \Person.member
            ) { (reader) throws(VaultError) in
                Person(
                    member: try reader.identifier(), person: try reader.identifier(),
                    name: try reader.text(limit: GroupLimits.memberName),
                    role: try GroupRole.decode(from: &reader), isActive: try reader.flag())
            }
            return (
                group, name, place, member, standing, invite, heads, newest, rights, people,
                try reader.uint64()
            )
        }
    }

    /// Returns the journal entry.
    ///
    /// - Parameter sealed: What ``MemberSecrets`` sealed for this entry.
    package func entry(sealed: [UInt8]) -> JournalEntry {
        JournalEntry(
            id: id, kind: GroupEntryKind.membership.rawValue, createdAt: createdAt,
            payload: JournalEntry.payload(sealed: sealed, rest: content))
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
            writer.byte(person.role.rawValue)
            writer.flag(person.isActive)
        }
        writer.uint64(syncedAt)
        return writer.bytes
    }
}

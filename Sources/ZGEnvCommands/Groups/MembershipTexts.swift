internal import CommandLineKit
internal import Groups
internal import SharedProjects
internal import Vault

/// Texts about a group's members, for people.
struct MembershipTexts {
    private let membership: GroupMembership
    /// The names of the group's projects in this vault.
    private let names: [Identifier: String]
    private let now: UInt64

    init(
        _ membership: GroupMembership, _ shared: [SharedProject], _ index: VaultIndex, now: UInt64
    ) {
        self.membership = membership
        names = Dictionary(
            shared.compactMap { project in
                index.project(project.project).map { (project.compartment, $0.name) }
            }, uniquingKeysWith: { first, _ in first })
        self.now = now
    }

    /// The role of this vault, or why it has none.
    var standing: String {
        switch membership.standing {
        case .active: "your role: \(words(for: membership.rights))"
        case .invited: "waiting for an admin"
        case .ended: "removed\(Self.removal(of: membership))"
        case .left: "left"
        }
    }

    /// Who removed this vault, and when, to be appended.
    static func removal(of membership: GroupMembership) -> String {
        guard let removal = membership.removal else { return "" }
        let day = TimeText.utc(Int64(clamping: removal.time)).prefix(10)
        return " by \(membership.label(of: removal.author)) on \(day)"
    }

    func line(of person: GroupMembership.Person) -> String {
        let own = person.member == membership.member ? " (this vault)" : ""
        let written = person.wroteAt > 0 ? ", last change \(age(person.wroteAt))" : ""
        return "\(words(for: person.rights))  \(person.name)\(own)  "
            + "\(person.member.hexadecimal.prefix(8)), joined \(age(person.joinedAt))\(written)"
    }

    func line(of invite: OpenInvite) -> String {
        // In the largest unit that fits: more would only look precise.
        let minutes = (invite.endsAt - min(now, invite.endsAt)) / 60_000
        let unit: UInt64 = minutes >= 2_160 ? 1_440 : minutes >= 90 ? 60 : 1
        let rounded = max((minutes + unit / 2) / unit * unit, 1)
        let left = DurationText.text(.seconds(Int64(clamping: rounded * 60)))
        return "invited: \(invite.name) as \(words(for: invite.rights)), "
            + (invite.isAnswered
                ? "who answered: admit them with zg-env sync" : "valid for \(left)")
    }

    /// The projects that rights are limited to, as far as this vault has names for them; nil if they
    /// are not limited.
    func projects(of rights: MemberRights) -> [String]? {
        rights.limit.map { $0.compactMap { names[$0] }.sorted() }
    }

    private func words(for rights: MemberRights) -> String {
        guard let limit = rights.limit, let known = projects(of: rights) else {
            return rights.role.name
        }
        let unknown = limit.count - known.count
        let other = unknown == 0 ? [] : [unknown == 1 ? "1 project" : "\(unknown) projects"]
        return "\(rights.role.name) (only \((known + other).joined(separator: ", ")))"
    }

    private func age(_ time: UInt64) -> String {
        TimeText.age(of: Int64(clamping: time), at: Int64(clamping: now))
    }
}

extension GroupMembership {
    /// The words for the membership and the heads of some compartments, as two people compare them.
    func stateWords(_ heads: [Identifier: [GroupHash]]) -> String {
        CheckWords.words(for: StateWords.bytes(group: group, membership: self.heads, heads: heads))
            .joined(separator: " ")
    }
}

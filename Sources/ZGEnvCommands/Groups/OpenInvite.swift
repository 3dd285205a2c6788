internal import GroupPlaces
internal import Groups
internal import SharedProjects
internal import Vault

/// An invite of a group with which somebody can still be admitted.
struct OpenInvite {
    let id: Identifier
    let name: String
    let rights: MemberRights
    /// Milliseconds since 1970.
    let endsAt: UInt64
    let isAnswered: Bool

    /// Returns the open invites that this machine's copy has, by name.
    static func all(
        of group: GroupHash, at now: UInt64, _ workspace: Workspace
    ) throws -> [OpenInvite] {
        let copy = try PlaceAccess.copy(workspace)
        let chain = MembershipChain(
            group: group, entries: try ObjectExchange.content(of: group, in: copy).entries)
        guard let state = chain.headStates.first else { return [] }
        return try GroupAccess.invites(of: group, in: copy).compactMap { object, joins in
            guard let invite = try? Invite.decode(object) else { return nil }
            let isAnswered: Bool
            switch try JoinSelection(
                invite: object, joins: joins, group: group, state: state, now: now)
            {
            case .refused, .ambiguous: return nil
            case .none: isAnswered = false
            case .join: isAnswered = true
            }
            return OpenInvite(
                id: invite.id, name: invite.name, rights: invite.rights, endsAt: invite.endsAt,
                isAnswered: isAnswered)
        }.sorted { ($0.name, $0.id) < ($1.name, $1.id) }
    }
}

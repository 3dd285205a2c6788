internal import Vault

extension MembershipState {
    /// Combines the two sides of a fork: the union of removals, the lower of two rights, and the
    /// members that only one side has.
    ///
    /// The epochs are those of this side; a joining entry makes new ones for all.
    func joined(with other: MembershipState) -> MembershipState {
        var state = self
        for (id, theirs) in other.members {
            guard var mine = members[id] else {
                state.members[id] = theirs
                continue
            }
            let isSame =
                mine.person == theirs.person && mine.keys == theirs.keys
                && Array(mine.name.utf8) == Array(theirs.name.utf8)
            let role: GroupRole? =
                mine.rights.role.isAtLeast(theirs.rights.role)
                ? theirs.rights.role
                : theirs.rights.role.isAtLeast(mine.rights.role) ? mine.rights.role : nil
            mine.isActive = mine.isActive && theirs.isActive && isSame && role != nil
            mine.rights = MemberRights(
                role: role ?? mine.rights.role,
                limit: Self.common(mine.rights.limit, theirs.rights.limit))
            state.members[id] = mine
        }
        for (id, theirs) in other.lowerings {
            let mine = state.lowerings[id] ?? []
            state.lowerings[id] =
                mine
                + theirs.filter { lowering in !mine.contains { $0.entry == lowering.entry } }
        }
        state.usedInvites.formUnion(other.usedInvites)
        state.voidInvites.formUnion(other.voidInvites)
        return state
    }

    private static func common(_ left: [Identifier]?, _ right: [Identifier]?) -> [Identifier]? {
        guard let left else { return right }
        guard let right else { return left }
        let kept = Set(right)
        return left.filter { kept.contains($0) }
    }
}

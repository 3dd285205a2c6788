internal import Vault

/// Decides which join of an invite an admin may admit.
package enum JoinSelection: Equatable, Sendable {
    /// Nobody answered yet.
    case none
    /// The only one that fits, with its name.
    case join(Join, GroupHash)
    /// Two newcomers used one code: the invite must be made void.
    case ambiguous
    /// The invite does not count.
    case refused(Refusal)

    /// Why an invite does not count.
    package enum Refusal: String, Sendable {
        case group, author, signature, used, void, over
    }

    /// - Parameters:
    ///   - joins: Objects below the invite's path. Those that do not fit are ignored, so that nobody
    ///     without the code can make an invite void.
    ///   - state: The membership after the newest entry.
    ///   - now: Milliseconds since 1970.
    package init(
        invite object: [UInt8], joins: [[UInt8]], group: GroupHash, state: MembershipState,
        now: UInt64
    ) throws(GroupError) {
        let invite = try Invite.decode(object)
        if let refusal = Self.refusal(invite, object, group, state, now) {
            self = .refused(refusal)
            return
        }
        var found: [GroupHash: Join] = [:]
        for object in joins where Join.isSigned(object, codeKey: invite.codeKey) {
            let join = try Join.decode(object)
            guard join.group == group, join.invite == invite.id else { continue }
            found[GroupHash(of: object)] = join
        }
        guard let first = found.first else {
            self = .none
            return
        }
        self = found.count == 1 ? .join(first.value, first.key) : .ambiguous
    }

    private static func refusal(
        _ invite: Invite, _ object: [UInt8], _ group: GroupHash, _ state: MembershipState,
        _ now: UInt64
    ) -> Refusal? {
        guard invite.group == group else { return .group }
        guard let key = state.adminKey(of: invite.author) else { return .author }
        guard Invite.isSigned(object, by: key) else { return .signature }
        if state.usedInvites.contains(invite.id) { return .used }
        if state.voidInvites.contains(invite.id) { return .void }
        return now < invite.endsAt ? nil : .over
    }
}

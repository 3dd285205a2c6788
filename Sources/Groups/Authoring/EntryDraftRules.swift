internal import Sealing
internal import Vault

/// The rules of `docs/group-format.md`, section 3.1, that a draft can break, and the format's bounds.
struct EntryDraftRules {
    typealias Failure = EntryDraftError

    /// Ascending.
    let draft: EntryDraft
    /// The membership that the entry changes.
    let before: MembershipState
    /// Whether a public key is in the past of the entry.
    let isKeyUsed: ([UInt8]) -> Bool

    func check() throws(Failure) {
        try checkBounds()
        try checkMembers()
        for admission in draft.admissions { try Self.check(admission.name, of: admission.member) }
        try checkRights()
        try checkKeys()
        try checkInvites()
        try checkEpochs()
        try checkChanges()
        try checkAdmins()
    }

    private func checkBounds() throws(Failure) {
        let counts = [
            draft.admissions.count, draft.roles.count, draft.removals.count,
            draft.keyReplacements.count,
        ]
        guard counts.allSatisfy({ $0 <= GroupLimits.members }) else {
            throw Failure(.bounds, "an entry cannot change that many members")
        }
        guard draft.voidInvites.count <= GroupLimits.invites else {
            throw Failure(.bounds, "an entry cannot cancel that many invites")
        }
        let cuts =
            draft.roles.compactMap(\.cut) + draft.removals.map(\.cut)
            + draft.keyReplacements.map(\.cut)
        for cut in cuts {
            guard cut.compartments.count <= GroupLimits.compartments,
                cut.compartments.allSatisfy({ $0.changes.count <= GroupLimits.cut })
            else { throw Failure(.bounds, "a cut has too many changes") }
        }
    }

    private func checkMembers() throws(Failure) {
        let changed =
            draft.roles.map(\.member) + draft.removals.map(\.member)
            + draft.keyReplacements.map(\.member)
        var seen: Set<Identifier> = []
        for member in changed + draft.admissions.map(\.member)
        where !seen.insert(member).inserted {
            throw Failure(.member, "a member is changed twice in one entry", member: member)
        }
        for member in changed {
            guard let known = before.members[member] else {
                throw Failure(.member, "the group has no such member", member: member)
            }
            guard known.isActive else {
                throw Failure(.member, "the member was removed", member: member)
            }
        }
        for admission in draft.admissions where before.members[admission.member] != nil {
            throw Failure(
                .member, "the id of a new member was used before", member: admission.member)
        }
    }

    /// Names are shown on the terminals of all members.
    static func check(_ name: String, of member: Identifier) throws(Failure) {
        if let problem = MemberName.problem(with: name) {
            throw Failure(.name, "the name of a member \(problem)", member: member)
        }
    }

    private func checkRights() throws(Failure) {
        let given =
            draft.admissions.map { ($0.member, $0.rights) }
            + draft.roles.map { ($0.member, $0.rights) }
        for (member, rights) in given {
            guard rights.role != .admin || rights.limit == nil else {
                throw Failure(.bounds, "an admin cannot be limited to projects", member: member)
            }
            guard (rights.limit?.count ?? 0) <= GroupLimits.limit else {
                throw Failure(.bounds, "a member is limited to too many projects", member: member)
            }
        }
        for role in draft.roles {
            guard let old = before.members[role.member]?.rights else { continue }
            guard role.rights != old else {
                throw Failure(
                    .noChange, "the member has this role and these projects already",
                    member: role.member)
            }
            let isRaise = role.rights.isAtLeast(old)
            guard isRaise || role.cut != nil else {
                throw Failure(.cut, "a member loses a right without a cut", member: role.member)
            }
            guard !isRaise || role.cut == nil else {
                throw Failure(.cut, "a member only gains rights, with a cut", member: role.member)
            }
        }
    }

    private func checkKeys() throws(Failure) {
        let given =
            draft.admissions.map { ($0.member, $0.keys) }
            + draft.keyReplacements.map { ($0.member, $0.keys) }
        var seen: Set<[UInt8]> = []
        for (member, keys) in given {
            guard keys.all.allSatisfy({ $0.count == SealedBox.publicKeyByteCount }),
                SealedBox.isUsable(keys.indexBox), SealedBox.isUsable(keys.valueBox)
            else {
                throw Failure(.key, "a public key of a member is not usable", member: member)
            }
            for key in keys.all where !seen.insert(key).inserted || isKeyUsed(key) {
                throw Failure(.key, "a public key of a member was used before", member: member)
            }
        }
    }

    private func checkInvites() throws(Failure) {
        let void = before.voidInvites.union(draft.voidInvites)
        var used = before.usedInvites
        for admission in draft.admissions {
            guard let invite = admission.origin?.invite else { continue }
            guard !void.contains(invite) else {
                throw Failure(.invite, "the invite was canceled", member: admission.member)
            }
            guard used.insert(invite).inserted else {
                throw Failure(.invite, "the invite was used before", member: admission.member)
            }
        }
    }

    private func checkEpochs() throws(Failure) {
        for compartment in draft.firstEpochs where before.epochs[compartment] != nil {
            throw Failure(.epoch, "the project is shared already", compartment: compartment)
        }
        for compartment in draft.renewedEpochs where before.epochs[compartment] == nil {
            throw Failure(.epoch, "the project is not shared", compartment: compartment)
        }
        guard before.epochs.count + draft.firstEpochs.count <= GroupLimits.compartments else {
            throw Failure(.bounds, "a group cannot share that many projects")
        }
    }

    private func checkChanges() throws(Failure) {
        let isEmpty =
            draft.admissions.isEmpty && draft.roles.isEmpty && draft.loweredMembers.isEmpty
            && draft.voidInvites.isEmpty && draft.firstEpochs.isEmpty
            && draft.renewedEpochs.isEmpty
        guard !isEmpty else { throw Failure(.noChange, "the entry would change nothing") }
    }

    private func checkAdmins() throws(Failure) {
        var admins = Set(before.activeAdmins)
        admins.subtract(draft.removals.map(\.member))
        for role in draft.roles {
            if role.rights.role == .admin {
                admins.insert(role.member)
            } else {
                admins.remove(role.member)
            }
        }
        admins.formUnion(draft.admissions.filter { $0.rights.role == .admin }.map(\.member))
        guard !admins.isEmpty else { throw Failure(.lastAdmin, "no admin would be left") }
        guard !before.hasOneAdmin || admins.count == 1 else {
            throw Failure(.oneAdmin, "the group was created for one admin")
        }
    }
}

import Vault

@testable import Groups

// Changed copies, for entries that are not valid.

extension Entry {
    func with(
        number: UInt64? = nil, group: GroupHash? = nil, previous: GroupHash? = nil,
        other: GroupHash? = nil, author: Identifier? = nil, admissions: [Admission]? = nil,
        roles: [RoleChange]? = nil, removals: [Removal]? = nil,
        keyReplacements: [KeyReplacement]? = nil, epochs: [NewEpoch]? = nil,
        voidInvites: [Identifier]? = nil
    ) -> Entry {
        Entry(
            number: number ?? self.number, group: group ?? self.group,
            previous: previous ?? self.previous, other: other ?? self.other,
            author: author ?? self.author, createdAt: createdAt, hasOneAdmin: hasOneAdmin,
            admissions: admissions ?? self.admissions, roles: roles ?? self.roles,
            removals: removals ?? self.removals,
            keyReplacements: keyReplacements ?? self.keyReplacements,
            epochs: epochs ?? self.epochs, voidInvites: voidInvites ?? self.voidInvites)
    }

    /// Changes every epoch.
    func epochs(_ change: (NewEpoch) -> NewEpoch) -> Entry { with(epochs: epochs.map(change)) }

    /// Changes every recipient of every epoch.
    func recipients(_ change: (NewEpoch.Recipient) -> NewEpoch.Recipient?) -> Entry {
        epochs { $0.with(recipients: $0.recipients.compactMap(change)) }
    }

    /// Changes the grants of every admission and role item.
    func grants(_ change: ([Grant]) -> [Grant]) -> Entry {
        with(
            admissions: admissions.map {
                Admission(
                    member: $0.member, person: $0.person, name: $0.name, rights: $0.rights,
                    keys: $0.keys, origin: $0.origin, grants: change($0.grants))
            },
            roles: roles.map {
                RoleChange(
                    member: $0.member, rights: $0.rights, cut: $0.cut, grants: change($0.grants))
            })
    }
}

extension NewEpoch {
    func with(
        number: UInt32? = nil, valueKey: [UInt8]? = nil, commitment: GroupHash? = nil,
        rungs: [Rung]? = nil, recipients: [Recipient]? = nil
    ) -> NewEpoch {
        NewEpoch(
            compartment: compartment, number: number ?? self.number,
            valueKey: valueKey ?? self.valueKey, indexCommitment: commitment ?? indexCommitment,
            rungs: rungs ?? self.rungs, recipients: recipients ?? self.recipients)
    }
}

extension NewEpoch.Rung {
    static func zeros(_ entry: GroupHash) -> NewEpoch.Rung {
        .init(
            entry: entry, index: [UInt8](repeating: 0, count: 72),
            value: [UInt8](repeating: 0, count: 148))
    }
}

extension SealedKeys {
    static func zeros(readsValues: Bool) -> SealedKeys {
        let box = [UInt8](repeating: 0, count: 172)
        return SealedKeys(indexBox: box, valueBox: readsValues ? box : nil)
    }

    /// The same with a value box exactly if there was none.
    var withOtherValueBox: SealedKeys { .zeros(readsValues: valueBox == nil) }
}

extension MemberKeys {
    func with(
        write: [UInt8]? = nil, authority: [UInt8]? = nil, indexBox: [UInt8]? = nil,
        valueBox: [UInt8]? = nil
    ) -> MemberKeys {
        MemberKeys(
            write: write ?? self.write, authority: authority ?? self.authority,
            indexBox: indexBox ?? self.indexBox, valueBox: valueBox ?? self.valueBox)
    }
}

extension TestMember {
    /// An admission with one thing changed.
    func admission(
        _ role: GroupRole = .member, id: Identifier? = nil, person: Identifier? = nil,
        named name: String? = nil, keys: MemberKeys? = nil, invite: Identifier? = nil
    ) -> Admission {
        Admission(
            member: id ?? self.id, person: person ?? self.person, name: name ?? self.name,
            rights: MemberRights(role: role), keys: keys ?? self.keys,
            origin: invite.map { .init(invite: $0, join: GroupHash(of: [1])) })
    }
}

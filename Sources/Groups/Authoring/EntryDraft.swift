package import Vault

/// What an admin wants an entry to say. ``EntryAuthor`` adds what follows from it: epochs, boxes,
/// rungs and grants. The order of items does not matter.
package struct EntryDraft: Sendable {
    /// Without grants.
    package var admissions: [Admission]
    /// Without grants.
    package var roles: [RoleChange]
    package var removals: [Removal]
    package var keyReplacements: [KeyReplacement]
    package var voidInvites: [Identifier]
    /// Compartments without an epoch that get their first one.
    package var firstEpochs: [Identifier]
    /// Compartments that get a new epoch, although no lowering requires it.
    package var renewedEpochs: [Identifier]

    package init(
        admissions: [Admission] = [], roles: [RoleChange] = [], removals: [Removal] = [],
        keyReplacements: [KeyReplacement] = [], voidInvites: [Identifier] = [],
        firstEpochs: [Identifier] = [], renewedEpochs: [Identifier] = []
    ) {
        self.admissions = admissions
        self.roles = roles
        self.removals = removals
        self.keyReplacements = keyReplacements
        self.voidInvites = voidInvites
        self.firstEpochs = firstEpochs
        self.renewedEpochs = renewedEpochs
    }

    /// The members that lose a right, and whose compartments therefore get a new epoch.
    var loweredMembers: [Identifier] {
        roles.filter { $0.cut != nil }.map(\.member) + removals.map(\.member)
            + keyReplacements.map(\.member)
    }

    /// Returns the draft with all lists ascending, as an entry has them.
    func sorted() -> EntryDraft {
        func sorted(_ cut: Cut) -> Cut {
            Cut(
                heads: Dictionary(cut.compartments.map { ($0.compartment, $0.changes) }) { $0 + $1 }
            )
        }
        func sorted(_ rights: MemberRights) -> MemberRights {
            MemberRights(role: rights.role, limit: rights.limit.map { Set($0).sorted() })
        }
        return EntryDraft(
            admissions: admissions.map {
                Admission(
                    member: $0.member, person: $0.person, name: $0.name,
                    rights: sorted($0.rights), keys: $0.keys, origin: $0.origin)
            }.sorted { $0.member < $1.member },
            roles: roles.map {
                RoleChange(
                    member: $0.member, rights: sorted($0.rights), cut: $0.cut.map(sorted))
            }.sorted { $0.member < $1.member },
            removals: removals.map { Removal(member: $0.member, cut: sorted($0.cut)) }
                .sorted { $0.member < $1.member },
            keyReplacements: keyReplacements.map {
                KeyReplacement(member: $0.member, keys: $0.keys, cut: sorted($0.cut))
            }.sorted { $0.member < $1.member },
            voidInvites: Set(voidInvites).sorted(), firstEpochs: Set(firstEpochs).sorted(),
            renewedEpochs: Set(renewedEpochs).sorted())
    }
}

package import Vault

/// The members and epochs after an entry.
package struct MembershipState: Equatable, Sendable {
    /// What is known of one member.
    package struct Member: Equatable, Sendable {
        package let person: Identifier
        package let name: String
        package var rights: MemberRights
        package var keys: MemberKeys
        package var isActive = true

        /// Whether the member may see a compartment.
        package func hasAccess(to compartment: Identifier) -> Bool {
            isActive && rights.includes(compartment)
        }

        func readsValues(of compartment: Identifier) -> Bool {
            hasAccess(to: compartment) && rights.role.readsValues
        }
    }

    /// The current keys of a compartment.
    package struct Epoch: Equatable, Sendable {
        package let number: UInt32
        /// The entry that made it.
        package let entry: GroupHash
        package let valueKey: [UInt8]
        package let indexCommitment: GroupHash
    }

    package internal(set) var members: [Identifier: Member] = [:]
    package internal(set) var epochs: [Identifier: Epoch] = [:]
    package internal(set) var lowerings: [Identifier: [Lowering]] = [:]
    package internal(set) var usedInvites: Set<Identifier> = []
    package internal(set) var voidInvites: Set<Identifier> = []
    package internal(set) var hasOneAdmin = false

    package var activeAdmins: [Identifier] {
        members.filter { $0.value.isActive && $0.value.rights.role == .admin }.map(\.key).sorted()
    }

    /// The authority key of a member; nil unless it is an active admin.
    func adminKey(of id: Identifier) -> [UInt8]? {
        guard let member = members[id], member.isActive, member.rights.role == .admin else {
            return nil
        }
        return member.keys.authority
    }

    /// The members with access to a compartment, ascending.
    package func recipients(of compartment: Identifier) -> [Identifier] {
        members.filter { $0.value.hasAccess(to: compartment) }.map(\.key).sorted()
    }

    /// Returns the state after an entry that keeps the rules.
    func applying(_ entry: Entry, named name: GroupHash) -> MembershipState {
        var state = self
        if entry.number == 1 { state.hasOneAdmin = entry.hasOneAdmin }
        for admission in entry.admissions {
            state.members[admission.member] = Member(
                person: admission.person, name: admission.name, rights: admission.rights,
                keys: admission.keys)
            if let origin = admission.origin { state.usedInvites.insert(origin.invite) }
        }
        for change in entry.roles {
            state.change(change.member, cut: change.cut, entry: name) {
                $0.rights = change.rights
            }
        }
        for removal in entry.removals {
            state.change(removal.member, cut: removal.cut, entry: name) { $0.isActive = false }
        }
        for replacement in entry.keyReplacements {
            state.change(replacement.member, cut: replacement.cut, entry: name) {
                $0.keys = replacement.keys
            }
        }
        for epoch in entry.epochs {
            state.epochs[epoch.compartment] = Epoch(
                number: epoch.number, entry: name, valueKey: epoch.valueKey,
                indexCommitment: epoch.indexCommitment)
        }
        state.voidInvites.formUnion(entry.voidInvites)
        return state
    }

    private mutating func change(
        _ id: Identifier, cut: Cut?, entry: GroupHash, _ body: (inout Member) -> Void
    ) {
        guard let before = members[id] else { return }
        var after = before
        body(&after)
        members[id] = after
        guard let cut else { return }
        lowerings[id, default: []].append(
            Lowering(entry: entry, cut: cut, before: before, after: after))
    }
}

/// An entry that took rights from a member.
package struct Lowering: Equatable, Sendable {
    package let entry: GroupHash
    package let cut: Cut
    package let before: MembershipState.Member
    package let after: MembershipState.Member
}

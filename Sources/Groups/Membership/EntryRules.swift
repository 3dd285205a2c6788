internal import Sealing
internal import Vault

/// The rules of an entry whose predecessors are valid, in the order of `docs/group-format.md`,
/// section 3.1. Each rule is one function that returns whether it holds.
struct EntryRules {
    let entry: Entry
    /// All bytes, with the signature.
    let object: [UInt8]
    /// Nil for entry 1.
    let previous: MembershipChain.Link?
    let other: MembershipChain.Link?
    /// Whether one of the two lies in the past of the other.
    let arePredecessorsRelated: Bool
    /// Whether a new public key was used in the past of the entry.
    let reusesKeys: Bool
    /// The state that the entry changes: after `previous`, or of both sides of a fork.
    private let before: MembershipState
    private let after: MembershipState

    init(
        entry: Entry, object: [UInt8], name: GroupHash, previous: MembershipChain.Link?,
        other: MembershipChain.Link?, arePredecessorsRelated: Bool, reusesKeys: Bool
    ) {
        self.entry = entry
        self.object = object
        self.previous = previous
        self.other = other
        self.arePredecessorsRelated = arePredecessorsRelated
        self.reusesKeys = reusesKeys
        var before = previous?.state ?? MembershipState()
        if let other { before = before.joined(with: other.state) }
        self.before = before
        after = before.applying(entry, named: name)
    }

    /// Returns the state after the entry, or the first rule that it breaks.
    func judge() -> (state: MembershipState, refusal: EntryRefusal?) {
        let rules: [(EntryRefusal, () -> Bool)] = [
            (.number, hasRightNumber), (.author, isByAdmin), (.signature, isSigned),
            (.join, joinsOnly), (.member, namesMembers), (.key, hasFreshKeys),
            (.invite, hasFreshInvites), (.oneAdmin, keepsOneAdmin), (.noChange, changes),
            (.lastAdmin, leavesAdmin), (.cut, hasCuts), (.epoch, hasEpochs),
            (.recipients, hasRecipients), (.grants, hasGrants),
        ]
        return (after, rules.first { !$0.1() }?.0)
    }

    private func hasRightNumber() -> Bool {
        guard let previous else { return entry.number == 1 }
        guard let other else { return entry.number == previous.entry.number &+ 1 }
        guard previous.name != other.name, !arePredecessorsRelated else { return false }
        let isInOrder =
            previous.entry.number > other.entry.number
            || (previous.entry.number == other.entry.number && previous.name < other.name)
        return isInOrder && entry.number == previous.entry.number &+ 1
    }

    /// The author's authority key; nil unless the author is an admin before the entry.
    private var authorKey: [UInt8]? {
        func key(_ state: MembershipState) -> [UInt8]? {
            guard let member = state.members[entry.author], member.isActive,
                member.rights.role == .admin
            else { return nil }
            return member.keys.authority
        }
        guard let previous else { return key(after) }
        guard let mine = key(previous.state) else { return nil }
        if let other, key(other.state) != mine { return nil }
        return mine
    }

    private func isByAdmin() -> Bool { authorKey != nil }

    private func isSigned() -> Bool {
        guard let key = authorKey else { return false }
        return object.withBytes { SigningKeyPair.isSigned($0, by: key) }
    }

    private func joinsOnly() -> Bool {
        entry.other == nil
            || (entry.admissions.isEmpty && entry.changedMembers.isEmpty
                && entry.voidInvites.isEmpty)
    }

    private func namesMembers() -> Bool {
        let changed = entry.changedMembers
        let all = changed + entry.admissions.map(\.member)
        return Set(all).count == all.count
            && entry.admissions.allSatisfy { before.members[$0.member] == nil }
            && changed.allSatisfy { before.members[$0]?.isActive == true }
    }

    private func hasFreshKeys() -> Bool {
        let members = entry.admissions.map(\.keys) + entry.keyReplacements.map(\.keys)
        let values = entry.epochs.map(\.valueKey)
        let new = entry.newKeys
        return Set(new).count == new.count && !reusesKeys
            && (members.flatMap { [$0.indexBox, $0.valueBox] } + values).allSatisfy {
                SealedBox.isUsable($0)
            }
    }

    private func hasFreshInvites() -> Bool {
        let invites = entry.admissions.compactMap(\.origin?.invite)
        return Set(invites).count == invites.count
            && before.usedInvites.isDisjoint(with: invites)
            && before.voidInvites.union(entry.voidInvites).isDisjoint(with: invites)
    }

    private func keepsOneAdmin() -> Bool {
        guard after.hasOneAdmin else { return true }
        return after.activeAdmins.count == 1
    }

    private func changes() -> Bool {
        let isEmpty =
            entry.admissions.isEmpty && entry.changedMembers.isEmpty && entry.epochs.isEmpty
            && entry.voidInvites.isEmpty && entry.other == nil
        return !isEmpty && entry.roles.allSatisfy { before.members[$0.member]?.rights != $0.rights }
    }

    private func leavesAdmin() -> Bool { !after.activeAdmins.isEmpty }

    private func isRaise(_ change: RoleChange) -> Bool {
        guard let old = before.members[change.member]?.rights else { return false }
        return change.rights.isAtLeast(old)
    }

    private func hasCuts() -> Bool {
        entry.roles.allSatisfy { ($0.cut == nil) == isRaise($0) }
    }

    /// The entries that made the current epochs of a compartment on the sides before this entry.
    private func current(_ compartment: Identifier) -> [MembershipState.Epoch] {
        let all = [previous, other].compactMap { $0?.state.epochs[compartment] }
        return all.count == 2 && all[0].entry == all[1].entry ? [all[0]] : all
    }

    private func hasEpochs() -> Bool {
        let made = Dictionary(uniqueKeysWithValues: entry.epochs.map { ($0.compartment, $0) })
        for epoch in entry.epochs {
            let current = current(epoch.compartment)
            let highest = current.map(\.number).max() ?? 0
            guard epoch.number == highest &+ 1, epoch.number > highest,
                epoch.rungs.map(\.entry) == current.map(\.entry).sorted()
            else { return false }
        }
        let known = Set([previous, other].flatMap { $0.map { Array($0.state.epochs.keys) } ?? [] })
        if entry.other != nil { return known.allSatisfy { made[$0] != nil } }
        let lowered =
            entry.removals.map(\.member) + entry.keyReplacements.map(\.member)
            + entry.roles.filter { $0.cut != nil }.map(\.member)
        return lowered.allSatisfy { id in
            known.allSatisfy { compartment in
                before.members[id]?.hasAccess(to: compartment) != true || made[compartment] != nil
            }
        }
    }

    private func hasRecipients() -> Bool {
        entry.epochs.allSatisfy { epoch in
            epoch.recipients.map(\.member) == after.recipients(of: epoch.compartment)
                && epoch.recipients.allSatisfy {
                    ($0.keys.valueBox != nil)
                        == (after.members[$0.member]?.rights.role.readsValues ?? false)
                }
        }
    }

    private func hasGrants() -> Bool {
        entry.admissions.allSatisfy { areRight($0.grants, for: $0.member) }
            && entry.roles.allSatisfy { areRight($0.grants, for: $0.member) }
    }

    private func areRight(_ grants: [Grant], for id: Identifier) -> Bool {
        guard let now = after.members[id] else { return false }
        let old = before.members[id]
        let made = Set(entry.epochs.map(\.compartment))
        let gained = before.epochs.keys.filter { compartment in
            !made.contains(compartment) && now.hasAccess(to: compartment)
                && (old?.hasAccess(to: compartment) != true
                    || (now.rights.role.readsValues && old?.readsValues(of: compartment) != true))
        }.sorted()
        return grants.map(\.compartment) == gained
            && grants.allSatisfy {
                $0.epoch == before.epochs[$0.compartment]?.number
                    && ($0.keys.valueBox != nil) == now.rights.role.readsValues
            }
    }
}

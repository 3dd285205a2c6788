package import Sealing
package import Vault

/// A signed entry that its author's chain accepts.
package struct AuthoredEntry {
    package let object: [UInt8]
    /// The hash of the object; of entry 1, it is the group's id.
    package let name: GroupHash
    package let number: UInt64
}

/// Makes the entries of one admin. What it returns is always valid for who has the same entries.
package struct EntryAuthor {
    package typealias Failure = EntryDraftError

    private let chain: MembershipChain
    private let ring: EpochKeyRing
    private let author: Identifier
    private let createdAt: UInt64

    /// - Parameters:
    ///   - ring: The author's, updated with the chain.
    ///   - createdAt: Milliseconds since 1970.
    package init(
        chain: MembershipChain, ring: EpochKeyRing, author: Identifier, createdAt: UInt64
    ) {
        self.chain = chain
        self.ring = ring
        self.author = author
        self.createdAt = createdAt
    }

    /// Makes entry 1 of a new group.
    ///
    /// - Parameters:
    ///   - founder: The first member, an admin.
    ///   - compartments: The compartments that get their first epoch.
    ///   - hasOneAdmin: Whether the group has one admin forever.
    ///   - authority: The founder's.
    package static func founding(
        _ founder: Admission, compartments: [Identifier], hasOneAdmin: Bool,
        createdAt: UInt64, signedBy authority: borrowing SigningKeyPair
    ) throws(Failure) -> AuthoredEntry {
        guard founder.rights.role == .admin, founder.keys.authority == authority.publicKey else {
            throw Failure(
                .author, "only an admin with the right key can create a group",
                member: founder.member)
        }
        let draft = EntryDraft(admissions: [founder], firstEpochs: compartments).sorted()
        let before = MembershipState()
        try EntryDraftRules(draft: draft, before: before, isKeyUsed: { _ in false }).check()
        let bare = draft.entry(
            number: 1, group: .zero, previous: .zero, author: founder.member,
            createdAt: createdAt, hasOneAdmin: hasOneAdmin)
        let sealing = EntrySealing(
            bare: bare, before: before, sides: [], compartments: draft.firstEpochs, ring: nil)
        return try finish(sealing, in: nil, authority)
    }

    /// Makes the entry that follows the only head.
    ///
    /// - Parameter authority: The author's.
    package func entry(
        _ draft: EntryDraft, signedBy authority: borrowing SigningKeyPair
    ) throws(Failure) -> AuthoredEntry {
        guard let head = chain.heads.first, let previous = chain.link(head) else {
            throw Failure(.author, "the group has no valid entries")
        }
        guard !chain.isForked else {
            throw Failure(.forked, "an admin has to join the two memberships first")
        }
        guard previous.state.adminKey(of: author) == authority.publicKey else {
            throw Failure(.author, "only an admin can change the group", member: author)
        }
        let draft = draft.sorted()
        let before = previous.state
        try EntryDraftRules(draft: draft, before: before) { [chain] key in
            chain.hasKey(key, inPastOf: [head])
        }.check()
        let bare = draft.entry(
            number: previous.entry.number + 1, group: chain.group, previous: head,
            author: author, createdAt: createdAt)
        let lowered = before.epochs.keys.filter { compartment in
            draft.loweredMembers.contains {
                before.members[$0]?.hasAccess(to: compartment) == true
            }
        }
        let compartments = Set(draft.firstEpochs + draft.renewedEpochs + lowered).sorted()
        let sealing = EntrySealing(
            bare: bare, before: before, sides: [before], compartments: compartments, ring: ring)
        return try Self.finish(sealing, in: chain, authority)
    }

    /// Makes the entry that joins two heads of a forked membership. After a fork into more than two,
    /// each call joins two of them.
    ///
    /// - Parameter authority: The author's, who is an admin with this key on both sides.
    package func joiningEntry(
        signedBy authority: borrowing SigningKeyPair
    ) throws(Failure) -> AuthoredEntry {
        let heads = chain.heads.compactMap { chain.link($0) }
        guard heads.count > 1 else {
            throw Failure(.notForked, "the membership has one newest entry: nothing to join")
        }
        let key = authority.publicKey
        let sides = heads.filter { $0.state.adminKey(of: author) == key }.sorted {
            $0.entry.number != $1.entry.number
                ? $0.entry.number > $1.entry.number : $0.name < $1.name
        }
        guard sides.count > 1 else {
            throw Failure(
                .author, "only an admin whom both memberships know can join them", member: author)
        }
        let (previous, other) = (sides[0], sides[1])
        let compartments = Set(previous.state.epochs.keys).union(other.state.epochs.keys).sorted()
        let bare = Entry(
            number: previous.entry.number + 1, group: chain.group, previous: previous.name,
            other: other.name, author: author, createdAt: createdAt)
        let before = previous.state.joined(with: other.state)
        let sealing = EntrySealing(
            bare: bare, before: before, sides: [previous.state, other.state],
            compartments: compartments, ring: ring)
        return try Self.finish(sealing, in: chain, authority)
    }

    /// Seals, signs, and lets a copy of the chain judge the result.
    private static func finish(
        _ sealing: EntrySealing, in chain: MembershipChain?,
        _ authority: borrowing SigningKeyPair
    ) throws(Failure) -> AuthoredEntry {
        try sealing.check()
        let entry = try sealing.seal()
        let object = entry.signed(with: authority)
        let name = GroupHash(of: object)
        var copy = chain ?? MembershipChain(group: name)
        do throws(GroupError) { try copy.insert([object]) } catch { throw Failure(error) }
        guard copy.link(name) != nil else {
            let rule = copy.refused[name]?.rawValue ?? "waiting"
            throw Failure(.refused, "the entry is not valid (rule: \(rule))")
        }
        return AuthoredEntry(object: object, name: name, number: entry.number)
    }
}

extension EntryDraft {
    /// The entry without epochs and grants.
    fileprivate func entry(
        number: UInt64, group: GroupHash, previous: GroupHash, author: Identifier,
        createdAt: UInt64, hasOneAdmin: Bool = false
    ) -> Entry {
        Entry(
            number: number, group: group, previous: previous, author: author,
            createdAt: createdAt, hasOneAdmin: hasOneAdmin, admissions: admissions, roles: roles,
            removals: removals, keyReplacements: keyReplacements, voidInvites: voidInvites)
    }
}

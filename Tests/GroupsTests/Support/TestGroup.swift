import Sealing
import Vault

@testable import Groups

/// Builds the entries and changes of a group, with all secrets at hand.
struct TestGroup {
    /// Whether boxes and rungs are sealed; otherwise they are zeros, which the fold does not notice.
    var sealsBoxes: Bool
    private(set) var chain: MembershipChain
    private(set) var objects: [GroupHash: [UInt8]] = [:]
    /// The keys of each epoch, by compartment and the entry that made it.
    private(set) var epochs: [EpochKey: TestEpoch] = [:]
    private var nextEpoch = 0
    private var clock: UInt64 = 1_700_000_000_000
    private(set) var members: [Identifier: TestMember] = [:]

    struct EpochKey: Hashable {
        let compartment: Identifier
        let entry: GroupHash
    }

    /// Creates a group with one admin.
    init(
        founder: TestMember, compartments: [Identifier], others: [(TestMember, GroupRole)] = [],
        sealsBoxes: Bool = false, hasOneAdmin: Bool = false
    ) throws {
        self.sealsBoxes = sealsBoxes
        chain = MembershipChain(group: .zero)
        let all = [(founder, GroupRole.admin)] + others
        for (member, _) in all { members[member.id] = member }
        let draft = Draft(
            admissions: all.map { $0.0.admission($0.1) }, epochsFor: compartments,
            hasOneAdmin: hasOneAdmin)
        let object = try makeEntry(draft, by: founder, previous: nil, other: nil)
        chain = MembershipChain(group: GroupHash(of: object))
        try insert(object)
    }

    /// What an entry says, without what follows from the state before it.
    struct Draft {
        var admissions: [Admission] = []
        var roles: [RoleChange] = []
        var removals: [Removal] = []
        var keyReplacements: [KeyReplacement] = []
        var voidInvites: [Identifier] = []
        var epochsFor: [Identifier] = []
        var hasOneAdmin = false
    }

    var group: GroupHash { chain.group }
    var head: GroupHash { chain.heads[0] }
    var state: MembershipState { chain.headStates[0] }

    mutating func know(_ member: TestMember) { members[member.id] = member }

    /// Forgets the entries that were inserted, and keeps the keys of all epochs.
    mutating func removeEntries() { objects = [:] }

    /// Adds an entry to this group's chain.
    mutating func insert(_ object: [UInt8]) throws {
        objects[GroupHash(of: object)] = object
        try chain.insert([object])
    }

    /// Makes a valid entry: adds epochs for what is lowered, grants, boxes and rungs.
    @discardableResult
    mutating func add(
        _ draft: Draft, by author: TestMember, after previous: GroupHash? = nil,
        joining other: GroupHash? = nil
    ) throws -> GroupHash {
        let object = try makeEntry(draft, by: author, previous: previous ?? head, other: other)
        try insert(object)
        return GroupHash(of: object)
    }

    /// - Parameters:
    ///   - id: The author's id, if the keys are not those of the admission.
    ///   - change: Changes the complete entry before it is signed.
    mutating func makeEntry(
        _ draft: Draft, by author: TestMember, as id: Identifier? = nil, previous: GroupHash?,
        other: GroupHash?, _ change: (Entry) -> Entry = { $0 }
    ) throws -> [UInt8] {
        let before = previous.flatMap { chain.link($0) }
        let second = other.flatMap { chain.link($0) }
        clock += 1_000
        let number = (before?.entry.number ?? 0) + 1
        var wanted = Set(draft.epochsFor)
        let lowered =
            draft.removals.map(\.member) + draft.keyReplacements.map(\.member)
            + draft.roles.filter { $0.cut != nil }.map(\.member)
        for id in lowered {
            for compartment in (before?.state.epochs ?? [:]).keys
            where before?.state.members[id]?.hasAccess(to: compartment) == true {
                wanted.insert(compartment)
            }
        }
        if let second { wanted.formUnion(second.state.epochs.keys) }
        if second != nil, let before { wanted.formUnion(before.state.epochs.keys) }
        let bare = entry(number, draft, id ?? author.id, previous, other, [])
        let after = try Self.preview(
            bare, before: before?.state, other: second?.state)
        var pending: [(Identifier, TestEpoch)] = []
        var made: [NewEpoch] = []
        for compartment in wanted.sorted() {
            let keys = TestPool.epochs[nextEpoch % TestPool.epochs.count]
            nextEpoch += 1
            pending.append((compartment, keys))
            made.append(
                try newEpoch(
                    compartment, keys, number, after,
                    [before?.state.epochs[compartment], second?.state.epochs[compartment]]
                        .compactMap { $0 }))
        }
        let granted = try withGrants(draft, before?.state, after, wanted, number)
        let complete = change(entry(number, granted, id ?? author.id, previous, other, made))
        let object = complete.signed(with: author.authority)
        let name = GroupHash(of: object)
        for (compartment, keys) in pending {
            epochs[EpochKey(compartment: compartment, entry: name)] = keys
        }
        return object
    }

    private func entry(
        _ number: UInt64, _ draft: Draft, _ author: Identifier, _ previous: GroupHash?,
        _ other: GroupHash?, _ made: [NewEpoch]
    ) -> Entry {
        Entry(
            number: number, group: previous == nil ? .zero : group, previous: previous ?? .zero,
            other: other, author: author, createdAt: clock, hasOneAdmin: draft.hasOneAdmin,
            admissions: draft.admissions.sorted { $0.member < $1.member },
            roles: draft.roles.sorted { $0.member < $1.member },
            removals: draft.removals.sorted { $0.member < $1.member },
            keyReplacements: draft.keyReplacements.sorted { $0.member < $1.member },
            epochs: made, voidInvites: draft.voidInvites.sorted())
    }

    /// The members after an entry, computed without the code under test: id to rights and keys.
    private static func preview(
        _ entry: Entry, before: MembershipState?, other: MembershipState?
    ) throws -> [Identifier: (rights: MemberRights, keys: MemberKeys)] {
        var members: [Identifier: (rights: MemberRights, keys: MemberKeys)] = [:]
        for (id, member) in before?.members ?? [:] where member.isActive {
            members[id] = (member.rights, member.keys)
        }
        if let other {
            let mine = before?.members ?? [:]
            for (id, member) in other.members {
                guard let same = mine[id] else {
                    if member.isActive { members[id] = (member.rights, member.keys) }
                    continue
                }
                let lower =
                    same.rights.role.isAtLeast(member.rights.role)
                    ? member.rights.role : same.rights.role
                let isComparable =
                    same.rights.role.isAtLeast(member.rights.role)
                    || member.rights.role.isAtLeast(same.rights.role)
                guard same.isActive, member.isActive, same.keys == member.keys, isComparable,
                    same.person == member.person, same.name.utf8.elementsEqual(member.name.utf8)
                else {
                    members[id] = nil
                    continue
                }
                let limit =
                    same.rights.limit.map { mine in
                        member.rights.limit.map { mine.filter($0.contains) } ?? mine
                    } ?? member.rights.limit
                members[id] = (MemberRights(role: lower, limit: limit), same.keys)
            }
        }
        for admission in entry.admissions {
            members[admission.member] = (admission.rights, admission.keys)
        }
        for role in entry.roles { members[role.member]?.rights = role.rights }
        for removal in entry.removals { members[removal.member] = nil }
        for replacement in entry.keyReplacements {
            members[replacement.member]?.keys = replacement.keys
        }
        return members
    }

    private func newEpoch(
        _ compartment: Identifier, _ keys: TestEpoch, _ entry: UInt64,
        _ after: [Identifier: (rights: MemberRights, keys: MemberKeys)],
        _ current: [MembershipState.Epoch]
    ) throws -> NewEpoch {
        let number = (current.map(\.number).max() ?? 0) + 1
        let distinct = Dictionary(current.map { ($0.entry, $0) }) { first, _ in first }
        let rungs = try distinct.keys.sorted().map { name -> NewEpoch.Rung in
            guard sealsBoxes, let old = distinct[name],
                let secrets = epochs[EpochKey(compartment: compartment, entry: name)]
            else {
                return NewEpoch.Rung(
                    entry: name, index: [UInt8](repeating: 0, count: 72),
                    value: [UInt8](repeating: 0, count: 148))
            }
            let context = RungContext(group: group, compartment: compartment, epoch: old.number)
            return NewEpoch.Rung(
                entry: name, index: try keys.index.rung(for: secrets.index, context),
                value: try ValueSecretOfEpoch.rung(
                    for: secrets.value, to: keys.valueKey, context))
        }
        let recipients = try after.filter { $0.value.rights.includes(compartment) }.keys.sorted()
            .map { id -> NewEpoch.Recipient in
                let sealed = try sealedKeys(
                    compartment, number, keys, entry, id, after[id]?.keys,
                    after[id]?.rights.role.readsValues ?? false, isFirst: entry == 1)
                return NewEpoch.Recipient(member: id, keys: sealed)
            }
        return NewEpoch(
            compartment: compartment, number: number, valueKey: keys.valueKey,
            indexCommitment: keys.index.commitment(compartment: compartment, epoch: number),
            rungs: rungs, recipients: recipients)
    }

    private func sealedKeys(
        _ compartment: Identifier, _ epoch: UInt32, _ keys: TestEpoch, _ entry: UInt64,
        _ id: Identifier, _ publicKeys: MemberKeys?, _ readsValues: Bool, isFirst: Bool
    ) throws -> SealedKeys {
        guard sealsBoxes, let publicKeys else {
            let box = [UInt8](repeating: 0, count: 172)
            return SealedKeys(indexBox: box, valueBox: readsValues ? box : nil)
        }
        let context = BoxContext(
            group: isFirst ? .zero : group, entry: entry, compartment: compartment, epoch: epoch,
            recipient: id)
        return try context.seal(keys.index, keys.value, to: publicKeys, readsValues: readsValues)
    }

    private func withGrants(
        _ draft: Draft, _ before: MembershipState?,
        _ after: [Identifier: (rights: MemberRights, keys: MemberKeys)],
        _ made: Set<Identifier>, _ entry: UInt64
    ) throws -> Draft {
        guard let before else { return draft }
        func grants(_ id: Identifier) throws -> [Grant] {
            guard let now = after[id] else { return [] }
            let old = before.members[id]
            return try before.epochs.keys.sorted().filter { compartment in
                let had = old?.hasAccess(to: compartment) ?? false
                let gainsValues =
                    now.rights.role.readsValues && !(old?.rights.role.readsValues ?? false)
                return !made.contains(compartment) && now.rights.includes(compartment)
                    && (!had || gainsValues)
            }.map { compartment in
                guard let epoch = before.epochs[compartment],
                    let keys = epochs[
                        EpochKey(compartment: compartment, entry: epoch.entry)]
                else { throw GroupError(.tag, "the test has no keys") }
                return Grant(
                    compartment: compartment, epoch: epoch.number,
                    keys: try sealedKeys(
                        compartment, epoch.number, keys, entry, id, now.keys,
                        now.rights.role.readsValues, isFirst: false))
            }
        }
        var draft = draft
        draft.admissions = try draft.admissions.map {
            Admission(
                member: $0.member, person: $0.person, name: $0.name, rights: $0.rights,
                keys: $0.keys, origin: $0.origin, grants: try grants($0.member))
        }
        draft.roles = try draft.roles.map {
            RoleChange(
                member: $0.member, rights: $0.rights, cut: $0.cut,
                grants: try grants($0.member))
        }
        return draft
    }

    /// The keys of a compartment's epoch after an entry.
    func keys(of compartment: Identifier, after entry: GroupHash) -> TestEpoch? {
        guard let epoch = chain.link(entry)?.state.epochs[compartment] else { return nil }
        return epochs[EpochKey(compartment: compartment, entry: epoch.entry)]
    }

    /// Opens a change with the keys of the entry that it names.
    func received(_ object: [UInt8]) throws -> ReceivedChange {
        let change = try Change(object)
        guard let link = chain.link(change.header.entry),
            let keys = keys(of: change.header.compartment, after: change.header.entry)
        else { return ReceivedChange(waiting: change) }
        return try ReceivedChange(opening: change, after: link, with: keys.index)
    }
}

/// One place where a member writes: a chain of changes in a compartment.
struct TestChain {
    let member: TestMember
    let id: Identifier
    var counter: UInt64 = 0
    var before = GroupHash.zero

    init(_ member: TestMember, _ number: Int) {
        self.member = member
        id = TestRandom.identifier("chain", number)
    }
}

extension TestGroup {
    /// What a test may state otherwise than an honest member.
    struct ChangeDraft {
        var compartment: Identifier
        var operations: [RecordOperation]
        var parents: [GroupHash] = []
        /// By default authority if an operation needs it.
        var key: ChangeHeader.Key?
        /// By default the head.
        var entry: GroupHash?
        /// Another name for that entry.
        var entryName: GroupHash?
        var entryNumber: UInt64?
        var epoch: UInt32?
        var author: Identifier?
        /// By default the author's.
        var signer: TestMember?
    }

    /// Makes a change and moves the chain on. Values are zeros of the stated length, unless given.
    func change(
        _ draft: ChangeDraft, in chain: inout TestChain, values: [UInt8]? = nil,
        batch: Identifier? = nil
    ) throws -> [UInt8] {
        let entry = draft.entry ?? head
        guard let link = self.chain.link(entry),
            let keys = keys(of: draft.compartment, after: entry)
        else { throw GroupError(.tag, "the test has no keys") }
        let needsAuthority = draft.operations.contains { $0.operation.needsAuthority }
        let key = draft.key ?? (needsAuthority ? .authority : .write)
        let header = ChangeHeader(
            key: key, group: group, compartment: draft.compartment,
            epoch: draft.epoch ?? link.state.epochs[draft.compartment]?.number ?? 1,
            author: draft.author ?? chain.member.id, chain: chain.id, counter: chain.counter + 1,
            before: chain.before, entryNumber: draft.entryNumber ?? link.entry.number,
            entry: draft.entryName ?? entry,
            parents: draft.parents.filter { $0 != chain.before }.sorted())
        let sizes = draft.operations.compactMap { operation -> Int? in
            guard case .value(let value) = operation.operation else { return nil }
            return value.chunkByteCount
        }
        let count = sizes.isEmpty ? 0 : 164 + sizes.reduce(0, +)
        let content = ChangeContent(
            createdAt: 1_700_000_000_000 + chain.counter,
            batch: sizes.isEmpty ? nil : batch ?? TestRandom.identifier("batch", 0),
            operations: draft.operations)
        let signer = draft.signer ?? chain.member
        let object =
            key == .write
            ? try Change.sealed(
                header, content, values: values ?? [UInt8](repeating: 0, count: count),
                with: keys.index, signedBy: signer.write)
            : try Change.sealed(
                header, content, values: values ?? [UInt8](repeating: 0, count: count),
                with: keys.index, signedBy: signer.authority)
        chain.counter += 1
        chain.before = GroupHash(of: object)
        return object
    }
}

extension TestChain {
    /// A chain with another's position.
    init(copying chain: TestChain, id: Identifier, counter: UInt64, before: GroupHash) {
        (member, self.id) = (chain.member, id)
        self.counter = counter
        self.before = before
    }
}

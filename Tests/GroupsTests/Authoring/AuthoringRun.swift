import Sealing
import Vault

@testable import Groups

/// A random history of entries that several admins make, also at the same time.
struct AuthoringRun {
    private var random: ModelRandom
    private(set) var chain: MembershipChain
    private(set) var oracle = AuthoringOracle()
    private(set) var objects: [[UInt8]] = []
    /// The keys of each member; a replacement adds a holder.
    private(set) var holders: [Identifier: [TestMember]] = [:]
    private(set) var counts: [String: Int] = [:]
    private var rings: [Identifier: EpochKeyRing] = [:]
    private var unused: [TestMember]
    private var compartments: [Identifier]
    private var clock: UInt64 = 1_700_000_000_000
    private var invites = 0

    /// Those whose keys nobody has yet.
    private static let pool = (400..<520).map { TestMember($0) }

    init(seed: UInt64) throws {
        random = ModelRandom(seed)
        unused = Self.pool
        compartments = Array(TestPool.compartments.prefix(6))
        let founder = unused.removeLast()
        let shared = Array(compartments.prefix(random.below(3) + 1))
        compartments.removeFirst(shared.count)
        let new = founder.newMember(.admin)
        let first = try EntryAuthor.founding(
            new, compartments: shared, hasOneAdmin: false, createdAt: clock,
            signedBy: founder.authority)
        chain = MembershipChain(group: first.name)
        holders[founder.id] = [founder]
        oracle.add(
            EntryDraft(admissions: [new], firstEpochs: shared), as: first.name, after: nil)
        try chain.insert([first.object])
        objects.append(first.object)
    }

    /// Makes so many entries.
    mutating func run(_ count: Int) throws {
        while objects.count < count {
            if random.percent(15) {
                try fork()
            } else {
                chain = try step(on: chain)
            }
        }
    }

    /// Returns a chain with one more entry.
    private mutating func step(on chain: MembershipChain) throws -> MembershipChain {
        let head = chain.heads[0]
        guard let state = oracle.steps[head]?.after, let author = random.pick(state.admins) else {
            throw ModelFinding("there is no admin")
        }
        let draft = draft(after: state)
        clock += 1_000
        let authored = try EntryAuthor(
            chain: chain, ring: ring(of: author, chain), author: author, createdAt: clock
        ).entry(draft, signedBy: signer(of: author, after: head, in: chain))
        oracle.add(draft, as: authored.name, after: head)
        var chain = chain
        try chain.insert([authored.object])
        try check(authored, in: chain)
        objects.append(authored.object)
        return chain
    }

    /// Lets two sides add entries that do not know each other, and joins them.
    private mutating func fork() throws {
        let saved = (oracle, objects, holders)
        var (left, right) = (chain, chain)
        for _ in 0...random.below(3) { left = try step(on: left) }
        let middle = objects.count
        for _ in 0...random.below(3) { right = try step(on: right) }
        var both = left
        try both.insert(Array(objects[middle...]))
        let heads = both.heads
        let replaced = Set(
            holders.keys.filter { id in
                let keys = heads.compactMap { both.link($0)?.state.members[id]?.keys }
                return keys.count == 2 && keys[0] != keys[1]
            })
        let states = heads.compactMap { oracle.steps[$0]?.after }
        let common = states[0].admins.filter {
            states[1].admins.contains($0) && !replaced.contains($0)
        }
        guard let author = random.pick(common) else {
            // Nobody can join the sides: only one of them was published.
            (oracle, objects, holders) = saved
            return
        }
        clock += 1_000
        let authored = try EntryAuthor(
            chain: both, ring: ring(of: author, both), author: author, createdAt: clock
        ).joiningEntry(signedBy: signer(of: author, after: heads[0], in: both))
        oracle.join(heads[0], heads[1], as: authored.name, replaced: replaced)
        try both.insert([authored.object])
        try check(authored, in: both)
        chain = both
        objects.append(authored.object)
        counts["joined", default: 0] += 1
    }

    /// Compares membership and epochs after an entry with the oracle.
    private func check(_ authored: AuthoredEntry, in chain: MembershipChain) throws {
        guard let link = chain.link(authored.name), let step = oracle.steps[authored.name] else {
            throw ModelFinding("an authored entry is not valid")
        }
        guard Set(link.entry.epochs.map(\.compartment)) == step.made else {
            throw ModelFinding("an entry makes other epochs than it has to")
        }
        for (id, member) in step.after.members {
            let found = link.state.members[id]
            guard found?.isActive == member.isActive,
                !member.isActive || found?.rights == member.rights
            else { throw ModelFinding("a member has other rights than the draft says") }
        }
    }

    /// The keys of an admin that are valid after an entry.
    private func signer(
        of id: Identifier, after entry: GroupHash, in chain: MembershipChain
    ) throws -> SigningKeyPair {
        let key = chain.link(entry)?.state.members[id]?.keys.authority
        guard let holder = holders[id]?.first(where: { $0.keys.authority == key }) else {
            throw ModelFinding("an admin has no keys")
        }
        return try SigningKeyPair(seed: TestRandom.secret(holder.seeds[1]))
    }

    /// The ring of an admin, which grows with each chain that the admin sees.
    private mutating func ring(
        of id: Identifier, _ chain: MembershipChain
    ) throws -> EpochKeyRing {
        let ring = try rings[id] ?? EpochKeyRing(member: id)
        rings[id] = ring
        for holder in holders[id] ?? [] {
            try ring.update(
                with: chain, indexBox: holder.indexBox, valueBox: holder.valueBox)
        }
        return ring
    }

    // MARK: Drafts

    private mutating func draft(after state: AuthoringOracle.State) -> EntryDraft {
        while true {
            var draft = EntryDraft()
            var touched: Set<Identifier> = []
            for _ in 0...random.below(3) { add(to: &draft, &touched, state) }
            let kept = state.admins.contains { !touched.contains($0) }
            let isEmpty =
                draft.admissions.isEmpty && touched.isEmpty && draft.voidInvites.isEmpty
                && draft.firstEpochs.isEmpty && draft.renewedEpochs.isEmpty
            if kept, !isEmpty {
                for member in draft.keyReplacements {
                    if let holder = unused.first(where: { $0.keys == member.keys }) {
                        holders[member.member, default: []].append(holder)
                    }
                }
                for member in draft.admissions {
                    holders[member.member] = unused.filter { $0.id == member.member }
                }
                let keys = Set(
                    draft.admissions.map(\.keys) + draft.keyReplacements.map(\.keys))
                unused.removeAll { keys.contains($0.keys) }
                compartments.removeAll { draft.firstEpochs.contains($0) }
                count(draft)
                return draft
            }
        }
    }

    private mutating func count(_ draft: EntryDraft) {
        counts["admissions", default: 0] += draft.admissions.count
        counts["raises", default: 0] += draft.roles.filter { $0.cut == nil }.count
        counts["lowerings", default: 0] += draft.roles.filter { $0.cut != nil }.count
        counts["removals", default: 0] += draft.removals.count
        counts["key replacements", default: 0] += draft.keyReplacements.count
        counts["void invites", default: 0] += draft.voidInvites.count
        counts["renewed epochs", default: 0] += draft.renewedEpochs.count
    }

    private mutating func add(
        to draft: inout EntryDraft, _ touched: inout Set<Identifier>,
        _ state: AuthoringOracle.State
    ) {
        let used = Set(draft.admissions.map(\.keys) + draft.keyReplacements.map(\.keys))
        let free = unused.first { !used.contains($0.keys) }
        let choice = random.below(100)
        let cut = Cut(
            heads: Dictionary(
                uniqueKeysWithValues: state.current.keys.map { ($0, [GroupHash(of: $0.bytes)]) }))
        if choice < 35 || state.active.count < 4 {
            guard let free else { return }
            invites += 1
            draft.admissions.append(
                free.newMember(
                    rights(state),
                    origin: .init(
                        invite: TestRandom.identifier("invite", invites),
                        join: GroupHash(of: [UInt8(invites % 256)]))))
        } else if choice < 80 {
            guard let id = random.pick(state.active), touched.insert(id).inserted,
                let old = state.members[id]
            else { return }
            if choice < 60 {
                let rights = rights(state)
                let new = AuthoringOracle.Member(
                    role: rights.role, limit: rights.limit.map(Set.init))
                guard new.role != old.role || new.limit != old.limit else {
                    touched.remove(id)
                    return
                }
                let isRaise = AuthoringOracle.isRaise(from: old, to: new)
                draft.roles.append(
                    .init(member: id, rights: rights, cut: isRaise ? nil : cut))
            } else if choice < 70 {
                draft.removals.append(Removal(member: id, cut: cut))
            } else if let free {
                draft.keyReplacements.append(
                    KeyReplacement(member: id, keys: free.keys, cut: cut))
            } else {
                touched.remove(id)
            }
        } else if choice < 88 {
            if let compartment = compartments.first { draft.firstEpochs.append(compartment) }
        } else if choice < 95 {
            if let compartment = random.pick(state.current.keys.sorted()) {
                draft.renewedEpochs.append(compartment)
            }
        } else {
            invites += 1
            draft.voidInvites.append(TestRandom.identifier("invite", invites))
        }
    }

    private mutating func rights(_ state: AuthoringOracle.State) -> MemberRights {
        let role = random.pick(GroupRole.allCases) ?? .member
        guard role != .admin, random.percent(40) else { return MemberRights(role: role) }
        // In no order, and with one that is not shared yet.
        let known = state.current.keys.sorted() + compartments.prefix(1)
        let limit = known.filter { _ in random.percent(50) }
        return MemberRights(role: role, limit: random.shuffle(limit))
    }
}

extension TestMember {
    func newMember(
        _ rights: MemberRights, origin: Admission.Origin? = nil
    ) -> Admission {
        Admission(
            member: id, person: person, name: name, rights: rights, keys: keys, origin: origin)
    }

    func newMember(
        _ role: GroupRole, limit: [Identifier]? = nil
    ) -> Admission { newMember(MemberRights(role: role, limit: limit)) }
}

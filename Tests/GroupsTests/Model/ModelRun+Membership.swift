import Vault

@testable import Groups

extension ModelRun {
    /// The heads of a member's changes that an agent has.
    func cut(of member: Identifier, seenBy agent: ModelAgent) -> Cut {
        var heads: [Cut.Heads] = []
        for compartment in compartments {
            let mine = agent.changes.compactMap { changes[$0] }.filter {
                $0.compartment == compartment && $0.received.header.author == member
            }
            let followed = Set(mine.flatMap(\.received.header.predecessors))
            let names = mine.map(\.received.name).filter { !followed.contains($0) }.sorted()
            if !names.isEmpty {
                heads.append(.init(compartment: compartment, changes: Array(names.prefix(50))))
            }
        }
        return Cut(heads)
    }

    /// Stores a valid entry; the place takes two with one number only if it is such a place.
    mutating func store(_ object: [UInt8], by place: Int) throws {
        let name = GroupHash(of: object)
        try group.insert(object)
        guard group.chain.link(name) != nil else {
            let reason = group.chain.refused[name]?.rawValue ?? "waiting"
            throw ModelFinding("an entry that should be valid is refused: \(reason)")
        }
        valid[name] = object
        agents[place].entries.insert(name)
        for index in agents.indices where agents[index].id == agents[place].id {
            agents[index].secrets = agents[place].secrets
        }
    }

    mutating func administer(_ place: Int) throws {
        if !placeForks { agents[place].entries.formUnion(valid.keys) }
        let agent = agents[place]
        let chain = try chain(agent.entries)
        guard let head = chain.heads.first, let state = chain.headStates.first,
            isAdmin(agent, state)
        else { return }
        if chain.heads.count > 1 {
            guard isAdmin(agent, chain.headStates[1]) else { return }
            let heads = chain.heads.prefix(2).sorted {
                let (one, two) = (chain.link($0)?.entry.number, chain.link($1)?.entry.number)
                return one == two ? $0 < $1 : (one ?? 0) > (two ?? 0)
            }
            // A join that would leave no admin is refused; nobody makes one.
            let object = try group.makeEntry(
                .init(), by: agent.secrets, as: agent.id, previous: heads[0], other: heads[1])
            return try store(object, by: place)
        }
        guard let draft = administration(agent, state) else { return }
        let object = try group.makeEntry(
            draft, by: agent.secrets, as: agent.id, previous: head, other: nil)
        try store(object, by: place)
        if let replaced = draft.keyReplacements.first {
            let spare = spares.removeFirst()
            for index in agents.indices where agents[index].id == replaced.member {
                agents[index].secrets = spare
            }
        }
        for admission in draft.admissions {
            guard let member = newcomers.first(where: { $0.id == admission.member }) else {
                continue
            }
            newcomers.removeAll { $0.id == member.id }
            var newcomer = ModelAgent(member, isHonest: random.percent(80))
            newcomer.entries = agents[place].entries
            agents.append(newcomer)
        }
    }

    func isAdmin(_ agent: ModelAgent, _ state: MembershipState) -> Bool {
        guard let member = state.members[agent.id] else { return false }
        return member.isActive && member.rights.role == .admin
            && member.keys == agent.secrets.keys
    }

    mutating func randomRights() -> MemberRights {
        let role = random.pick(GroupRole.allCases) ?? .reader
        guard role != .admin, compartments.count > 1, random.percent(40) else {
            return MemberRights(role: role)
        }
        return MemberRights(role: role, limit: [compartments[random.below(2)]])
    }

    /// Chooses what an admin does; nil for nothing.
    mutating func administration(
        _ agent: ModelAgent, _ state: MembershipState
    ) -> TestGroup.Draft? {
        let others = state.members.filter { $0.value.isActive && $0.key != agent.id }.keys.sorted()
        switch random.below(10) {
        case 0..<2:
            guard let newcomer = newcomers.first else { return nil }
            let rights = randomRights()
            guard !state.hasOneAdmin || rights.role != .admin else { return nil }
            return .init(admissions: [newcomer.admission(rights.role, limit: rights.limit)])
        case 2..<5:
            // Often the same member, whose rights go down and up again.
            guard let other = random.percent(60) ? others.first : random.pick(others),
                let old = state.members[other]?.rights
            else { return nil }
            let rights = randomRights()
            guard rights != old, !state.hasOneAdmin || rights.role != .admin else { return nil }
            let cut = rights.isAtLeast(old) ? nil : cut(of: other, seenBy: agent)
            return .init(roles: [RoleChange(member: other, rights: rights, cut: cut)])
        case 5..<7:
            guard let other = random.pick(others) else { return nil }
            return .init(
                removals: [Removal(member: other, cut: cut(of: other, seenBy: agent))])
        case 7:
            guard let other = random.pick(others + [agent.id]), let spare = spares.first else {
                return nil
            }
            return .init(
                keyReplacements: [
                    KeyReplacement(
                        member: other, keys: spare.keys, cut: cut(of: other, seenBy: agent))
                ])
        case 8: return .init(epochsFor: [compartments[0]])
        default: return .init(voidInvites: [newRecord()])
        }
    }

    // MARK: Hostile entries

    static let strangers = (300..<302).map { TestMember($0) }

    /// A hostile member adds an entry: a valid one that harms, or an invalid one.
    mutating func attackMembership(_ place: Int) throws {
        let agent = agents[place]
        guard let previous = random.pick(group.chain.heads),
            let state = group.chain.link(previous)?.state
        else { return }
        if state.hasOneAdmin {
            // Somebody has the admin's key.
            let object = try group.makeEntry(
                .init(admissions: [Self.strangers[0].admission(.admin)]), by: agents[0].secrets,
                as: agents[0].id, previous: previous, other: nil)
            if isAdmin(agents[0], state) { return try storeInvalid(object, .oneAdmin) }
        }
        guard isAdmin(agent, state) else {
            let object = try group.makeEntry(
                .init(epochsFor: [compartments[0]]), by: agent.secrets, as: agent.id,
                previous: previous,
                other: nil
            ) { entry in
                Entry(
                    number: entry.number, group: entry.group, previous: entry.previous,
                    author: agent.id, createdAt: entry.createdAt, epochs: entry.epochs)
            }
            // On one side of a fork the admin's keys may be other ones.
            let member = state.members[agent.id]
            let isAdmin = member?.isActive == true && member?.rights.role == .admin
            return try storeInvalid(object, isAdmin ? .signature : .author)
        }
        let others = state.members.filter { $0.value.isActive && $0.key != agent.id }.keys.sorted()
        if random.percent(30), let other = random.pick(others) {
            // Everything that the member wrote becomes late.
            let object = try group.makeEntry(
                .init(removals: [Removal(member: other, cut: Cut())]), by: agent.secrets,
                as: agent.id,
                previous: previous, other: nil)
            return try store(object, by: place)
        }
        if random.percent(40), placeForks, let link = group.chain.link(previous),
            let earlier = group.chain.link(link.entry.previous), isAdmin(agent, earlier.state)
        {
            let object = try group.makeEntry(
                .init(epochsFor: [compartments[0]]), by: agent.secrets, as: agent.id,
                previous: link.entry.previous, other: nil)
            return try store(object, by: place)
        }
        try storeInvalid(place, previous, state, others)
    }

    mutating func storeInvalid(_ object: [UInt8], _ reason: EntryRefusal) throws {
        let name = GroupHash(of: object)
        guard valid[name] == nil else { return }
        invalid[name] = (object, reason)
        try group.insert(object)
    }

    private mutating func storeInvalid(
        _ place: Int, _ previous: GroupHash, _ state: MembershipState, _ others: [Identifier]
    ) throws {
        let agent = agents[place]
        let other = random.pick(others)
        func rebuilt(
            _ draft: TestGroup.Draft, _ change: (Entry) -> Entry
        ) throws -> [UInt8] {
            try group.makeEntry(
                draft, by: agent.secrets, as: agent.id, previous: previous, other: nil, change)
        }
        func copy(
            _ entry: Entry, number: UInt64? = nil, group: GroupHash? = nil,
            previous: GroupHash? = nil, admissions: [Admission]? = nil,
            epochs: [NewEpoch]? = nil
        ) -> Entry {
            Entry(
                number: number ?? entry.number, group: group ?? entry.group,
                previous: previous ?? entry.previous, other: entry.other, author: entry.author,
                createdAt: entry.createdAt, admissions: admissions ?? entry.admissions,
                roles: entry.roles, removals: entry.removals,
                keyReplacements: entry.keyReplacements, epochs: epochs ?? entry.epochs,
                voidInvites: entry.voidInvites)
        }
        let plain = TestGroup.Draft(epochsFor: [compartments[0]])
        let stranger = Self.strangers[1]
        switch group.chain.isForked && random.percent(40) ? 12 : random.below(15) {
        case 0:
            var object = try rebuilt(plain) { $0 }
            object[object.count - 1] ^= 1
            try storeInvalid(object, .signature)
        case 1:
            try storeInvalid(try rebuilt(plain) { copy($0, number: $0.number + 1) }, .number)
        case 2:
            guard let other else { return }
            let removal = Removal(member: other, cut: Cut())
            try storeInvalid(
                try rebuilt(.init(removals: [removal])) { copy($0, epochs: []) }, .epoch)
        case 3:
            try storeInvalid(
                try rebuilt(plain) { entry in
                    copy(entry, epochs: entry.epochs.map { fewer($0, dropping: 1) })
                }, .recipients)
        case 4:
            let admins = state.activeAdmins
            guard admins == [agent.id] else { return }
            let removal = Removal(member: agent.id, cut: Cut())
            try storeInvalid(try rebuilt(.init(removals: [removal])) { $0 }, .lastAdmin)
        case 5:
            guard let other, let old = state.members[other]?.rights, old.role == .admin else {
                return
            }
            let role = RoleChange(member: other, rights: MemberRights(role: .reader), cut: nil)
            try storeInvalid(try rebuilt(.init(roles: [role])) { $0 }, .cut)
        case 6:
            guard let other, let keys = state.members[other]?.keys else { return }
            let replacement = KeyReplacement(member: agent.id, keys: keys, cut: Cut())
            try storeInvalid(try rebuilt(.init(keyReplacements: [replacement])) { $0 }, .key)
        case 7:
            guard let other, let old = state.members[other]?.rights else { return }
            let role = RoleChange(member: other, rights: old)
            try storeInvalid(try rebuilt(.init(roles: [role])) { $0 }, .noChange)
        case 8:
            let invite = newRecord()
            let admission = stranger.admission(
                .reader, origin: .init(invite: invite, join: previous))
            try storeInvalid(
                try rebuilt(.init(admissions: [admission], voidInvites: [invite])) { $0 },
                .invite)
        case 9:
            guard !state.epochs.isEmpty else { return }
            let admission = stranger.admission(.reader)
            try storeInvalid(
                try rebuilt(.init(admissions: [admission])) { entry in
                    copy(entry, admissions: [admission])
                }, .grants)
        case 10:
            let other = GroupHash(of: [1])
            try storeInvalid(try rebuilt(plain) { copy($0, group: other) }, .group)
        case 11:
            guard let refused = group.chain.refused.keys.sorted().first else { return }
            try storeInvalid(try rebuilt(plain) { copy($0, previous: refused) }, .previous)
        case 12:
            let heads = group.chain.heads.prefix(2).sorted {
                let (one, two) = (number($0), number($1))
                return one == two ? $0 < $1 : one > two
            }
            guard heads.count == 2,
                heads.allSatisfy({
                    group.chain.link($0).map { isAdmin(agent, $0.state) } ?? false
                })
            else { return }
            let object = try group.makeEntry(
                .init(voidInvites: [newRecord()]), by: agent.secrets, as: agent.id,
                previous: heads[0], other: heads[1])
            try storeInvalid(object, .join)
        case 13:
            // An epoch that is made by somebody who leaves its predecessor out.
            try storeInvalid(
                try rebuilt(plain) { entry in
                    copy(entry, epochs: entry.epochs.map { withoutRungs($0) })
                }, .epoch)
        case 14:
            guard let removed = state.members.filter({ !$0.value.isActive }).keys.sorted().first
            else { return }
            let role = RoleChange(member: removed, rights: MemberRights(role: .admin), cut: nil)
            try storeInvalid(try rebuilt(.init(roles: [role])) { $0 }, .member)
        default: return
        }
    }

    private func number(_ name: GroupHash) -> UInt64 { group.chain.link(name)?.entry.number ?? 0 }

    private func withoutRungs(_ epoch: NewEpoch) -> NewEpoch {
        NewEpoch(
            compartment: epoch.compartment, number: epoch.number, valueKey: epoch.valueKey,
            indexCommitment: epoch.indexCommitment, rungs: [], recipients: epoch.recipients)
    }

    private func fewer(_ epoch: NewEpoch, dropping count: Int) -> NewEpoch {
        NewEpoch(
            compartment: epoch.compartment, number: epoch.number, valueKey: epoch.valueKey,
            indexCommitment: epoch.indexCommitment, rungs: epoch.rungs,
            recipients: Array(epoch.recipients.dropLast(count)))
    }
}

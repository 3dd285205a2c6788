import Vault

@testable import Groups

extension ModelRun {
    /// A hostile member publishes a change that begins as an honest one would, and differs in one or
    /// two ways. It knows everything that is published.
    mutating func attack(_ place: Int) throws {
        guard let compartment = random.pick(compartments), let head = random.pick(group.chain.heads)
        else { return }
        let state = CompartmentFold.state(
            of: order.compactMap { name in
                changes[name].flatMap { $0.compartment == compartment ? $0.received : nil }
            }, chain: group.chain)
        guard group.chain.link(head)?.state.epochs[compartment] != nil else { return }
        let role = random.pick([GroupRole.member, .writer]) ?? .member
        var draft = TestGroup.ChangeDraft(
            compartment: compartment, operations: operation(state, role),
            parents: state.heads, entry: head)
        var used = startedChain(agents[place], compartment)
        for _ in 0..<(1 + random.below(2)) {
            distort(&draft, &used, place, state)
        }
        draft.parents = Array(draft.parents.filter { changes[$0] != nil }.prefix(64))
        guard used.before == .zero || changes[used.before] != nil else { return }
        let saved = used
        try publish(draft, by: place, in: &used, isHonest: false)
        if saved.id == agents[place].chains[compartment]?.id ?? saved.id {
            agents[place].chains[compartment] = random.percent(80) ? used : saved
        }
    }

    private mutating func distort(
        _ draft: inout TestGroup.ChangeDraft, _ chain: inout TestChain,
        _ place: Int, _ state: CompartmentState
    ) {
        let compartment = draft.compartment
        let others = order.filter { changes[$0]?.compartment == compartment }
        switch random.below(17) {
        case 15:
            // An entry that nobody has, with a number that is known or not, or a wrong number.
            if random.percent(70) { draft.entryName = GroupHash(of: Array("\(counter)".utf8)) }
            if random.percent(50) { draft.entryNumber = UInt64(1 + random.below(30)) }
        case 16:
            draft.compartment = compartments.last ?? compartment
        case 0: draft.key = .write
        case 1: draft.key = .authority
        case 2:
            // An earlier entry, with its epoch or the present one.
            let names = valid.keys.sorted()
            guard let name = random.pick(names),
                let epoch = group.chain.link(name)?.state.epochs[compartment]
            else { return }
            draft.entry = name
            draft.epoch = random.percent(80) ? epoch.number : epoch.number + 1
        case 3: draft.parents = []
        case 4: draft.parents = Array(random.shuffle(others).prefix(1 + random.below(3)))
        case 5:
            guard let other = random.pick(agents), other.id != agents[place].id else { return }
            draft.author = other.id
            draft.signer = agents[place].secrets
        case 6:
            guard let record = random.pick(state.records) else { return }
            let refs = record.candidates.values.flatMap { $0 }.sorted()
            draft.operations = [
                RecordOperation(
                    record: record.id, replaces: Array(refs.prefix(1)),
                    random.percent(50)
                        ? .type(.plain)
                        : .scope(Scope(targets: .all, customEnvironments: ["qa"])))
            ]
        case 7:
            guard let record = random.pick(state.records) else { return }
            draft.operations = [newValue(record.id, [])]
        case 8: draft.operations = [newValue(newRecord(), [])]
        case 9:
            guard let name = random.pick(others),
                let other = changes[name]?.received.header
            else { return }
            // Somebody's chain, or an earlier place in one's own.
            chain = TestChain(agents[place].secrets, 0)
            // Or a new chain that goes on from one's own.
            let isOwn = other.author == agents[place].id
            let id = isOwn && random.percent(50) ? newRecord() : other.chain
            chain = TestChain(copying: chain, id: id, counter: other.counter, before: name)
        case 10:
            guard chain.counter > 0 else { return }
            chain.counter += 1
        case 11:
            guard let record = random.pick(state.records),
                let other = random.pick(state.records.filter { $0.id != record.id }),
                let version = other.choices.first?.version
            else { return }
            draft.operations = [
                RecordOperation(
                    record: record.id, replaces: record.candidates[.value] ?? [],
                    .choose(version))
            ]
        case 12:
            guard let record = random.pick(state.records) else { return }
            draft.operations = [RecordOperation(record: record.id, .comment("hostile"))]
        case 13: draft.operations = creation()
        default:
            guard let record = random.pick(state.records), let name = random.pick(others) else {
                return
            }
            draft.operations = [
                newValue(record.id, [ChangeReference(change: name, operation: 0)])
            ]
        }
    }
}

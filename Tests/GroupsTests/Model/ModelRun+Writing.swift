import Vault

@testable import Groups

extension ModelRun {
    /// An honest member writes what its own state allows.
    mutating func write(_ place: Int) throws {
        let agent = agents[place]
        guard let compartment = random.pick(compartments) else { return }
        let chain = try chain(agent.entries)
        // With a forked membership, new values wait in the outbox.
        guard chain.heads.count == 1, let head = chain.heads.first,
            let member = chain.headStates[0].members[agent.id],
            member.hasAccess(to: compartment), member.keys == agent.secrets.keys,
            member.rights.role != .reader, chain.headStates[0].epochs[compartment] != nil
        else { return }
        let state = try state(agent, compartment)
        var operations: [RecordOperation] = []
        for _ in 0..<(random.percent(70) ? 1 : 2) {
            operations += operation(state, member.rights.role)
        }
        var used = startedChain(agent, compartment)
        if member.rights.role == .writer, operations.isEmpty { return }
        let key: ChangeHeader.Key? = needsAuthority(operations, state) ? .authority : nil
        let name = try publish(
            .init(
                compartment: compartment, operations: operations,
                parents: Array(state.heads.prefix(64)), key: key, entry: head),
            by: place, in: &used, isHonest: true)
        agents[place].chains[compartment] = used
        let after = try self.state(agents[place], compartment)
        guard after.counted.contains(name) else {
            let reason = after.late[name]?.rawValue ?? after.waiting[name]?.rawValue ?? "?"
            throw ModelFinding("an honest write does not count for its author: \(reason)")
        }
    }

    private func needsAuthority(_ operations: [RecordOperation], _ state: CompartmentState) -> Bool
    {
        operations.contains { operation in
            guard !operation.operation.needsAuthority else { return true }
            let record = state.records.first { $0.id == operation.record }
            if record?.contested.contains(.late) == true { return true }
            switch operation.operation {
            case .type(let type):
                return record.map { type.strictness < $0.type.strictness } ?? false
            case .scope(let scope):
                return record.map { !$0.scopes.allSatisfy(scope.isIncluded) } ?? false
            default: return false
            }
        }
    }

    mutating func newRecord() -> Identifier {
        counter += 1
        return TestRandom.identifier("record", counter)
    }

    mutating func randomScope() -> Scope {
        Scope(
            targets: Scope.Targets(rawValue: UInt8(1 + random.below(7))),
            customEnvironments: random.percent(15) ? ["qa"] : [],
            branch: random.percent(10) ? "next" : nil)
    }

    mutating func newValue(_ record: Identifier, _ replaces: [ChangeReference]) -> RecordOperation {
        counter += 1
        return RecordOperation(
            record: record, replaces: replaces,
            .value(
                .init(
                    seed: TestRandom.identifier("seed", counter), sealedName: "KEY",
                    chunkByteCount: 168)))
    }

    mutating func creation() -> [RecordOperation] {
        let record = newRecord()
        let create = RecordOperation(
            record: record,
            .create(
                .init(
                    name: "KEY\(random.below(4))",
                    type: random.pick(VariableAttributes.Kind.allCases) ?? .plain,
                    scope: randomScope(), comment: random.percent(30) ? "made" : nil,
                    reminder: UInt64(random.below(3)))))
        return random.percent(80) ? [create, newValue(record, [])] : [create]
    }

    /// An operation of an honest member, with everything that it replaces.
    mutating func operation(_ state: CompartmentState, _ role: GroupRole) -> [RecordOperation] {
        // What is contested by a late change is rare, and decided by rules of its own.
        let late = state.records.filter { $0.contested.contains(.late) }
        guard let record = random.pick(late.isEmpty ? state.records : late), random.percent(75)
        else { return creation() }
        let id = record.id
        func replaced(_ thing: Assigned) -> [ChangeReference] { record.candidates[thing] ?? [] }
        func on(_ thing: Assigned, _ operation: Operation) -> [RecordOperation] {
            [RecordOperation(record: id, replaces: replaced(thing), operation)]
        }
        if role == .writer { return [newValue(id, replaced(.value))] }
        let version = (record.choices + record.offers).randomElement(using: &random)?.version
        switch random.below(21) {
        case 17: return on(.name, .name("KEY\(random.below(4))"))
        case 18..<20: return on(.scope, .scope(randomScope()))
        case 0..<5: return [newValue(id, replaced(.value))]
        case 5..<7:
            return version.map { on(.value, .choose($0)) } ?? [newValue(id, replaced(.value))]
        case 7: return on(.value, .remove)
        case 8: return on(.comment, .comment(random.percent(20) ? nil : "c\(random.below(3))"))
        case 9: return on(.reminder, .reminder(UInt64(random.below(5))))
        case 10: return on(.type, .type(random.pick(VariableAttributes.Kind.allCases) ?? .plain))
        case 11: return on(.scope, .scope(randomScope()))
        case 12: return on(.name, .name("KEY\(random.below(4))"))
        case 13: return on(.rotation, .rotation(random.percent(60)))
        case 14:
            guard let version else { return [] }
            return on(
                .claim,
                .claim(
                    .init(
                        version: version, remoteID: "id", key: "KEY", type: .plain,
                        scope: randomScope(), updatedAt: UInt64(random.below(9)))))
        case 15:
            let settlement = Settlement(
                matter: .record, subject: agents[0].secrets.person, object: id, reason: "old")
            return [RecordOperation(record: nil, .settle(settlement))]
        default:
            if random.percent(50) {
                return [
                    RecordOperation(
                        record: nil, replaces: state.candidates[.projectName] ?? [],
                        .projectName("web\(random.below(3))"))
                ]
            }
            let binding = GroupBinding(
                origin: "https://api.vercel.com", team: nil, project: "p\(random.below(3))",
                name: "web")
            return [
                RecordOperation(
                    record: nil, replaces: state.candidates[.binding] ?? [],
                    .binding(random.percent(80) ? binding : nil))
            ]
        }
    }
}

import Vault

@testable import Groups

/// Collects histories that were made by hand, each of which shows one rule.
///
/// Every history says which verdicts it expects, so that a vector shows what its description says.
final class RuleVectors {
    private var vectors: [GroupVector] = []
    private var failures: [String] = []

    /// Returns all vectors, unless one does not show what it says.
    func finished() throws -> [GroupVector] {
        guard failures.isEmpty else { throw ModelFinding(failures.joined(separator: "\n")) }
        return vectors
    }

    static let (alice, bob, carol) = (
        TestPool.members[0], TestPool.members[1], TestPool.members[2]
    )
    static let (dan, eve) = (TestPool.members[3], TestPool.members[4])
    static let first = TestPool.compartments[0]
    static let second = TestPool.compartments[1]

    /// Opens a change of a vector as a reader must; nil if it takes no part.
    static func received(
        _ object: [UInt8], in compartment: Identifier, of chain: MembershipChain,
        _ indexKey: (GroupHash) -> [UInt8]?
    ) throws -> ReceivedChange? {
        guard let change = try? Change(object), change.header.group == chain.group,
            change.header.compartment == compartment
        else { return nil }
        guard let link = chain.link(change.header.entry),
            let epoch = link.state.epochs[compartment]
        else { return ReceivedChange(waiting: change) }
        guard let bytes = indexKey(epoch.entry) else {
            throw ModelFinding("a vector has no index key of an epoch")
        }
        let key = try IndexKeyOfEpoch(TestRandom.secret(bytes))
        return try? ReceivedChange(opening: change, after: link, with: key)
    }

    /// Returns the chain of all objects that are entries.
    static func chain(_ group: GroupHash, _ objects: [[UInt8]]) -> MembershipChain {
        var chain = MembershipChain(group: group)
        for object in objects { try? chain.insert([object]) }
        return chain
    }

    /// Adds a history of entries alone.
    func entries(
        _ name: String, _ description: String, of group: TestGroup, with others: [[UInt8]] = [],
        group id: GroupHash? = nil, refused: [[UInt8]: EntryRefusal] = [:],
        waiting: [[UInt8]] = []
    ) throws {
        var story = Story(group)
        story.strangers = others
        story.id = id
        story.refused = refused
        story.waitingEntries = waiting
        collect { try add("entries-\(name)", description, story) }
    }

    /// Adds a history with changes.
    func changes(
        _ name: String, _ description: String, _ story: Story,
        _ shows: (CompartmentState) -> Bool = { _ in true }
    ) throws { collect { try add("changes-\(name)", description, story, shows) } }

    private func collect(_ body: () throws -> Void) {
        do { try body() } catch { failures.append("\(error)") }
    }

    private func add(
        _ name: String, _ description: String, _ story: Story,
        _ shows: (CompartmentState) -> Bool = { _ in true }
    ) throws {
        let objects = Array(story.group.objects.values) + story.strangers
        let chain = Self.chain(story.id ?? story.group.group, objects)
        let refused = Dictionary(
            uniqueKeysWithValues: story.refused.map { (GroupHash(of: $0.key), $0.value) })
        guard chain.refused == refused else {
            throw ModelFinding("\(name): refused are \(Set(chain.refused.values))")
        }
        guard chain.waiting == story.waitingEntries.map(GroupHash.init(of:)).sorted() else {
            throw ModelFinding("\(name): \(chain.waiting.count) entries wait")
        }
        var keys: [String: String] = [:]
        for (key, epoch) in story.group.epochs {
            let place = key.compartment.hexadecimal + ":" + key.entry.hexadecimal
            keys[place] = GroupVector.hexadecimal(epoch.indexBytes)
        }
        var states: [Identifier: CompartmentState] = [:]
        let shared = Set(chain.headStates.flatMap { $0.epochs.keys })
        for compartment in shared.union([story.compartment]) {
            states[compartment] = try state(story, compartment, chain, name)
        }
        let state = states[story.compartment] ?? CompartmentState()
        guard state.late == story.late, state.waiting == story.waiting,
            state.effective == story.effective.sorted()
        else {
            throw ModelFinding(
                "\(name): late \(state.late), waiting \(state.waiting), \(state.effective.count)")
        }
        guard shows(state) else {
            throw ModelFinding("\(name) does not show it: \(state.records.prefix(2))")
        }
        let heads = states.filter { shared.contains($0.key) }.mapValues(\.heads)
        vectors.append(
            GroupVector(
                name: name, description: description,
                input: [
                    "kind": "fold", "group": chain.group.hexadecimal,
                    "compartment": story.compartment.hexadecimal,
                    "entries": Set(objects.map(GroupVector.hexadecimal)).sorted(),
                    "changes": Set(story.changes.map(GroupVector.hexadecimal)).sorted(),
                    "indexKeys": keys,
                ], result: "ok",
                expected: [
                    "membership": StateJSON.membership(chain), "state": StateJSON.state(state),
                    "heads": Dictionary(
                        uniqueKeysWithValues: heads.map {
                            ($0.key.hexadecimal, $0.value.map(\.hexadecimal))
                        }),
                    "stateWords": GroupVector.hexadecimal(
                        StateWords.bytes(of: chain, heads: heads)),
                ]))
    }

    /// The state, if the naive oracle finds the same.
    private func state(
        _ story: Story, _ compartment: Identifier, _ chain: MembershipChain, _ name: String
    ) throws -> CompartmentState {
        let received = try Dictionary(
            story.changes.map { ($0, 0) }, uniquingKeysWith: { one, _ in one }
        ).keys.compactMap { object in
            try Self.received(object, in: compartment, of: chain) {
                story.group.epochs[.init(compartment: compartment, entry: $0)]?.indexBytes
            }
        }
        let state = CompartmentFold.state(of: received, chain: chain)
        let entries = chain.linksInOrder.map { ($0.name, $0.entry) }
        let oracle = ModelOracle(
            entries: Dictionary(uniqueKeysWithValues: entries), changes: received,
            forged: Set(received.filter { !$0.isSigned }.map(\.name)))
        guard oracle.state() == state else { throw ModelFinding("\(name): the oracle differs") }
        return state
    }
}

/// A history in the making.
struct Story {
    var group: TestGroup
    let compartment: Identifier
    /// Entries that are not in the group's chain.
    var strangers: [[UInt8]] = []
    /// Another id of the group.
    var id: GroupHash?
    var refused: [[UInt8]: EntryRefusal] = [:]
    var waitingEntries: [[UInt8]] = []
    var changes: [[UInt8]] = []
    private var chains: [Identifier: TestChain] = [:]
    private var nextChain = 0
    /// What the history must show.
    var late: [GroupHash: LateReason] = [:]
    var waiting: [GroupHash: WaitingReason] = [:]
    var effective: [GroupHash] = []

    init(_ group: TestGroup, in compartment: Identifier = RuleVectors.first) {
        self.group = group
        self.compartment = compartment
    }

    /// A group of three, with alice as admin and carol as member.
    init(bob role: GroupRole = .member, carol: GroupRole = .member) throws {
        self.init(
            try TestGroup(
                founder: RuleVectors.alice, compartments: [RuleVectors.first],
                others: [(RuleVectors.bob, role), (RuleVectors.carol, carol)]))
    }

    /// Writes a change into a member's chain.
    @discardableResult
    mutating func write(
        _ member: TestMember, _ operations: [RecordOperation], after parents: [GroupHash] = [],
        late reason: LateReason? = nil, waiting: WaitingReason? = nil, inNewChain: Bool = false,
        _ change: (inout TestGroup.ChangeDraft) -> Void = { _ in }
    ) throws -> GroupHash {
        if inNewChain { chains[member.id] = nil }
        var chain = chains[member.id] ?? TestChain(member, nextChain)
        nextChain += chains[member.id] == nil ? 1 : 0
        var draft = TestGroup.ChangeDraft(
            compartment: compartment, operations: operations, parents: parents)
        change(&draft)
        let object = try group.change(draft, in: &chain)
        chains[member.id] = chain
        return keep(object, late: reason, waiting: waiting)
    }

    /// Adds a change that was made in another way.
    @discardableResult
    mutating func keep(
        _ object: [UInt8], late reason: LateReason? = nil, waiting: WaitingReason? = nil
    ) -> GroupHash {
        let name = GroupHash(of: object)
        changes.append(object)
        late[name] = reason
        self.waiting[name] = waiting
        return name
    }

    /// The chain of a member, to be continued by hand.
    func chain(of member: TestMember) -> TestChain? { chains[member.id] }

    mutating func continueChain(of member: TestMember, with chain: TestChain) {
        chains[member.id] = chain
    }

    /// An admin's entry.
    @discardableResult
    mutating func sign(
        _ draft: TestGroup.Draft, by author: TestMember = RuleVectors.alice,
        after previous: GroupHash? = nil, joining other: GroupHash? = nil
    ) throws -> GroupHash {
        try group.add(draft, by: author, after: previous, joining: other)
    }

    @discardableResult
    mutating func remove(
        _ member: TestMember, cut: [GroupHash] = [], by author: TestMember = RuleVectors.alice,
        after previous: GroupHash? = nil
    ) throws -> GroupHash {
        let cut = Cut(heads: [compartment: cut])
        return try sign(
            .init(removals: [Removal(member: member.id, cut: cut)]), by: author, after: previous)
    }

    @discardableResult
    mutating func setRole(
        _ member: TestMember, _ role: GroupRole, limit: [Identifier]? = nil,
        cut: [GroupHash]? = nil, by author: TestMember = RuleVectors.alice,
        after previous: GroupHash? = nil
    ) throws -> GroupHash {
        let change = RoleChange(
            member: member.id, rights: MemberRights(role: role, limit: limit),
            cut: cut.map { Cut(heads: [compartment: $0]) })
        return try sign(.init(roles: [change]), by: author, after: previous)
    }

    /// Joins both heads.
    @discardableResult
    mutating func join(by author: TestMember = RuleVectors.alice) throws -> GroupHash {
        let sides = group.sides
        return try sign(.init(), by: author, after: sides[0], joining: sides[1])
    }
}

extension TestGroup {
    /// The heads in the order that a joining entry needs.
    var sides: [GroupHash] {
        chain.heads.sorted {
            let (one, two) = (chain.link($0)?.entry.number ?? 0, chain.link($1)?.entry.number ?? 0)
            return one == two ? $0 < $1 : one > two
        }
    }
}

/// The operations of histories that were made by hand.
enum Op {
    static func record(_ number: Int) -> Identifier { TestRandom.identifier("record", number) }

    static func ref(_ change: GroupHash, _ operation: UInt16 = 0) -> ChangeReference {
        ChangeReference(change: change, operation: operation)
    }

    static func scope(
        _ targets: UInt8 = 1, _ environments: [String] = [], branch: String? = nil
    ) -> Scope {
        Scope(
            targets: Scope.Targets(rawValue: targets), customEnvironments: environments,
            branch: branch)
    }

    static func create(
        _ number: Int = 0, _ name: String? = nil, type: VariableAttributes.Kind = .secret,
        _ scope: Scope = scope(), comment: String? = nil, reminder: UInt64 = 0
    ) -> RecordOperation {
        RecordOperation(
            record: record(number),
            .create(
                .init(
                    name: name ?? "KEY_\(number)", type: type, scope: scope, comment: comment,
                    reminder: reminder)))
    }

    static func create(_ number: Int, _ scope: Scope) -> RecordOperation {
        create(number, nil, scope)
    }

    static func value(
        _ number: Int = 0, seed: Int = 0, replacing: [ChangeReference] = []
    ) -> RecordOperation {
        RecordOperation(
            record: record(number), replaces: replacing.sorted(),
            .value(
                .init(
                    seed: TestRandom.identifier("version", seed), sealedName: "KEY",
                    chunkByteCount: 168)))
    }

    static func of(
        replacing: [ChangeReference] = [], _ operation: Groups.Operation
    ) -> RecordOperation { of(0, replacing: replacing, operation) }

    static func of(
        _ number: Int, replacing: [ChangeReference] = [], _ operation: Groups.Operation
    ) -> RecordOperation {
        RecordOperation(record: record(number), replaces: replacing.sorted(), operation)
    }

    static func project(
        replacing: [ChangeReference] = [], _ operation: Groups.Operation
    ) -> RecordOperation {
        RecordOperation(record: nil, replaces: replacing.sorted(), operation)
    }

    static func claim(_ version: ChangeReference) -> Groups.Operation {
        .claim(
            .init(
                version: version, remoteID: "env_1", key: "KEY", type: .secret, scope: scope(),
                updatedAt: 1_700_000_000_000))
    }

    static func binding(_ project: String) -> Groups.Operation {
        .binding(
            GroupBinding(
                origin: "https://api.vercel.com", team: nil, project: project, name: "web"))
    }

    static func settle(_ reason: String) -> RecordOperation {
        RecordOperation(
            record: nil,
            .settle(
                Settlement(
                    matter: .record, subject: record(8), object: record(9), reason: reason)))
    }
}

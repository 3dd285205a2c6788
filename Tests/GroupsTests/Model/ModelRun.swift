import Vault

@testable import Groups

/// One random history of a group: members who write offline, an unreliable place, hostile members.
///
/// Everything follows from the seed.
struct ModelRun {
    var random: ModelRandom
    var group: TestGroup
    let compartments: [Identifier]
    var agents: [ModelAgent] = []
    /// Entries that the generator made valid, and those that it made invalid.
    var valid: [GroupHash: [UInt8]] = [:]
    var invalid: [GroupHash: (object: [UInt8], reason: EntryRefusal)] = [:]
    var changes: [GroupHash: ModelChange] = [:]
    var order: [GroupHash] = []
    /// The bytes of each change.
    private(set) var objects: [GroupHash: [UInt8]] = [:]
    /// Members that are not in the group yet.
    var newcomers: [TestMember]
    var spares: [TestMember]
    /// Whether the place lets two entries have one number.
    let placeForks: Bool
    var counter = 0
    /// A chain for each set of entries that somebody had.
    private var chains: [Set<GroupHash>: MembershipChain] = [:]

    static let members = (0..<64).map { TestMember($0) }
    static let spares = (200..<232).map { TestMember($0) }

    init(seed: UInt64) throws {
        var random = ModelRandom(seed)
        let count =
            random.percent(90) ? 2 + random.below(5) : random.percent(95) ? 7 + random.below(6) : 50
        compartments = Array(TestPool.compartments.prefix(random.percent(80) ? 1 : 2))
        placeForks = random.percent(35)
        let hostile = Set(GroupRole.allCases.filter { _ in random.percent(50) })
        var found: Set<GroupRole> = []
        let founder = Self.members[0]
        agents = [ModelAgent(founder, isHonest: true)]
        var others: [(TestMember, GroupRole)] = []
        for number in 1..<count {
            // Two admins fork; one of them joins.
            let role =
                number == 1 && placeForks
                ? .admin : random.pick(GroupRole.allCases + [.member, .member]) ?? .member
            let isHostile = hostile.contains(role) && found.insert(role).inserted
            others.append((Self.members[number], role))
            agents.append(ModelAgent(Self.members[number], isHonest: !isHostile))
        }
        if random.percent(10) {
            others = others.map { ($0.0, $0.1 == .admin ? .member : $0.1) }
            group = try TestGroup(
                founder: founder, compartments: compartments, others: others, hasOneAdmin: true)
        } else {
            group = try TestGroup(founder: founder, compartments: compartments, others: others)
        }
        newcomers = Array(Self.members[count...].prefix(4))
        spares = Self.spares
        self.random = random
        valid = group.objects
        for place in agents.indices { agents[place].entries = [group.head] }
    }

    /// Returns the membership that follows from a set of entries.
    mutating func chain(_ entries: Set<GroupHash>) throws -> MembershipChain {
        if let known = chains[entries] { return known }
        func number(_ name: GroupHash) throws -> UInt64 {
            guard let object = valid[name] ?? invalid[name]?.object else { return 0 }
            return try Entry.decode(object).number
        }
        guard let last = try entries.max(by: { try (number($0), $0) < (number($1), $1) }) else {
            return MembershipChain(group: group.group)
        }
        var chain = try chain(entries.subtracting([last]))
        if let object = valid[last] ?? invalid[last]?.object { try chain.insert([object]) }
        chains[entries] = chain
        return chain
    }

    /// The state that an agent sees.
    mutating func state(_ agent: ModelAgent, _ compartment: Identifier) throws -> CompartmentState {
        CompartmentFold.state(
            of: agent.changes.compactMap { name in
                changes[name].flatMap { $0.compartment == compartment ? $0.received : nil }
            }, chain: try chain(agent.entries))
    }

    mutating func run() throws {
        let steps = 15 + random.below(50)
        let syncing = 12 + random.below(26)
        let administering = placeForks ? 62 : 55
        for _ in 0..<steps {
            let place = random.below(agents.count)
            switch random.below(100) {
            case 0..<syncing: sync(place)
            case syncing..<40 where random.percent(30):
                agents[place].backup = (agents[place].entries, agents[place].changes)
            case 40..<43: restore(place)
            case 43..<45: if agents[place].isHonest { clone(place) }
            case 45..<administering: try administer(place)
            default:
                if agents[place].isHonest {
                    try write(place)
                } else if random.percent(20) {
                    try attackMembership(place)
                } else {
                    try attack(place)
                }
            }
        }
    }

    /// Delivers some objects, in any order. What an agent has twice is one object.
    mutating func sync(_ place: Int) {
        for name in random.shuffle(Array(valid.keys.sorted()) + invalid.keys.sorted())
        where random.percent(placeForks ? 60 : 80) {
            agents[place].entries.insert(name)
        }
        for name in random.shuffle(order) where random.percent(75) {
            if changes[name]?.isWithheld == false { agents[place].receive(change: name) }
        }
    }

    /// A backup takes the place of the vault; the state directory is lost with its chains.
    mutating func restore(_ place: Int) {
        guard let backup = agents[place].backup else { return }
        agents[place].entries = backup.entries
        agents[place].changes = backup.changes
        agents[place].known = Set(backup.changes)
        agents[place].chains = [:]
    }

    /// A second vault with the same keys and the same chains.
    mutating func clone(_ place: Int) {
        guard agents.count < 60 else { return }
        agents.append(agents[place])
    }

    /// Finds an agent's chain, or begins one.
    func startedChain(_ agent: ModelAgent, _ compartment: Identifier) -> TestChain {
        agent.chains[compartment] ?? TestChain(agent.secrets, 1_000 + order.count)
    }

    /// Makes a change, and stores it.
    @discardableResult
    mutating func publish(
        _ draft: TestGroup.ChangeDraft, by place: Int, in chain: inout TestChain, isHonest: Bool
    ) throws -> GroupHash {
        var draft = draft
        draft.author = draft.author ?? agents[place].id
        draft.signer = draft.signer ?? agents[place].secrets
        let object = try group.change(draft, in: &chain)
        let received = try group.received(object)
        // The signer's key may be another one than the author had after that entry.
        let header = received.header
        let keys = valid[header.entry].flatMap { _ in
            group.chain.link(header.entry)?.state.members[header.author]?.keys
        }
        let (used, right) =
            header.key == .write
            ? (draft.signer?.keys.write, keys?.write)
            : (draft.signer?.keys.authority, keys?.authority)
        let isForged = used != right
        let isWithheld = random.percent(isHonest ? 1 : 8)
        changes[received.name] = ModelChange(
            compartment: draft.compartment, received: received, isForged: isForged,
            isHonest: isHonest, isWithheld: isWithheld)
        order.append(received.name)
        objects[received.name] = object
        agents[place].receive(change: received.name)
        return received.name
    }
}

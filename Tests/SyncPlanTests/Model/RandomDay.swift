import SyncPlan

/// A long history of a larger world: wishes change, others change records, pushes are killed, and
/// conflicts are pulled. Checks each push against what each target really was.
struct RandomDay<Random: RandomNumberGenerator> {
    private(set) var world: ModelWorld
    private(set) var counts: [String: Int] = [:]
    private var random: Random
    /// What both sides really last agreed on, known to no one: by key and target.
    private var bases: [[PlanOracle.Value?]]
    /// The keys that someone else changed after a request whose response was lost: what they find is
    /// reported as a conflict, even where no one overwrote anything.
    private var clouded: Set<Int> = []
    private var nextForeign = 0

    private static var types: [ValueType] { [.plain, .encrypted, .sensitive] }

    init(keys: Int, random: Random) {
        self.random = random
        world = ModelWorld(
            platform: ModelPlatform(rules: .model()),
            keys: (0..<keys).map { number in
                ModelWorld.Key(
                    name: "K\(number)", wishes: Array(repeating: nil, count: Place.count),
                    agreements: Array(repeating: nil, count: Place.count))
            })
        bases = Array(
            repeating: Array(repeating: nil, count: Place.count), count: keys)
    }

    mutating func run(_ rounds: Int) throws {
        for _ in 0..<rounds {
            for _ in 0..<Int.random(in: 0...3, using: &random) { edit() }
            for _ in 0..<Int.random(in: 0...1, using: &random) { changeThere() }
            let isStopped = world.keys.contains { !$0.sends.isEmpty }
            if Int.random(in: 0..<(isStopped ? 2 : 5), using: &random) == 0 { hide() }
            for place in world.keys.indices where Int.random(in: 0..<6, using: &random) == 0 {
                world.keys[place].choices.targets = someTargets()
            }
            try push(killed: Int.random(in: 0..<3, using: &random) == 0)
            for place in world.keys.indices { world.keys[place].choices.targets = nil }
            (world.hidden, world.listed) = ([], [])
            if Int.random(in: 0..<3, using: &random) == 0 { pull() }
        }
        try settle()
    }

    /// Hides some targets, and some of the records that have one. What shares a record with a hidden
    /// target without being agreed on would be refused when it is sent, so such a record is listed.
    private mutating func hide() {
        world.hidden = someTargets()
        var planned = world
        planned.planAll()
        for record in world.platform.records {
            let key = planned.keys.first { $0.name == record.key }
            let isUnknown = record.targets.subtracting(world.hidden).contains {
                key?.agreements[$0.position] == nil
            }
            if isUnknown || Int.random(in: 0..<2, using: &random) == 0 {
                world.listed.insert(record.id)
            }
        }
    }

    private mutating func count(_ word: String) { counts[word, default: 0] += 1 }

    private mutating func someTargets() -> TargetSet {
        let bits = Int.random(in: 1..<(1 << Place.count), using: &random)
        return TargetSet((0..<Place.count).filter { bits >> $0 & 1 == 1 }.map(Target.init))
    }

    /// Changes what the vault wants for one key.
    private mutating func edit() {
        let place = Int.random(in: world.keys.indices, using: &random)
        let targets = someTargets()
        let kind = Int.random(in: 0..<6, using: &random)
        let version = Version.known(
            Int.random(in: 1...4, using: &random), of: variable(of: place))
        for target in targets {
            let old = world.keys[place].wishes[target.position]
            let type = Self.types.randomElement(using: &random) ?? .plain
            switch kind {
            case 0: world.keys[place].wishes[target.position] = nil
            case 1: world.keys[place].wishes[target.position]?.type = type
            case 2:
                world.keys[place].wishes[target.position]?.comment =
                    version.number == 1 ? nil : "c\(version.number)"
            default:
                world.keys[place].wishes[target.position] = Content(
                    version, old?.type ?? type, comment: old?.comment)
            }
        }
        // Two variables exchange their names.
        if kind == 5, world.keys.count > 1, Int.random(in: 0..<3, using: &random) == 0 {
            let other = (place + 1) % world.keys.count
            let wishes = world.keys[place].wishes
            world.keys[place].wishes = world.keys[other].wishes
            world.keys[other].wishes = wishes
        }
    }

    /// The variable that has a name now.
    private func variable(of place: Int) -> Int {
        world.keys[place].wishes.lazy.compactMap { $0?.version.variable }.first
            ?? (1...80).first { number in
                !world.keys.contains { key in
                    key.wishes.contains { $0?.version.variable == number }
                }
            } ?? 80
    }

    /// Somebody else changes a record, or creates one.
    private mutating func changeThere() {
        var platform = world.platform
        nextForeign += 1
        let known = ModelWorld.value(of: .known(Int.random(in: 1...4, using: &random)))
        let isKnown = Int.random(in: 0..<4, using: &random) == 0
        let value = isKnown ? known : 100 * (90 + nextForeign) + 50
        let targets = someTargets()
        let type = Self.types.randomElement(using: &random) ?? .plain
        // Often one that a request with an unknown outcome may have changed.
        let open = world.keys.flatMap(\.sends).compactMap { $0.before?.record }
        let stopped = platform.records.firstIndex { open.contains($0.id) }
        let place =
            Bool.random(using: &random) && stopped != nil
            ? stopped : platform.records.indices.randomElement(using: &random)
        let key =
            place.map { platform.records[$0].key }
            ?? world.keys.randomElement(using: &random)?.name ?? ""
        do {
            switch (Int.random(in: 0..<6, using: &random), place) {
            case (4, let place?):
                try platform.change(place, isOurs: false) { $0.comment = "theirs" }
            case (0, let place?): platform.records.remove(at: place)
            case (1, let place?):
                try platform.change(place, isOurs: false) { $0.targets = targets }
            case (2, let place?): try platform.change(place, isOurs: false) { $0.type = type }
            case (3, let place?): try platform.change(place, isOurs: false) { $0.value = value }
            default:
                try platform.create(key, targets, value, type, isOurs: false)
            }
        } catch {
            return
        }
        if let place, platform.records.indices.contains(place),
            platform.records[place] != world.platform.records[place]
        {
            // After a request without a value nothing shows that one changed which the vault lacks.
            let sends = world.keys.flatMap(\.sends).filter {
                $0.before?.record == platform.records[place].id
            }
            platform.records[place].isInOurName =
                Bool.random(using: &random)
                && sends.allSatisfy {
                    $0.sendsValue
                        || platform.records[place].type.isReadable
                            && $0.version?.isReadable == true
                }
        }
        world.platform = platform
        count("changed there")
        if let place = world.keys.firstIndex(where: { $0.name == key }),
            !world.keys[place].sends.isEmpty
        {
            clouded.insert(place)
        }
    }

    private func there(_ world: ModelWorld, _ place: Int, _ position: Int) -> PlanOracle.Value? {
        world.value(Target(position), key: place)
    }

    /// What is the same on both sides is what they last agreed on.
    private mutating func takeOverBases() {
        for place in world.keys.indices {
            for position in 0..<Place.count {
                if let agreement = world.keys[place].agreements[position],
                    there(world, place, position) == PlanOracle.Value(agreement.content),
                    world.platform.record(world.keys[place].name, in: Target(position)).map({
                        "\($0.witness)" == agreement.witness
                    }) ?? false
                {
                    bases[place][position] = PlanOracle.Value(agreement.content)
                } else if there(world, place, position) == nil,
                    world.keys[place].agreements[position] == nil
                        || world.keys[place].wishes[position] == nil && world.hidden.isEmpty
                {
                    bases[place][position] = nil
                }
            }
        }
    }

    private mutating func push(killed: Bool) throws {
        world.planAll()
        let start = world
        let plans = world.plan
        takeOverBases()
        let end =
            killed && !world.requests.isEmpty
            ? Int.random(in: world.requests.indices, using: &random) : nil
        let stop = ModelWorld.Stop.allCases.randomElement(using: &random)
        var stopped: ModelWorld?
        let requests = world.requests
        var seen = bases
        try world.send { state, number, point in
            if number == end, point == stop { stopped = state }
            if point == .beforeNote, stopped == nil || number == end && stop == .beforeNote {
                let request = requests[number]
                guard let place = state.keys.firstIndex(where: { $0.name == request.key }) else {
                    return
                }
                for target in request.released { seen[place][target.position] = nil }
                for target in request.agreed {
                    seen[place][target.position] = state.value(target, key: place)
                }
            }
        }
        if let stopped {
            world = stopped
            count("killed")
        }
        try check(start, plans, requests, isWhole: stopped == nil)
        bases = seen
        for (place, plan) in plans.enumerated()
        where stopped == nil && plan.conflicts.isEmpty && plan.behind.isEmpty
            && world.hidden.isEmpty
        {
            clouded.remove(place)
        }
    }

    /// What someone else changed is as it was, or was reported; all else is as wanted.
    private mutating func check(
        _ start: ModelWorld, _ plans: [KeyPlan], _ requests: [PlannedRequest], isWhole: Bool
    ) throws {
        for (place, plan) in plans.enumerated() {
            let reported = Set(
                plan.conflicts.map(\.target) + plan.leftOut.map(\.target) + plan.behind)
            for position in 0..<Place.count {
                let target = Target(position)
                let (was, now) = (there(start, place, position), there(world, place, position))
                let record = start.platform.record(start.keys[place].name, in: target)
                let base = bases[place][position]
                let agreed = plan.agreements[position]
                let isListed = record.map(start.isListed) ?? false
                if start.hidden.contains(target)
                    || !start.hidden.isEmpty && !isListed && agreed != nil
                {
                    try checkHidden(target, start, place, plan, isListed: isListed)
                    continue
                }
                let isHeldBack = !(record?.targets.isDisjoint(with: start.hidden) ?? true)
                if plan.leftOut.contains(where: { $0.target == target && $0.reason == .hidden }),
                    !isHeldBack
                {
                    throw failure("holds back \(place) \(position)", start, plans)
                }
                // Somebody else changed or removed it, and the vault has not seen what it is now.
                let isForeign =
                    was != base
                    || record.map { !$0.isOurs && Self.isUnseen($0, base, start.keys[place]) }
                        ?? false
                // A value that is not shown may be that of an open request.
                let isDoubtful =
                    record.map { record in
                        record.isInOurName && !record.type.isReadable
                            && start.keys[place].sends.contains {
                                $0.before.map { $0.record == record.id }
                                    ?? ($0.targets == record.targets)
                            }
                    } ?? false
                if isForeign, was != now, !isDoubtful {
                    throw failure("overwrites \(place) \(position)", start, plans)
                }
                if reported.contains(target) {
                    if was != now { throw failure("changes \(place) \(position)", start, plans) }
                    let isTheirs =
                        plan.behind.contains(target)
                        || plan.conflicts.contains { $0.target == target }
                    if !isForeign, isTheirs, !clouded.contains(place) {
                        throw failure("conflict \(place) \(position)", start, plans)
                    }
                    continue
                }
                if start.keys[place].choices.targets?.contains(target) == false {
                    if was != now { throw failure("selects \(place) \(position)", start, plans) }
                    continue
                }
                if isForeign, !isDoubtful,
                    was != world.keys[place].wishes[position].map(PlanOracle.Value.init)
                {
                    throw failure("does not report \(place) \(position)", start, plans)
                }
                if isWhole, now != world.keys[place].wishes[position].map(PlanOracle.Value.init) {
                    throw failure("does not send \(place) \(position)", start, plans)
                }
            }
            for record in start.platform.records
            where !record.targets.isDisjoint(with: start.hidden) {
                guard world.platform.records.contains(record) else {
                    throw failure("writes the hidden \(record.id)", start, plans)
                }
            }
            // What stays open is about a record that is not listed, or shows no value.
            for send in start.keys[place].sends {
                let record = start.platform.records.first { $0.id == send.before?.record }
                if let record, start.isListed(record),
                    record.type.isReadable || !(record.isOurs || record.isInOurName)
                {
                    throw failure("open request of \(record.id)", start, plans)
                }
            }
            for _ in plan.conflicts { count("conflict") }
            for reason in plan.leftOut.map(\.reason) {
                if case .waits = reason { count("waits") } else { count("\(reason)") }
            }
            for _ in plan.behind { count("behind") }
            for _ in plan.gaps { count("gap") }
        }
        counts["requests", default: 0] += requests.count
        // No value that the vault does not have, and wants, disappears.
        for wish in start.keys.flatMap(\.wishes).compactMap(\.self) where !wish.version.isReadable {
            let value = ModelWorld.value(of: wish.version)
            if start.platform.records.contains(where: { $0.value == value }),
                !world.platform.records.contains(where: { $0.value == value })
            {
                throw failure("loses \(value)", start, plans)
            }
        }
    }

    /// What may be hidden stays as it is, and is left out if something else is wanted.
    private mutating func checkHidden(
        _ target: Target, _ start: ModelWorld, _ place: Int, _ plan: KeyPlan, isListed: Bool
    ) throws {
        count("hidden")
        let isLeftOut = plan.leftOut.contains { $0.target == target }
        let wish = start.keys[place].wishes[target.position]
        let isWanted = wish != plan.agreements[target.position]?.content
        guard there(start, place, target.position) == there(world, place, target.position),
            !plan.conflicts.contains(where: { $0.target == target }),
            isListed || isLeftOut == isWanted
        else { throw failure("hidden \(place) \(target)", start, [plan]) }
    }

    /// Returns whether the vault cannot know that a record is as both sides agreed.
    private static func isUnseen(
        _ record: ModelPlatform.Record, _ base: PlanOracle.Value?, _ key: ModelWorld.Key
    ) -> Bool {
        if key.agreements.contains(where: {
            $0?.record == record.id && $0?.witness == "\(record.witness)"
        }) {
            return PlanOracle.Value(record) != base
        }
        let isShown = record.type.isReadable && ModelWorld.version(of: record.value).isReadable
        return !isShown || PlanOracle.Value(record) != base
    }

    private func failure(_ what: String, _ start: ModelWorld, _ plans: [KeyPlan]) -> any Error {
        PlanCheck.Failure(
            description: """
                \(what)
                \(PlanCheck.description(of: start))
                \(plans.map { "\($0.conflicts) \($0.leftOut) \($0.behind.map(\.position))" })
                \(world.steps)
                """)
    }

    /// Takes over what is reported, as a pull by force does. It asks the journal first: an agreement
    /// about a record ends the doubt about it.
    private mutating func pull() {
        world.planAll()
        takeOverBases()
        for (place, plan) in world.plan.enumerated() {
            for target in plan.conflicts.map(\.target) + plan.behind {
                let record = world.platform.record(world.keys[place].name, in: target)
                guard let record else {
                    world.keys[place].wishes[target.position] = nil
                    world.keys[place].agreements[target.position] = nil
                    bases[place][target.position] = nil
                    continue
                }
                let content = Content(
                    ModelWorld.version(of: record.value), record.type, comment: record.comment)
                world.keys[place].wishes[target.position] = content
                world.keys[place].agreements[target.position] = Agreement(
                    record: record.id, witness: "\(record.witness)", content: content)
                bases[place][target.position] = PlanOracle.Value(record)
                count("pulled")
            }
        }
    }

    /// Pulls what is reported until a push finds nothing to do.
    private mutating func settle() throws {
        for _ in 0..<4 {
            try push(killed: false)
            pull()
        }
        world.planAll()
        guard world.requests.isEmpty,
            world.plan.allSatisfy({ $0.conflicts.isEmpty && $0.behind.isEmpty })
        else { throw failure("does not settle: \(world.steps)", world, world.plan) }
    }
}

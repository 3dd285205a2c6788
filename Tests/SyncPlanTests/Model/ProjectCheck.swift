import SyncPlan

/// Pushes several keys that no one else changed to the end, and goes on from each point where the
/// process could have been killed.
struct ProjectCheck {
    private(set) var plans = 0
    private(set) var counts: [String: Int] = [:]

    mutating func check(_ world: ModelWorld) throws {
        do {
            try run(world)
        } catch let error {
            throw PlanCheck.Failure(description: "\(error)\n\(PlanCheck.description(of: world))")
        }
    }

    private mutating func run(_ start: ModelWorld) throws {
        var world = start
        world.planAll()
        plans += 1
        let plans = world.plan
        for (place, plan) in plans.enumerated() {
            guard plan.conflicts.isEmpty, plan.behind.isEmpty else {
                throw PlanCheck.Failure(
                    description: "no one changed \(plan.conflicts) \(Array(plan.behind))")
            }
            for (target, reason) in plan.leftOut.map({ ($0.target, $0.reason) }) {
                guard isJustified(reason, target, start, place, plans) else {
                    throw PlanCheck.Failure(
                        description: "\(place) \(target) is left out for no reason: \(reason)")
                }
                counts[Self.name(of: reason), default: 0] += 1
            }
        }
        for (number, request) in world.requests.enumerated() where !request.waitsFor.isEmpty {
            counts["waits in order", default: 0] += 1
            guard
                world.requests[number...].allSatisfy({
                    $0.onlyRemoves || !request.waitsFor.contains($0.key)
                })
            else { throw PlanCheck.Failure(description: "waits for a later request") }
        }
        var stopped: [ModelWorld] = []
        try world.send { state, _, stop in
            if stop != .beforeRequest { try checkMoment(state, start, plans) }
            stopped.append(state)
        }
        try checkEnd(world, start, plans)
        for var again in stopped {
            again.planAll()
            self.plans += 1
            try again.send { state, _, stop in
                if stop != .beforeRequest { try checkMoment(state, start, plans) }
            }
            try checkEnd(again, start, plans)
        }
    }

    private static func name(of reason: Omission) -> String {
        if case .waits = reason { return "waits" }
        return "\(reason)"
    }

    private func isJustified(
        _ reason: Omission, _ target: Target, _ start: ModelWorld, _ place: Int,
        _ plans: [KeyPlan]
    ) -> Bool {
        let own = start.value(target, key: place)
        let wish = start.keys[place].wishes[target.position]
        switch reason {
        case .unreadable: return wish.map { !$0.version.isReadable } ?? false
        case .valueWantedElsewhere:
            // In another record.
            let record = start.platform.record(start.keys[place].name, in: target)
            let isElsewhere = start.keys.enumerated().contains { number, key in
                key.wishes.enumerated().contains { position, wish in
                    wish.map { ModelWorld.value(of: $0.version) } == own?.value
                        && !(number == place && record?.targets.contains(Target(position)) ?? false)
                }
            }
            return own.map { $0.value % 100 >= 50 } ?? false && isElsewhere
        case .sharesRecord: return wish.map { ModelWorld.value(of: $0.version) } == own?.value
        case .waits(let name):
            // Its variable is wanted under the new name, and something there cannot be sent.
            return wish == nil
                && zip(start.keys, plans).contains { key, plan in
                    key.name == name && !plan.leftOut.isEmpty
                        && key.wishes.contains {
                            $0.map { $0.version.variable == (own?.value ?? 0) / 100 } ?? false
                        }
                }
        case .typeIsFinal:
            return !start.keys[place].choices.force && wish?.type.isReadable ?? false
                && own.map { !$0.type.isReadable } ?? false
        case .refused, .hidden: return false
        }
    }

    /// No value that the vault does not have and wants is ever missing, and a variable with a new name
    /// is there under one of them.
    private mutating func checkMoment(_ world: ModelWorld, _ start: ModelWorld, _ plans: [KeyPlan])
        throws
    {
        for key in start.keys {
            for wish in key.wishes.compactMap(\.self) where !wish.version.isReadable {
                let value = ModelWorld.value(of: wish.version)
                let isThere = { (world: ModelWorld) in
                    world.platform.records.contains { $0.value == value }
                }
                if isThere(start), !isThere(world) {
                    throw PlanCheck.Failure(description: "the value \(value) is lost")
                }
            }
        }
        for (place, key) in start.keys.enumerated() {
            for (position, agreement) in key.agreements.enumerated() {
                let target = Target(position)
                guard let agreement, key.wishes[position] == nil,
                    world.value(target, key: place) == nil
                else { continue }
                // Its new name, in the same target.
                let variable = agreement.content.version.variable
                for (other, renamed) in start.keys.enumerated() where other != place {
                    guard renamed.wishes[position]?.version.variable == variable,
                        (world.value(target, key: other)?.value ?? 0) / 100 != variable
                    else { continue }
                    // Two variables that exchange names cannot both go first.
                    if plans[place].gaps.contains(target), isExchange(place, other, start) {
                        counts["gap of an exchange", default: 0] += 1
                        continue
                    }
                    throw PlanCheck.Failure(
                        description: "variable \(variable) has neither name in \(target)")
                }
            }
        }
    }

    /// Returns whether each of two keys is the old name of a variable that gets the other.
    private func isExchange(_ one: Int, _ other: Int, _ world: ModelWorld) -> Bool {
        func variables(_ place: Int, _ contents: (ModelWorld.Key) -> [Int]) -> Set<Int> {
            Set(contents(world.keys[place]))
        }
        let had = { (key: ModelWorld.Key) in
            key.agreements.compactMap { $0?.content.version.variable }
        }
        let wants = { (key: ModelWorld.Key) in key.wishes.compactMap { $0?.version.variable } }
        return !variables(one, had).isDisjoint(with: variables(other, wants))
            && !variables(other, had).isDisjoint(with: variables(one, wants))
    }

    private mutating func checkEnd(
        _ world: ModelWorld, _ start: ModelWorld, _ plans: [KeyPlan]
    ) throws {
        for (place, key) in world.keys.enumerated() {
            for position in key.wishes.indices {
                let target = Target(position)
                let isLeft = plans[place].leftOut.contains { $0.target == target }
                let end =
                    isLeft
                    ? start.value(target, key: place)
                    : key.wishes[position].map(PlanOracle.Value.init)
                guard world.value(target, key: place) == end else {
                    throw PlanCheck.Failure(
                        description:
                            "\(key.name) \(position) ends as \(world.value(target, key: place) as Any), not \(end as Any)"
                    )
                }
            }
        }
        var world = world
        world.planAll()
        self.plans += 1
        guard world.requests.isEmpty, world.keys.allSatisfy(\.sends.isEmpty) else {
            throw PlanCheck.Failure(description: "a second plan sends \(world.steps)")
        }
    }
}

import SyncPlan

/// Pushes one key of a world to the end, checks each point on the way, and goes on from each point
/// where the process could have been killed.
struct PlanCheck {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var worlds = 0
    /// How many plans were made.
    private(set) var plans = 0
    /// How many plans had so many requests that a shorter order was searched for.
    private(set) var searches = 0
    /// How many worlds had a target with that outcome.
    private(set) var counts: [String: Int] = [:]

    mutating func add(_ other: PlanCheck) {
        (worlds, plans) = (worlds + other.worlds, plans + other.plans)
        searches += other.searches
        counts.merge(other.counts) { $0 + $1 }
    }

    /// - Throws: ``Failure`` with the world and what is wrong.
    mutating func check(_ world: ModelWorld) throws {
        worlds += 1
        do {
            try run(world)
        } catch let error {
            throw Failure(description: "\(error)\n\(Self.description(of: world))")
        }
    }

    private mutating func run(_ start: ModelWorld) throws {
        let oracle = PlanOracle(start, 0)
        let targets = start.keys[0].wishes.indices.map(Target.init)
        let verdicts = targets.map(oracle.verdict)
        var world = start
        world.planAll()
        plans += 1
        let plan = world.plan[0]
        // What was read once and is as agreed is not read again.
        for id in world.state(of: 0).recordsToRead {
            let targets = world.platform.records.first { $0.id == id }?.targets ?? []
            let isAgreed = targets.allSatisfy { target in
                world.keys[0].agreements[target.position].map { PlanOracle.Value($0.content) }
                    == oracle.there(target)
            }
            if isAgreed { throw Failure(description: "reads \(id) again") }
        }
        try checkReport(plan, oracle, verdicts)
        let ends = targets.map { target -> PlanOracle.Value? in
            if plan.leftOut.contains(where: { $0.target == target }) { return oracle.there(target) }
            guard case .wanted(let value) = verdicts[target.position] else {
                return oracle.there(target)
            }
            let isCommented = plan.comments.contains { $0.target == target }
            return isCommented
                ? world.keys[0].wishes[target.position].map(PlanOracle.Value.init) : value
        }
        try checkCount(start, world.requests.count, oracle, ends)
        // The states in which the process can be killed, each with the request that is next then.
        var stopped: [(world: ModelWorld, next: Int)] = []
        var noted = [world]
        var empty: Set<Target> = []
        try world.send { state, number, stop in
            if stop != .beforeRequest {
                empty.formUnion(try Self.checkMoment(state, plan, oracle, ends))
            }
            if stop == .afterNote { noted.append(state) }
            stopped.append((state, stop == .beforeRequest ? number : number + 1))
        }
        guard empty == Set(plan.gaps) else {
            throw Failure(description: "\(empty) had no value, but the plan says \(plan.gaps)")
        }
        try checkEnd(world, plan, ends)
        // A second plan at the end was made already.
        if !stopped.isEmpty { stopped.removeLast() }
        for (state, next) in stopped {
            var again = state
            again.planAll()
            plans += 1
            let second = again.plan[0]
            // A stop makes nothing a conflict, and hides none.
            try Self.compare(second, plan)
            // From here on all would be as it was without the stop.
            if again.goesOn(as: world.requests[next...], from: noted[next]) { continue }
            try again.send { state, _, stop in
                if stop != .beforeRequest {
                    try Self.checkMoment(state, plan, oracle, ends, second)
                }
            }
            try checkEnd(again, plan, ends)
        }
    }

    /// At most two requests more than the best order, over at most four targets.
    private mutating func checkCount(
        _ start: ModelWorld, _ count: Int, _ oracle: PlanOracle, _ ends: [PlanOracle.Value?]
    ) throws {
        // Records with several comments are several even if an order that knows none merges them.
        let comments = start.platform.records.map(\.comment) + ends.compactMap { $0.map(\.comment) }
        guard count > 3, ends.count < 5, Set(comments).count < 2 else { return }
        searches += 1
        var (platform, ends) = (start.platform, ends)
        // What the vault does not know is another value than all that it has.
        for (place, record) in platform.records.enumerated() where !oracle.isKnown(record) {
            platform.records[place].value = 100 * (1_000 + place) + 50
            for target in record.targets {
                if case .wanted = oracle.verdict(target) { continue }
                ends[target.position]?.value = platform.records[place].value
            }
        }
        if BestOrder(platform.rules, ends).isReached(from: platform, within: count - 3) {
            throw Failure(description: "\(count) requests, and \(count - 3) are enough")
        }
    }

    private static func compare(_ second: KeyPlan, _ first: KeyPlan) throws {
        guard second.conflicts.map(\.target) == first.conflicts.map(\.target),
            second.leftOut.map(\.target) == first.leftOut.map(\.target),
            second.behind == first.behind, second.notSelected == first.notSelected
        else {
            throw Failure(
                description: """
                    after a stop the report is \(second.conflicts) \(second.leftOut) \(Array(second.behind)) \
                    \(Array(second.notSelected)), before \(first.conflicts) \(first.leftOut) \
                    \(Array(first.behind)) \(Array(first.notSelected))
                    """)
        }
    }

    /// What is reported is what the oracle says, and what is left out has a reason.
    private mutating func checkReport(
        _ plan: KeyPlan, _ oracle: PlanOracle, _ verdicts: [PlanOracle.Verdict]
    ) throws {
        for (position, verdict) in verdicts.enumerated() {
            let target = Target(position)
            let conflict = plan.conflicts.first { $0.target == target }?.reason
            let isConflict = conflict != nil
            let omission = plan.leftOut.first { $0.target == target }?.reason
            let isBehind = plan.behind.contains(target)
            switch verdict {
            case .conflict where conflict == oracle.reason(target): count("conflict")
            case .behind where isBehind: count("behind")
            case .typeIsFinal where omission == .typeIsFinal: count("typeIsFinal")
            case .notSelected where plan.notSelected.contains(target): count("notSelected")
            case .untouched where !isConflict && !isBehind && omission == nil: count("untouched")
            case .wanted where !isConflict && !isBehind:
                guard let omission else {
                    // The platform may refuse either of two equal values.
                    if oracle.separatesProduction, isShared(target, oracle, verdicts),
                        oracle.wanted(target) != oracle.there(target)
                    {
                        throw Failure(description: "\(target) would have production's value")
                    }
                    break
                }
                guard isJustified(omission, target, oracle, verdicts, plan) else {
                    throw Failure(description: "\(target) is left out for no reason: \(omission)")
                }
                count("\(omission)")
            default:
                throw Failure(
                    description:
                        "\(target) should be \(verdict), but the plan has \(plan.conflicts) \(plan.leftOut) \(Array(plan.behind))"
                )
            }
        }
        let all = verdicts.indices.map(Target.init)
        guard plan.same == TargetSet(all.filter(oracle.isSame)),
            plan.notSelected.count == verdicts.count(where: { $0 == .notSelected })
        else {
            throw Failure(
                description:
                    "says \(Array(plan.same)) is the same, \(Array(plan.notSelected)) not selected"
            )
        }
        for (target, record) in plan.conflicts.map({ ($0.target, $0.record) })
            + plan.leftOut.map({ ($0.target, $0.record) })
            + plan.comments.map({ ($0.target, $0.record) })
        where record != oracle.record(in: target)?.id {
            throw Failure(description: "says that \(target) is in \(record as Any)")
        }
        let exposed = verdicts.indices.map(Target.init).filter { target in
            guard case .wanted(let value?) = verdicts[target.position],
                !plan.leftOut.contains(where: { $0.target == target })
            else { return false }
            return oracle.there(target).map { !$0.type.isReadable } ?? false
                && value.type.isReadable
        }
        guard plan.exposed == TargetSet(exposed) else {
            throw Failure(description: "\(exposed) become readable, the plan says \(plan.exposed)")
        }
        for note in plan.comments {
            let (old, wish) = (oracle.there(note.target)?.comment, oracle.wanted(note.target))
            // Of a record's targets one that was changed here decides.
            let isTakenOver = note.reason == old && wish?.comment == nil
            guard isTakenOver || note.reason != old || wish?.comment == old
            else { throw Failure(description: "comment \(note.reason as Any) of \(note.target)") }
        }
        guard Set(plan.comments.map(\.target)).count == plan.comments.count else {
            throw Failure(description: "says a comment twice: \(plan.comments)")
        }
        if !plan.gaps.isEmpty { count("gap") }
        if !exposed.isEmpty { count("exposed") }
        if !plan.comments.isEmpty { count("comment") }
    }

    private mutating func count(_ word: String) { counts[word, default: 0] += 1 }

    private func isJustified(
        _ omission: Omission, _ target: Target, _ oracle: PlanOracle,
        _ verdicts: [PlanOracle.Verdict], _ plan: KeyPlan
    ) -> Bool {
        let own = oracle.record(in: target)
        let wish = oracle.wanted(target)
        let others = own.map { $0.targets.subtracting([target]) } ?? []
        switch omission {
        case .unreadable:
            // Its own record does not have the value, or cannot have it in that form.
            return wish.map { $0.value % 100 >= 50 } ?? false
                && (!oracle.isKnown(own) || own?.value != wish?.value || own?.type != wish?.type)
        case .valueWantedElsewhere:
            // The value is wanted in another record, and stays in no target of its own.
            guard let own, own.value % 100 >= 50, own.value != wish?.value else { return false }
            return verdicts.indices.contains {
                !own.targets.contains(Target($0)) && oracle.wanted(Target($0))?.value == own.value
            }
                && others.allSatisfy { other in
                    guard case .wanted(let value) = verdicts[other.position] else { return false }
                    return value?.value != own.value
                }
        case .sharesRecord:
            return own?.value == wish?.value
                && others.contains { keeps($0, own, oracle, verdicts, plan, from: target) }
        case .refused:
            // The team wants another type, or a production value of its own.
            if let wish, !oracle.allows([target], of: wish.type) {
                return oracle.there(target) != wish
            }
            // A new policy forbids the form of the record, in which the others cannot be sent again.
            if let own, !others.isEmpty, !oracle.allows(others, of: own.type) { return true }
            return isShared(target, oracle, verdicts)
        case .typeIsFinal, .hidden, .waits: return false
        }
    }

    /// Returns whether one target of a record keeps another one from changing type or comment.
    private func keeps(
        _ other: Target, _ record: ModelPlatform.Record?, _ oracle: PlanOracle,
        _ verdicts: [PlanOracle.Verdict], _ plan: KeyPlan, from target: Target
    ) -> Bool {
        // It is not sent.
        if case .wanted = verdicts[other.position] {} else { return true }
        // It was not selected, and is heavier or would get the comment.
        if !oracle.isSelected(other),
            record?.comment != oracle.wanted(target)?.comment || target < other
        {
            return true
        }
        // A new policy keeps it there.
        if let record, !oracle.allows([other], of: record.type) { return true }
        // It is left out too, and not because of this one.
        return plan.leftOut.contains { note in
            note.target == other
                && (note.reason != .sharesRecord || other < target
                    || record?.targets.contains { !oracle.isSelected($0) } ?? false)
        }
    }

    /// Returns whether production would be sensitive and have the same value as another target, and the
    /// target is one of both.
    private func isShared(
        _ target: Target, _ oracle: PlanOracle, _ verdicts: [PlanOracle.Verdict]
    ) -> Bool {
        let outcome = verdicts.enumerated().map { position, verdict in
            if case .wanted(let value) = verdict { return value }
            let record = oracle.record(in: Target(position))
            return record.flatMap { oracle.isKnown($0) ? PlanOracle.Value($0) : nil }
        }
        guard let production = outcome[0], !production.type.isReadable else { return false }
        let sharing = outcome.indices.filter { outcome[$0]?.value == production.value }
        return sharing.count > 1 && sharing.contains(target.position)
    }

    /// At each moment a target has what it had, or what it will have. It has nothing only where the
    /// plan says so, and where the platform forces it.
    ///
    /// - Returns: The targets that have nothing for the moment.
    @discardableResult
    private static func checkMoment(
        _ world: ModelWorld, _ plan: KeyPlan, _ oracle: PlanOracle, _ ends: [PlanOracle.Value?],
        _ second: KeyPlan? = nil
    ) throws -> Set<Target> {
        var empty: Set<Target> = []
        for (position, end) in ends.enumerated() {
            let target = Target(position)
            let start = oracle.there(target)
            let now = world.platform.record(world.keys[0].name, in: target).map(
                PlanOracle.Value.init)
            if now?.value == end?.value || now?.value == start?.value { continue }
            guard now == nil else {
                throw Failure(description: "\(target) has \(now as Any) between two requests")
            }
            guard plan.gaps.contains(target) || second?.gaps.contains(target) ?? false else {
                throw Failure(description: "\(target) has no value, and the plan does not say so")
            }
            guard isForced(target, plan, oracle, ends) else {
                throw Failure(description: "\(target) is without its value for no reason")
            }
            empty.insert(target)
        }
        return empty
    }

    /// Returns whether a target must be without its value between two requests.
    private static func isForced(
        _ target: Target, _ plan: KeyPlan, _ oracle: PlanOracle, _ ends: [PlanOracle.Value?]
    ) -> Bool {
        guard let record = oracle.record(in: target), let end = ends[target.position] else {
            return false
        }
        if !record.type.isReadable, end.type.isReadable { return true }
        let others = record.targets.filter { $0 != target && !plan.gaps.contains($0) }
        if record.value != end.value || !oracle.isKnown(record) {
            // The record goes on with another value or type.
            return others.contains { other in
                guard let kept = ends[other.position] else { return false }
                return !oracle.isKnown(record) || kept.value != end.value || kept.type != end.type
                    || !oracle.allows([other, target], of: end.type)
            }
        }
        // Something heavier, whose value stays too, keeps the record in a form that this one may not
        // have.
        return others.contains { other in
            other < target && ends[other.position]?.value == record.value
                && (ends[other.position]?.type != end.type
                    || !oracle.allows([other, target], of: end.type))
        }
    }

    /// Everything is as it must be, and there is nothing more to do.
    private mutating func checkEnd(
        _ world: ModelWorld, _ plan: KeyPlan, _ ends: [PlanOracle.Value?]
    ) throws {
        for (position, end) in ends.enumerated() {
            let now = world.platform.record(world.keys[0].name, in: Target(position))
                .map(PlanOracle.Value.init)
            guard now == end else {
                throw Failure(
                    description:
                        "\(position) ends as \(now as Any), not \(end as Any); plan \(plan)")
            }
        }
        var world = world
        let agreements = world.keys[0].agreements
        world.planAll()
        plans += 1
        let again = world.plan[0]
        try Self.compare(again, plan)
        guard again.requests.isEmpty, world.keys[0].sends.isEmpty else {
            throw Failure(description: "a second plan sends \(again.requests)")
        }
        // What was just agreed on needs no look at the values.
        guard world.keys[0].agreements == agreements else {
            throw Failure(description: "a second plan agrees on \(world.keys[0].agreements)")
        }
    }

    static func description(of world: ModelWorld) -> String {
        func text(_ content: Content?) -> String {
            content.map {
                "\($0.version.variable).\($0.version.number)/\($0.type.number)\($0.comment.map { " " + $0 } ?? "")"
            } ?? "-"
        }
        return world.keys.map { key in
            "\(key.name): wants \(key.wishes.map(text)), agreed "
                + "\(key.agreements.map { "\($0?.record ?? "") \(text($0?.content))" }), "
                + "force \(key.choices.force), pruned \(Array(key.choices.pruned).map(\.position)), "
                + "targets \(key.choices.targets.map { Array($0).map(\.position) } as Any)"
        }.joined(separator: "\n") + "\n"
            + world.platform.records.map {
                "  \($0.id) \($0.key) \($0.targets.map(\.position)) \($0.value)/\($0.type.number) \($0.comment ?? "") witness \($0.witness) \($0.isOurs ? "ours" : "theirs") \($0.owner)"
            }.joined(separator: "\n")
    }
}

import SyncPlan
import TestSupport

/// Larger worlds of one key, made at random: five targets, comments, agreements that a conflict left
/// behind, up to two changes by someone else, records that others manage, and the user's choices.
struct SampledWorlds {
    private static let types: [ValueType] = [.plain, .encrypted, .sensitive]
    private var random: ProofRandom

    init(random: ProofRandom) { self.random = random }

    private mutating func isChosen(oneIn share: Int) -> Bool {
        Int.random(in: 0..<share, using: &random) == 0
    }

    private mutating func comment() -> String? {
        [nil, nil, "a", "b"].randomElement(using: &random) ?? nil
    }

    private mutating func targets() -> TargetSet {
        TargetSet((0..<Place.count).filter { _ in isChosen(oneIn: 2) }.map(Target.init))
    }

    private mutating func known() -> Content {
        Content(
            .known(Int.random(in: 1...2, using: &random)),
            Self.types.randomElement(using: &random) ?? .plain, comment: comment())
    }

    mutating func next() -> ModelWorld {
        var rules = ModelRules.model(requiresSensitive: isChosen(oneIn: 8))
        var world = ModelWorld("KEY", rules: .model())
        for number in 0..<4 {
            var content = known()
            if isChosen(oneIn: 4) {
                (content.version, content.type) = (.unread(number), .sensitive)
            }
            let free = targets().filter { world.keys[0].agreements[$0.position] == nil }
            try? world.agree(TargetSet(free), content)
        }
        // A policy that is newer than the records.
        if isChosen(oneIn: 16) { rules.requiresSensitive = true }
        world.platform = ModelPlatform(copying: world.platform, rules: rules)
        // By force a target of a record may take away all that is known of the record's value.
        world.keys[0].choices.force = isChosen(oneIn: 4)
        for position in 0..<Place.count
        where isChosen(oneIn: 8) && !world.keys[0].choices.force {
            world.keys[0].agreements[position] =
                isChosen(oneIn: 2)
                ? nil : Agreement(record: "r0", witness: "0", content: known())
        }
        for position in 0..<Place.count where isChosen(oneIn: 2) { edit(&world, position) }
        for _ in 0..<Int.random(in: 0...2, using: &random) { change(&world.platform) }
        if isChosen(oneIn: 4) { world.keys[0].choices.pruned = targets() }
        if isChosen(oneIn: 4) { world.keys[0].choices.targets = targets() }
        return world
    }

    private mutating func edit(_ world: inout ModelWorld, _ position: Int) {
        let present = world.keys[0].wishes.compactMap(\.self)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: world.keys[0].wishes[position] = nil
        case 1: world.keys[0].wishes[position] = present.randomElement(using: &random)
        case 2: world.keys[0].wishes[position]?.comment = comment()
        case 3: world.keys[0].wishes[position]?.type = known().type
        default: world.keys[0].wishes[position] = known()
        }
    }

    /// Someone else changes something; what the platform refuses does not happen.
    private mutating func change(_ platform: inout ModelPlatform) {
        let place = platform.records.indices.randomElement(using: &random)
        let content = known()
        let value = isChosen(oneIn: 2) ? 9_051 : ModelWorld.value(of: content.version)
        let targets = targets()
        var changed = platform
        switch (Int.random(in: 0..<8, using: &random), place) {
        case (0, let place?): changed.records.remove(at: place)
        case (1, let place?): try? changed.change(place, isOurs: false) { $0.targets = targets }
        case (2, let place?): try? changed.change(place, isOurs: false) { $0.value = value }
        case (3, let place?): try? changed.change(place, isOurs: false) { $0.type = content.type }
        case (4, let place?):
            try? changed.change(place, isOurs: false) { $0.comment = content.comment }
        case (5, let place?):
            let isMoved = isChosen(oneIn: 2)
            if isMoved { try? changed.change(place, isOurs: false) { _ in } }
            changed.records[place].owner = isChosen(oneIn: 2) ? .integration : .platform
        default:
            let free = targets.filter { changed.record("KEY", in: $0) == nil }
            let owners: [ListedRecord.Owner] = [.project, .integration, .platform]
            let owner = owners.randomElement(using: &random)
            _ = try? changed.create(
                "KEY", TargetSet(free), value, content.type, comment: content.comment,
                isOurs: false, owner: owner ?? .project)
        }
        platform = changed
    }
}

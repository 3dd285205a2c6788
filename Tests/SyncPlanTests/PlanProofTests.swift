import SyncPlan
import TestSupport
import Testing

/// The proof of the planner: see ``SmallWorlds``, ``SampledWorlds`` and ``PlanCheck``.
///
/// Each run tries all small worlds of three targets and two versions, and some larger ones that
/// ZG_ENV_PROOF_SEED chooses. ZG_ENV_PROOF=full also tries all of four targets and three versions.
@Suite("Proof of the planner")
struct PlanProofTests {
    /// Production, custom environments, preview and, last, development.
    private static func worlds(
        targets: Int, versions: Int, unread: Int, unreadTypes: [ValueType] = [.sensitive]
    ) -> SmallWorlds {
        SmallWorlds(
            rules: ModelRules(development: Target(targets - 1)),
            targets: targets, alike: 0..<(targets - 1), versions: versions, unreadRecords: unread,
            types: [.encrypted, .sensitive], unreadTypes: unreadTypes, hasMoreChanges: targets < 4)
    }

    @Test func `three targets and two versions that the vault has`() async throws {
        let counts = try await prove(Self.worlds(targets: 3, versions: 2, unread: 0))
        #expect(
            Set(counts.keys) == [
                "behind", "conflict", "exposed", "gap", "sharesRecord", "typeIsFinal",
            ])
    }

    @Test func `three targets, a version that the vault has, and others`() async throws {
        let counts = try await prove(Self.worlds(targets: 3, versions: 1, unread: 3))
        #expect(Set(counts.keys).isSuperset(of: ["unreadable", "valueWantedElsewhere"]))
    }

    @Test func `four targets and three versions`() async throws {
        try await prove(
            Self.worlds(targets: 4, versions: 2, unread: 1),
            share: Proof.count(short: 5_000, full: 1))
    }

    @Test func `the planner's rules are those of Vercel`() {
        for policy in 0..<4 {
            let rules = ModelRules.model(
                requiresSensitive: policy & 1 == 1, separatesProduction: policy & 2 == 2)
            for bits in 1..<(1 << Place.count) {
                let targets = TargetSet(
                    (0..<Place.count).filter { bits >> $0 & 1 == 1 }.map(Target.init))
                for type in [ValueType.plain, .encrypted, .sensitive] {
                    let isAllowed = rules.allows(targets, of: type)
                    #expect(rules.planned.allows(targets, of: type) == isAllowed)
                }
            }
        }
    }

    @Test func `two targets of a platform with one target a record`() async throws {
        let worlds = SmallWorlds(
            rules: ModelRules(hasSingleTargets: true), targets: 2, alike: 0..<2, versions: 2,
            unreadRecords: 2, types: [.encrypted, .sensitive])
        let counts = try await prove(worlds)
        #expect(counts["sharesRecord"] == nil)
    }

    @Test func `three targets of a team that separates production`() async throws {
        // Its record has no other target: one that is split and becomes sensitive may have the value
        // of another record that grows later.
        let worlds = SmallWorlds(
            rules: ModelRules(development: Target(9), separatesProduction: true), targets: 3,
            alike: 1..<3, versions: 2, unreadRecords: 0, types: [.encrypted, .sensitive],
            isHeaviestAlone: true)
        let counts = try await prove(worlds, share: Proof.count(short: 8, full: 1))
        #expect(counts["refused", default: 0] > 0)
    }

    @Test func `three targets of a team that requires sensitive variables`() async throws {
        let worlds = SmallWorlds(
            rules: ModelRules(development: Target(2), requiresSensitive: true), targets: 3,
            alike: 0..<2, versions: 2, unreadRecords: 0, types: [.encrypted, .sensitive])
        let counts = try await prove(worlds, share: Proof.count(short: 4, full: 1))
        #expect(counts["refused", default: 0] > 0)
    }

    @Test func `comments, two changes by someone else, other owners and choices`() throws {
        var worlds = SampledWorlds(random: ProofRandom(1))
        var check = PlanCheck()
        let count = Proof.count(short: 20_000, full: 400_000)
        for _ in 0..<count { try check.check(worlds.next()) }
        print("planner, \(count) larger worlds: \(check.plans) plans, \(sorted(check.counts))")
        #expect(
            Set(check.counts.keys).isSuperset(of: [
                "behind", "comment", "conflict", "exposed", "gap", "notSelected", "refused",
                "sharesRecord", "typeIsFinal", "unreadable", "untouched", "valueWantedElsewhere",
            ]))
    }

    @Test func `every change of two names`() throws {
        var check = ProjectCheck()
        let step = Proof.isFull ? 1 : 13
        var random = ProofRandom(1)
        let first = Int.random(in: 0..<step, using: &random)
        var worlds = 0
        try RenamedWorlds().forEach(part: (first, step)) { world in
            for isForced in step == 1 ? [false, true] : [Bool.random(using: &random)] {
                var world = world
                for place in world.keys.indices { world.keys[place].choices.force = isForced }
                worlds += 1
                try check.check(world)
            }
        }
        print("planner, two names: \(worlds) worlds, \(check.plans) plans, \(sorted(check.counts))")
        #expect(
            Set(check.counts.keys).isSuperset(of: [
                "unreadable", "valueWantedElsewhere", "waits", "waits in order",
            ]))
    }

    @Test func `long days of more keys, with kills, others and pulls`() throws {
        var counts: [String: Int] = [:]
        let days = Proof.count(short: 300, full: 20_000)
        for day in 0..<days {
            var run = RandomDay(keys: 1 + day % 4, random: ProofRandom(UInt64(day)))
            do {
                try run.run(30)
            } catch {
                Issue.record("ZG_ENV_PROOF_SEED=\(ProofRandom.seed), day \(day): \(error)")
                return
            }
            counts.merge(run.counts) { $0 + $1 }
        }
        print("planner, \(days) days: \(sorted(counts))")
        #expect(
            Set(counts.keys).isSuperset(of: [
                "killed", "conflict", "behind", "gap", "typeIsFinal", "unreadable",
                "valueWantedElsewhere", "waits", "pulled",
            ]))
    }

    /// Checks all small worlds, on as many threads as there are. Those where force changes types and
    /// overwrites nothing are checked by force, too.
    ///
    /// - Parameter share: One in so many wishes.
    @discardableResult
    private func prove(_ worlds: SmallWorlds, share: Int = 1) async throws -> [String: Int] {
        let parts = 64
        let all = try await withThrowingTaskGroup(of: PlanCheck.self) { group in
            for part in 0..<parts {
                group.addTask {
                    var check = PlanCheck()
                    var random = ProofRandom(UInt64(part) << 32)
                    try worlds.forEach(
                        part: (part, parts), share: share, using: &random
                    ) { world in
                        try check.check(world)
                        guard Self.isForceForTypes(world) else { return }
                        var forced = world
                        forced.keys[0].choices.force = true
                        try check.check(forced)
                    }
                    return check
                }
            }
            return try await group.reduce(into: PlanCheck()) { $0.add($1) }
        }
        print(
            "planner, \(worlds.targets) targets: \(all.worlds) worlds, \(all.plans) plans, "
                + "\(all.searches) searches, \(sorted(all.counts))")
        return all.counts
    }

    private static func isForceForTypes(_ world: ModelWorld) -> Bool {
        let oracle = PlanOracle(world, 0)
        let verdicts = (0..<oracle.count).map { oracle.verdict(Target($0)) }
        return verdicts.contains(.typeIsFinal)
            && !verdicts.contains { $0 == .conflict || $0 == .behind }
    }

    private func sorted(_ counts: [String: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}

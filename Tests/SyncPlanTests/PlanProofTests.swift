import SyncPlan
import TestSupport
import Testing

/// The proof of the planner, over all small worlds: see ``SmallWorlds`` and ``PlanCheck``.
///
/// ZG_ENV_PROOF=full tries every world. Otherwise each run tries all where only the vault changed
/// versions and types, and a part of the others that ZG_ENV_PROOF_SEED chooses.
@Suite("Proof of the planner")
struct PlanProofTests {
    private static let readable = [
        Content(.known(1), .encrypted), Content(.known(1), .sensitive),
        Content(.known(2), .encrypted), Content(.known(2), .sensitive),
    ]
    private static let unread = [
        Content(.known(1), .encrypted), Content(.known(1), .sensitive),
        Content(.unread(0), .sensitive),
    ]
    private static let three = [Target(0), Target(1), Target(2)]
    private static let vercel = VercelRules(production: Target(0), development: Target(2))

    @Test func `every wish for values that the vault has`() throws {
        let worlds = SmallWorlds(
            targets: Self.three, rules: Self.vercel, contents: Self.readable)
        let counts = try prove(worlds, foreign: false, step: 1)
        // Nothing is left out and nothing is a conflict: every wish is fulfilled.
        #expect(Set(counts.keys) == ["gap"])
    }

    @Test func `every wish for values of which the vault has some`() throws {
        let worlds = SmallWorlds(targets: Self.three, rules: Self.vercel, contents: Self.unread)
        let counts = try prove(worlds, foreign: false, step: 1)
        #expect(
            Set(counts.keys) == ["gap", "unreadable", "valueWantedElsewhere", "sharesRecord"])
    }

    @Test func `every change by someone else`() throws {
        let worlds = SmallWorlds(
            targets: Self.three, rules: Self.vercel, contents: Self.readable)
        let counts = try prove(worlds, foreign: true, step: 96)
        #expect(Set(counts.keys).isSuperset(of: ["conflict", "behind"]))
    }

    @Test func `every change by someone else of values that the vault lacks`() throws {
        let worlds = SmallWorlds(targets: Self.three, rules: Self.vercel, contents: Self.unread)
        let counts = try prove(worlds, foreign: true, step: 30)
        #expect(Set(counts.keys).isSuperset(of: ["conflict", "behind"]))
    }

    @Test func `every comment`() throws {
        let contents = [
            Content(.known(1), .encrypted), Content(.known(1), .encrypted, comment: "a"),
            Content(.known(2), .encrypted, comment: "b"),
        ]
        let worlds = SmallWorlds(targets: Self.three, rules: Self.vercel, contents: contents)
        let counts = try prove(worlds, foreign: false, step: 3)
        #expect(Set(counts.keys) == ["gap", "comment"])
        try prove(worlds, foreign: true, step: 96)
    }

    @Test func `every small world of a platform with one target a record`() throws {
        let worlds = SmallWorlds(
            targets: [Target(0), Target(1)], rules: SingleTargetRules(), contents: Self.unread)
        let counts = try prove(worlds, foreign: false, step: 1)
        #expect(counts["sharesRecord"] == nil)
        try prove(worlds, foreign: true, step: 1)
    }

    @Test func `every small world of a team that separates production`() throws {
        let rules = VercelRules(
            production: Target(0), development: Target(1), separatesProduction: true)
        let worlds = SmallWorlds(
            targets: [Target(0), Target(1)], rules: rules, contents: Self.readable)
        try prove(worlds, foreign: true, step: 1)
    }

    @Test func `every change of two names`() throws {
        var check = ProjectCheck()
        let step = Proof.isFull ? 1 : 47
        var random = ProofRandom(1)
        let first = Int.random(in: 0..<step, using: &random)
        var worlds = 0
        try RenamedWorlds().forEach(part: (first, step)) { world in
            worlds += 1
            try check.check(world)
        }
        print("planner, two names: \(worlds) worlds, \(check.plans) plans, \(sorted(check.counts))")
        #expect(
            Set(check.counts.keys).isSuperset(of: [
                "unreadable", "valueWantedElsewhere", "waits", "waits in order",
            ]))
    }

    @Test(arguments: [readable, unread])
    func `no plan has more than two requests above the best order`(contents: [Content]) throws {
        let worlds = SmallWorlds(targets: Self.three, rules: Self.vercel, contents: contents)
        var random = ProofRandom(UInt64(contents.count))
        // How many plans have how many requests more than needed.
        var above: [Int: Int] = [:]
        try worlds.forEach(foreign: false, step: Proof.isFull ? 1 : 4, using: &random) { world in
            var planned = world
            planned.planAll()
            let count = planned.requests.count
            guard planned.plan[0].leftOut.isEmpty, count > 0 else { return }
            let search = BestOrder(world)
            // The plan is one of the orders.
            guard search.isReached(from: world.platform, within: count) else {
                Issue.record("not found: \(PlanCheck.description(of: world))")
                return
            }
            var more = 0
            while search.isReached(from: world.platform, within: count - more - 1) { more += 1 }
            above[more, default: 0] += 1
            guard more > 2 else { return }
            Issue.record("\(more) of \(count) too many: \(PlanCheck.description(of: world))")
        }
        print("planner, requests above the best order: \(above.sorted { $0.key < $1.key })")
        #expect(above[0, default: 0] > 100)
    }

    /// Production, a custom environment, preview and development.
    @Test func `every wish in four targets`() throws {
        let worlds = SmallWorlds(
            targets: Self.three + [Target(3)],
            rules: VercelRules(production: Target(0), development: Target(3)),
            contents: Self.readable)
        let counts = try prove(worlds, foreign: false, step: 40)
        #expect(Set(counts.keys) == ["gap"])
    }

    @Test func `long days of more keys, with kills, others and pulls`() throws {
        var counts: [String: Int] = [:]
        let days = Proof.count(short: 200, full: 20_000)
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
                "killed", "conflict", "behind", "gap", "unreadable", "valueWantedElsewhere",
                "waits",
                "pulled",
            ]))
    }

    /// - Parameter step: Each run takes one set of records out of so many, the proof all.
    @discardableResult
    private func prove(_ worlds: SmallWorlds, foreign: Bool, step: Int) throws -> [String: Int] {
        var check = PlanCheck()
        var random = ProofRandom(UInt64(worlds.contents.count))
        var number = 0
        try worlds.forEach(foreign: foreign, step: Proof.isFull ? 1 : step, using: &random) {
            world in
            number += 1
            try check.check(world)
        }
        print(
            "planner\(foreign ? ", someone else" : ""): \(number) worlds, \(check.plans) plans, \(sorted(check.counts))"
        )
        return check.counts
    }

    private func sorted(_ counts: [String: Int]) -> String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}

/// A platform like a repository's secrets: a record has one target, and nothing is shown.
struct SingleTargetRules: RecordRules {
    func allows(_ targets: TargetSet, of type: ValueType) -> Bool { targets.count == 1 }
    func canChange(_ type: ValueType, to other: ValueType) -> Bool {
        type.isReadable || !other.isReadable
    }
    func refused(of candidates: TargetSet, in outcome: [Content?]) -> TargetSet { [] }
}

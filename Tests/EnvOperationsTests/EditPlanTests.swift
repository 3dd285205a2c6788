import Testing

@testable import EnvOperations
@testable import Vault

@Suite("Changes of an edited text")
struct EditPlanTests {
    private let a = record(.all, key: "A")
    private let b = record([.preview, .development], version: 4, key: "B")
    private let locked = record(.all, version: 0, key: "LOCKED")
    private let elsewhere = record(.production, key: "ELSEWHERE")

    private var base: EditPlan.Base {
        .init(shown: [a, b], hidden: [locked], all: [a, b, locked, elsewhere])
    }
    private let whole = EditPlan.Place(wanted: nil, besides: Scope(targets: .development))
    private let development = EditPlan.Place(
        wanted: Scope(targets: .development), besides: Scope(targets: .development))

    private func plan(
        _ keys: [String], equal: Set<String> = [], at place: EditPlan.Place? = nil,
        from base: EditPlan.Base? = nil
    ) -> EditPlan {
        EditPlan(keys: keys, base: base ?? self.base, place: place ?? whole) { number, _ in
            equal.contains(keys[number])
        }
    }

    @Test func `an unchanged text changes nothing, in any order`() {
        let plan = plan(["B", "A"], equal: ["A", "B"])
        #expect(plan.steps.isEmpty)
        #expect(plan.unchanged == ["B", "A"])
    }

    @Test func `changed values update, new keys create, missing lines remove`() {
        let plan = plan(["A", "NEW"])
        #expect(plan.steps.map(\.key) == ["A", "NEW", "B"])
        #expect(plan.steps.map(\.change) == [.updated, .created, .removed])
        #expect(
            plan.steps.map(\.scope) == [
                a.attributes.scope, Scope(targets: .all), b.attributes.scope,
            ])
        #expect(plan.steps.allSatisfy { $0.left == nil })
    }

    @Test func `a key that was not shown is not removed, and gets the value in the text`() {
        #expect(plan([]).steps.map(\.key) == ["A", "B"])
        let plan = plan(["A", "B", "LOCKED"], equal: ["A", "B"])
        #expect(plan.steps.map(\.record) == [locked])
        #expect(plan.steps.map(\.change) == [.updated])
    }

    @Test func `a key with a record elsewhere gets a new one for these targets only`() {
        let plan = plan(["A", "B", "ELSEWHERE"], equal: ["A", "B"])
        #expect(plan.steps.map(\.change) == [.created])
        #expect(plan.steps.map(\.scope) == [Scope(targets: .development)])
    }

    @Test func `with a target given, the others keep their values`() {
        let plan = plan(["A"], at: development)
        #expect(plan.steps.map(\.scope) == [development.besides, development.besides])
        #expect(
            plan.steps.map(\.left) == [
                Scope(targets: [.production, .preview]), Scope(targets: .preview),
            ])
    }

    @Test(arguments: ["version", "scope", "gone", "removed", "renamed"])
    func `a record changed meanwhile is a conflict, another key's is not`(change: String) {
        let plan = plan(["A", "B"], equal: ["B"])
        var (now, other) = (a, b)
        other.currentVersion += 1
        #expect(plan.conflicts(with: [now, other]) == [])
        switch change {
        case "version": now.currentVersion += 1
        case "scope": now.attributes.scope.targets = .production
        case "removed": now.deletedAt = 9
        case "renamed": now.name = "C"
        default: break
        }
        #expect(plan.conflicts(with: change == "gone" ? [other] : [now, other]) == ["A"])
    }

    @Test func `a new key created by someone else in the same scope is a conflict`() {
        let plan = plan(["A", "B", "NEW"], equal: ["A", "B"])
        #expect(plan.conflicts(with: [a, b, record(.preview, key: "NEW")]) == ["NEW"])
        var removed = record(.preview, key: "NEW")
        removed.deletedAt = 1
        #expect(plan.conflicts(with: [a, b, removed]) == [])
    }

    @Test func `after a conflict only its keys are reread`() {
        var (newA, newB) = (a, b)
        newA.currentVersion = 8
        newB.currentVersion = 9
        let newer = EditPlan.Base(shown: [newA, newB], hidden: [], all: [newA, newB])
        let rebased = base.rebased(on: newer, for: ["A"])
        #expect(Set(rebased.shown.map(\.currentVersion)) == [8, 4])
        #expect(rebased.hidden == [locked])
        #expect(plan(["A", "B"], equal: ["B"], from: rebased).conflicts(with: [newA, newB]) == [])
        // A key that was removed meanwhile is a new one in the text.
        let without = base.rebased(on: .init(shown: [newB], hidden: [], all: [newB]), for: ["A"])
        let again = plan(["A", "B"], equal: ["B"], from: without)
        #expect(again.steps.map(\.change) == [.created])
        #expect(again.conflicts(with: [newB]) == [])
    }
}

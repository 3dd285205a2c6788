import Testing

@testable import EnvOperations
@testable import Vault

@Suite("Pull plan")
struct PullPlanTests {
    private func pushed(_ variable: Variable, _ id: String = "a") -> Variable {
        var variable = variable
        variable.remote = RemoteState(
            id: id, key: variable.name, account: "u", pushedVersion: variable.currentVersion,
            agreed: variable.attributes, updatedAt: 10, pushedAt: 1)
        return variable
    }

    /// Plans with every requested value shown; `equal` and `different` name Vercel's records whose
    /// value was compared.
    private func plan(
        _ variables: [Variable], _ platform: ListedRecords, equal: Set<String> = [],
        withheld: Set<String> = [], empty: Set<String> = [], compares: Bool = true,
        rules: PullPlan.Rules = .init()
    ) -> PullPlan {
        var evidence = PullPlan.Evidence(canCompare: compares)
        for (record, variable) in PullPlan.valuesNeeded(
            variables: variables, platform: platform, rules: rules)
        where !withheld.contains(record.id) {
            evidence.states[record.id] = .shown(isEmpty: empty.contains(record.id))
            if compares, let variable, variable.currentVersion > 0 {
                evidence.equalities[variable.id] = equal.contains(record.id)
            }
        }
        return PullPlan(
            variables: variables, platform: platform, evidence: evidence, rules: rules)
    }

    private func attributes(
        _ targets: Scope.Targets, _ kind: VariableAttributes.Kind = .encrypted,
        comment: String? = nil, branch: String? = nil
    ) -> VariableAttributes {
        .init(kind: kind, scope: Scope(targets: targets, branch: branch), comment: comment)
    }

    @Test func `an equal value adds no version`() throws {
        let variable = pushed(record(.all))
        let touched = try vercelRecord("a", variable.attributes, updatedAt: 20)
        #expect(plan([variable], [touched], equal: ["a"]).words == "agree")
        let commented = try vercelRecord("a", attributes(.all, comment: "note"), updatedAt: 20)
        #expect(plan([variable], [commented], equal: ["a"]).words == "update")
        let different = plan([variable], [touched])
        #expect(different.words == "update value" && different.compared)
        let locked = plan([variable], [touched], compares: false)
        #expect(locked.words == "update value" && !locked.compared)
    }

    @Test func `only a changed or removed value needs confirmation`() throws {
        let variable = pushed(record(.all))
        let comment = try vercelRecord("a", attributes(.all, comment: "n"), updatedAt: 20)
        let asks = { (plan: PullPlan) in plan.steps.contains(where: \.changesLocalValue) }
        #expect(!asks(plan([variable], [comment], equal: ["a"])))
        #expect(asks(plan([variable], [comment])))
        let narrower = try vercelRecord("a", attributes(.production), updatedAt: 20)
        #expect(asks(plan([variable], [narrower], equal: ["a"])))
        let renamed = try vercelRecord("a", key: "NEW", variable.attributes, updatedAt: 20)
        #expect(asks(plan([variable], [renamed], equal: ["a"])))
        #expect(asks(plan([variable], [])))
        #expect(!asks(plan([pushed(record(.all, version: 0))], [])))
        #expect(!asks(plan([], [comment])))
    }

    @Test func `a value that is not shown is never taken for an empty one`() throws {
        let variable = pushed(record(.production))
        let changed = try vercelRecord("a", variable.attributes, updatedAt: 20)
        let withheld = plan([variable], [changed], withheld: ["a"])
        #expect(withheld.steps.isEmpty && withheld.unreadable.map(\.key) == ["KEY"])
        #expect(plan([], [changed], withheld: ["a"]).words == "create behind, unreadable")
        let empty = plan([variable], [changed], empty: ["a"])
        #expect(empty.words == "update value" && empty.empty.map(\.key) == ["KEY"])
        let hidden = try vercelRecord("a", attributes(.production, .sensitive), updatedAt: 20)
        #expect(plan([variable], [hidden]).words == "update behind, unreadable")
        #expect(
            PullPlan.valuesNeeded(variables: [variable], platform: [hidden], rules: .init()).isEmpty
        )
    }

    @Test(
        "SYNC-A6: a value that a first pull was not shown stays behind, and no push overwrites it")
    func firstPullWithoutTheValue() throws {
        let there = try vercelRecord("a", attributes(.production), updatedAt: 20)
        let first = plan([], [there], withheld: ["a"])
        let step = try #require(first.steps.first)
        #expect(step.staysBehind && step.action == .create(withValue: false))
        #expect(first.unreadable.map(\.key) == ["KEY"])
        // What remains in the vault.
        var variable = pushed(record(.production, version: 0))
        variable.remote?.pushedVersion = 0
        variable.remote?.agreedUpdatedAt = 0
        variable.remote?.seenUpdatedAt = 20
        #expect(SyncState(of: variable) == .behind)
        // The next pull requests it and takes it.
        let asked = PullPlan.valuesNeeded(variables: [variable], platform: [there], rules: .init())
        #expect(asked.map(\.record.id) == ["a"])
        #expect(plan([variable], [there]).words == "update value")
        #expect(plan([variable], [there], withheld: ["a"]).words == "unreadable")
        // Set here meanwhile: neither side is overwritten.
        variable.currentVersion = 1
        variable.highestVersion = 1
        #expect(SyncState(of: variable) == .diverged)
        let push = PushPlan(
            variables: [variable], platform: [there], rules: .init())
        #expect(push.steps.isEmpty && push.conflicts.map(\.key) == ["KEY"])
        #expect(plan([variable], [there]).words == "conflict")
    }

    @Test func `a value that was not shown before is taken once it is shown`() throws {
        let variable = pushed(record(.production, version: 0))
        let same = try vercelRecord("a", variable.attributes)
        #expect(plan([variable], [same]).words == "update value")
        #expect(plan([variable], [same], withheld: ["a"]).words == "unreadable")
        let secret = pushed(record(.production, version: 0, kind: .sensitive))
        #expect(plan([secret], [try vercelRecord("a", secret.attributes)]).words == "unreadable")
    }

    @Test func `a record created on both sides is adopted if the values are equal`() throws {
        let variable = record(.production)
        let there = try vercelRecord("x", variable.attributes)
        #expect(plan([variable], [there], equal: ["x"]).words == "agree")
        #expect(plan([variable], [there]).words == "conflict")
        let locked = plan([variable], [there], compares: false)
        #expect(locked.words == "conflict")
        #expect(locked.conflicts.first?.note.reason.contains("values are locked") == true)
        let commented = try vercelRecord("x", attributes(.production, comment: "n"))
        #expect(plan([variable], [commented], equal: ["x"]).words == "update")
        let other = try vercelRecord("x", attributes(.production, .plain))
        #expect(plan([variable], [other], equal: ["x"]).words == "conflict")
        let hidden = try vercelRecord("x", attributes(.production, .sensitive))
        #expect(plan([variable], [hidden]).words == "conflict")
        // Without a value here nothing can be lost.
        #expect(plan([record(.production, version: 0)], [there]).words == "update value")
    }

    @Test func `a record that overlaps another one in the vault is a conflict`() throws {
        let local = record(.production)
        let wider = try vercelRecord("x", attributes([.production, .preview]))
        let stopped = plan([local], [wider])
        #expect(stopped.steps.isEmpty)
        #expect(stopped.conflicts.map(\.note.key) == ["KEY"])
        let beside = try vercelRecord("x", attributes(.preview))
        #expect(plan([local], [beside]).words == "create value, ahead")
        let branch = try vercelRecord("x", attributes(.preview, branch: "f"))
        #expect(plan([record(.preview)], [branch]).words == "create value, ahead")
        // A removal on Vercel that frees the scope frees it here too.
        let old = pushed(record(.all))
        let narrowed = try vercelRecord("a", attributes(.production), updatedAt: 20)
        #expect(plan([old], [narrowed, beside], equal: ["a"]).conflicts.isEmpty)
        let doubled = plan([], [wider, try vercelRecord("y", attributes(.preview))])
        #expect(doubled.conflicts.count == 1)
    }

    @Test(
        "SYNC-B1: by force records of the vault make room, as far as Vercel shows what replaces them"
    )
    func room() throws {
        var force = PullPlan.Rules()
        force.force = true
        let local = record([.production, .preview])
        let one = try vercelRecord("p", attributes(.production))
        let two = try vercelRecord("v", attributes(.preview))
        let whole = plan([local], [one, two], rules: force)
        #expect(whole.conflicts.isEmpty && whole.compared)
        #expect(whole.words == "update value, create value")
        #expect(whole.steps.filter { $0.variable == local }.count == 1)
        // A variable without a record on Vercel keeps its value here.
        let part = plan([local], [one], rules: force)
        #expect(part.words == "create value, narrow")
        #expect(part.steps.last?.attributes.scope == Scope(targets: .preview))
        #expect(part.steps.allSatisfy { $0.action != .narrow || $0.changesLocalValue })
        // Two of the vault in place of one.
        let beside = record(.development, at: 2)
        let all = try vercelRecord("x", attributes(.all))
        let replaced = plan([local, beside], [all], rules: force)
        #expect(replaced.conflicts.isEmpty)
        #expect(replaced.words == "update value, remove")
        // A value that is not shown replaces nothing, nor does a key that was not given.
        let hidden = try vercelRecord("p", attributes(.production, .sensitive))
        let ways = plan([local], [hidden, two], rules: force).conflicts.map(\.note.way)
        #expect(ways == [.overriding, .sending])
        let missing = plan([local], [one, two], withheld: ["p"], rules: force)
        #expect(missing.conflicts.count == 2)
        var other = force
        other.keys = ["OTHER"]
        var renamed = pushed(record(.production, key: "OTHER"), "o")
        renamed.name = "OTHER"
        let there = try vercelRecord("o", key: "KEY", renamed.attributes, updatedAt: 20)
        let refused = plan([renamed, record(.production)], [there], rules: other)
        #expect(refused.conflicts.map(\.note.way) == [.takingAlong("OTHER")])
        // One that was renamed here gets its name on Vercel back.
        var moved = pushed(record(.production), "m")
        moved.name = "NEW"
        let here = try vercelRecord("m", moved.attributes)
        let new = try vercelRecord("n", key: "NEW", attributes(.production))
        let back = plan([moved], [here, new], rules: force)
        #expect(back.words == "create value, narrow")
        #expect(back.steps.last?.key == "KEY")
    }

    @Test func `a record makes no room for one that does not come`() throws {
        var force = PullPlan.Rules()
        force.force = true
        let local = record([.production, .development])
        // Two records of one list that overlap: the second one is a conflict.
        let first = try vercelRecord("p", attributes(.preview))
        let second = try vercelRecord("w", attributes([.production, .preview]))
        let plan = plan([local], [first, second], rules: force)
        #expect(plan.conflicts.map(\.note.scope) == [Scope(targets: [.production, .preview])])
        #expect(plan.words == "create value, ahead, conflict")
        #expect(plan.ahead == [local])
    }

    @Test func `a decided conflict is a step or is kept`() throws {
        var local = pushed(record(.production))
        (local.currentVersion, local.highestVersion) = (2, 2)
        let there = try vercelRecord("a", local.attributes, updatedAt: 20)
        let conflict = try #require(plan([local], [there]).conflicts.first)
        #expect(conflict.sides == [.vault, .vercel])
        var rules = PullPlan.Rules()
        conflict.decide(for: .vercel, in: &rules)
        #expect(plan([local], [there], rules: rules).words == "update value")
        rules.decisions = [:]
        conflict.decide(for: .vault, in: &rules)
        let kept = plan([local], [there], rules: rules)
        #expect(
            kept.steps.isEmpty && kept.conflicts.isEmpty && kept.kept.map(\.note.key) == ["KEY"])
        // A hidden value cannot be taken.
        let hidden = try vercelRecord("a", attributes(.production, .sensitive), updatedAt: 20)
        let other = try #require(plan([local], [hidden]).conflicts.first)
        #expect(other.sides == [.vault])
        // Nor can one that Vercel did not show.
        let withheld = try #require(
            plan([local], [there], withheld: ["a"]).conflicts.first)
        #expect(withheld.sides == [.vault])
        // Vercel's version of an overlap replaces the record in its way.
        let wide = try vercelRecord("x", attributes([.production, .preview]))
        let overlap = try #require(plan([record(.production)], [wide]).conflicts.first)
        #expect(overlap.sides == [.vercel])
    }

    @Test func `a record deleted and recreated keeps its history`() throws {
        let variable = pushed(record(.production))
        let recreated = try vercelRecord("b", variable.attributes, updatedAt: 30)
        let plan = plan([variable], [recreated])
        #expect(plan.words == "update value")
        #expect(plan.steps.first?.variable?.id == variable.id)
        var changed = variable
        (changed.currentVersion, changed.highestVersion) = (2, 2)
        #expect(self.plan([changed], [recreated]).words == "conflict")
    }

    @Test func `targets and keys select records, and skipped records are ignored`() throws {
        let here = pushed(record(.production))
        let there = try vercelRecord("n", key: "NEW", attributes(.preview))
        var rules = PullPlan.Rules()
        rules.places = Scope(targets: .preview)
        #expect(plan([here], [there], rules: rules).words == "create value")
        rules.places = Scope(targets: .production)
        #expect(plan([here], [there], rules: rules).words == "remove")
        rules.places = Scope(targets: .development)
        #expect(plan([here], [there], rules: rules).words == "")
        var keys = PullPlan.Rules()
        keys.keys = ["NEW"]
        #expect(plan([here], [there], rules: keys).words == "create value")
        var skipping = PullPlan.Rules()
        skipping.skipped = ["a"]
        #expect(plan([here], [], rules: skipping).words == "")
    }
}

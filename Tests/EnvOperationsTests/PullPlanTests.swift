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

    /// Plans with every value shown that is asked for; `equal` and `different` name records of the
    /// platform whose value was compared.
    private func plan(
        _ variables: [Variable], _ platform: [PlatformRecord], equal: Set<String> = [],
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

    @Test func `an equal value makes no new version`() throws {
        let variable = pushed(record(.all))
        let touched = try platformRecord("a", variable.attributes, updatedAt: 20)
        #expect(plan([variable], [touched], equal: ["a"]).words == "agree")
        let commented = try platformRecord("a", attributes(.all, comment: "note"), updatedAt: 20)
        #expect(plan([variable], [commented], equal: ["a"]).words == "update")
        let different = plan([variable], [touched])
        #expect(different.words == "update value" && different.compared)
        let locked = plan([variable], [touched], compares: false)
        #expect(locked.words == "update value" && !locked.compared)
    }

    @Test func `only a value that changes or goes is asked about`() throws {
        let variable = pushed(record(.all))
        let comment = try platformRecord("a", attributes(.all, comment: "n"), updatedAt: 20)
        let asks = { (plan: PullPlan) in plan.steps.contains(where: \.changesLocalValue) }
        #expect(!asks(plan([variable], [comment], equal: ["a"])))
        #expect(asks(plan([variable], [comment])))
        let narrower = try platformRecord("a", attributes(.production), updatedAt: 20)
        #expect(asks(plan([variable], [narrower], equal: ["a"])))
        let renamed = try platformRecord("a", key: "NEW", variable.attributes, updatedAt: 20)
        #expect(asks(plan([variable], [renamed], equal: ["a"])))
        #expect(asks(plan([variable], [])))
        #expect(!asks(plan([pushed(record(.all, version: 0))], [])))
        #expect(!asks(plan([], [comment])))
    }

    @Test func `a value that is not shown is never taken for an empty one`() throws {
        let variable = pushed(record(.production))
        let changed = try platformRecord("a", variable.attributes, updatedAt: 20)
        let withheld = plan([variable], [changed], withheld: ["a"])
        #expect(withheld.steps.isEmpty && withheld.unreadable.map(\.key) == ["KEY"])
        #expect(plan([], [changed], withheld: ["a"]).words == "create behind, unreadable")
        let empty = plan([variable], [changed], empty: ["a"])
        #expect(empty.words == "update value" && empty.empty.map(\.key) == ["KEY"])
        let hidden = try platformRecord("a", attributes(.production, .sensitive), updatedAt: 20)
        #expect(plan([variable], [hidden]).words == "update behind, unreadable")
        #expect(
            PullPlan.valuesNeeded(variables: [variable], platform: [hidden], rules: .init()).isEmpty
        )
    }

    @Test(
        "SYNC-A6: a value that a first pull was not shown stays behind, and no push overwrites it")
    func firstPullWithoutTheValue() throws {
        let there = try platformRecord("a", attributes(.production), updatedAt: 20)
        let first = plan([], [there], withheld: ["a"])
        let step = try #require(first.steps.first)
        #expect(step.staysBehind && step.action == .create(withValue: false))
        #expect(first.unreadable.map(\.key) == ["KEY"])
        // What that leaves in the vault.
        var variable = pushed(record(.production, version: 0))
        variable.remote?.pushedVersion = 0
        variable.remote?.agreedUpdatedAt = 0
        variable.remote?.seenUpdatedAt = 20
        #expect(SyncState(of: variable) == .behind)
        // The next pull asks for it, and takes it.
        let asked = PullPlan.valuesNeeded(variables: [variable], platform: [there], rules: .init())
        #expect(asked.map(\.record.id) == ["a"])
        #expect(plan([variable], [there]).words == "update value")
        #expect(plan([variable], [there], withheld: ["a"]).words == "unreadable")
        // Set here meanwhile: neither side is overwritten.
        variable.currentVersion = 1
        variable.highestVersion = 1
        #expect(SyncState(of: variable) == .diverged)
        let push = PushPlan(
            variables: [variable], platform: [there], adopted: [:], rules: .init())
        #expect(push.steps.isEmpty && push.conflicts.map(\.key) == ["KEY"])
        #expect(plan([variable], [there]).words == "conflict")
    }

    @Test func `a value that was not shown before is taken once it is`() throws {
        let variable = pushed(record(.production, version: 0))
        let same = try platformRecord("a", variable.attributes)
        #expect(plan([variable], [same]).words == "update value")
        #expect(plan([variable], [same], withheld: ["a"]).words == "unreadable")
        let secret = pushed(record(.production, version: 0, kind: .sensitive))
        #expect(plan([secret], [try platformRecord("a", secret.attributes)]).words == "unreadable")
    }

    @Test func `a record made on both sides is adopted when it is equal`() throws {
        let variable = record(.production)
        let there = try platformRecord("x", variable.attributes)
        #expect(plan([variable], [there], equal: ["x"]).words == "agree")
        #expect(plan([variable], [there]).words == "conflict")
        let locked = plan([variable], [there], compares: false)
        #expect(locked.words == "conflict")
        #expect(locked.conflicts.first?.reason.contains("values are locked") == true)
        let commented = try platformRecord("x", attributes(.production, comment: "n"))
        #expect(plan([variable], [commented], equal: ["x"]).words == "update")
        let other = try platformRecord("x", attributes(.production, .plain))
        #expect(plan([variable], [other], equal: ["x"]).words == "conflict")
        let hidden = try platformRecord("x", attributes(.production, .sensitive))
        #expect(plan([variable], [hidden]).words == "conflict")
        // Without a value here there is nothing to lose.
        #expect(plan([record(.production, version: 0)], [there]).words == "update value")
    }

    @Test func `a record that overlaps another one of the vault is a conflict`() throws {
        let local = record(.production)
        let wider = try platformRecord("x", attributes([.production, .preview]))
        let stopped = plan([local], [wider])
        #expect(stopped.steps.isEmpty)
        #expect(stopped.conflicts.map(\.key) == ["KEY"])
        let beside = try platformRecord("x", attributes(.preview))
        #expect(plan([local], [beside]).words == "create value, ahead")
        let branch = try platformRecord("x", attributes(.preview, branch: "f"))
        #expect(plan([record(.preview)], [branch]).words == "create value, ahead")
        // What makes room there makes room here.
        let old = pushed(record(.all))
        let narrowed = try platformRecord("a", attributes(.production), updatedAt: 20)
        #expect(plan([old], [narrowed, beside], equal: ["a"]).conflicts.isEmpty)
        let doubled = plan([], [wider, try platformRecord("y", attributes(.preview))])
        #expect(doubled.conflicts.count == 1)
    }

    @Test(
        "SYNC-B1: by force records of the vault make room, as far as Vercel shows what replaces them"
    )
    func room() throws {
        var force = PullPlan.Rules()
        force.force = true
        let local = record([.production, .preview])
        let one = try platformRecord("p", attributes(.production))
        let two = try platformRecord("v", attributes(.preview))
        let whole = plan([local], [one, two], rules: force)
        #expect(whole.conflicts.isEmpty && whole.compared)
        #expect(whole.words == "update value, create value")
        #expect(whole.steps.filter { $0.variable == local }.count == 1)
        // What Vercel has no record for keeps what is here.
        let part = plan([local], [one], rules: force)
        #expect(part.words == "create value, narrow")
        #expect(part.steps.last?.attributes.scope == Scope(targets: .preview))
        #expect(part.steps.allSatisfy { $0.action != .narrow || $0.changesLocalValue })
        // Two of the vault in the place of one.
        let beside = record(.development, at: 2)
        let all = try platformRecord("x", attributes(.all))
        let replaced = plan([local, beside], [all], rules: force)
        #expect(replaced.conflicts.isEmpty)
        #expect(replaced.words == "update value, remove")
        // A value that is not shown replaces none, nor does a key that is not named.
        let hidden = try platformRecord("p", attributes(.production, .sensitive))
        let ways = plan([local], [hidden, two], rules: force).conflicts.map(\.way)
        #expect(ways == [.overriding, .sending])
        let missing = plan([local], [one, two], withheld: ["p"], rules: force)
        #expect(missing.conflicts.count == 2)
        var other = force
        other.keys = ["OTHER"]
        var renamed = pushed(record(.production, key: "OTHER"), "o")
        renamed.name = "OTHER"
        let there = try platformRecord("o", key: "KEY", renamed.attributes, updatedAt: 20)
        let refused = plan([renamed, record(.production)], [there], rules: other)
        #expect(refused.conflicts.map(\.way) == [.takingAlong("OTHER")])
        // One that was renamed here gets its name on Vercel back.
        var moved = pushed(record(.production), "m")
        moved.name = "NEW"
        let here = try platformRecord("m", moved.attributes)
        let new = try platformRecord("n", key: "NEW", attributes(.production))
        let back = plan([moved], [here, new], rules: force)
        #expect(back.words == "create value, narrow")
        #expect(back.steps.last?.key == "KEY")
    }

    @Test func `a record deleted and made anew keeps its history`() throws {
        let variable = pushed(record(.production))
        let anew = try platformRecord("b", variable.attributes, updatedAt: 30)
        let plan = plan([variable], [anew])
        #expect(plan.words == "update value")
        #expect(plan.steps.first?.variable?.id == variable.id)
        var changed = variable
        (changed.currentVersion, changed.highestVersion) = (2, 2)
        #expect(self.plan([changed], [anew]).words == "conflict")
    }

    @Test func `targets and keys choose, and skipped records stand for nothing`() throws {
        let here = pushed(record(.production))
        let there = try platformRecord("n", key: "NEW", attributes(.preview))
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

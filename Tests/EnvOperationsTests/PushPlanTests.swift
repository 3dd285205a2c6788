import Sealing
import Testing

@testable import EnvOperations
@testable import Vault
@testable import VercelAPI

@Suite("Push plan")
struct PushPlanTests {
    /// Vercel's record of a variable, as if pushed at `updatedAt`.
    private func platform(
        _ id: String, _ variable: Variable, updatedAt: Int64 = 10, key: String? = nil
    ) throws -> VercelRecord {
        let scope = variable.attributes.scope
        let targets = scope.targets.names.map { "\"\($0)\"" }.joined(separator: ",")
        let branch = scope.branch.map { "\"\($0)\"" } ?? "null"
        let json = """
            {"id":"\(id)","key":"\(key ?? variable.name)","type":"\(variable.attributes.kind.name)",
            "target":[\(targets)],"gitBranch":\(branch),"updatedAt":\(updatedAt)}
            """
        let decoded = try #require(
            Array(json.utf8).withBytes { JSONDecoding.value(EnvironmentVariable.self, from: $0) })
        return VercelRecord(decoded, environments: CustomEnvironmentNames([]))
    }

    private func pushed(
        _ variable: Variable, _ id: String, version: UInt64 = 1, updatedAt: UInt64 = 10
    ) -> Variable {
        var variable = variable
        variable.remote = RemoteState(
            id: id, key: variable.name, account: "u", pushedVersion: version,
            agreed: variable.attributes, updatedAt: updatedAt, pushedAt: 1)
        return variable
    }

    private func plan(
        _ variables: [Variable], _ platform: ListedRecords, force: Bool = false,
        prune: Bool = false, keys: Set<String>? = nil
    ) -> PushPlan {
        var rules = PushPlan.Rules()
        (rules.force, rules.prune, rules.keys) = (force, prune, keys)
        return PushPlan(variables: variables, platform: platform, rules: rules)
    }

    @Test func `a record never pushed is created`() {
        let variable = record(.all)
        let plan = plan([variable], [])
        #expect(plan.steps.map(\.action) == [.create])
        #expect(plan.conflicts.isEmpty)
    }

    @Test func `a record in sync needs nothing`() throws {
        let variable = pushed(record(.all), "a")
        let plan = plan([variable], [try platform("a", variable)])
        #expect(plan.steps.isEmpty && plan.unchanged == [variable])
    }

    @Test func `a new value is sent, a changed scope or comment goes without the value`() throws {
        var value = pushed(record(.all), "a")
        value.currentVersion = 2
        #expect(
            plan([value], [try platform("a", value)]).steps.map(\.action)
                == [.update(id: "a", withValue: true)])
        var comment = pushed(record(.all), "a")
        let before = try platform("a", comment)
        comment.attributes.comment = "note"
        #expect(
            plan([comment], [before]).steps.map(\.action) == [.update(id: "a", withValue: false)])
    }

    @Test func `a change on Vercel is a conflict, with or without a change in the vault`()
        throws
    {
        let same = pushed(record(.all), "a", updatedAt: 5)
        #expect(plan([same], [try platform("a", same)]).conflicts.count == 1)
        var changed = same
        changed.currentVersion = 2
        let conflicting = plan([changed], [try platform("a", changed)])
        #expect(conflicting.conflicts.count == 1 && conflicting.steps.isEmpty)
        let forced = plan([changed], [try platform("a", changed)], force: true)
        #expect(forced.steps.map(\.action) == [.update(id: "a", withValue: true)])
    }

    @Test func `a record gone from Vercel is a conflict, and recreated with force`() {
        let variable = pushed(record(.all), "a")
        #expect(plan([variable], []).conflicts.map(\.key) == ["KEY"])
        #expect(plan([variable], [], force: true).steps.map(\.action) == [.create])
    }

    @Test func `an unknown record in the same scope is a conflict, one beside it is not`() throws {
        let variable = record(.production)
        let unseen = try platform("x", record([.production, .preview]))
        #expect(plan([variable], [unseen]).conflicts.count == 1)
        let beside = try platform("x", record(.preview))
        #expect(plan([variable], [beside]).steps.map(\.action) == [.create])
    }

    @Test func `a removed record is deleted, and forgotten if it is gone there too`() throws {
        var variable = pushed(record(.all), "a")
        variable.deletedAt = 3
        #expect(
            plan([variable], [try platform("a", variable)]).steps.map(\.action)
                == [.delete(id: "a")])
        #expect(plan([variable], []).forgotten == [variable.id])
    }

    @Test func `narrowing comes before the record that takes the freed scope`() throws {
        var narrowed = pushed(record(.all), "a")
        let before = try platform("a", narrowed)
        narrowed.attributes.scope = Scope(targets: [.preview, .development])
        let new = record(.production)
        let plan = plan([new, narrowed], [before])
        #expect(plan.conflicts.isEmpty)
        #expect(plan.steps.map(\.action) == [.update(id: "a", withValue: false), .create])
    }

    @Test(arguments: [VariableAttributes.Kind.encrypted, .sensitive])
    func `a renamed variable is created before its old record is deleted`(
        kind: VariableAttributes.Kind
    ) throws {
        var variable = pushed(record(.production, kind: kind), "a")
        let before = try platform("a", variable)
        variable.name = "NEW"
        let steps = plan([variable], [before]).steps
        #expect(steps.map(\.action) == [.create, .delete(id: "a")])
        #expect(steps.map(\.waitsFor) == [[], ["NEW"]])
    }

    @Test func `records only on Vercel are left alone without prune`() throws {
        let alone = try platform("x", record(.all))
        #expect(plan([], [alone]).steps.isEmpty)
        #expect(plan([], [alone], prune: true).steps.map(\.action) == [.delete(id: "x")])
        #expect(plan([], [alone], prune: true, keys: ["OTHER"]).steps.isEmpty)
    }

    @Test func `a record without a value sends nothing`() {
        #expect(plan([record(.all, version: 0)], []).steps.isEmpty)
    }

    @Test(arguments: [
        (false, false, SyncState.synced), (true, false, .ahead), (false, true, .behind),
        (true, true, .diverged),
    ])
    func `the state of a record follows from both sides`(here: Bool, there: Bool, state: SyncState)
    {
        var variable = pushed(record(.all), "a")
        if here { variable.currentVersion = 2 }
        if there { variable.remote?.seenUpdatedAt = 99 }
        #expect(SyncState(of: variable) == state)
        #expect(SyncState(of: record(.all)) == .local)
        #expect(SyncState(of: record(.all, version: 0)) == .unreadable)
    }

    @Test func `the live comparison uses Vercel's times only`() {
        var project = VaultProject(name: "web", createdAt: 1)
        let variable = pushed(record(.production), "a", updatedAt: 10)
        #expect(SyncState.isLive(variable, in: project) == nil)
        project.seenAt = 1
        project.live = .init(id: "d", createdAt: 11)
        #expect(SyncState.isLive(variable, in: project) == true)
        project.live = .init(id: "d", createdAt: 9)
        #expect(SyncState.isLive(variable, in: project) == false)
        #expect(SyncState.isLive(record(.production), in: project) == false)
        #expect(SyncState.isLive(pushed(record(.preview), "b"), in: project) == nil)
    }

    @Test("SYNC-B1: force takes over what Vercel has in parts, and names each of them")
    func partsTakenOver() throws {
        let variable = record([.production, .preview])
        let production = try platform("p", record(.production))
        let preview = try platform("v", record([.preview, .development]))
        #expect(plan([variable], [production, preview]).conflicts.count == 1)
        let forced = plan([variable], [production, preview], force: true)
        #expect(forced.conflicts.isEmpty)
        #expect(
            forced.steps.map(\.action) == [
                .update(id: "v", withValue: false), .update(id: "p", withValue: true),
            ])
        #expect(forced.steps[0].attributes.scope == Scope(targets: .development))
        #expect(forced.steps[1].attributes.scope == variable.attributes.scope)
        // Two records that both fit stay two, each with a record of the vault of its own.
        let alone = try platform("w", record(.preview))
        let both = plan([variable], [production, alone], force: true)
        #expect(
            both.steps.map(\.action)
                == [.update(id: "w", withValue: true), .update(id: "p", withValue: true)])
        #expect(both.divided.map(\.variable) == [variable])
        #expect(both.divided.map(\.scopes) == [[Scope(targets: .preview)]])
    }

    @Test("SYNC-B2: force replaces a sensitive record by one that can be read")
    func sensitiveReplaced() throws {
        let variable = record(.production)
        let there = try platform("s", record(.production, kind: .sensitive))
        #expect(plan([variable], [there]).conflicts.count == 1)
        #expect(
            plan([variable], [there], force: true).steps.map(\.action)
                == [.delete(id: "s"), .create])
    }

    @Test("SYNC-B3: a rename goes before what needs the name, also of a sensitive variable")
    func renameFirst() throws {
        for kind in [VariableAttributes.Kind.encrypted, .sensitive] {
            var renamed = pushed(record(.production, key: "K", kind: kind), "a")
            let there = try platform("a", renamed)
            renamed.name = "K2"
            let new = record(.production, at: 2, key: "K", kind: kind)
            let plan = plan([renamed, new], [there])
            #expect(plan.conflicts.isEmpty, "\(kind)")
            #expect(plan.steps.map(\.key) == ["K2", "K"], "\(kind)")
            #expect(
                plan.steps.map(\.action) == [.create, .update(id: "a", withValue: true)], "\(kind)")
            #expect(plan.steps.last?.variable == new)
            // A removed variable's record goes on with the renamed one, and its record with the new.
            var removed = pushed(record(.production, at: 3, key: "K2", kind: kind), "b")
            let before = try platform("b", removed)
            removed.deletedAt = 9
            let chain = self.plan([renamed, new, removed], [there, before])
            #expect(chain.conflicts.isEmpty, "\(kind)")
            #expect(
                chain.steps.map(\.action)
                    == [.update(id: "b", withValue: true), .update(id: "a", withValue: true)],
                "\(kind)")
            #expect(chain.steps.map(\.variable) == [renamed, new])
        }
    }

    @Test("SYNC-B3: variables that exchange names exchange their values")
    func exchange() throws {
        var (one, other) = (
            pushed(record(.production, key: "A"), "a"),
            pushed(record(.production, at: 2, key: "B"), "b")
        )
        let platform: ListedRecords = [
            try self.platform("a", one), try self.platform("b", other),
        ]
        (one.name, other.name) = ("B", "A")
        let plan = plan([one, other], platform)
        #expect(plan.conflicts.isEmpty && plan.divided.isEmpty)
        #expect(
            plan.steps.map(\.action)
                == [.update(id: "a", withValue: true), .update(id: "b", withValue: true)])
        #expect(plan.steps.map(\.variable) == [other, one])
    }

    @Test("SYNC-B4: a renamed sensitive variable without a value is a conflict of its own")
    func renamedWithoutAValue() throws {
        var variable = pushed(record(.production, version: 0, kind: .sensitive), "a")
        let there = try platform("a", variable)
        variable.name = "NEW"
        let plan = plan([variable, record(.preview, at: 3, key: "OTHER")], [there])
        #expect(plan.conflicts.map(\.way) == [.value])
    }

    @Test("SYNC-B1: a push does not prune the records it takes over")
    func takenOverAndPruned() throws {
        let variable = record(.production)
        let plan = plan(
            [variable], [try platform("a", variable)], force: true, prune: true)
        #expect(plan.steps.map(\.action) == [.update(id: "a", withValue: true)])
    }
}

/// The author of a change, in the words of a conflict.
@Suite("Authors of changes")
struct ChangeAuthorTests {
    private func conflict(_ members: String, as own: String?) throws -> String {
        let json = """
            {"id":"a","key":"KEY","type":"encrypted","target":["production"],"updatedAt":20,\(members)}
            """
        let read = try #require(
            Array(json.utf8).withBytes { JSONDecoding.value(EnvironmentVariable.self, from: $0) })
        var variable = record(.production)
        variable.remote = RemoteState(
            id: "a", key: "KEY", account: "u", pushedVersion: 1, agreed: variable.attributes,
            updatedAt: 10, pushedAt: 1)
        var rules = PushPlan.Rules()
        rules.ownUser = own
        let plan = PushPlan(
            variables: [variable],
            platform: [VercelRecord(read, environments: CustomEnvironmentNames([]))],
            rules: rules)
        return try #require(plan.conflicts.first).reason
    }

    @Test("SYNC-A8: no opaque id: your account, a name where one is sent, or another user")
    func names() throws {
        let (start, end) = ("it was changed on Vercel", " since the last push")
        let id = "\"updatedBy\":\"MzAcFo1I2AnSChSTePVkOb1I\""
        let named = id + ",\"lastEditedByDisplayName\":\"Ada\""
        #expect(try conflict(id, as: "other") == start + " by another user" + end)
        #expect(
            try conflict(id, as: "MzAcFo1I2AnSChSTePVkOb1I")
                == start + " by your account" + end)
        #expect(try conflict(named, as: "other") == start + " by Ada" + end)
        #expect(try conflict(named, as: nil) == start + " by Ada" + end)
        // Without a known user of the token, nobody is called another user.
        #expect(try conflict(id, as: nil) == start + end)
        #expect(try conflict(id, as: "") == start + end)
        #expect(try conflict("\"comment\":\"\"", as: "other") == start + end)
    }
}

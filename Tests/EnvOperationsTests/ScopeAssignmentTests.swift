import Testing

@testable import EnvOperations
@testable import Vault

/// A record of the key "KEY" in a fixed project.
func record(
    _ targets: Scope.Targets, branch: String? = nil, custom: [String] = [], at time: UInt64 = 1,
    version: UInt64 = 1, key: String = "KEY", kind: VariableAttributes.Kind = .encrypted
) -> Variable {
    var variable = Variable(
        project: Identifier(high: 1, low: 1), name: key,
        attributes: .init(
            kind: kind,
            scope: Scope(targets: targets, customEnvironments: custom, branch: branch)),
        createdAt: time)
    variable.currentVersion = version
    variable.highestVersion = version
    return variable
}

@Suite("Scopes")
struct ScopeAssignmentTests {
    @Test func `an exact match keeps its record and nothing else changes`() {
        let records = [record(.production), record([.preview, .development])]
        let plan = ScopeAssignment(of: Scope(targets: .production), among: records)
        #expect(plan.record == records[0].id)
        #expect(plan.narrowed.isEmpty && plan.removed.isEmpty)
    }

    @Test func `named targets leave their record, which keeps the rest`() {
        let records = [record(.all)]
        let plan = ScopeAssignment(of: Scope(targets: .production), among: records)
        #expect(plan.record == nil)
        #expect(
            plan.narrowed
                == [.init(record: records[0].id, scope: Scope(targets: [.preview, .development]))])
    }

    @Test func `a record that would lose everything takes the scope, further ones are removed`() {
        let records = [record(.production, at: 5), record(.preview, at: 3)]
        let plan = ScopeAssignment(of: Scope(targets: .all), among: records)
        #expect(plan.record == records[1].id)
        #expect(plan.removed == [records[0].id])
    }

    @Test func `a branch record beside the general one is not an overlap`() {
        let records = [record(.preview)]
        let scope = Scope(targets: .preview, branch: "feature")
        let plan = ScopeAssignment(of: scope, among: records)
        #expect(plan.record == nil && plan.narrowed.isEmpty && plan.removed.isEmpty)
    }

    @Test func `a branch's record wins on its branch, and is not seen elsewhere`() {
        let (general, branch) = (record(.preview), record(.preview, branch: "b"))
        func seen(_ place: ValueTarget) -> [Identifier] {
            EffectiveVariables.inPlace(place, among: [branch, general]).map(\.id)
        }
        #expect(seen(.init(.target(.preview))) == [general.id])
        #expect(seen(.init(.target(.preview), branch: "b")) == [branch.id])
        #expect(seen(.init(.target(.preview), branch: "c")) == [general.id])
        #expect(seen(.init(.target(.production))) == [])
    }

    @Test func `a custom environment sees only its own records`() {
        let (custom, general) = (record([], custom: ["staging"]), record(.all, key: "B"))
        let seen = EffectiveVariables.inPlace(.init(.custom("staging")), among: [custom, general])
        #expect(seen.map(\.id) == [custom.id])
    }
}

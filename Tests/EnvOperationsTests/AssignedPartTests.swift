import Testing

@testable import EnvOperations
@testable import Vault

/// VAL-F1: what a value takes over in each target.
@Suite("What an assigned value takes over")
struct AssignedPartTests {
    private func removed(_ variable: Variable, at time: UInt64) -> Variable {
        var variable = variable
        variable.deletedAt = time
        return variable
    }

    private func kind(
        _ targets: Scope.Targets, _ records: [Variable],
        declared: VariableAttributes.Kind? = nil
    ) -> VariableAttributes.Kind? {
        AssignedPart.parts(
            of: Scope(targets: targets), among: records, .init(declared: declared)
        ).map(\.kind).strictest
    }

    @Test func `VAL-F1 what a place has counts, then what it had, then the others`() {
        let open = record([.production, .preview], kind: .plain)
        let safe = record(.preview, kind: .sensitive)
        let custom = record([], custom: ["qa"], kind: .sensitive)
        #expect(kind(.production, [open]) == .plain)
        #expect(kind(.all, [record(.production, kind: .plain), safe]) == .sensitive)
        // A removed value counts only where no other one is.
        #expect(kind(.production, [open, removed(safe, at: 9)]) == .plain)
        #expect(kind(.preview, [removed(safe, at: 9)]) == .sensitive)
        #expect(kind(.preview, [removed(open, at: 10), removed(safe, at: 9)]) == .plain)
        #expect(kind(.preview, [removed(open, at: 8), removed(safe, at: 9)]) == .sensitive)
        // Elsewhere: the strictest, but not for development alone.
        #expect(kind(.production, [safe, record(.development, kind: .plain)]) == .sensitive)
        #expect(kind(.development, [safe]) == nil)
        #expect(kind(.development, [safe, record(.production, kind: .plain)]) == .plain)
        // What was removed elsewhere counts too.
        #expect(kind(.production, [removed(safe, at: 9)]) == .sensitive)
        #expect(kind(.development, [removed(safe, at: 9)]) == nil)
        #expect(kind([.production, .development], [removed(safe, at: 9)]) == .sensitive)
        #expect(kind(.production, []) == nil)
        // Each place counts: one that has a readable value, and one that is new.
        #expect(kind([.production, .preview], [record(.production), custom]) == .sensitive)
        #expect(kind([.production, .development], [record(.production), custom]) == .encrypted)
    }

    @Test func `VAL-F1 what was there after a place lost its value counts`() {
        let open = removed(record(.preview, kind: .plain), at: 5)
        let safe = record(.production, kind: .sensitive)
        #expect(kind(.preview, [open]) == .plain)
        #expect(kind(.preview, [open, safe]) == .sensitive)
        #expect(kind(.preview, [open, removed(safe, at: 9)]) == .sensitive)
        #expect(kind(.preview, [open, removed(safe, at: 4)]) == .plain)
        #expect(kind(.development, [removed(record(.development), at: 5), safe]) == .encrypted)
    }

    @Test func `VAL-F1 a schema counts only in a place that never had a value`() {
        let open = record(.preview, kind: .encrypted)
        #expect(kind(.production, [], declared: .sensitive) == .sensitive)
        #expect(kind(.production, [open], declared: .sensitive) == .sensitive)
        #expect(kind(.preview, [open], declared: .sensitive) == .encrypted)
        #expect(
            kind(.production, [record(.preview, kind: .sensitive)], declared: .plain)
                == .sensitive)
    }

    @Test func `VAL-F1 comment and period come from what is replaced`() {
        var first = record(.production)
        (first.rotationSeconds, first.attributes.comment) = (86_400, "billing")
        let scope = Scope(targets: [.production, .preview])
        let taken = AssignedPart.parts(of: scope, among: [record(.preview), first])
        #expect(taken.map(\.comment) == ["billing", nil])
        #expect(taken.map(\.rotationSeconds) == [86_400, 0])
        // A new target has what the value says elsewhere.
        let new = AssignedPart.parts(of: scope, among: [first])
        #expect(new.map(\.scope) == [scope] && new.first?.comment == "billing")
        let gone = AssignedPart.parts(of: scope, among: [removed(first, at: 9)])
        #expect(gone.map(\.comment) == [nil] && gone.map(\.rotationSeconds) == [0])
        let branch = Scope(targets: .preview, branch: "feature")
        #expect(AssignedPart.parts(of: branch, among: [first]).first?.comment == nil)
    }

    @Test func `VAL-F1 each target keeps its own type and comment`() {
        let open = record(.production, kind: .plain)
        var safe = record([.preview, .development], kind: .sensitive)
        (safe.attributes.comment, safe.rotationSeconds) = ("why", 60)
        func parts(_ wishes: AssignmentWishes = .init()) -> [AssignedPart] {
            AssignedPart.parts(of: Scope(targets: .all), among: [safe, open], wishes)
        }
        #expect(parts().map(\.scope.targets) == [.production, [.preview, .development]])
        #expect(parts().map(\.kind) == [.plain, .sensitive])
        #expect(parts().map(\.comment) == [nil, "why"])
        #expect(parts().map(\.before) == [.plain, .sensitive])
        // A wish is for all of them.
        let same = parts(.init(kind: .encrypted, comment: "new"))
        #expect(same.map(\.scope.targets) == [.all])
        #expect(same.map(\.before) == [.sensitive] && same.map(\.rotationSeconds) == [60])
        #expect(parts(.init(kind: .plain, comment: "")).map(\.comment) == [nil])
        // A value that is a Secret elsewhere is one here too, but not less than what is here.
        let source = record([], custom: ["qa"], kind: .encrypted)
        #expect(parts(.init(sources: [source])).map(\.kind) == [.encrypted, .sensitive])
        #expect(parts(.init(sources: [safe])).map(\.kind) == [.sensitive, .sensitive])
        // Where a version was, the type of there counts.
        #expect(parts(.init(sources: [safe, open])).map(\.kind) == [.plain, .sensitive])
    }
}

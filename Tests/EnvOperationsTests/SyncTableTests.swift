import Sealing
import Testing

@testable import EnvOperations
@testable import Vault
@testable import VercelAPI

/// A record of Vercel's, as if read from a response.
func vercelRecord(
    _ id: String, key: String = "KEY", _ attributes: VariableAttributes, updatedAt: Int64 = 10
) throws -> VercelRecord {
    let scope = attributes.scope
    let targets = scope.targets.names.map { "\"\($0)\"" }.joined(separator: ",")
    let environments = scope.customEnvironments.map { "\"\($0)\"" }.joined(separator: ",")
    func text(_ value: String?) -> String { value.map { "\"\($0)\"" } ?? "null" }
    let json = """
        {"id":"\(id)","key":"\(key)","type":"\(attributes.kind.name)","target":[\(targets)],
        "customEnvironmentIds":[\(environments)],"gitBranch":\(text(scope.branch)),
        "comment":\(text(attributes.comment)),"updatedAt":\(updatedAt)}
        """
    let decoded = try #require(
        Array(json.utf8).withBytes { JSONDecoding.value(EnvironmentVariable.self, from: $0) })
    return VercelRecord(decoded, environments: CustomEnvironmentNames([]))
}

/// The plans of pull and push for each pair of changes on both sides since they last agreed.
/// `docs/sync.md` has the same table for people.
@Suite("Plans of pull and push")
struct SyncTableTests {
    /// The change in the vault since both sides agreed. With no agreement, `absent` never had it;
    /// with `absent` on Vercel, the others were never pushed.
    enum Here: String, CaseIterable { case absent, same, changed, deleted }
    /// The change on Vercel.
    enum There: String, CaseIterable { case absent, same, changed, deleted }

    struct Row: CustomTestStringConvertible, Sendable {
        let here: Here
        let there: There
        /// Pull of a readable variable, of a sensitive one; push of a readable one, of a sensitive
        /// one.
        let pull: String
        let pullSensitive: String
        let push: String
        let pushSensitive: String
        var testDescription: String { "\(here) here, \(there) there" }
    }

    private static func row(
        _ here: Here, _ there: There, pull: String, _ pullSensitive: String, push: String,
        _ pushSensitive: String
    ) -> Row {
        Row(
            here: here, there: there, pull: pull, pullSensitive: pullSensitive, push: push,
            pushSensitive: pushSensitive)
    }

    static let table: [Row] = [
        row(.absent, .absent, pull: "", "", push: "", ""),
        row(
            .absent, .same, pull: "create value", "create, unreadable", push: "", ""),
        row(
            .absent, .changed, pull: "create value", "create, unreadable", push: "", ""),
        row(.absent, .deleted, pull: "", "", push: "", ""),

        row(.same, .absent, pull: "ahead", "ahead", push: "create", "create"),
        row(.same, .same, pull: "unchanged", "unchanged", push: "unchanged", "unchanged"),
        row(
            .same, .changed, pull: "update value", "agree behind, unreadable", push: "conflict",
            "conflict"),
        row(.same, .deleted, pull: "remove", "remove", push: "conflict", "conflict"),

        row(.changed, .absent, pull: "ahead", "ahead", push: "create", "create"),
        row(.changed, .same, pull: "ahead", "ahead", push: "update value", "update value"),
        row(.changed, .changed, pull: "conflict", "conflict", push: "conflict", "conflict"),
        row(.changed, .deleted, pull: "conflict", "conflict", push: "conflict", "conflict"),

        row(.deleted, .absent, pull: "", "", push: "", ""),
        row(.deleted, .same, pull: "ahead", "ahead", push: "delete", "delete"),
        row(.deleted, .changed, pull: "conflict", "conflict", push: "conflict", "conflict"),
        row(.deleted, .deleted, pull: "forget", "forget", push: "forget", "forget"),
    ]

    @Test func `the table has every combination once`() {
        let wanted = Here.allCases.flatMap { here in There.allCases.map { "\(here) \($0)" } }
        #expect(Self.table.map { "\($0.here) \($0.there)" } == wanted)
    }

    @Test(arguments: table, [VariableAttributes.Kind.encrypted, .sensitive])
    func `every combination has its plan`(row: Row, kind: VariableAttributes.Kind) throws {
        let (variables, platform) = try sides(row, kind)
        let isSensitive = kind == .sensitive
        #expect(
            pulled(variables, platform, isEqual: false)
                == (isSensitive ? row.pullSensitive : row.pull))
        #expect(pushed(variables, platform) == (isSensitive ? row.pushSensitive : row.push))
    }

    @Test(arguments: table, [VariableAttributes.Kind.encrypted, .sensitive])
    func `with values locked the plan is the same, and reports that nothing was compared`(
        row: Row, kind: VariableAttributes.Kind
    ) throws {
        let (variables, platform) = try sides(row, kind)
        #expect(
            pulled(variables, platform, isEqual: nil)
                == (kind == .sensitive ? row.pullSensitive : row.pull))
    }

    @Test(arguments: [VariableAttributes.Kind.encrypted, .sensitive])
    func `force takes what Vercel has, if it is readable`(kind: VariableAttributes.Kind)
        throws
    {
        let isSensitive = kind == .sensitive
        for (here, there, plan) in [
            (Here.changed, There.changed, isSensitive ? "conflict" : "update value"),
            // Removed, not changed: the vault's value is the one both sides agreed on.
            (.deleted, .changed, isSensitive ? "update behind, unreadable" : "update value"),
            (.changed, .deleted, "remove"),
        ] {
            let row = try #require(Self.table.first { $0.here == here && $0.there == there })
            let (variables, platform) = try sides(row, kind)
            #expect(
                pulled(variables, platform, isEqual: false, force: true) == plan,
                "\(here) \(there)")
        }
    }

    @Test(
        "VER-hidden: where Vercel hides production, nothing is removed and production is not written",
        arguments: table, [VariableAttributes.Kind.encrypted, .sensitive])
    func hiddenProduction(row: Row, kind: VariableAttributes.Kind) throws {
        let (variables, platform) = try sides(row, kind)
        let hiding = ListedRecords(platform.records, hiddenProduction: 1)
        let words =
            switch (row.here, row.there) {
            case (.deleted, .deleted): ("", "blocked")
            case (.same, .deleted): ("unlisted", "unlisted")
            case (.changed, .deleted): ("unlisted", "blocked")
            // Never agreed on: what is hidden may be in its place.
            case (.same, .absent), (.changed, .absent), (.changed, .same), (.deleted, .same):
                ("ahead", "blocked")
            case (.changed, .changed), (.deleted, .changed):
                (kind == .sensitive ? row.pullSensitive : row.pull, "blocked")
            default:
                (
                    kind == .sensitive ? row.pullSensitive : row.pull,
                    kind == .sensitive ? row.pushSensitive : row.push
                )
            }
        for force in [false, true] where !force || row.there != .changed {
            #expect(
                pulled(variables, hiding, isEqual: false, force: force) == words.0, "\(force)")
        }
        #expect(pushed(variables, hiding) == words.1)
    }

    @Test("SYNC-A6: a value that is not shown is never taken for the vault's, also not by name")
    func hiddenByName() throws {
        let row = try #require(Self.table.first { $0.here == .same && $0.there == .changed })
        let (variables, platform) = try sides(row, .sensitive)
        for (keys, force, plan) in [
            (nil, true, "agree behind, unreadable"), (["KEY"], false, "agree behind, unreadable"),
            (["KEY"], true, "conflict"),
        ] as [(Set<String>?, Bool, String)] {
            var rules = PullPlan.Rules()
            (rules.keys, rules.force) = (keys, force)
            let found = PullPlan(
                variables: variables, platform: platform, evidence: .init(), rules: rules)
            #expect(found.words == plan)
        }
    }

    @Test func `the same change on both sides is not a conflict`() throws {
        let row = try #require(Self.table.first { $0.here == .changed && $0.there == .changed })
        let (variables, platform) = try sides(row, .encrypted)
        #expect(pulled(variables, platform, isEqual: true) == "agree")
        // Values that could not be compared are not taken for equal.
        #expect(pulled(variables, platform, isEqual: nil) == "conflict")
    }

    // MARK: Sides

    private func sides(
        _ row: Row, _ kind: VariableAttributes.Kind
    ) throws -> ([Variable], ListedRecords) {
        var variables: [Variable] = []
        if row.here != .absent {
            var variable = record(.production, kind: kind)
            if row.there != .absent {
                variable.remote = RemoteState(
                    id: "a", key: "KEY", account: "u", pushedVersion: 1,
                    agreed: variable.attributes, updatedAt: 10, pushedAt: 1)
            }
            if row.here == .changed { (variable.currentVersion, variable.highestVersion) = (2, 2) }
            if row.here == .deleted { variable.deletedAt = 5 }
            variables = [variable]
        }
        let isThere = row.there == .same || row.there == .changed
        let attributes = VariableAttributes(kind: kind, scope: Scope(targets: .production))
        return (
            variables,
            isThere
                ? [try vercelRecord("a", attributes, updatedAt: row.there == .same ? 10 : 20)]
                : []
        )
    }

    private func pulled(
        _ variables: [Variable], _ platform: ListedRecords, isEqual: Bool?, force: Bool = false
    ) -> String {
        var rules = PullPlan.Rules()
        rules.force = force
        var evidence = PullPlan.Evidence(canCompare: isEqual != nil)
        for (record, variable) in PullPlan.valuesNeeded(
            variables: variables, platform: platform, rules: rules)
        {
            evidence.states[record.id] = .shown(isEmpty: false)
            if let variable, let isEqual { evidence.equalities[variable.id] = isEqual }
        }
        let plan = PullPlan(
            variables: variables, platform: platform, evidence: evidence, rules: rules)
        return plan.words
    }

    private func pushed(_ variables: [Variable], _ platform: ListedRecords) -> String {
        let plan = PushPlan(
            variables: variables, platform: platform, rules: PushPlan.Rules())
        var words = plan.steps.map { step in
            switch step.action {
            case .create: "create"
            case .update(_, let withValue): withValue ? "update value" : "update"
            case .delete: "delete"
            }
        }
        words += plan.unchanged.map { _ in "unchanged" } + plan.conflicts.map { _ in "conflict" }
        words += plan.forgotten.map { _ in "forget" }
        words += plan.unlisted.map { _ in "unlisted" } + plan.blocked.map { _ in "blocked" }
        return words.joined(separator: ", ")
    }
}

extension PullPlan {
    /// The plan in a few words, for tables.
    var words: String {
        var words = steps.map { step in
            let word =
                switch step.action {
                case .create(let withValue): withValue ? "create value" : "create"
                case .update(let withValue): withValue ? "update value" : "update"
                case .agree: "agree"
                case .remove: "remove"
                case .narrow: "narrow"
                }
            return step.staysBehind ? word + " behind" : word
        }
        words += unchanged.map { _ in "unchanged" } + ahead.map { _ in "ahead" }
        words += conflicts.map { _ in "conflict" } + unreadable.map { _ in "unreadable" }
        words += forgotten.map { _ in "forget" } + unlisted.map { _ in "unlisted" }
        return words.joined(separator: ", ")
    }
}

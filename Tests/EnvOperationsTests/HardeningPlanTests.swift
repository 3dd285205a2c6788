import Sealing
import Testing

@testable import EnvOperations
@testable import Vault
@testable import VercelAPI

@Suite("What `harden` makes sensitive")
struct HardeningPlanTests {
    private func platform(
        _ id: String, _ scope: Scope, kind: VariableAttributes.Kind = .encrypted,
        key: String = "KEY", updatedAt: Int = 10, by user: String = "me"
    ) throws -> VercelRecord {
        let names = { (list: [String]) in list.map { "\"\($0)\"" }.joined(separator: ",") }
        let json = """
            {"id":"\(id)","key":"\(key)","type":"\(kind.name)",
            "updatedAt":\(updatedAt),"updatedBy":"\(user)",
            "target":[\(names(scope.targets.names))],
            "customEnvironmentIds":[\(names(scope.customEnvironments))],
            "gitBranch":\(scope.branch.map { "\"\($0)\"" } ?? "null")}
            """
        let decoded = try #require(
            Array(json.utf8).withBytes { JSONDecoding.value(EnvironmentVariable.self, from: $0) })
        return VercelRecord(decoded, environments: CustomEnvironmentNames([]))
    }

    private func pushed(_ variable: Variable, _ id: String) -> Variable {
        var variable = variable
        variable.remote = RemoteState(
            id: id, key: variable.name, account: "u", pushedVersion: 1,
            agreed: variable.attributes, updatedAt: 10, pushedAt: 1)
        return variable
    }

    private func plan(
        _ variables: [Variable], _ platform: ListedRecords, places: Scope? = nil,
        keys: Set<String>? = nil, begun: Set<Identifier> = []
    ) -> HardeningPlan {
        var rules = HardeningPlan.Rules()
        (rules.places, rules.keys, rules.begun) = (places, keys, begun)
        return HardeningPlan(variables: variables, platform: platform, rules: rules)
    }

    /// The scope on Vercel, the targets given, what becomes sensitive, and what stays.
    private static let splits: [(Scope, Scope?, hardened: Scope, rest: Scope)] = [
        (
            .init(targets: .all), nil, .init(targets: [.production, .preview]),
            .init(targets: .development)
        ),
        (.init(targets: .production), nil, .init(targets: .production), .init(targets: [])),
        (
            .init(targets: .preview, branch: "b"), nil, .init(targets: .preview, branch: "b"),
            .init(targets: [], branch: "b")
        ),
        (
            .init(targets: [.preview, .development], customEnvironments: ["qa"]), nil,
            .init(targets: .preview, customEnvironments: ["qa"]), .init(targets: .development)
        ),
        (
            .init(targets: .all), .init(targets: .production), .init(targets: .production),
            .init(targets: [.preview, .development])
        ),
        (
            .init(targets: .production, customEnvironments: ["qa"]),
            .init(targets: [], customEnvironments: ["qa"]),
            .init(targets: [], customEnvironments: ["qa"]), .init(targets: .production)
        ),
    ]

    @Test(arguments: splits.indices)
    func `the development part stays a separate record`(place: Int) throws {
        let (scope, places, hardened, rest) = Self.splits[place]
        var variable = record(scope.targets, branch: scope.branch, custom: scope.customEnvironments)
        variable = pushed(variable, "a")
        let plan = plan([variable], [try platform("a", scope)], places: places)
        let candidate = try #require(plan.candidates.first)
        #expect(candidate.hardened == hardened && candidate.rest == rest)
        #expect(!candidate.lacksValue && !candidate.isPrepared)
        #expect(plan.omissions == [] && plan.leftovers == [])
        // Also if the vault has never seen it.
        let unseen = self.plan([], [try platform("a", scope)], places: places)
        #expect(unseen.candidates.map(\.hardened) == [hardened])
        #expect(unseen.candidates.map(\.lacksValue) == [true])
    }

    @Test func `development alone, environments alone and other types are left unchanged`() throws {
        let platform: ListedRecords = [
            try platform("a", .init(targets: .development)),
            try platform("b", .init(targets: [], customEnvironments: ["qa"])),
            try platform("c", .init(targets: .production), kind: .sensitive),
            try platform("d", .init(targets: .production), kind: .system),
            try platform("e", .init(targets: .production), kind: .secret),
        ]
        let plan = plan([], platform)
        #expect(plan.candidates == [] && plan.omissions == [])
        #expect(
            self.plan([], [try self.platform("a", .init(targets: .all))], keys: ["X"])
                .candidates == [])
    }

    @Test func `a variable that differs between both sides is left out with a reason`() throws {
        let there = try platform("a", .init(targets: .all))
        var removed = pushed(record(.all), "a")
        removed.deletedAt = 5
        var renamed = pushed(record(.all), "a")
        renamed.name = "OTHER"
        var narrowed = pushed(record(.all), "a")
        narrowed.attributes.scope = .init(targets: .production)
        var wider = pushed(record(.production, kind: .sensitive), "a")
        wider.attributes.scope = .init(targets: .production, customEnvironments: ["qa"])
        for variable in [removed, renamed, narrowed, wider, record(.preview)] {
            let plan = plan([variable], [there])
            #expect(plan.candidates == [])
            #expect(plan.omissions.map(\.key) == ["KEY"])
        }
        let valueless = pushed(record(.all, version: 0), "a")
        #expect(plan([valueless], [there]).candidates.map(\.lacksValue) == [true])
    }

    @Test func `an interrupted run is continued`() throws {
        let there = try platform("a", .init(targets: .all))
        var secret = pushed(record(.all), "a")
        secret.attributes.kind = .sensitive
        secret.attributes.scope = .init(targets: [.production, .preview])
        secret.updatedAt = 77
        let part = record(.development, at: 77)
        let plan = plan([secret, part], [there])
        #expect(plan.candidates.map(\.isPrepared) == [true])
        #expect(plan.candidates.map(\.rest) == [Scope(targets: [])])
        #expect(plan.leftovers == [part])
        // Once Vercel has the sensitive record, the other part is still to be sent.
        let sent = try platform("a", secret.attributes.scope, kind: .sensitive)
        let second = self.plan([secret, part], [sent])
        #expect(second.candidates == [] && second.leftovers == [part])
        // A record created by someone else at another time is not ours, nor one never sent.
        #expect(self.plan([secret, record(.development, at: 78)], [sent]).leftovers == [])
        #expect(self.plan([secret, pushed(part, "b")], [sent]).leftovers == [])
    }

    @Test("SYNC-A2: a hardened variable is sent again only with a write in the journal")
    func unconfirmed() throws {
        var secret = pushed(record([.production, .preview], kind: .sensitive), "a")
        secret.remote?.pushedVersion = 0
        secret.remote?.agreed.kind = .encrypted
        let scope = secret.attributes.scope
        let moved = try platform("a", scope, kind: .sensitive, updatedAt: 11)
        let begun = plan([secret], [moved], begun: [secret.id])
        #expect(begun.unconfirmed.map(\.variable) == [secret] && begun.omissions == [])
        // Also with no author named: the same user may have changed it elsewhere.
        let changed = plan([secret], [moved])
        #expect(changed.unconfirmed == [] && changed.omissions.count == 1)
        // A change seen since is known, by any user.
        let seen = plan(
            [secret], [try platform("a", scope, kind: .sensitive, by: "other")])
        #expect(seen.unconfirmed.count == 1)
        // Renamed since: only a push creates the new name and deletes the old one.
        var renamed = secret
        renamed.name = "OTHER"
        let left = plan([renamed], [moved], begun: [secret.id])
        #expect(left.unconfirmed == [] && left.omissions.map(\.key) == ["KEY"])
        renamed.attributes.kind = .encrypted
        let named = plan([renamed], [moved], keys: ["KEY"], begun: [secret.id])
        #expect(named.declared == [] && named.omissions.map(\.key) == ["KEY"])
        secret.remote?.pushedVersion = 1
        #expect(plan([secret], [try platform("a", scope, kind: .sensitive)]).unconfirmed == [])
    }
}

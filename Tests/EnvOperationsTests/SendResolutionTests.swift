import Sealing
import Testing

@testable import EnvOperations
@testable import Vault
@testable import VercelAPI

/// How writes of unknown outcome are resolved.
@Suite("Writes of unknown outcome")
struct SendResolutionTests {
    private func send(
        _ action: SendEntry.Action, _ variable: Variable, target: SendEntry.Target? = nil,
        version: UInt64? = nil, author: String = "me", sentAfter: UInt64 = 15
    ) -> SendEntry {
        SendEntry(
            createdAt: 1, action: action, project: variable.project, variable: variable.id,
            vercelProject: "prj", author: author, target: target, key: variable.name,
            attributes: variable.attributes, version: version ?? variable.currentVersion,
            sendsValue: action != .delete && version ?? variable.currentVersion > 0,
            sentAfter: sentAfter)
    }

    private func there(
        _ id: String, _ variable: Variable, _ kind: VariableAttributes.Kind? = nil,
        targets: Scope.Targets? = nil, updatedAt: UInt64 = 20, author: String? = nil
    ) throws -> VercelRecord {
        let names = (targets ?? variable.attributes.scope.targets).names
        let list = names.map { "\"\($0)\"" }.joined(separator: ",")
        let by = author.map { "\"\($0)\"" } ?? "null"
        let json = """
            {"id":"\(id)","key":"\(variable.name)",
            "type":"\((kind ?? variable.attributes.kind).name)","target":[\(list)],
            "updatedAt":\(updatedAt),"createdBy":\(by)}
            """
        let decoded = try #require(
            Array(json.utf8).withBytes { JSONDecoding.value(EnvironmentVariable.self, from: $0) })
        return VercelRecord(decoded, environments: CustomEnvironmentNames([]))
    }

    private func pushed(_ variable: Variable, _ id: String) -> Variable {
        var variable = variable
        variable.remote = RemoteState(
            id: id, key: variable.name, account: "me", pushedVersion: 1,
            agreed: variable.attributes, updatedAt: 10, pushedAt: 1)
        return variable
    }

    /// What a plan makes of unfinished writes.
    private struct Outcome {
        let plan: PushPlan

        /// The version that Vercel is known to have of a record.
        func version(_ variable: Variable) -> UInt64? {
            plan.agreed.lazy.compactMap { update -> UInt64? in
                guard update.variable == variable.id,
                    case .matched(_, let version, _) = update.knowledge
                else { return nil }
                return version
            }.first
        }

        /// Whether the value is sent again to a record, and nothing is a conflict.
        func sendsAgain(_ id: String) -> Bool {
            plan.conflicts.isEmpty
                && plan.steps.contains { $0.action == .update(id: id, withValue: true) }
        }
    }

    /// What reading the value of the only candidate shows.
    enum Evidence: Sendable { case holds, other, unknown }

    private func resolve(
        _ sends: [SendEntry], _ variables: [Variable], _ platform: ListedRecords,
        others: [StoredAgreement] = [], _ evidence: Evidence = .unknown
    ) -> Outcome {
        var state = ProjectState(
            variables: variables, others: others, sends: sends, platform: platform, rules: .init())
        for candidate in state.candidates {
            switch evidence {
            case .holds: state.take([candidate.record.id: .some(0)])
            case .other: state.take([candidate.record.id: Int?.none])
            case .unknown: break
            }
        }
        return Outcome(plan: PushPlan(state))
    }

    @Test func `a missing creation did not happen`() {
        let variable = record(.all)
        let entry = send(.create, variable)
        let found = resolve([entry], [variable], [])
        #expect(found.plan.agreed.isEmpty && found.plan.settled == [entry.id])
        #expect(found.plan.steps.map(\.action) == [.create])
    }

    @Test(arguments: [Evidence.holds, .other, .unknown])
    func `an existing creation is ours if the value matches, else the value is sent again`(
        evidence: Evidence
    ) throws {
        let variable = record(.all)
        let found = resolve(
            [send(.create, variable)], [variable], [try there("a", variable)], evidence)
        switch evidence {
        case .holds:
            #expect(found.version(variable) == 1 && found.plan.steps.isEmpty)
            #expect(found.plan.unchanged == [variable])
        // An empty value counts as unknown: Vercel stores it instead of what was sent.
        case .unknown: #expect(found.sendsAgain("a") && found.version(variable) == 0)
        case .other: #expect(found.plan.conflicts.count == 1)
        }
    }

    @Test(
        "SYNC-A4: a value that is not shown is sent again only where the write may have moved it",
        arguments: [
            // Sent after, until, moved at, whether it may have been the write.
            (15_000, 0, 15_000, true), (15_000, 0, 66_000, true), (15_000, 0, 66_001, false),
            (15_000, 20_000, 21_000, true), (15_000, 20_000, 21_001, false),
            (15_000, 0, 14_999, false), (0, 0, 20_000, false), (0, 20_000, 20_000, false),
            (.max, 0, 20_000, false), (15_000, 3, 15_000, true),
        ] as [(UInt64, UInt64, UInt64, Bool)])
    func window(after: UInt64, until: UInt64, moved: UInt64, isOurs: Bool) throws {
        let variable = pushed(record(.production, kind: .sensitive), "a")
        var entry = send(
            .change, variable, target: .init(id: "a", updatedAt: 10), sentAfter: after)
        if until > 0 { entry = entry.until(until) }
        let there = try there("a", variable, updatedAt: moved, author: "me")
        let found = resolve([entry], [variable], [there])
        #expect(found.sendsAgain("a") == isOurs && found.plan.conflicts.isEmpty == isOurs)
        #expect(found.version(variable) == nil)
        // The journal keeps it until the value was sent again.
        #expect(found.plan.settled == (isOurs ? [] : [entry.id]))
    }

    @Test func `a write may have left exactly what was sent`() throws {
        let variable = record([.production, .preview], kind: .sensitive)
        func ours(_ there: VercelRecord, _ entry: SendEntry? = nil) -> Bool {
            resolve([entry ?? send(.create, variable)], [variable], [there]).sendsAgain(there.id)
        }
        #expect(ours(try there("a", variable)))
        #expect(ours(try there("a", variable, author: "me")))
        #expect(!ours(try there("a", variable, author: "them")))
        // The token's user is unknown.
        #expect(
            !ours(try there("a", variable, author: "them"), send(.create, variable, author: "")))
        #expect(!ours(try there("a", variable, targets: .production)))
        #expect(!ours(try there("a", variable, targets: .all)))
        #expect(!ours(try there("a", variable, .encrypted)))
    }

    @Test func `a change counts only if the record was changed since`() throws {
        var variable = pushed(record(.all, kind: .sensitive), "a")
        (variable.currentVersion, variable.highestVersion) = (3, 3)
        let entry = send(.change, variable, target: .init(id: "a", updatedAt: 10), version: 2)
        let same = try there("a", variable, updatedAt: 10)
        #expect(resolve([entry], [variable], [same]).version(variable) == nil)
        #expect(resolve([entry], [variable], [try there("a", variable)]).sendsAgain("a"))
    }

    @Test func `what has a former name goes once the new one is there, unless it changed`() throws {
        let renamed = pushed(record(.production, key: "NEW", kind: .sensitive), "new")
        var old = pushed(record(.production, key: "OLD", kind: .sensitive), "old")
        let left = StoredAgreement(try #require(old.remote), of: renamed.id)
        old.remote = nil
        let new = try there("new", renamed, updatedAt: 10)
        let found = resolve(
            [], [renamed], [new, try there("old", old, updatedAt: 10)], others: [left])
        #expect(found.plan.steps.map(\.action) == [.delete(id: "old")])
        #expect(found.plan.conflicts.isEmpty)
        let changed = resolve(
            [], [renamed], [new, try there("old", old, updatedAt: 21)], others: [left])
        #expect(changed.plan.steps.isEmpty && changed.plan.conflicts.count == 1)
        // It is gone: nothing is left of it.
        let gone = resolve([], [renamed], [new], others: [left])
        #expect(gone.plan.steps.isEmpty && gone.plan.conflicts.isEmpty)
    }
}

@Suite("Versions sent by a write of unknown outcome")
struct NeededVersionsTests {
    @Test func `are not pruned while the write is in the journal`() throws {
        var variable = record(.production, version: 9)
        variable.highestVersion = 9
        var index = VaultIndex(extent: .everything)
        index.variables = [variable]
        index.earlierVersions = (1...8).map { number in
            StoredVersion(
                variable: variable.id, version: number, id: .random(), batch: .random(), offset: 0,
                length: 1,
                checksum: .init([UInt8](repeating: 0, count: 32)), createdAt: 1, formerName: nil)
        }
        let time = History.protectedMilliseconds * 2
        func prunable() -> [UInt64] {
            History(of: variable, in: index).prunable(keeping: 1, at: time).map(
                \.version)
        }
        #expect(prunable() == [1, 2, 3, 4, 5, 6, 7])
        let send = SendEntry(
            createdAt: 1, action: .create, project: variable.project, variable: variable.id,
            vercelProject: "prj", author: "", target: nil, key: variable.name,
            attributes: variable.attributes, version: 3, sendsValue: true, sentAfter: 0)
        index.journal = [send.entry]
        #expect(prunable() == [1, 2, 4, 5, 6, 7])
    }
}

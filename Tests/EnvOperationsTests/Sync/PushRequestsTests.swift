import Sealing
import Testing

@testable import EnvOperations
@testable import Vault

/// How a push's steps become requests, and their outcomes those of steps.
@Suite("Requests of a push")
struct PushRequestsTests {
    private let arena = SecretArena()
    private let platform = MemoryPlatform(.shared)

    private func plan(
        _ variables: [Variable], _ change: (inout PushPlan.Rules) -> Void = { _ in }
    ) throws -> PushPlan {
        var rules = PushPlan.Rules()
        change(&rules)
        return PushPlan(
            variables: variables, platform: try platform.list(), rules: rules)
    }

    /// A variable that was pushed as it is, with its record.
    private func pushed(_ key: String, kind: VariableAttributes.Kind = .encrypted) -> Variable {
        var variable = record([.production, .preview], key: key, kind: kind)
        let id = platform.add(key, [.production, .preview], value: "a", kind: kind)
        variable.remote = RemoteState(
            id: id, key: key, account: "me", pushedVersion: 1, agreed: variable.attributes,
            updatedAt: platform.clock, pushedAt: 1)
        return variable
    }

    private func send(_ plan: PushPlan) throws -> [PushOutcome] {
        let sender = RequestSender(
            platform,
            .init(
                project: Identifier(high: 1, low: 1), remoteProject: "prj", author: "me",
                now: { 1 }),
            planned: try platform.list(), listing: FreshListing(platform),
            values: plan.values(
                sent: { [arena] in secret("\($0.name) new", in: arena) },
                kept: { [arena] in secret("\($0.name) old", in: arena) }),
            keep: { _ in }, progress: { _, _ in })
        return try plan.send(through: sender)
    }

    @Test func `a request has the record as it was planned, and what its type was`() throws {
        var variable = pushed("KEY", kind: .plain)
        variable.attributes.kind = .encrypted
        let time = platform.clock
        var request = try #require(try plan([variable]).requests.first)
        #expect(request.before == .init(id: "r1", updatedAt: time, kind: .plain))
        #expect(request.owner == .init(variable: variable.id, version: 1))
        #expect(!request.sendsValue && request.hasKnownValue && request.waitsFor.isEmpty)
        variable.currentVersion = 2
        request = try #require(try plan([variable]).requests.first)
        #expect(request.sendsValue && !request.hasKnownValue && request.owner?.version == 2)
    }

    @Test func `what only makes room keeps its type and has no owner`() throws {
        platform.add("KEY", [.production, .preview], value: "a", kind: .plain)
        let requests = try plan([record(.preview, key: "KEY")]) { $0.force = true }.requests
        #expect(requests.map(\.isDeletion) == [false, false])
        #expect(requests[0].before?.kind == .plain && requests[0].owner == nil)
        #expect(requests[1].action == .create)
    }

    @Test func `a renamed secret is created with its old record, which waits for it`() throws {
        var variable = pushed("OLD", kind: .sensitive)
        (variable.name, variable.currentVersion) = ("NEW", 2)
        let requests = try plan([variable]).requests
        #expect(requests.map(\.key) == ["NEW", "OLD"])
        #expect(requests[0].action == .create && requests[1].before?.id == "r1")
        #expect(requests[1].waitsFor == ["NEW"] && requests[1].owner == nil)
        #expect(try send(plan([variable])).map(\.step.isDeletion) == [false, true])
        #expect(platform.records.map(\.key) == ["NEW"])
    }

    @Test func `a creation that was repaired is reported as an update`() throws {
        platform.faults[1] = .storing { $0.value = "" }
        let outcomes = try send(plan([record(.production, key: "KEY")]))
        #expect(outcomes.map(\.step.action) == [.update(id: "r1", withValue: true)])
        #expect(outcomes.allSatisfy { !$0.isFailed && $0.error == nil && $0.written != nil })
        #expect(platform.records.map(\.value) == ["KEY new"])
    }

    @Test func `values are sent and compared by their variables`() throws {
        var variable = pushed("KEY")
        variable.attributes.comment = "note"
        let kept = try send(plan([variable]))
        // The record has another value than the vault had pushed.
        #expect(
            kept.map(\.failureReason) == [
                "its value was changed on Vercel right before the update"
            ])
    }
}

import Testing

@testable import EnvOperations
@testable import Vault

@Suite("Summary of sync states")
struct SyncSummaryTests {
    private static let binding = VaultProject.Binding(
        origin: "https://api.example", accountID: "u", teamID: nil, teamSlug: nil, projectID: "p",
        projectName: "web")

    private func index(_ variables: [Variable], bound: Bool = true) -> VaultIndex {
        var index = VaultIndex(extent: .currentValues)
        var project = VaultProject(id: Identifier(high: 1, low: 1), name: "web", createdAt: 1)
        project.binding = bound ? Self.binding : nil
        project.seenAt = 1
        project.live = .init(id: "d", createdAt: 50)
        index.projects = [project]
        index.variables = variables
        return index
    }

    private func pushed(_ variable: Variable, at time: UInt64 = 10) -> Variable {
        var variable = variable
        variable.remote = RemoteState(
            id: "a", key: variable.name, account: "u", pushedVersion: variable.currentVersion,
            agreed: variable.attributes, updatedAt: time, pushedAt: 1)
        return variable
    }

    private func standings(_ variable: Variable, bound: Bool = true) -> Set<SyncSummary.Standing> {
        let summary = SyncSummary(of: index([variable], bound: bound), rotationDue: [])
        return Set(SyncSummary.Standing.allCases.filter { summary.variables[$0]?.isEmpty == false })
    }

    @Test func `every state has a status and a hint`() {
        #expect(standings(record(.all)) == [.ahead])
        #expect(standings(pushed(record(.all))) == [])
        #expect(standings(pushed(record(.all), at: 51)) == [.notLive])
        #expect(standings(pushed(record(.preview), at: 51)) == [])
        #expect(standings(record(.all, version: 0)) == [.unreadable])
        var changed = pushed(record(.all))
        changed.currentVersion = 2
        #expect(standings(changed) == [.ahead])
        changed.remote?.seenUpdatedAt = 11
        #expect(standings(changed) == [.diverged])
        var there = pushed(record(.all))
        there.remote?.seenUpdatedAt = 11
        #expect(standings(there) == [.behind])
        #expect(SyncSummary.Standing.behind.remedies(for: there) == [.pull])
        #expect(
            SyncSummary.Standing.diverged.remedies(for: changed) == [.choose, .take, .overwrite])
        there.remote?.isGone = true
        #expect(standings(there) == [.behind])
        // A pull brings no value that Vercel does not show.
        var hidden = pushed(record(.preview, kind: .sensitive))
        hidden.remote?.seenUpdatedAt = 11
        #expect(standings(hidden) == [.behind])
        #expect(SyncSummary.Standing.behind.remedies(for: hidden) == [.set, .overwrite])
        var removed = pushed(record(.all))
        removed.deletedAt = 5
        #expect(standings(removed) == [.ahead])
        removed.remote?.seenUpdatedAt = 11
        #expect(standings(removed) == [.diverged])
        removed.remote?.end(by: 40)
        #expect(standings(removed) == [])
        // The time at which it was first seen to be gone counts.
        removed.remote?.end(by: 60)
        #expect(standings(removed) == [])
        removed.remote?.isGone = false
        removed.remote?.end(by: 60)
        #expect(standings(removed) == [.notLive])
        removed.remote = nil
        #expect(standings(removed) == [])
    }

    @Test func `without Vercel only a missing value counts`() {
        #expect(standings(record(.all), bound: false) == [])
        #expect(standings(record(.all, version: 0), bound: false) == [.unreadable])
    }

    @Test func `a value is due once it reaches its maximum age`() {
        var variable = record(.all)
        variable.rotationSeconds = 90
        func due(_ made: UInt64?, now: UInt64) -> Int {
            var index = index([variable])
            if let made {
                index.currentVersions[variable.id] = StoredVersion(
                    variable: variable.id, version: 1, id: .random(),
                    batch: Identifier(high: 0, low: 1),
                    offset: 0, length: 0, checksum: .init([UInt8](repeating: 0, count: 32)),
                    createdAt: made, formerName: nil)
            }
            return RotationDue.records(in: index, now: now).count
        }
        #expect(due(1_000, now: 90_999) == 0)
        #expect(due(1_000, now: 91_000) == 1)
        #expect(due(91_000, now: 1_000) == 0)
        #expect(due(nil, now: 91_000) == 0)
        variable.rotationSeconds = .max
        #expect(due(0, now: .max) == 0)
        variable.rotationSeconds = 0
        #expect(due(0, now: .max) == 0)
        variable.rotationSeconds = 90
        variable.deletedAt = 1
        #expect(due(1_000, now: 91_000) == 0)
    }
}

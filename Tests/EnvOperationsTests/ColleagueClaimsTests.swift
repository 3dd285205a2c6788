import Testing

@testable import EnvOperations
@testable import Vault

/// Which claims of colleagues count: only what a listing shows exactly.
@Suite("Claims of colleagues")
struct ColleagueClaimsTests {
    private static let attributes = VariableAttributes(
        kind: .sensitive, scope: Scope(targets: .production))
    private let project = Identifier.random()

    private func variable(_ name: String = "KEY", remote: RemoteState? = nil) -> Variable {
        var variable = Variable(
            project: project, name: name, attributes: Self.attributes, createdAt: 1)
        (variable.currentVersion, variable.highestVersion) = (5, 5)
        variable.remote = remote
        return variable
    }

    private func remote(_ id: String, _ version: UInt64, updatedAt: UInt64) -> RemoteState {
        RemoteState(
            id: id, key: "KEY", account: "user", pushedVersion: version, agreed: Self.attributes,
            updatedAt: updatedAt, pushedAt: 1)
    }

    private func claim(
        _ version: UInt64 = 5, _ id: String = "env_1", _ key: String = "KEY",
        at updatedAt: UInt64 = 10
    ) -> ColleagueClaims.Claim {
        ColleagueClaims.Claim(version: version, remoteID: id, key: key, updatedAt: updatedAt)
    }

    private func remotes(
        _ claims: [ColleagueClaims.Claim], _ variable: Variable, _ records: [VercelRecord]
    ) -> RemoteState? {
        ColleagueClaims(
            [variable.id: claims], among: [variable], platform: .init(records), account: "me"
        ).remotes[variable.id]
    }

    @Test func `what the listing shows counts as pushed`() throws {
        let record = try vercelRecord("env_1", Self.attributes)
        let found = try #require(remotes([claim()], variable(), [record]))
        #expect(found.id == "env_1" && found.pushedVersion == 5 && found.account == "me")
        #expect(found.agreedUpdatedAt == 10 && found.agreed == Self.attributes)
        var known = variable()
        known.remote = found
        #expect(SyncState(of: known) == .synced)
        // A record that this vault knows, changed by the colleague.
        let linked = variable(remote: remote("env_1", 4, updatedAt: 7))
        #expect(remotes([claim()], linked, [record])?.pushedVersion == 5)
        // One that the colleague replaced.
        let replaced = variable(remote: remote("env_0", 4, updatedAt: 7))
        #expect(remotes([claim()], replaced, [record])?.id == "env_1")
        // Two members say the same.
        #expect(remotes([claim(), claim()], variable(), [record])?.pushedVersion == 5)
    }

    @Test func `another time, id or key is nothing`() throws {
        let record = try vercelRecord("env_1", Self.attributes)
        for lie in [
            claim(at: 9), claim(at: 11), claim(5, "env_2"), claim(5, "env_1", "OTHER"),
        ] {
            #expect(remotes([lie], variable(), [record]) == nil)
        }
        #expect(remotes([claim()], variable(), []) == nil)
        // Different versions cannot all be true.
        #expect(remotes([claim(), claim(4)], variable(), [record]) == nil)
        // What this vault agreed with Vercel at that time stays.
        let own = variable(remote: remote("env_1", 4, updatedAt: 10))
        #expect(remotes([claim()], own, [record]) == nil)
        var gone = variable()
        gone.deletedAt = 3
        #expect(remotes([claim()], gone, [record]) == nil)
    }

    @Test func `a claim does not lead a push to a record that it would not touch`() throws {
        // Another key or scope: the push would rename or move that record.
        let other = try vercelRecord("env_1", key: "OTHER", Self.attributes)
        #expect(remotes([claim(5, "env_1", "OTHER")], variable(), [other]) == nil)
        let wide = try vercelRecord(
            "env_1", VariableAttributes(kind: .sensitive, scope: Scope(targets: .all)))
        #expect(remotes([claim()], variable(), [wide]) == nil)
        // A second record beside the known one.
        let record = try vercelRecord("env_1", Self.attributes)
        let known = try vercelRecord("env_0", Self.attributes)
        let linked = variable(remote: remote("env_0", 4, updatedAt: 7))
        #expect(remotes([claim()], linked, [record, known]) == nil)
        // A record of another variable, and one for two variables.
        let owner = variable(remote: remote("env_1", 3, updatedAt: 7))
        let thief = variable()
        let stolen = ColleagueClaims(
            [thief.id: [claim()]], among: [owner, thief], platform: [record], account: "me")
        #expect(stolen.remotes.isEmpty)
        let twin = variable()
        let both = ColleagueClaims(
            [thief.id: [claim()], twin.id: [claim()]], among: [twin, thief], platform: [record],
            account: "me")
        #expect(both.remotes.isEmpty)
    }
}

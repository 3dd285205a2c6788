import Groups
import TestSupport
import Testing
import Vault

@testable import SharedProjects

/// What members tell each other about Vercel.
@Suite("Claims about Vercel")
struct RemoteClaimTests {
    private let place = TestPlace()
    private let alice: SharedVault
    private let bob: SharedVault
    private let admitted: Admission

    init() throws {
        alice = try SharedVault("alice")
        bob = try SharedVault("bob")
        try alice.set("A", "one", targets: .production)
        try alice.found(place)
        try alice.sync(place)
        admitted = try bob.join(try #require(try alice.membership()).group)
    }

    private func admit(_ role: GroupRole = .member) throws {
        let member = Admission(
            member: admitted.member, person: admitted.person, name: admitted.name,
            rights: MemberRights(role: role), keys: admitted.keys, origin: admitted.origin)
        try alice.publish(place) { _ in EntryDraft(admissions: [member]) }
        try settle()
    }

    private func settle() throws {
        for _ in 0..<2 { for vault in [alice, bob] { try vault.sync(place) } }
        for vault in [alice, bob] { try vault.verify() }
    }

    private func claim(
        _ vault: SharedVault, _ version: UInt64?, _ id: String = "env_1", at time: UInt64
    ) throws -> RemoteClaim {
        let variable = try #require(try vault.index.variables.first { $0.name == "A" })
        return RemoteClaim(
            variable: variable.id, version: version, remoteID: id, key: "A", kind: .encrypted,
            scope: Scope(targets: .production), updatedAt: time)
    }

    private func claims(_ vault: SharedVault) throws -> [SharedState.Claim] {
        try #require(try vault.state()).records.flatMap(\.claims)
    }

    private func stored(_ version: UInt64, at time: UInt64) -> SharedState.Claim {
        SharedState.Claim(version: version, remoteID: "env_1", key: "A", updatedAt: time)
    }

    @Test func `a claim arrives with the version that it names, and the next one replaces it`()
        throws
    {
        try admit()
        let versions = try bob.index.variables.map(\.currentVersion)
        try alice.update(claims: [claim(alice, 1, at: 10)]) { _ in }
        #expect(try alice.outgoing().count == 1)
        #expect(try claims(alice) == [stored(1, at: 10)])
        try settle()
        #expect(try claims(bob) == [stored(1, at: 10)])
        #expect(try bob.index.variables.map(\.currentVersion) == versions)
        // What was claimed before is no news.
        try alice.update(claims: [claim(alice, 1, at: 10)]) { _ in }
        #expect(try alice.outgoing().isEmpty)
        // A change without a value keeps the version.
        try bob.update(claims: [claim(bob, nil, at: 20)]) { _ in }
        try settle()
        #expect(try claims(alice) == [stored(1, at: 20)])
        try alice.set("A", "two", targets: .production)
        try alice.update(claims: [claim(alice, 2, at: 30)]) { _ in }
        try settle()
        #expect(try claims(bob) == [stored(2, at: 30)])
        // Nobody knows the value of another record.
        try bob.update(claims: [claim(bob, nil, "env_2", at: 40)]) { _ in }
        #expect(try bob.outgoing().isEmpty)
        // Two at the same time are both kept.
        try alice.update(claims: [claim(alice, 1, at: 50)]) { _ in }
        try bob.update(claims: [claim(bob, 2, at: 50)]) { _ in }
        try settle()
        #expect(try claims(alice).count == 2)
        #expect(try claims(alice) == claims(bob))
    }

    @Test func `a writer's claim is late`() throws {
        try admit(.writer)
        try bob.set("B", "written", targets: .production)
        try settle()
        let record = try #require(
            try bob.state()?.records.first { $0.name == "B" })
        let version = try #require(record.versions.first)
        let claim = RemoteClaim(
            variable: record.variable, version: version.number, remoteID: "env_2", key: "B",
            kind: .encrypted, scope: Scope(targets: .production), updatedAt: 10)
        try bob.update(claims: [claim]) { _ in }
        #expect(try bob.outgoing().isEmpty)
        // Signed all the same.
        let (membership, secrets) = (try #require(try bob.membership()), try bob.secrets())
        let state = try #require(try bob.state())
        var writer = ChangeWriter(
            membership: membership, epoch: try #require(secrets.epoch(of: state.compartment)),
            secrets: secrets, now: 5, state: state, notices: [], contestedScopes: [])
        try writer.add(
            SharedDifference.Step(
                variable: record.variable, record: record.id, action: .claim(claim, version)),
            nil, nil)
        try writer.finish()
        let object = try #require(writer.objects.first)
        place.changes[GroupHash(of: object)] = object
        try alice.sync(place)
        let fold = try alice.view().state(of: state.compartment)
        #expect(fold.late[GroupHash(of: object)] == .role)
        #expect(try claims(alice).isEmpty)
    }
}

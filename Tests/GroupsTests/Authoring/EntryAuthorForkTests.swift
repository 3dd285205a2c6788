import Testing
import Vault

@testable import Groups

@Suite("An author of joining entries")
struct EntryAuthorForkTests {
    private let alice = TestPool.members[0]
    private let bob = TestPool.members[1]
    private let carol = TestPool.members[2]
    private let dan = TestPool.members[3]
    private let web = TestPool.compartments[0]
    private let api = TestPool.compartments[1]
    private let other = TestPool.compartments[2]

    /// A group of alice and bob (admins) and carol (writer of one project).
    private func group() throws -> AuthoredGroup {
        var group = try AuthoredGroup(founder: alice, compartments: [web, api])
        try group.add(
            .init(admissions: [bob.newMember(.admin), carol.newMember(.writer, limit: [web])]),
            by: alice)
        return group
    }

    private func forked() throws -> (AuthoredGroup, left: GroupHash, right: GroupHash) {
        var left = try group()
        var right = left
        try left.add(.init(removals: [.init(member: carol.id, cut: Cut())]), by: alice)
        try right.add(
            .init(admissions: [dan.newMember(.reader)], firstEpochs: [other]), by: bob)
        let names = (left.chain.heads[0], right.chain.heads[0])
        try left.insert(right.objects)
        return (left, names.0, names.1)
    }

    @Test func `joins a fork, and adds nothing else to one`() throws {
        var (group, left, right) = try forked()
        #expect(group.chain.isForked)
        let author = try group.author(alice)
        let error = #expect(throws: EntryDraftError.self) {
            _ = try author.entry(.init(renewedEpochs: [web]), signedBy: alice.authority)
        }
        #expect(error?.code == .forked)
        for member in [alice, bob] {
            let entry = try group.author(member).joiningEntry(signedBy: member.authority)
            let epochs = try Entry.decode(entry.object).epochs
            #expect(epochs.map(\.compartment) == [web, api, other])
        }
        #expect(throws: EntryDraftError.self) {
            _ = try group.author(carol).joiningEntry(signedBy: carol.authority)
        }
        let entry = try group.author(bob).joiningEntry(signedBy: bob.authority)
        try group.insert([entry.object])
        #expect(group.chain.heads == [entry.name])
        // Dan was admitted on one side only, and reads both by the ladder.
        let ring = try group.ring(dan)
        #expect(ring.problems.isEmpty)
        #expect(ring.hasValueSecret(of: web, madeBy: left))
        #expect(ring.hasValueSecret(of: other, madeBy: right))
        #expect(ring.epochs == (try group.ring(alice)).epochs)
        #expect(throws: EntryDraftError.self) {
            _ = try group.author(bob).joiningEntry(signedBy: bob.authority)
        }
    }

    @Test func `joins three heads in two steps, and not with who left one side`() throws {
        var (group, _, _) = try forked()
        var third = try AuthoredGroup(copying: group, upTo: 2)
        try third.add(.init(removals: [.init(member: bob.id, cut: Cut())]), by: alice)
        try group.insert(third.objects)
        #expect(group.chain.heads.count == 3)
        for _ in 0..<2 {
            let entry = try group.author(alice).joiningEntry(signedBy: alice.authority)
            try group.insert([entry.object])
        }
        #expect(!group.chain.isForked)
        #expect(group.chain.headStates[0].activeAdmins == [alice.id])
        let ring = try group.ring(alice)
        let made = group.chain.linksInOrder.flatMap { link in
            link.entry.epochs.map {
                EpochName(compartment: $0.compartment, entry: link.name)
            }
        }
        #expect(ring.problems.isEmpty && ring.epochs == made.sorted())
    }

    @Test func `joins a fork only with an admin of both sides`() throws {
        var left = try group()
        var right = left
        try left.add(.init(removals: [.init(member: bob.id, cut: Cut())]), by: alice)
        try right.add(.init(removals: [.init(member: alice.id, cut: Cut())]), by: bob)
        try left.insert(right.objects)
        for member in [alice, bob] {
            let author = try left.author(member)
            do throws(EntryDraftError) {
                _ = try author.joiningEntry(signedBy: member.authority)
                Issue.record("joined by who is an admin of one side")
            } catch { #expect(error.code == .author) }
        }
    }
}

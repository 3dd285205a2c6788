import Groups
import Sealing
import Testing
import Vault

@testable import SharedProjects

@Suite("Rotations that colleagues must know of")
struct RotationNoticeTests {
    private let alice: SharedVault
    private let bob: SharedVault
    private let place = TestPlace()

    init() throws {
        alice = try SharedVault("alice")
        bob = try SharedVault("bob")
        try alice.set("A", "one")
        try alice.found(place)
        try alice.sync(place)
        let group = try #require(try alice.membership()).group
        let member = try bob.join(group)
        try alice.publish(place) { _ in EntryDraft(admissions: [member]) }
        try settle()
    }

    private func settle() throws {
        for _ in 0..<2 { for vault in [alice, bob] { try vault.sync(place) } }
        for vault in [alice, bob] { try vault.verify() }
    }

    /// The rotations of colleagues that a vault knows of, by their authors.
    private func authors(_ vault: SharedVault) throws -> [Identifier] {
        try #require(try vault.shared()).notices.map(\.author)
    }

    private func member(_ vault: SharedVault) throws -> Identifier {
        try #require(try vault.membership()).member
    }

    @discardableResult
    private func begin(_ vault: SharedVault) throws -> RotationEntry {
        let variable = try #require(try vault.index.variables.first { $0.name == "A" })
        let entry = RotationEntry(
            createdAt: vault.clock,
            plan: RotationPlan(
                key: "A", options: .init(),
                members: [
                    RotationPlan.Member(
                        project: variable.project, name: "web", vercelProject: "prj_1",
                        vercelName: "web", target: nil, source: nil, newestAt: 0,
                        records: [
                            RotationPlan.Record(
                                variable: variable.id, oldVersion: variable.currentVersion,
                                newVersion: variable.highestVersion + 1)
                        ])
                ]))
        try vault.update { transaction in
            let position = try #require(
                transaction.index.variables.firstIndex { $0.id == variable.id })
            _ = try Array("new".utf8).withBytes {
                try transaction.storeAside($0, forVariablesAt: [position], at: vault.clock)
            }
            try transaction.keep(entry)
        }
        return entry
    }

    private func end(_ entry: RotationEntry, _ vault: SharedVault) throws {
        var ended = entry
        ended.endedAt = vault.clock
        try vault.update { try $0.keep(ended) }
    }

    @Test func `colleagues learn of a rotation and of its end, and say it once`() throws {
        let entry = try begin(alice)
        #expect(try alice.outgoing().count == 1)
        try alice.update { _ in }
        #expect(try alice.outgoing().count == 1)
        try settle()
        #expect(try authors(bob) == [member(alice)])
        #expect(try authors(alice) == [])
        #expect(try alice.outgoing().isEmpty && bob.outgoing().isEmpty)
        try end(entry, alice)
        try settle()
        #expect(try authors(bob) == [])
        try settle()
        #expect(try alice.outgoing().isEmpty && bob.outgoing().isEmpty)
    }

    @Test func `two rotations at the same time end only by themselves`() throws {
        let (first, second) = (try begin(alice), try begin(bob))
        try settle()
        #expect(try authors(bob) == [member(alice)])
        #expect(try authors(alice) == [member(bob)])
        try end(first, alice)
        try settle()
        #expect(try authors(bob) == [])
        #expect(try authors(alice) == [member(bob)])
        try end(second, bob)
        try settle()
        #expect(try authors(alice) == [])
    }

    @Test func `whose rotation was taken over does not begin it again`() throws {
        let entry = try begin(alice)
        try settle()
        let variable = try #require(try bob.index.variables.first { $0.name == "A" }).id
        try bob.update(takenOver: [variable]) { _ in }
        #expect(try authors(bob) == [])
        try settle()
        #expect(try authors(bob) == [])
        try alice.set("B", "other")
        try settle()
        #expect(try authors(bob) == [])
        // And its end is no news for a rotation of the other one.
        try begin(bob)
        try settle()
        try end(entry, alice)
        try settle()
        #expect(try authors(alice) == [member(bob)])
    }

    @Test func `the rotation of somebody who was removed has ended`() throws {
        try begin(bob)
        try settle()
        #expect(try authors(alice) == [member(bob)])
        let removed = try member(bob)
        try alice.publish(place) { view in
            EntryDraft(removals: [Removal(member: removed, cut: view.cut(of: removed))])
        }
        try alice.sync(place)
        #expect(try authors(alice) == [])
    }
}

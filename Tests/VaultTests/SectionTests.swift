import Sealing
import TestSupport
import Testing

@testable import Vault

/// A write that opens the sections of some projects only.
@Suite("Sections of projects")
struct SectionTests {
    private let fixture: VaultFixture

    init() throws {
        fixture = try VaultFixture()
        try fixture.set("A", "one")
        try fixture.set("A", "two")
        try fixture.addProject("other", with: "B")
        try fixture.addProject("third", with: "C")
    }

    private func update(
        of project: String? = nil, _ body: (inout VaultTransaction) throws -> Void
    ) throws {
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID,
            of: project.map { name in { Set($0.projects.filter { $0.name == name }.map(\.id)) } },
            body)
    }

    private func index() throws -> VaultIndex {
        try fixture.open().index(with: fixture.keys, extent: .everything)
    }

    /// The bytes of each project's block.
    private func blocks() throws -> [String: [UInt8]] {
        let (vault, index) = (try fixture.open(), try index())
        var blocks: [String: [UInt8]] = [:]
        for place in index.sections {
            let name = index.project(place.id)?.name ?? place.id.hexadecimal
            blocks[name] = try vault.chunks(place.offset..<place.end)
        }
        return blocks
    }

    @Test func `a write of one project leaves the blocks of the others as they are`() throws {
        let before = try blocks()
        #expect(before.count == 3)
        try update(of: "other") { transaction in
            #expect(transaction.index.variables.map(\.name) == ["B"])
            _ = try Array("new".utf8).withBytes {
                try transaction.store($0, forVariableAt: 0, at: 9)
            }
        }
        let after = try blocks()
        #expect(after["third"] == before["third"])
        #expect(before.filter { after[$0.key] != $0.value }.map(\.key) == ["other"])
        #expect(try fixture.value(of: "B") == "new")
        #expect(try fixture.value(of: "A") == "two")
        try fixture.open().verify(with: fixture.keys)
    }

    @Test func `a write that changes nothing of any section writes nothing`() throws {
        let before = try fixture.directory.read("vault.zgv")
        try update(of: "other") { _ in }
        try update { _ in }
        #expect(try fixture.directory.read("vault.zgv") == before)
    }

    @Test func `a new project gets a section, and an empty one has none`() throws {
        try update(of: "none") { $0.index.projects.append(VaultProject(name: "new", createdAt: 1)) }
        #expect(try index().sections.count == 3)
        try fixture.addProject("newer", with: "D")
        #expect(try index().sections.count == 4)
        try update { transaction in
            transaction.erase(
                Set(transaction.index.variables.filter { $0.name == "D" }.map(\.id)))
        }
        #expect(try index().sections.count == 3)
        try fixture.open().verify(with: fixture.keys)
    }

    @Test func `a record moves to another project with its history, old and new`() throws {
        try update { transaction in
            let other = try #require(transaction.index.project(named: "other"))
            let place = try #require(transaction.index.variables.firstIndex { $0.name == "A" })
            // One version of this write, and two of earlier ones.
            _ = try Array("three".utf8).withBytes {
                try transaction.store($0, forVariableAt: place, at: 9)
            }
            // By way of a third project: what counts is where it ends.
            let third = try #require(transaction.index.project(named: "third"))
            try transaction.move(at: place, to: third.id, time: 9)
            try transaction.move(at: place, to: other.id, time: 9)
        }
        let index = try index()
        let other = try #require(index.project(named: "other"))
        #expect(Set(index.variables(of: other.id).map(\.name)) == ["A", "B"])
        #expect(index.earlierVersions.count == 2)
        #expect(Set(index.batches.map(\.id)).count == index.batches.count)
        #expect(try fixture.value(of: "A") == "three")
        try fixture.open().verify(with: fixture.keys)
        // Nothing of the old section is left.
        #expect(index.sections.count == 2)
    }

    @Test func `an ended rotation is in a section of its own, an open one in the table`() throws {
        for isOpen in [true, false] {
            try update { try $0.keep(RotationEntryTests.sample(isFull: false, isOpen: isOpen)) }
        }
        let listing = try fixture.open().index(with: fixture.keys, extent: .listing)
        #expect(try listing.rotations().map(\.isOpen) == [true])
        #expect(try index().rotations().count == 2)
        #expect(try index().sections.map(\.id).contains(RotationEntry.endedSection))
    }
}

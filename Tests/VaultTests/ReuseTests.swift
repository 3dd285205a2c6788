import Sealing
import TestSupport
import Testing

@testable import Vault

/// A write reuses an index that was just opened if nothing can have changed.
@Suite("A reused index")
struct ReuseTests {
    private func rename(
        _ fixture: VaultFixture, keys: VaultKeys? = nil, after earlier: Vault?
    ) throws {
        try Vault.update(
            fixture.path, in: fixture.store, keys: keys ?? fixture.keys,
            vaultID: fixture.vaultID, after: earlier
        ) { try $0.rename(at: [0], to: "RENAMED", time: 3_000) }
    }

    private func names(_ fixture: VaultFixture) throws -> Set<String> {
        let index = try fixture.open().index(with: fixture.keys, extent: .everything)
        return Set(index.variables.map(\.name))
    }

    /// Flips a bit inside the sealed index, before its tag.
    private func damageIndex(_ fixture: VaultFixture) throws {
        let vault = try fixture.open()
        var bytes = try vault.file.read(at: 0, count: Int(vault.file.byteCount))
        bytes[vault.header.byteCount + 100] ^= 1
        try fixture.store.replace(fixture.path, with: [.bytes(bytes)])
    }

    @Test func `is not opened again by a write of the same generation`() throws {
        let fixture = try VaultFixture()
        try fixture.set("A", "one")
        let vault = try fixture.open()
        _ = try vault.index(with: fixture.keys, extent: .listing)
        try damageIndex(fixture)
        // Only a reused index can be written back whole.
        #expect(throws: VaultError.self) { try rename(fixture, after: nil) }
        #expect(throws: VaultError.self) { try rename(fixture, after: fixture.open()) }
        try rename(fixture, after: vault)
        #expect(try names(fixture) == ["RENAMED"])
        #expect(try fixture.value(of: "RENAMED") == "one")
    }

    @Test(arguments: [nil, VaultIndex.Extent.listing, .everything])
    func `does not carry on a section that was damaged since`(
        extent: VaultIndex.Extent?
    ) throws {
        let fixture = try VaultFixture()
        try fixture.set("A", "one")
        try fixture.addProject("other", with: "B")
        let vault = try fixture.open()
        let index = try vault.index(with: fixture.keys, extent: extent ?? .listing)
        let other = try #require(index.projects.first { $0.name == "other" })
        let place = try #require(index.sections.first { $0.id == other.id })
        var bytes = try vault.file.read(at: 0, count: Int(vault.file.byteCount))
        bytes[Int(vault.header.blocksOffset + place.offset) + 100] ^= 1
        try fixture.store.replace(fixture.path, with: [.bytes(bytes)])
        let before = try fixture.directory.read("vault.zgv")
        let mine = try #require(index.projects.first { $0.name != "other" })
        for only in [nil, Set([mine.id])] {
            let damage = kindOfDamage {
                try Vault.update(
                    fixture.path, in: fixture.store, keys: fixture.keys,
                    vaultID: fixture.vaultID, after: extent == nil ? nil : vault,
                    of: only.map { only in { _ in only } }
                ) { transaction in
                    let place = try #require(
                        transaction.index.variables.firstIndex { $0.name == "A" })
                    try transaction.rename(at: [place], to: "RENAMED", time: 3_000)
                }
            }
            #expect(damage == .section)
            #expect(try fixture.directory.read("vault.zgv") == before)
        }
    }

    @Test(arguments: [VaultIndex.Extent.listing, .currentValues, .everything])
    func `continues in the next generation as if it had been opened again`(
        extent: VaultIndex.Extent
    ) throws {
        let fixture = try VaultFixture()
        for name in ["A", "B", "C"] { try fixture.set(name, "value of \(name)") }
        try fixture.set("B", "another")
        let vault = try fixture.open()
        let before = try vault.index(with: fixture.keys, extent: extent)
        try rename(fixture, after: vault)
        let after = try fixture.open().index(with: fixture.keys, extent: .everything)
        #expect(after.variables.count == 3)
        #expect(after.variables.dropFirst() == before.variables.dropFirst())
        #expect(after.earlierVersions.map(\.version) == [1])
        let renamed = try #require(before.variables.first)
        let value = renamed.name == "B" ? "another" : "value of \(renamed.name)"
        #expect(try fixture.value(of: "RENAMED") == value)
        try fixture.open().verify(with: fixture.keys)
    }

    @Test func `is opened again after another write`() throws {
        let fixture = try VaultFixture()
        try fixture.set("A", "one")
        let vault = try fixture.open()
        _ = try vault.index(with: fixture.keys, extent: .listing)
        try fixture.set("B", "two")
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID,
            after: vault
        ) { _ = $0.positionOfVariable("C") }
        #expect(try names(fixture) == ["A", "B", "C"])
    }

    @Test func `is not used with another key of the same epoch`() throws {
        let fixture = try VaultFixture()
        try fixture.set("A", "one")
        let vault = try fixture.open()
        _ = try vault.index(with: fixture.keys, extent: .listing)
        let wrong = VaultKeys(
            index: IndexKey(try SecretBytes.random(count: 32), epoch: fixture.keys.index.epoch),
            root: try RootKey.random())
        let found = kindOfDamage { try rename(fixture, keys: wrong, after: vault) }
        #expect(found == .tag || found == .exchangedKey)
        #expect(try names(fixture) == ["A"])
    }

    @Test func `is opened again if the index was written again with the index key`() throws {
        let fixture = try VaultFixture()
        try fixture.set("A", "one")
        let vault = try fixture.open()
        _ = try vault.index(with: fixture.keys, extent: .listing)
        // The header stays; the tag does not.
        try fixture.forge(changing: { $0.variables[0].name = "FORGED" })
        #expect(kindOfDamage { try rename(fixture, after: vault) } == .signature)
    }
}

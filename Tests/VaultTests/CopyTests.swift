import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("Copies of a vault")
struct CopyTests {
    private func backUp(_ fixture: VaultFixture, to name: String = "copy.zgv") throws -> String {
        let path = fixture.directory.path(name)
        _ = try fixture.open().writeCopy(
            to: path, in: fixture.store, replaces: false, keys: fixture.keys)
        return path
    }

    private func copy(_ path: String, _ fixture: VaultFixture) throws -> Vault {
        try Vault(path: path, file: try fixture.store.openCopy(path))
    }

    private func restore(
        _ path: String, _ fixture: VaultFixture, keys: VaultKeys? = nil,
        currentKeys: VaultKeys? = nil, to target: String? = nil, acceptsOther: Bool = false
    ) throws -> Vault.Restoration {
        try copy(path, fixture).restore(
            to: target ?? fixture.path, in: fixture.store, keys: keys ?? fixture.keys,
            currentKeys: currentKeys, keepingAt: fixture.directory.path("kept"),
            acceptsOther: acceptsOther)
    }

    @Test func `a copy has the same bytes, and only its owner can access it`() throws {
        let fixture = try VaultFixture()
        try fixture.set("KEY", "value")
        let path = try backUp(fixture)
        #expect(try fixture.directory.read("copy.zgv") == (try fixture.directory.read("vault.zgv")))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a copy replaces no file unless asked to`() throws {
        let fixture = try VaultFixture()
        let path = try fixture.directory.write("mine", to: "taken")
        #expect(code { _ = try backUp(fixture, to: "taken") } == .exists)
        #expect(try fixture.directory.read("taken") == Array("mine".utf8))
        _ = try fixture.open().writeCopy(
            to: path, in: fixture.store, replaces: true, keys: fixture.keys)
        try copy(path, fixture).verify(with: fixture.keys)
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.directory.path)
        #expect(!names.contains { $0.contains(".tmp-") })
    }

    @Test func `a damaged vault is not copied`() throws {
        let fixture = try VaultFixture()
        try fixture.set("KEY", "value")
        var bytes = try fixture.directory.read("vault.zgv")
        bytes[bytes.count - 5] ^= 4
        try fixture.directory.write(bytes, to: "vault.zgv")
        #expect(code { _ = try backUp(fixture) } == .damaged)
        #expect(!FileManager.default.fileExists(atPath: fixture.directory.path("copy.zgv")))
    }

    @Test func `restoring keeps the replaced file and continues with a higher generation`() throws {
        let fixture = try VaultFixture()
        try fixture.set("KEY", "old")
        let path = try backUp(fixture)
        for value in ["new", "newer"] { try fixture.set("KEY", value) }
        let replaced = try fixture.directory.read("vault.zgv")
        let (before, tag) = (try fixture.open().header, try fixture.open().tableTag())
        let restoration = try restore(path, fixture)
        #expect(restoration.kept == fixture.directory.path("kept"))
        #expect(restoration.generation == before.generation + 1)
        #expect(restoration.continuesVersions)
        #expect(try fixture.directory.read("kept") == replaced)
        #expect(try fixture.value(of: "KEY") == "old")
        try fixture.open().verify(with: fixture.keys)
        let index = try fixture.open().index(with: fixture.keys, extent: .everything)
        #expect(index.metadata.generationTags.last?.tag == tag)
        // The replaced vault had already used numbers 2 and 3.
        #expect(try fixture.set("KEY", "next") == 4)
    }

    @Test func `restoring where there is no vault creates one`() throws {
        let fixture = try VaultFixture()
        try fixture.set("KEY", "value")
        let path = try backUp(fixture)
        let target = fixture.directory.path("other/vault.zgv")
        let restoration = try restore(path, fixture, to: target)
        #expect(restoration.kept == nil)
        try Vault(opening: target, in: fixture.store).verify(with: fixture.keys)
    }

    @Test func `restoring over a damaged vault keeps the damaged file`() throws {
        let fixture = try VaultFixture()
        try fixture.set("KEY", "value")
        let path = try backUp(fixture)
        try fixture.directory.write("no vault any more", to: "vault.zgv")
        let restoration = try restore(path, fixture)
        #expect(!restoration.continuesVersions)
        #expect(try fixture.directory.read("kept") == Array("no vault any more".utf8))
        #expect(try fixture.value(of: "KEY") == "value")
    }

    @Test func `another vault is replaced only if asked to`() throws {
        let fixture = try VaultFixture()
        let other = try VaultFixture()
        try other.set("KEY", "other")
        let path = try backUp(other)
        let before = try fixture.directory.read("vault.zgv")
        #expect(code { _ = try restore(path, fixture, keys: other.keys) } == .exists)
        #expect(try fixture.directory.read("vault.zgv") == before)
        _ = try restore(path, fixture, keys: other.keys, acceptsOther: true)
        #expect(try fixture.directory.read("kept") == before)
        try fixture.open().verify(with: other.keys)
    }

    @Test func `if the backup name is taken or the copy is damaged, nothing changes`() throws {
        let fixture = try VaultFixture()
        try fixture.set("KEY", "value")
        let path = try backUp(fixture)
        try fixture.set("KEY", "newer")
        let before = try fixture.directory.read("vault.zgv")
        try fixture.directory.write("mine", to: "kept")
        #expect(code { _ = try restore(path, fixture) } == .exists)
        try FileManager.default.removeItem(atPath: fixture.directory.path("kept"))
        let copied = try fixture.directory.read("copy.zgv")
        for offset in stride(from: 0, to: copied.count, by: 97) {
            var bytes = copied
            bytes[offset] ^= 2
            try fixture.directory.write(bytes, to: "copy.zgv")
            #expect(code { _ = try restore(path, fixture) } == .damaged, "\(offset)")
        }
        #expect(try fixture.directory.read("vault.zgv") == before)
        #expect(!FileManager.default.fileExists(atPath: fixture.directory.path("kept")))
    }

    @Test func `a copy from before a rekey restores the old keys`() throws {
        let fixture = try VaultFixture()
        try fixture.set("KEY", "one")
        let path = try backUp(fixture)
        let new = try fixture.rekey(to: "second")
        try fixture.set("KEY", "two", keys: new)
        let restoration = try restore(path, fixture, currentKeys: new)
        #expect(restoration.continuesVersions)
        #expect(fixture.opened("second").code == .wrongPassphrase)
        #expect(try fixture.set("KEY", "three") == 3)
        try fixture.open().verify(with: fixture.keys)
    }

    @Test func `all damage is found, with its place`() throws {
        let fixture = try VaultFixture()
        for name in ["A", "B", "C"] { try fixture.set(name, "value \(name)") }
        let vault = try fixture.open()
        let index = try vault.index(with: fixture.keys, extent: .everything)
        var bytes = try fixture.directory.read("vault.zgv")
        var expected: [UInt64] = []
        for variable in index.variables where variable.name != "B" {
            let version = try #require(index.currentVersions[variable.id])
            let offset = vault.header.blocksOffset + version.offset
            bytes[Int(offset) + 30] ^= 1
            expected.append(offset)
        }
        try fixture.directory.write(bytes, to: "vault.zgv")
        for keys in [fixture.keys, try fixture.lockedKeys] {
            let inspection = try fixture.open().inspection(with: keys)
            #expect(inspection.problems.map(\.place) == [.value, .value])
            #expect(inspection.problems.compactMap(\.offset).sorted() == expected.sorted())
            #expect(Set(inspection.problems.compactMap(\.key)) == ["A", "C"])
            #expect(inspection.versionCount == 3)
        }
        bytes[vault.header.byteCount + 9] ^= 1
        try fixture.directory.write(bytes, to: "vault.zgv")
        let inspection = try fixture.open().inspection(with: fixture.keys)
        #expect(inspection.problems.map(\.place) == [.index])
        #expect(inspection.variableCount == nil)
    }

    @Test func `a data key that the root cannot open is found`() throws {
        let fixture = try VaultFixture()
        try fixture.set("A", "value")
        let other = try RootKey.random().batchKey()
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { transaction in
            let id = transaction.index.batches[0].id
            transaction.index.batches[0] = Batch(
                try SecretBytes.random(count: 32), id: id, vault: fixture.vaultID, batchKey: other)
        }
        let inspection = try fixture.open().inspection(with: fixture.keys)
        #expect(inspection.problems.map(\.place) == [.dataKey, .value])
        #expect(inspection.problems.map(\.damage) == [.batch, .batch])
        #expect(try fixture.open().inspection(with: fixture.lockedKeys).problems == [])
    }
}

@Suite("Secret memory of whole-vault operations")
struct WholeVaultMemoryTests {
    private static func fixtureOf600() throws -> VaultFixture {
        let fixture = try VaultFixture()
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { transaction in
            for number in 0..<600 {
                let position = transaction.positionOfVariable("KEY_\(number)")
                let value = Array("\(number) ".utf8) + [UInt8](repeating: 0x78, count: 1_000)
                try value.withBytes {
                    _ = try transaction.store($0, forVariableAt: position, at: 1)
                }
            }
        }
        return fixture
    }

    @Test func `verifying 600 values takes few regions`() async {
        // In its own process: the count is per process, and other tests allocate secret memory too.
        await #expect(processExitsWith: .success) {
            let fixture = try WholeVaultMemoryTests.fixtureOf600()
            let start = SecretMemory.allocationCount
            #expect(try fixture.open().inspection(with: fixture.keys).versionCount == 600)
            #expect(SecretMemory.allocationCount - start <= 64)
        }
    }

    @Test func `rekeying 600 values keeps them all`() throws {
        let fixture = try Self.fixtureOf600()
        let new = try fixture.rekey(to: "second")
        let inspection = try fixture.open().inspection(with: new)
        #expect(inspection.problems == [])
        #expect(inspection.versionCount == 600)
    }
}

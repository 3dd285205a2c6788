import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("A vault")
struct VaultTests {
    @Test func `values are read back`() throws {
        let fixture = try VaultFixture()
        try fixture.set("FIRST", "first")
        try fixture.set("SECOND", "second")
        #expect(try fixture.value(of: "FIRST") == "first")
        #expect(try fixture.value(of: "SECOND") == "second")
        try fixture.open().verify(with: fixture.keys)
        try fixture.open().verify(with: try fixture.lockedKeys)
    }

    @Test(arguments: [0, 1, 123, 124, 125, 1_020, 1_021, 4_096, 65_536, 1 << 20])
    func `a value of any length is read back`(length: Int) throws {
        let fixture = try VaultFixture()
        let value = String(repeating: "v", count: length)
        try fixture.set("KEY", value)
        #expect(try fixture.value(of: "KEY") == value)
    }

    @Test func `a value over one mebibyte is refused and nothing changes`() throws {
        let fixture = try VaultFixture()
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        let refused = code { try fixture.set("KEY", String(repeating: "v", count: 1 << 20 + 1)) }
        #expect(refused == .tooLarge)
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path)) == before)
    }

    @Test func `the right passphrase opens the values, a wrong one opens nothing`() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.open()
        let keys = try vault.open(
            with: try VaultFixture.passphrase("right"), memoryLimitBytes: nil
        ).keys
        #expect(keys.opensValues)
        let wrong = code {
            _ = try vault.open(
                with: try VaultFixture.passphrase("wrong"), memoryLimitBytes: nil
            ).keys
        }
        #expect(wrong == .wrongPassphrase)
    }

    @Test func `too little memory for the passphrase is reported before any is allocated`() throws {
        let fixture = try VaultFixture()
        let refused = code {
            _ = try fixture.open().open(
                with: try VaultFixture.passphrase("right"), memoryLimitBytes: 4 << 20
            ).keys
        }
        #expect(refused == .outOfMemory)
    }

    @Test func `the keyring's slot opens the index but no values`() throws {
        let keyring = FakeKeyring()
        let fixture = try VaultFixture(keyring: keyring)
        try fixture.set("KEY", "value")
        let vault = try fixture.open()
        let slot = try #require(vault.header.slots.first { $0.kind == .secretService })
        guard let slotKey = try keyring.secret(for: slot.keyringItem(vault: vault.header.vaultID))
        else {
            Issue.record("the keyring has no slot key")
            return
        }
        let keys = try #require(try vault.unlock(slot, slotKey: slotKey))
        #expect(!keys.opensValues)
        let index = try vault.index(with: keys, extent: .everything)
        #expect(index.variables.map(\.name) == ["KEY"])
        let reader = try ValueReader(vault: vault, index: index, keys: keys)
        #expect(reader == nil)
    }

    @Test func `if the keyring fails, the passphrase still opens the vault`() throws {
        let keyring = FakeKeyring()
        keyring.failure = KeyringError(.locked, "locked")
        let fixture = try VaultFixture(keyring: keyring)
        #expect(try fixture.open().header.slots.map(\.kind) == [.passphrase])
    }

    @Test func `a second vault at the same path is refused`() throws {
        let fixture = try VaultFixture()
        let before = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        let refused = code {
            _ = try Vault.create(
                at: fixture.path, in: fixture.store,
                passphrase: try VaultFixture.passphrase("other"),
                recipe: .init(cost: VaultFixture.cost, keyring: nil, time: 1))
        }
        #expect(refused == .exists)
        #expect(try Data(contentsOf: URL(fileURLWithPath: fixture.path)) == before)
    }

    @Test func `earlier versions stay and numbers never repeat`() throws {
        let fixture = try VaultFixture()
        #expect(try fixture.set("KEY", "one") == 1)
        #expect(try fixture.set("KEY", "two") == 2)
        #expect(try fixture.set("KEY", "three") == 3)
        let vault = try fixture.open()
        let index = try vault.index(with: fixture.keys, extent: .everything)
        #expect(index.earlierVersions.map(\.version) == [1, 2])
        let reader = try #require(
            try ValueReader(vault: vault, index: index, keys: fixture.keys))
        let first = try reader.value(
            of: index.variables[0], index.earlierVersions[0], in: SecretArena())
        #expect(first.count == 3)
    }

    @Test func `deleting an earlier version closes the gap and keeps the others`() throws {
        let fixture = try VaultFixture()
        for value in ["one", "two", "three"] { try fixture.set("A", value) }
        try fixture.set("B", "bee")
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { $0.index.earlierVersions.remove(at: 0) }
        #expect(try fixture.value(of: "A") == "three")
        #expect(try fixture.value(of: "B") == "bee")
        try fixture.open().verify(with: fixture.keys)
    }

    @Test func `a change without effect writes nothing`() throws {
        let fixture = try VaultFixture()
        try fixture.set("KEY", "value")
        let before = try fixture.open().header.generation
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { _ in }
        #expect(try fixture.open().header.generation == before)
    }

    @Test func `values of one write share a data key, which is dropped with the last of them`()
        throws
    {
        let fixture = try VaultFixture()
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { transaction in
            for name in ["A", "B"] {
                let position = transaction.positionOfVariable(name)
                _ = try Array(name.utf8).withBytes {
                    try transaction.store($0, forVariableAt: position, at: 2_000)
                }
            }
        }
        func batches() throws -> [Batch] {
            try fixture.open().index(with: fixture.keys, extent: .everything).batches
        }
        let first = try batches()
        #expect(first.count == 1)
        try fixture.set("C", "another write")
        // A data key of an earlier write stays byte for byte.
        #expect(try batches().count == 2 && batches().contains(first[0]))
        for name in ["A", "B"] {
            #expect(try batches().contains(first[0]))
            try Vault.update(
                fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
            ) { transaction in
                let position = transaction.positionOfVariable(name)
                let id = transaction.index.variables[position].id
                transaction.erase(Set([id]))
            }
        }
        #expect(try batches().map(\.id) != first.map(\.id) && batches().count == 1)
        #expect(try fixture.value(of: "C") == "another write")
    }

    @Test func `a renamed record keeps its values, and its versions the name from before`() throws {
        let fixture = try VaultFixture()
        for value in ["one", "two"] { try fixture.set("OLD", value) }
        func rename(to name: String) throws {
            try Vault.update(
                fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
            ) { try $0.rename(at: [0], to: name, time: 5_000) }
        }
        try rename(to: "NEW")
        try fixture.set("NEW", "three")
        try rename(to: "NEWEST")
        let index = try fixture.open().index(with: fixture.keys, extent: .everything)
        #expect(index.earlierVersions.map(\.formerName) == ["OLD", "OLD"])
        #expect(index.currentVersions.values.map(\.formerName) == ["NEW"])
        #expect(Array(index.formerNames.values) == [["OLD", "NEW"]])
        #expect(try fixture.value(of: "NEWEST") == "three")
        try fixture.open().verify(with: fixture.keys)
    }

    @Test func `a new value is refused without a trap once the numbers are used up`() throws {
        let fixture = try VaultFixture()
        try fixture.set("KEY", "value")
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { $0.index.variables[0].highestVersion = .max }
        #expect(code { try fixture.set("KEY", "x") } == .tooLarge)
        #expect(try fixture.value(of: "KEY") == "value")
    }

    @Test func `each generation remembers its ancestors`() throws {
        let fixture = try VaultFixture()
        let firstTag = try fixture.open().tableTag()
        try fixture.set("KEY", "one")
        try fixture.set("KEY", "two")
        let index = try fixture.open().index(with: fixture.keys, extent: .listing)
        #expect(index.metadata.generationTags.map(\.generation) == [1, 2])
        #expect(index.metadata.generationTags[0].tag == firstTag)
    }

    @Test func `concurrent writers lose nothing`() throws {
        let fixture = try VaultFixture()
        nonisolated(unsafe) let shared = fixture
        DispatchQueue.concurrentPerform(iterations: 12) { number in
            for round in 0..<3 {
                do {
                    try unsafe shared.set("KEY_\(number)_\(round)", "value \(number)")
                } catch { Issue.record(error) }
            }
        }
        let index = try fixture.open().index(with: fixture.keys, extent: .everything)
        #expect(index.variables.count == 36)
        try fixture.open().verify(with: fixture.keys)
    }
}

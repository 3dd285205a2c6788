import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

extension VaultFixture {
    /// Rekeys to a slot that opens with `passphrase`, and returns the new keys.
    @discardableResult
    func rekey(to passphrase: String, in store: (any FileStore)? = nil) throws -> VaultKeys {
        let vault = try open()
        let newKeys = try vault.newKeys()
        let slot = try passphraseSlot(passphrase, keys: newKeys)
        _ = try Vault.rekey(
            path, in: store ?? self.store, vaultID: vaultID,
            .init(
                oldKeys: keys, newKeys: newKeys, oldSlots: vault.header.slots, newSlots: [slot]))
        return newKeys
    }
}

@Suite("A rekeyed vault")
struct RekeyTests {
    @Test func `holds every version under new keys; the old keys open nothing`() throws {
        let fixture = try VaultFixture()
        for value in ["one", "two", "three"] { try fixture.set("A", value) }
        try fixture.set("B", "bee")
        let old = try fixture.open()
        let oldIndex = try old.index(with: fixture.keys, extent: .everything)
        let new = try fixture.rekey(to: "right")
        let vault = try fixture.open()
        #expect(vault.header.vaultID == old.header.vaultID)
        #expect(vault.header.generation == old.header.generation + 1)
        #expect(vault.header.indexEpoch == old.header.indexEpoch + 1)
        #expect(vault.header.publicKey != old.header.publicKey)
        let inspection = try vault.inspection(with: new)
        #expect(inspection.problems == [])
        #expect(inspection.versionCount == 4)
        #expect(inspection.opensValues)
        #expect(code { try vault.verify(with: fixture.keys) } == .epochChanged)

        let index = try vault.index(with: new, extent: .everything)
        #expect(index.variables == oldIndex.variables)
        #expect(index.metadata.generationTags.last?.tag == (try old.tableTag()))
        #expect(index.formerLogKeys.count == 1)
        let reader = try #require(try ValueReader(vault: vault, index: index, keys: new))
        var values: [String] = []
        for version in index.earlierVersions + Array(index.currentVersions.values) {
            let variable = try #require(index.variables.first { $0.id == version.variable })
            let slice = try reader.value(of: variable, version, in: SecretArena())
            let text = slice.withBytes { bytes in
                String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
            }
            values.append("\(variable.name) \(version.version) \(text)")
        }
        #expect(values.sorted() == ["A 1 one", "A 2 two", "A 3 three", "B 1 bee"])
        // All under one data key, and signed by the new root.
        #expect(index.batches.count == 1)
        #expect(try vault.inspection(with: try new.indexTier()).problems == [])
    }

    @Test func `shares no chunk, data key or public key with the old file`() throws {
        let fixture = try VaultFixture()
        try fixture.set("A", String(repeating: "x", count: 300))
        let old = try fixture.open()
        let oldIndex = try old.index(with: fixture.keys, extent: .everything)
        let oldChunk = try old.chunk(of: try #require(oldIndex.currentVersions.values.first))
        try fixture.rekey(to: "right")
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.path)))
        for part in [Array(oldChunk.prefix(24)), Array(oldChunk.suffix(16)), old.header.publicKey] {
            #expect(bytes.firstRange(of: part) == nil)
        }
    }

    @Test func `keeps tokens, and reseals those of the value tier`() throws {
        let fixture = try VaultFixture()
        let arena = SecretArena()
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { transaction in
            let token = try Array("token".utf8).withBytes { try arena.copy($0) }
            transaction.index.accounts = [
                Account(
                    name: "open", origin: "o", userID: "u", username: "n", isDefault: true,
                    createdAt: 1, secret: token),
                Account(
                    name: "sealed", origin: "o", userID: "u", username: "n", isDefault: false,
                    createdAt: 1, protection: .values, secret: token),
            ]
            transaction.index.accounts[1].secret = try transaction.protected(
                token, for: transaction.index.accounts[1], in: arena)
        }
        let new = try fixture.rekey(to: "right")
        let index = try fixture.open().index(with: new, extent: .everything)
        let sealed = try #require(index.account(named: "sealed"))
        let token = try new.token(of: sealed, vault: fixture.vaultID, in: arena)
        let open = try #require(index.account(named: "open")).secret
        #expect(token.withBytes { token in open.withBytes { $0.isEqualInConstantTime(to: token) } })
        #expect(open.count == 5)
    }

    @Test
    func `is refused with unplanned slots, without a person's slot, and when damaged`()
        throws
    {
        let fixture = try VaultFixture()
        try fixture.set("A", "value")
        let vault = try fixture.open()
        let newKeys = try vault.newKeys()
        let slot = try fixture.passphraseSlot("right", keys: newKeys)
        let added = try fixture.passphraseSlot("other")
        try fixture.updateSlots { try $0.add(added) }
        func rekey(_ old: [KeySlot], _ new: [KeySlot]) -> VaultError.Code? {
            code {
                _ = try Vault.rekey(
                    fixture.path, in: fixture.store, vaultID: fixture.vaultID,
                    .init(oldKeys: fixture.keys, newKeys: newKeys, oldSlots: old, newSlots: new))
            }
        }
        let before = try fixture.open().header
        #expect(rekey(vault.header.slots, [slot]) == .slotsChanged)
        #expect(rekey(before.slots, []) == .lastSlot)
        #expect(try fixture.open().header == before)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.path)))
        bytes[bytes.count - 1] ^= 1
        try fixture.directory.write(bytes, to: "vault.zgv")
        #expect(rekey(before.slots, [slot]) == .damaged)
        #expect([UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.path))) == bytes)
    }

    @Test func `can be written to and rekeyed again`() throws {
        let fixture = try VaultFixture()
        try fixture.set("A", "one")
        let first = try fixture.rekey(to: "second")
        try fixture.set("A", "two", keys: first)
        let vault = try fixture.open()
        let second = try vault.newKeys()
        let slot = try fixture.passphraseSlot("third", keys: second)
        _ = try Vault.rekey(
            fixture.path, in: fixture.store, vaultID: fixture.vaultID,
            .init(
                oldKeys: first, newKeys: second, oldSlots: vault.header.slots, newSlots: [slot]))
        #expect(fixture.opened("second").code == .wrongPassphrase)
        let keys = try #require(fixture.opened("third").keys)
        #expect(try fixture.open().inspection(with: keys).versionCount == 2)
        let index = try fixture.open().index(with: keys, extent: .everything)
        #expect(index.formerLogKeys.count == 2)
    }
}

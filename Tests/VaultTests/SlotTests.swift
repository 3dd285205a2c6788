import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("Slots")
struct SlotTests {
    @Test func `a second passphrase opens the same values`() throws {
        let fixture = try VaultFixture()
        try fixture.set("KEY", "value")
        let slot = try fixture.passphraseSlot("second")
        let before = try fixture.open().header.generation
        try fixture.updateSlots { try $0.add(slot) }
        #expect(try fixture.open().header.generation == before + 1)
        for passphrase in ["right", "second"] {
            let keys = try #require(fixture.opened(passphrase).keys)
            try fixture.open().verify(with: keys)
        }
        #expect(try fixture.value(of: "KEY") == "value")
    }

    @Test func `a replaced slot's passphrase no longer opens the vault`() throws {
        let fixture = try VaultFixture()
        try fixture.set("KEY", "value")
        let old = try fixture.open().header.slots[0]
        let new = try fixture.passphraseSlot("new")
        try fixture.updateSlots { try $0.replace(slot: old.id, with: new) }
        #expect(fixture.opened("right").code == .wrongPassphrase)
        #expect(fixture.opened("new").keys != nil)
        #expect(code { try fixture.updateSlots { try $0.remove(slot: old.id) } } == .slotsChanged)
        #expect(
            code { try fixture.updateSlots { try $0.replace(slot: old.id, with: new) } }
                == .slotsChanged)
    }

    @Test func `changing slots needs the root`() throws {
        let fixture = try VaultFixture()
        let slot = try fixture.passphraseSlot("second")
        let locked = try fixture.lockedKeys
        let before = try fixture.open().header
        #expect(
            code { try fixture.updateSlots(keys: locked) { try $0.add(slot) } } == .wrongPassphrase)
        #expect(
            code {
                try fixture.updateSlots(keys: locked) { try $0.remove(slot: before.slots[0].id) }
            } == .wrongPassphrase)
        #expect(code { _ = try fixture.passphraseSlot("x", keys: locked) } == .wrongPassphrase)
        #expect(try fixture.open().header == before)
    }

    @Test func `a person's last slot stays, whatever else opens the values`() throws {
        let fixture = try VaultFixture()
        let only = try fixture.open().header.slots[0]
        #expect(code { try fixture.updateSlots { try $0.remove(slot: only.id) } } == .lastSlot)
        let file = try fixture.keys.storedKeySlot(
            .file, .values, slotKey: try SecretBytes.random(count: 32), vault: fixture.vaultID,
            at: 1)
        try fixture.updateSlots { try $0.add(file) }
        #expect(code { try fixture.updateSlots { try $0.remove(slot: only.id) } } == .lastSlot)
        let recovery = try fixture.keys.recoverySlot(
            try .random(), vault: fixture.vaultID, at: 1)
        try fixture.updateSlots { try $0.add(recovery) }
        try fixture.updateSlots { try $0.remove(slot: only.id) }
        #expect(try fixture.open().header.slots == [file, recovery])
    }

    @Test func `there are at most 4 passphrases and 16 slots`() throws {
        let fixture = try VaultFixture()
        let passphrase = try fixture.passphraseSlot("again")
        for _ in 0..<3 {
            let slot = try fixture.passphraseSlot("more")
            try fixture.updateSlots { try $0.add(slot) }
        }
        #expect(code { try fixture.updateSlots { try $0.add(passphrase) } } == .tooLarge)
        func recovery() throws -> KeySlot {
            try fixture.keys.recoverySlot(try .random(), vault: fixture.vaultID, at: 1)
        }
        for _ in 0..<12 {
            let slot = try recovery()
            try fixture.updateSlots { try $0.add(slot) }
        }
        let surplus = try recovery()
        #expect(code { try fixture.updateSlots { try $0.add(surplus) } } == .tooLarge)
        #expect(try fixture.open().header.slots.count == 16)
        try fixture.open().verify(with: fixture.keys)
    }

    @Test(arguments: [KeySlot.Tier.index, .values])
    func `a stored key opens its tier only`(tier: KeySlot.Tier) throws {
        let fixture = try VaultFixture()
        let key = try SecretBytes.random(count: 32)
        let slot = try fixture.keys.storedKeySlot(
            .file, tier, slotKey: key, vault: fixture.vaultID, at: 1)
        try fixture.updateSlots { try $0.add(slot) }
        let keys = try #require(try fixture.open().unlock(slot, slotKey: key))
        #expect(keys.opensValues == (tier == .values))
        try fixture.open().verify(with: keys)
        #expect(try fixture.open().unlock(slot, slotKey: SecretBytes.random(count: 32)) == nil)
    }

    @Test func `a foreign or changed slot opens nothing`() throws {
        let fixture = try VaultFixture()
        let other = try VaultFixture()
        let foreign = try other.passphraseSlot("foreign")
        try fixture.updateSlots { try $0.add(foreign) }
        #expect(fixture.opened("foreign").code == .wrongPassphrase)
        #expect(fixture.opened("right").keys != nil)
    }

    @Test func `concurrent writers of values and slots lose nothing`() throws {
        let fixture = try VaultFixture()
        let slot = try fixture.passphraseSlot("second")
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { transaction in
            let position = transaction.positionOfVariable("KEY")
            try Array("value".utf8).withBytes {
                _ = try transaction.store($0, forVariableAt: position, at: 1)
            }
            try transaction.add(slot)
        }
        #expect(try fixture.value(of: "KEY") == "value")
        #expect(try fixture.open().header.slots.count == 2)
    }

    @Test func `a keyring that stores something else is found before anything relies on it`() throws
    {
        struct Forgetful: Keyring {
            let name = "the forgetful keyring"
            func isUnlocked() throws(KeyringError) -> Bool { true }
            func store(
                _ secret: borrowing SecretBytes, for item: KeyringItem
            ) throws(KeyringError) {}
            func secret(
                for item: KeyringItem, where isWanted: (borrowing SecretBytes) -> Bool
            ) throws(KeyringError) -> SecretBytes? { nil }
            func remove(_ item: KeyringItem) throws(KeyringError) {}
        }
        let fixture = try VaultFixture(keyring: Forgetful())
        #expect(try fixture.open().header.slots.map(\.kind) == [.passphrase])
    }
}

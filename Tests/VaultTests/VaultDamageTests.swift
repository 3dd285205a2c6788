import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("A damaged vault")
struct VaultDamageTests {
    private func verify(_ bytes: [UInt8], _ keys: VaultKeys) -> VaultError.Code? {
        code { try Vault(opening: "memory", in: MemoryStore(bytes)).verify(with: keys) }
    }

    @Test func `a newer format is reported as newer only if the checksum is valid`() throws {
        let fixture = try VaultFixture()
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.path)))
        bytes[8] = 3
        #expect(verify(bytes, fixture.keys) == .damaged)
        let length = try VaultHeader.headerByteCount(ofPrefix: Array(bytes.prefix(16)))
        let checksum = Array(bytes[..<(length - 32)]).withBytes { Digest.checksum($0) }
        bytes.replaceSubrange((length - 32)..<length, with: checksum)
        #expect(verify(bytes, fixture.keys) == .newerFormat)
    }

    @Test func `a value moved to another variable with the index key is refused`()
        throws
    {
        let fixture = try VaultFixture()
        try fixture.set("A", "one")
        try fixture.set("B", "two")
        try Vault.update(
            fixture.path, in: fixture.store, keys: try fixture.lockedKeys,
            vaultID: fixture.vaultID
        ) { transaction in
            guard let a = transaction.index.variables.firstIndex(where: { $0.name == "A" }),
                let b = transaction.index.variables.firstIndex(where: { $0.name == "B" })
            else { return }
            transaction.index.variables[a].name = "B"
            transaction.index.variables[b].name = "A"
        }
        #expect(code { _ = try fixture.value(of: "A") } == .damaged)
    }

    @Test func `a replaced public key is found when the values are opened`() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.open()
        var header = vault.header
        header.publicKey = [UInt8](repeating: 9, count: 32)
        let sealed = try header.sealing(
            try vault.index(with: fixture.keys, extent: .everything), keys: fixture.keys,
            chunksByteCount: 0)
        let forged = MemoryStore(sealed.header + sealed.index)
        let found = code {
            let vault = try Vault(opening: "memory", in: forged)
            let keys = try vault.open(
                with: try VaultFixture.passphrase("right"), memoryLimitBytes: nil
            ).keys
            _ = try vault.index(with: keys, extent: .currentValues)
        }
        #expect(found == .damaged)
    }

    @Test func `random bytes are refused without a trap`() throws {
        let fixture = try VaultFixture()
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var bytes = (0..<Int.random(in: 0...600, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            if Bool.random(), bytes.count > 20 {
                bytes.replaceSubrange(0..<8, with: VaultFormat.magic)
                bytes.replaceSubrange(8..<16, with: [1, 0, 0, 0, 152, 0, 0, 0])
            }
            #expect(verify(bytes, fixture.keys) == .damaged)
        }
    }
}

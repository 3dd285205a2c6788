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

    @Test func `another format is reported as such only if the checksum is valid`() throws {
        let fixture = try VaultFixture()
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.path)))
        let length = try VaultHeader.headerByteCount(ofPrefix: Array(bytes.prefix(16)))
        let formats: [(UInt8, VaultError.Code)] = [
            (4, .newerFormat), (2, .preReleaseFormat), (1, .preReleaseFormat), (0, .damaged),
        ]
        for (format, expected) in formats {
            bytes[8] = format
            #expect(verify(bytes, fixture.keys) == .damaged)
            let checksum = Array(bytes[..<(length - 32)]).withBytes { Digest.checksum($0) }
            bytes.replaceSubrange((length - 32)..<length, with: checksum)
            #expect(verify(bytes, fixture.keys) == expected, "\(format)")
        }
    }

    @Test func `a value moved to another variable does not open`() throws {
        let fixture = try VaultFixture()
        try fixture.set("A", "one")
        try fixture.set("B", "two")
        func exchange(_ index: inout VaultIndex) throws {
            let ids = index.variables.map(\.id)
            let first = try #require(index.currentVersions[ids[0]])
            let second = try #require(index.currentVersions[ids[1]])
            index.currentVersions[ids[0]] = second.moved(to: first)
            index.currentVersions[ids[1]] = first.moved(to: second)
        }
        let good = try TamperedFile(fixture)
        try fixture.forge(changing: exchange)
        #expect(fixture.damage(for: fixture.keys) == .signature)
        try good.restoreOriginal()
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { try exchange(&$0.index) }
        #expect(kindOfDamage { _ = try fixture.value(of: "A") } == .value)
        #expect(verify(try fixture.directory.read("vault.zgv"), fixture.keys) == .damaged)
    }

    @Test func `a replaced public key is found when the values are opened`() throws {
        let fixture = try VaultFixture()
        let forged = MemoryStore(
            try IndexKeyWriter.file(
                of: try fixture.open(), keys: try fixture.lockedKeys,
                header: { $0.publicKey = try IndexKeyWriter.publicKey() }, proof: .own)
        )
        let found = kindOfDamage {
            let vault = try Vault(opening: "memory", in: forged)
            let keys = try vault.open(
                with: try VaultFixture.passphrase("right"), memoryLimitBytes: nil
            ).keys
            _ = try vault.index(with: keys, extent: .currentValues)
        }
        #expect(found == .exchangedKey)
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
                bytes.replaceSubrange(8..<16, with: [3, 0, 0, 0, 152, 0, 0, 0])
            }
            #expect(verify(bytes, fixture.keys) == .damaged)
        }
    }
}

extension StoredVersion {
    /// This version's chunk in place of another version's.
    func moved(to other: StoredVersion) -> StoredVersion {
        StoredVersion(
            variable: other.variable, version: other.version, id: other.id, batch: batch,
            offset: offset, length: length, checksum: checksum, createdAt: other.createdAt,
            formerName: other.formerName)
    }
}

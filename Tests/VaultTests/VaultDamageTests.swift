import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("A damaged vault")
struct VaultDamageTests {
    /// A store that shows one file whose bytes the test chose.
    private struct MemoryStore: FileStore {
        final class File: ReadableFile {
            let bytes: [UInt8]
            init(_ bytes: [UInt8]) { self.bytes = bytes }
            var byteCount: UInt64 { UInt64(bytes.count) }
            func read(at offset: UInt64, count: Int) throws(VaultError) -> [UInt8] {
                guard offset <= byteCount, UInt64(count) <= byteCount - offset else {
                    throw VaultError(damaged: .truncated, "short")
                }
                return Array(bytes[Int(offset)..<Int(offset) + count])
            }
        }

        let bytes: [UInt8]
        func open(_ path: String) throws(VaultError) -> any ReadableFile { File(bytes) }
        func exists(_ path: String) throws(VaultError) -> Bool { true }
        func withLock<R: ~Copyable>(_ path: String, _ body: () throws -> R) throws -> R {
            try body()
        }
        func prepareDirectory(of path: String) throws(VaultError) {}
        func openCopy(_ path: String) throws(VaultError) -> any ReadableFile { File(bytes) }
        func write(
            _ parts: [FilePart], to path: String, replaces: Bool,
            check: (any ReadableFile) throws -> Void
        ) throws {
            throw VaultError(.inputOutput, "read only")
        }
        func replace(_ path: String, with parts: [FilePart]) throws(VaultError) {
            throw VaultError(.inputOutput, "read only")
        }
    }

    private func verify(_ bytes: [UInt8], _ keys: VaultKeys) -> VaultError.Code? {
        code { try Vault(opening: "memory", in: MemoryStore(bytes: bytes)).verify(with: keys) }
    }

    /// What a command that reads one value gets: the value, or the code of the error.
    private func reveal(_ bytes: [UInt8], _ keys: VaultKeys) -> (String?, VaultError.Code?) {
        var value: String?
        let error = code {
            let vault = try Vault(opening: "memory", in: MemoryStore(bytes: bytes))
            let index = try vault.index(with: keys, extent: .currentValues)
            guard let reader = try ValueReader(vault: vault, index: index, keys: keys),
                let variable = index.variables.first(where: { $0.name == "A" }),
                let slice = try reader.currentValue(of: variable, in: SecretArena())
            else { return }
            value = slice.withBytes { bytes in
                String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
            }
        }
        return (value, error)
    }

    @Test func `every flipped byte is found by verify and gives no command a wrong value`() throws {
        let fixture = try VaultFixture(keyring: FakeKeyring())
        try fixture.set("A", "the right value")
        try fixture.set("B", "another", keys: try fixture.lockedKeys)
        let good = [UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.path)))
        #expect(verify(good, fixture.keys) == nil)
        var wrong: [Int] = []
        for offset in good.indices {
            var bytes = good
            bytes[offset] ^= 1 << UInt8(offset % 8)
            let (value, error) = reveal(bytes, fixture.keys)
            let isRight = error == .damaged || (error == nil && value == "the right value")
            if verify(bytes, fixture.keys) != .damaged || !isRight { wrong.append(offset) }
        }
        #expect(wrong == [], "offsets of \(good.count) bytes")
    }

    @Test func `every truncation and extension is damage`() throws {
        let fixture = try VaultFixture()
        try fixture.set("A", "the right value")
        let good = [UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.path)))
        var wrong: [Int] = []
        for length in good.indices where verify(Array(good[..<length]), fixture.keys) != .damaged {
            wrong.append(length)
        }
        #expect(wrong == [])
        #expect(verify(good + [0], fixture.keys) == .damaged)
    }

    @Test func `a newer format is said to be newer, and only when the checksum holds`() throws {
        let fixture = try VaultFixture()
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: fixture.path)))
        bytes[8] = 2
        #expect(verify(bytes, fixture.keys) == .damaged)
        let length = try VaultHeader.headerByteCount(ofPrefix: Array(bytes.prefix(16)))
        let checksum = Array(bytes[..<(length - 32)]).withBytes { Digest.checksum($0) }
        bytes.replaceSubrange((length - 32)..<length, with: checksum)
        #expect(verify(bytes, fixture.keys) == .newerFormat)
    }

    @Test func `a value moved to another variable by somebody with the index key is refused`()
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

    @Test func `an exchanged public key is found when the values are opened`() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.open()
        var header = vault.header
        header.publicKey = [UInt8](repeating: 9, count: 32)
        let sealed = try header.sealing(
            try vault.index(with: fixture.keys, extent: .everything), keys: fixture.keys,
            chunksByteCount: 0)
        let forged = MemoryStore(bytes: sealed.header + sealed.index)
        let found = code {
            _ = try Vault(opening: "memory", in: forged).unlock(
                passphrase: try VaultFixture.passphrase("right"), memoryLimitBytes: nil)
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

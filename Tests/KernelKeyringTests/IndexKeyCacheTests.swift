import CLinux
import Foundation
import Sealing
import TestSupport
import Testing
import Vault

@testable import KernelKeyring

@Suite("The index key in the user keyring")
struct IndexKeyCacheTests {
    private let vault = Identifier.random()
    private let key: [UInt8] = Array(1...32)

    private func cache(epoch: UInt32 = 1, publicKey: UInt8 = 9) -> IndexKeyCache {
        IndexKeyCache(
            vault: vault, epoch: epoch, publicKey: [UInt8](repeating: publicKey, count: 32))
    }

    private func store(_ cache: IndexKeyCache) throws {
        try key.withBytes { try cache.store($0) }
    }

    private func found(_ cache: IndexKeyCache) throws -> [UInt8]? {
        guard let found = try cache.find() else { return nil }
        return found.withBytes { bytes in (0..<bytes.byteCount).map { bytes.byte(at: $0) } }
    }

    @Test func `a cached key is found in all sessions until it is removed`() throws {
        let results = try LoginThread.run(.session) {
            let before = try found(cache())
            try store(cache())
            let here = try found(cache())
            let elsewhere = try LoginThread.run(.session) { try found(cache()) }
            try IndexKeyCache.forget(vault)
            return [before, here, elsewhere, try found(cache())]
        }
        #expect(results == [nil, key, key, nil])
    }

    @Test func `it belongs to one epoch and one public key, and replaces older ones`() throws {
        let results = try LoginThread.run(.session) {
            try store(cache())
            let others = [try found(cache(epoch: 2)), try found(cache(publicKey: 8))]
            try store(cache(epoch: 2))
            let old = try found(cache())
            let new = try found(cache(epoch: 2))
            try IndexKeyCache.forget(vault)
            return others + [old, new]
        }
        #expect(results == [nil, nil, nil, key])
    }

    @Test func `lock removes it, and keeps another vault's`() throws {
        let results = try LoginThread.run(.session) {
            let other = IndexKeyCache(
                vault: .random(), epoch: 1, publicKey: [UInt8](repeating: 1, count: 32))
            try store(cache())
            try store(other)
            let wasUnlocked = try UnlockCache.lock(vault)
            return [try found(cache()), try found(other), wasUnlocked ? [1] : [0]]
        }
        #expect(results == [nil, key, [0]])
    }

    @Test func `the kernel removes it after ten minutes, and only its uid can use it`() throws {
        let text = try LoginThread.run(.session) {
            try store(cache())
            defer { try? IndexKeyCache.forget(vault) }
            // To the end: the kernel returns the list in parts, without its size.
            let keys = try #require(FileHandle(forReadingAtPath: "/proc/keys"))
            return String(decoding: try keys.readToEnd() ?? Data(), as: UTF8.self)
        }
        // Serial, flags, uses, time left, permissions, and the description.
        let line = try #require(
            text.split(separator: "\n").first { $0.contains("\(vault.hexadecimal):index-key:1") })
        let fields = line.split(separator: " ")
        #expect(["9m", "10m"].contains(fields[3]), "\(line)")
        #expect(fields[4] == "003b0000", "\(line)")
    }

    @Test func `another user does not find it, even if su kept the session`() throws {
        let stolen = try LoginThread.run(.sessionWithUserKeyring) {
            try store(cache())
            defer { try? IndexKeyCache.forget(vault) }
            return try LoginThread.run(.sessionWithUserKeyring) {
                try LoginThread.becomeNobody()
                return try? found(cache())
            }
        }
        #expect(stolen == nil)
    }

    // MARK: The program

    @Test func `list caches it if configured, for commands that show names`() throws {
        let home = try CommandHome()
        try home.initialise()
        try home.store(["A": "first"])
        let results = try LoginThread.run(.session) {
            func locked(_ arguments: String...) throws -> ProgramResult {
                try home.run(arguments + ["-p", "web"], unlocked: false)
            }
            var results = [
                try home.run(["list", "-p", "web"]), try locked("list"),
                try home.run(["config", "set", "cache-index", "true"]),
                try locked("list"),
                try home.run(["list", "-p", "web"]), try locked("list"), try locked("show", "A"),
                try locked("history", "A"), try locked("status", "--json"),
                try locked("reveal", "A"), try locked("export"),
                try home.run(["set", "B", "-p", "web"], input: .text("x"), unlocked: false),
            ]
            // Switched off again, it is not used even if it is there.
            results.append(try home.run(["config", "set", "cache-index", "false"]))
            results.append(try locked("list"))
            results.append(try home.run(["config", "set", "cache-index", "true"]))
            results.append(try locked("list"))
            results.append(try home.run(["lock"]))
            results.append(try locked("list"))
            // New keys invalidate it.
            results.append(try home.run(["list", "-p", "web"]))
            results.append(try home.run(["rekey", "--yes"]))
            results.append(try locked("list"))
            _ = try home.run(["lock"])
            return results
        }
        #expect(
            results.map(\.status) == [
                0, 3, 0, 3, 0, 0, 0, 0, 0, 3, 3, 3, 0, 3, 0, 0, 0, 3, 0, 0, 3,
            ], "\(results.map(\.error))")
        #expect(results[5].output.contains("A "))
        #expect(try JSONDocument(results[8].standardOutput)["index"] == "open")
    }

    @Test func `without kernel keyrings list asks each time, and explains why when asked`()
        throws
    {
        let home = try CommandHome()
        try home.initialise()
        try home.store(["A": "first"])
        let results = try LoginThread.run(.forbidden(EPERM)) {
            [
                try home.run(["config", "set", "cache-index", "true"]),
                try home.run(["list", "-p", "web", "--verbose"]),
                try home.run(["list", "-p", "web"], unlocked: false),
            ]
        }
        #expect(results.map(\.status) == [0, 0, 3])
        #expect(results[1].error.contains("The index key was not cached"))
    }
}

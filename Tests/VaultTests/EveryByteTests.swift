import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

/// Flips every byte of a small vault and tries every length, in all the ways in which commands read
/// one. By default one bit of every byte is flipped for `verify`, and some bytes for the others;
/// ZG_ENV_PROOF=full flips every bit for all.
@Suite("Every byte of a vault")
struct EveryByteTests {
    /// The result of one way of reading.
    private enum Outcome: Equatable {
        case damaged
        /// The text that was read.
        case read(String)
        case other(String)
    }

    private let fixture: VaultFixture
    private let good: [UInt8]
    private let locked: VaultKeys

    init() throws {
        fixture = try VaultFixture(keyring: FakeKeyring())
        try fixture.set("A", "before")
        try fixture.set("A", "the right value")
        locked = try fixture.lockedKeys
        try fixture.set("B", "another")
        good = try fixture.directory.read("vault.zgv")
    }

    private func outcome(_ body: () throws -> String) -> Outcome {
        do {
            return .read(try body())
        } catch let error as VaultError where error.code == .damaged && error.damage != nil {
            return .damaged
        } catch {
            return .other("\(error)")
        }
    }

    private func verify(_ bytes: [UInt8], _ keys: VaultKeys) -> Outcome {
        outcome {
            try Vault(path: "memory", file: MemoryFile(bytes)).verify(with: keys)
            return "whole"
        }
    }

    /// Reads what `list` and `show` read: the index alone.
    private func list(_ bytes: [UInt8], _ keys: VaultKeys) -> Outcome {
        outcome {
            let vault = try Vault(path: "memory", file: MemoryFile(bytes))
            let index = try vault.index(with: keys, extent: .listing)
            return index.variables.map { "\($0)" }.joined() + "\(index.projects)"
        }
    }

    /// Reads what `reveal` reads, one current value, and what `history` and `restore-version` read,
    /// an earlier one.
    private func reveal(_ bytes: [UInt8], earlier: Bool) -> Outcome {
        outcome {
            let vault = try Vault(path: "memory", file: MemoryFile(bytes))
            let index = try vault.index(
                with: fixture.keys, extent: earlier ? .everything : .currentValues)
            guard let reader = try ValueReader(vault: vault, index: index, keys: fixture.keys),
                let variable = index.variables.first(where: { $0.name == "A" }),
                let version = earlier
                    ? index.earlierVersions.first : index.currentVersions[variable.id]
            else { return "no value" }
            return try reader.value(of: variable, version, in: SecretArena()).withBytes { bytes in
                String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
            }
        }
    }

    /// Does what `set B` does; then reads what `reveal A` reads of the result.
    private func setAndReveal(_ bytes: [UInt8]) -> Outcome {
        let store = MemoryStore(bytes)
        let written = outcome {
            try Vault.update("memory", in: store, keys: fixture.keys, vaultID: fixture.vaultID) {
                transaction in
                guard let b = transaction.index.variables.firstIndex(where: { $0.name == "B" })
                else { return }
                _ = try Array("new".utf8).withBytes {
                    try transaction.store($0, forVariableAt: b, at: 9)
                }
            }
            return "written"
        }
        guard written == .read("written") else { return written }
        return reveal(store.bytes, earlier: false)
    }

    /// The results other than damage and the right answer, without those of `verify`.
    private func wrongReadings(_ bytes: [UInt8]) -> [String] {
        let readings: [(String, Outcome, Outcome)] = [
            ("list", list(bytes, fixture.keys), list(good, fixture.keys)),
            ("list while locked", list(bytes, locked), list(good, locked)),
            ("reveal", reveal(bytes, earlier: false), .read("the right value")),
            ("earlier", reveal(bytes, earlier: true), .read("before")),
            ("set", setAndReveal(bytes), .read("the right value")),
        ]
        return readings.filter { $0.1 != .damaged && $0.1 != $0.2 }.map { "\($0.0): \($0.1)" }
    }

    @Test func `a flipped byte is found by verify and gives no command a wrong answer`() throws {
        #expect(verify(good, fixture.keys) == .read("whole"))
        #expect(verify(good, locked) == .read("whole"))
        #expect(wrongReadings(good) == [])
        var random = ProofRandom(1)
        var wrong: [String] = []
        for offset in good.indices {
            let bit = Int.random(in: 0..<8, using: &random)
            for flipped in Proof.isFull ? Array(0..<8) : [bit] {
                var bytes = good
                bytes[offset] ^= 1 << UInt8(flipped)
                if verify(bytes, offset % 2 == 0 ? fixture.keys : locked) != .damaged {
                    wrong.append("\(offset).\(flipped): verify")
                }
                guard Proof.isFull || Int.random(in: 0..<8, using: &random) == 0 else { continue }
                wrong += wrongReadings(bytes).map { "\(offset).\(flipped): \($0)" }
            }
        }
        #expect(wrong == [], "\(random.seedText), of \(good.count) bytes")
    }

    @Test func `missing and additional bytes are damage for every reader`() throws {
        var random = ProofRandom(2)
        var wrong: [String] = []
        for length in good.indices {
            let bytes = Array(good[..<length])
            if verify(bytes, fixture.keys) != .damaged { wrong.append("\(length): verify") }
            guard Proof.isFull || Int.random(in: 0..<8, using: &random) == 0 else { continue }
            let readings = [
                list(bytes, fixture.keys), list(bytes, locked), reveal(bytes, earlier: false),
                reveal(bytes, earlier: true), setAndReveal(bytes),
            ]
            if readings != [Outcome](repeating: .damaged, count: 5) {
                wrong.append("\(length): \(readings)")
            }
        }
        for more in [1, 2, 24, 4_096] {
            let bytes = good + [UInt8](repeating: 0, count: more)
            if verify(bytes, fixture.keys) != .damaged { wrong.append("\(more) more") }
            if list(bytes, locked) != .damaged { wrong.append("\(more) more: list") }
        }
        #expect(wrong == [], "\(random.seedText)")
    }
}

/// A vault file in memory, which writes replace.
final class MemoryStore: FileStore {
    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func open(_ path: String) throws(VaultError) -> any ReadableFile { MemoryFile(bytes) }
    func openCopy(_ path: String) throws(VaultError) -> any ReadableFile { MemoryFile(bytes) }
    func exists(_ path: String) throws(VaultError) -> Bool { true }
    func remove(_ path: String) throws(VaultError) { bytes = [] }
    func prepareDirectory(of path: String) throws(VaultError) {}

    func withLock<R: ~Copyable>(_ path: String, _ body: () throws -> R) throws -> R { try body() }

    func replace(_ path: String, with parts: [FilePart]) throws(VaultError) {
        var new: [UInt8] = []
        for part in parts {
            switch part {
            case .bytes(let bytes): new += bytes
            case .copy(let file, let offset, let count):
                new += try file.read(at: offset, count: Int(count))
            }
        }
        bytes = new
    }

    func write(
        _ parts: [FilePart], to path: String, replaces: Bool,
        check: (any ReadableFile) throws -> Void
    ) throws {
        throw VaultError(.inputOutput, "this store replaces only")
    }
}

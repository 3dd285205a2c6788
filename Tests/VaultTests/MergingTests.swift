import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("Versions that repeat a value")
struct MergingTests {
    private let fixture: VaultFixture

    init() throws { fixture = try VaultFixture() }

    private func setLocked(_ name: String, _ value: String) throws {
        try fixture.set(name, value, keys: try fixture.lockedKeys)
    }

    private func index() throws -> VaultIndex {
        try fixture.open().index(with: fixture.keys, extent: .everything)
    }

    /// The numbers of A's versions, the current one last.
    private func versions() throws -> [UInt64] {
        let index = try index()
        let a = try #require(index.variables.first { $0.name == "A" })
        return index.earlierVersions.filter { $0.variable == a.id }.map(\.version).sorted()
            + [a.currentVersion]
    }

    @Test func `ten equal values written while locked become one when accepted`() throws {
        try fixture.set("A", "first")
        for _ in 0..<10 { try setLocked("A", "second") }
        try setLocked("A", "third")
        #expect(try versions() == Array(1...12))
        // A write that does not accept them cannot tell equal values from different ones.
        try fixture.set("B", "with the root")
        #expect(try versions() == Array(1...12))
        try fixture.acceptAll()
        #expect(try versions() == [1, 11, 12])
        #expect(try fixture.value(of: "A") == "third")
        #expect(code { try fixture.open().verify(with: fixture.keys) } == nil)
        // The highest number stays used.
        #expect(try fixture.set("A", "fourth") == 13)
    }

    @Test func `a value that recurs later is not merged`() throws {
        for value in ["one", "two", "one"] { try setLocked("A", value) }
        try fixture.acceptAll()
        #expect(try versions() == [1, 2, 3])
    }

    @Test func `a value set again with the root stays`() throws {
        try fixture.set("A", "same")
        try fixture.set("A", "same")
        try fixture.acceptAll()
        #expect(try versions() == [1, 2])
    }

    @Test func `a pushed and accepted version passes its state to the equal one`() throws {
        try fixture.set("A", "same")
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { transaction in
            transaction.index.variables[0].remote = RemoteState(
                id: "env_1", key: "A", account: "user_1", pushedVersion: 1,
                agreed: transaction.index.variables[0].attributes, updatedAt: 1, pushedAt: 1)
        }
        try setLocked("A", "same")
        try setLocked("A", "same")
        #expect(CheckpointComparison(of: try index()).changes.count == 1)
        try fixture.acceptAll()
        #expect(try versions() == [3])
        let now = try index()
        #expect(now.variables[0].remote?.pushedVersion == 3)
        #expect(CheckpointComparison(of: now).isEmpty)
    }

    @Test func `SEC-F6: a guess added beside a value reveals nothing until it is accepted`() throws
    {
        for guess in ["wrong", "right"] {
            let fixture = try VaultFixture()
            try fixture.set("A", "right")
            // The version that the guess replaces, sealed with the public key alone.
            try fixture.set("A", guess, keys: try fixture.lockedKeys)
            try Vault.update(
                fixture.path, in: fixture.store, keys: try fixture.lockedKeys,
                vaultID: fixture.vaultID
            ) { transaction in
                let isThere = transaction.makeCurrent(version: 1, ofVariableAt: 0, at: 3_000)
                #expect(isThere)
            }
            func shape() throws -> [UInt64] {
                let index = try fixture.open().index(
                    with: try fixture.lockedKeys, extent: .everything)
                return index.earlierVersions.map(\.version).sorted()
                    + index.variables.map(\.currentVersion).sorted()
            }
            #expect(try shape() == [2, 1])
            try fixture.set("B", "the next write with the root")
            try fixture.set("A", "right")
            try Vault.update(
                fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
            ) { transaction in
                transaction.rename(at: transaction.positionOfVariable("B"), to: "C", time: 4_000)
            }
            #expect(try shape() == [1, 2, 1, 3], "\(guess)")
        }
    }

    @Test func `SEC-F6: a guess in a gap between two numbers reveals nothing, and is listed`()
        throws
    {
        for guess in ["wrong", "right"] {
            let fixture = try VaultFixture()
            func change(
                _ keys: VaultKeys, _ body: (inout VaultTransaction) throws -> Void
            ) throws {
                try Vault.update(
                    fixture.path, in: fixture.store, keys: keys, vaultID: fixture.vaultID, body)
            }
            func index() throws -> VaultIndex {
                try fixture.open().index(with: fixture.keys, extent: .everything)
            }
            for value in ["right", "dropped", "right"] { try fixture.set("A", value) }
            try change(fixture.keys) { transaction in
                transaction.index.earlierVersions.removeAll { $0.version == 2 }
            }
            try change(try fixture.lockedKeys) { transaction in
                transaction.index.variables[0].highestVersion = 1
                let number = try Array(guess.utf8).withBytes {
                    try transaction.storeAside($0, forVariableAt: 0, at: 3_000)
                }
                #expect(number == 2)
                transaction.index.variables[0].highestVersion = 3
            }
            #expect(CheckpointComparison(of: try index()).changes.map(\.name) == ["A"])
            try fixture.set("B", "the next write with the root")
            try fixture.set("A", "right")
            let after = try index()
            let shape =
                after.earlierVersions.map(\.version).sorted()
                + after.variables.map(\.currentVersion).sorted()
            #expect(shape == [1, 2, 3, 1, 4], "\(guess)")
            #expect(CheckpointComparison(of: after).changes.map(\.name) == ["A"])
        }
    }

    @Test func `equal values with a gap between their numbers are not merged`() throws {
        for value in ["same", "other"] { try fixture.set("A", value) }
        try setLocked("A", "same")
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
        ) { transaction in
            transaction.index.earlierVersions.removeAll { $0.version == 2 }
        }
        try fixture.acceptAll()
        #expect(try versions() == [1, 3])
    }

    @Test func `values are still compared after a rename`() throws {
        try fixture.set("A", "same")
        try Vault.update(
            fixture.path, in: fixture.store, keys: try fixture.lockedKeys,
            vaultID: fixture.vaultID
        ) { $0.rename(at: 0, to: "NEW", time: 5) }
        try setLocked("NEW", "same")
        try fixture.acceptAll()
        #expect(try index().earlierVersions.isEmpty)
        #expect(try fixture.value(of: "NEW") == "same")
    }

    @Test func `an unfinished journal keeps every version`() throws {
        try setLocked("A", "same")
        try setLocked("A", "same")
        try Vault.update(
            fixture.path, in: fixture.store, keys: try fixture.lockedKeys,
            vaultID: fixture.vaultID
        ) {
            $0.index.journal.append(
                JournalEntry(id: .random(), kind: 200, createdAt: 1, payload: [1]))
        }
        try fixture.acceptAll()
        #expect(try versions() == [1, 2])
    }

    @Test func `a value that does not open is not merged and blocks no write`() throws {
        try setLocked("A", "same")
        try setLocked("A", "same")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        bytes[bytes.count - 1] ^= 1
        try bytes.write(to: URL(fileURLWithPath: fixture.path))
        try fixture.acceptAll()
        #expect(try versions() == [1, 2])
        #expect(code { try fixture.open().verify(with: fixture.keys) } == .damaged)
    }
}

import Sealing
import TestSupport
import Testing

@testable import Vault

/// A version number means one value of a name, also after records of two variables got one name.
@Suite("Renamed records")
struct RenamingTests {
    private let fixture: VaultFixture

    /// `A` and `B`, with two versions each.
    init() throws {
        fixture = try VaultFixture()
        for value in ["1", "2"] {
            for name in ["A", "B"] { try fixture.set(name, name + value) }
        }
    }

    private func update(_ change: (inout VaultTransaction) throws -> Void) throws {
        try Vault.update(
            fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID,
            change)
    }

    /// Renames a variable, and returns by how much its numbers grew.
    private func rename(_ name: String, to new: String) throws -> UInt64 {
        var growth: UInt64 = 0
        try update { transaction in
            let position = transaction.positionOfVariable(name)
            growth = try transaction.rename(at: [position], to: new, time: 5_000)
        }
        try fixture.open().verify(with: fixture.keys)
        return growth
    }

    /// The numbers of all versions, and the current one, by the value that a variable had last.
    private func numbers() throws -> [String: [UInt64]] {
        let vault = try fixture.open()
        let index = try vault.index(with: fixture.keys, extent: .everything)
        let opened = try ValueReader(vault: vault, index: index, keys: fixture.keys)
        let reader = try #require(opened)
        var found: [String: [UInt64]] = [:]
        for variable in index.variables {
            let slice = try reader.currentValue(of: variable, in: SecretArena())
            let value = try #require(slice)
            let text = value.withBytes { bytes in
                String(
                    decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
            }
            let versions = index.versions(of: [variable.id])[variable.id] ?? []
            found[text] = versions.map(\.version) + [variable.currentVersion]
        }
        return found
    }

    @Test func `the numbers of removed records of the name grow`() throws {
        try update { transaction in
            transaction.index.variables[transaction.positionOfVariable("B")].deletedAt = 4_000
        }
        #expect(try rename("A", to: "B") == 0)
        #expect(try numbers() == ["A2": [1, 2, 2], "B2": [3, 4, 4]])
        // The next value is neither's.
        try update { transaction in
            let found = transaction.index.variables.firstIndex { $0.isLive }
            let place = try #require(found)
            let number = try Array("new".utf8).withBytes {
                try transaction.store($0, forVariableAt: place, at: 6_000)
            }
            #expect(number == 5)
        }
    }

    @Test func `beside a record in use, the numbers of the renamed one grow`() throws {
        try update { transaction in
            let position = transaction.positionOfVariable("A")
            transaction.index.variables[position].remote = RemoteState(
                id: "env", key: "A", account: "u", pushedVersion: 2,
                agreed: transaction.index.variables[position].attributes, updatedAt: 1, pushedAt: 1)
        }
        #expect(try rename("A", to: "B") == 2)
        #expect(try numbers() == ["A2": [3, 4, 4], "B2": [1, 2, 2]])
        let index = try fixture.open().index(with: fixture.keys, extent: .everything)
        #expect(index.variables.compactMap(\.remote?.pushedVersion) == [4])
    }

    @Test func `without numbers left nothing is renamed`() throws {
        try update { transaction in
            for place in transaction.index.variables.indices {
                transaction.index.variables[place].highestVersion = .max
            }
        }
        let before = try fixture.directory.read("vault.zgv")
        let refusal = code { _ = try rename("A", to: "B") }
        #expect(refusal == .tooLarge)
        #expect(try fixture.directory.read("vault.zgv") == before)
    }

    @Test func `names differ by their bytes`() throws {
        let (composed, decomposed) = ("CAF\u{C9}", "CAFE\u{301}")
        _ = try rename("A", to: composed)
        _ = try rename(composed, to: decomposed)
        let index = try fixture.open().index(with: fixture.keys, extent: .everything)
        #expect(index.variables.contains { $0.name.utf8.elementsEqual(decomposed.utf8) })
    }

    @Test func `a value under a number that means another one gets a new number`() throws {
        try update { transaction in
            let place = transaction.positionOfVariable("A")
            func store(_ text: String) throws -> UInt64 {
                try Array(text.utf8).withBytes {
                    try transaction.store($0, as: 1, forVariablesAt: [place], at: 6_000)
                }
            }
            let (same, other) = (try store("A1"), try store("other"))
            #expect(same == 1 && other == 3)
        }
        #expect(try fixture.value(of: "A") == "other")
    }
}

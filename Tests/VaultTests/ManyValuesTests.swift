import Foundation
import Sealing
import TestSupport
import Testing

@testable import Vault

/// Thousands of values, opened by two threads.
@Suite("Many values")
struct ManyValuesTests {
    private let fixture: VaultFixture
    private static let count = 1_300

    /// In three batches, with values of several lengths.
    init() throws {
        fixture = try VaultFixture()
        for part in 0..<3 {
            try Vault.update(
                fixture.path, in: fixture.store, keys: fixture.keys, vaultID: fixture.vaultID
            ) { transaction in
                for number in 0..<Self.count where number % 3 == part {
                    let position = transaction.positionOfVariable("KEY_\(number)")
                    _ = try Array(Self.value(number).utf8).withBytes { bytes in
                        try transaction.store(bytes, forVariableAt: position, at: 2_000)
                    }
                }
            }
        }
    }

    private static func value(_ number: Int) -> String {
        String(repeating: "\(number) ", count: 1 + number % 60)
    }

    private func opened(
        _ choose: (VaultIndex) -> [Int]
    ) throws -> [(name: String, value: String?)] {
        let vault = try fixture.open()
        let index = try vault.index(with: fixture.keys, extent: .currentValues)
        let reader = try #require(
            try ValueReader(vault: vault, index: index, keys: fixture.keys))
        let positions = choose(index)
        let found = try reader.currentValues(at: positions, in: SecretArena())
        return zip(positions, found).map { position, slice in
            let text = slice?.withBytes { bytes in
                String(
                    decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
            }
            return (index.variables[position].name, text)
        }
    }

    @Test func `every value is read whole, in the order requested`() throws {
        for choose in [
            { Array($0.variables.indices) }, { $0.variables.indices.reversed() },
            { $0.variables.indices.shuffled() },
            // Some twice, and fewer than it takes to use two threads.
            { Array($0.variables.indices) + $0.variables.indices },
            { $0.variables.indices.prefix(100).map { $0 } },
        ] as [(VaultIndex) -> [Int]] {
            let found = try opened(choose)
            #expect(!found.isEmpty)
            for (name, value) in found {
                let number = try #require(Int(name.dropFirst(4)))
                #expect(value == Self.value(number))
            }
        }
    }

    @Test func `a changed value is an error, whichever thread opens it`() throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: fixture.path))
        let vault = try fixture.open()
        let index = try vault.index(with: fixture.keys, extent: .everything)
        let section = try #require(index.sections.first)
        let front = Int(vault.header.blocksOffset + section.chunksOffset)
        for place in [front + 30, (front + whole.count) / 2, whole.count - 20] {
            var changed = whole
            changed[place] ^= 1
            try changed.write(to: URL(fileURLWithPath: fixture.path))
            #expect(code { _ = try opened { Array($0.variables.indices) } } == .damaged)
        }
    }
}

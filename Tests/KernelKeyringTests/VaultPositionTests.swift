import Foundation
import Sealing
import TestSupport
import Testing
import Vault

@Suite("An older or different copy of a known vault")
struct VaultPositionTests {
    private let directory: TemporaryDirectory
    private let store = PosixFileStore(lockSeconds: 5)
    private let creation: Vault.Creation
    private var path: String { directory.path + "/vault.zgv" }

    init() throws {
        directory = try TemporaryDirectory()
        let passphrase = try Array("right".utf8).withBytes { try SecretBytes(copying: $0) }
        creation = try Vault.create(
            at: directory.path + "/vault.zgv", in: store, passphrase: passphrase,
            recipe: .init(
                cost: PassphraseCost(operations: 1, memoryByteCount: 8 << 20), keyring: nil,
                time: 1_000))
    }

    private func write(_ note: String) throws {
        try Vault.update(path, in: store, keys: creation.keys, vaultID: creation.vaultID) {
            $0.index.metadata.approve(
                .init(path: "/work", project: note, organisation: "", vaultProject: .random()))
        }
    }

    private func copy() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }
    private func restoreOriginal(_ data: Data) throws {
        try data.write(to: URL(fileURLWithPath: path))
    }
    private func position() throws -> VaultPosition {
        try Vault(opening: path, in: store).position()
    }

    /// The result of comparing the current vault with a position, or the error's code.
    private func verdict(_ seen: VaultPosition) throws -> Result<Bool, Problem> {
        let vault = try Vault(opening: path, in: store)
        do throws(VaultError) {
            return .success(try vault.follows(seen, with: creation.keys))
        } catch { return .failure(Problem(code: error.code, reason: error.reason)) }
    }

    private struct Problem: Error {
        let code: VaultError.Code
        let reason: String
    }

    private func isDamaged(_ seen: VaultPosition, _ word: String) throws -> Bool {
        guard case .failure(let problem) = try verdict(seen) else { return false }
        return problem.code == .damaged && problem.reason.contains(word)
    }

    @Test func `the same generation and later ones are successors`() throws {
        let seen = try position()
        #expect(try verdict(seen).get())
        for number in 0..<3 {
            try write("\(number)")
            #expect(try verdict(seen).get())
        }
    }

    @Test func `an older copy is detected`() throws {
        let old = try copy()
        try write("newer")
        let seen = try position()
        try restoreOriginal(old)
        #expect(try isDamaged(seen, "older copy"))
    }

    @Test func `the same generation of another history is detected, and its successors`() throws {
        let base = try copy()
        try write("one")
        let seen = try position()
        try restoreOriginal(base)
        try write("two")
        #expect(try position().generation == seen.generation)
        #expect(try isDamaged(seen, "is not based on"))
        try write("three")
        #expect(try isDamaged(seen, "is not based on"))
    }

    @Test func `a generation missing from a newer file's ancestors is detected`() throws {
        try write("one")
        let seen = VaultPosition(generation: 0, indexTag: try position().indexTag)
        #expect(try isDamaged(seen, "is not based on"))
    }

    @Test func `after more writes than the vault remembers it is unknown`() throws {
        let seen = try position()
        for number in 0..<1_024 { try write("\(number)") }
        #expect(try verdict(seen).get())
        try write("one more")
        #expect(try !verdict(seen).get())
    }

    @Test func `a root that is not the vault's does not open it`() throws {
        let vault = try Vault(opening: path, in: store)
        #expect(throws: VaultError.self) {
            let keys = try vault.unlock(root: try SecretBytes.random(count: 32))
            _ = try vault.index(with: keys, extent: .listing)
        }
    }
}

import Sealing
import TestSupport
import Testing

@testable import EnvOperations
@testable import Vault

@Suite("Pruning of versions")
struct HistoryTests {
    private static let day: UInt64 = 86_400_000
    private let directory: TemporaryDirectory
    private let store = PosixFileStore(lockSeconds: 5)
    private let creation: Vault.Creation
    private var path: String { directory.path + "/vault.zgv" }

    /// A vault with twelve versions of A, one a day, and one of B.
    init() throws {
        directory = try TemporaryDirectory()
        let passphrase = try Array("right".utf8).withBytes { try SecretBytes(copying: $0) }
        creation = try Vault.create(
            at: directory.path + "/vault.zgv", in: store, passphrase: passphrase,
            recipe: .init(
                cost: PassphraseCost(operations: 1, memoryByteCount: 8 << 20), keyring: nil,
                time: 0))
        for number in 1...12 { try set("A", "value \(number)", day: UInt64(number)) }
        try set("B", "bee", day: 1)
    }

    private func update(_ body: (inout VaultTransaction) throws -> Void) throws {
        try Vault.update(
            path, in: store, keys: creation.keys, vaultID: creation.vaultID, body)
    }

    /// Sets a value, and prunes where `keep` says so.
    private func set(_ name: String, _ value: String, day: UInt64, keep: Int? = nil) throws {
        try update { transaction in
            let time = day * Self.day
            let project = transaction.project(named: "web", at: time).project
            let position =
                transaction.index.variables.firstIndex { $0.name == name }
                ?? {
                    transaction.index.variables.append(
                        Variable(
                            project: project.id, name: name,
                            attributes: .init(kind: .encrypted, scope: Scope(targets: .all)),
                            createdAt: time))
                    return transaction.index.variables.count - 1
                }()
            _ = try Array(value.utf8).withBytes {
                try transaction.store($0, forVariableAt: position, at: time)
            }
            if let keep, transaction.mayPrune(at: time) {
                transaction.pruneHistory(keeping: keep, at: time)
            }
        }
    }

    private func versions(_ name: String) throws -> [UInt64] {
        let index = try Vault(opening: path, in: store).index(
            with: creation.keys, extent: .everything)
        let variable = try #require(index.variables.first { $0.name == name })
        return History(of: variable, in: index).versions.map(\.version)
    }

    @Test func `a write keeps the newest, and drops what is older than 30 days`() throws {
        try set("A", "value 13", day: 60, keep: 10)
        #expect(try versions("A") == Array(4...13))
        #expect(try versions("B") == [1])
    }

    @Test func `nothing younger than 30 days is dropped, however many there are`() throws {
        // Versions 1 to 5 are of days 1 to 5.
        try set("A", "value 13", day: 35, keep: 2)
        #expect(try versions("A") == Array(6...13))
        try set("A", "value 14", day: 36, keep: 20)
        #expect(try versions("A") == Array(6...14))
    }

    @Test func `records without a new version keep theirs`() throws {
        try set("B", "new", day: 60, keep: 1)
        #expect(try versions("A") == Array(1...12))
        // What was current until this write stays for one more.
        #expect(try versions("B") == [1, 2])
        try set("B", "newer", day: 61, keep: 1)
        #expect(try versions("B") == [2, 3])
    }

    @Test func `the last pushed version stays, and every version while a journal is open`() throws {
        try update { transaction in
            let position = try #require(
                transaction.index.variables.firstIndex { $0.name == "A" })
            transaction.index.variables[position].remote = RemoteState(
                id: "env_1", key: "A", account: "user_1", pushedVersion: 2,
                agreed: transaction.index.variables[position].attributes, updatedAt: 1,
                pushedAt: 1)
            transaction.index.journal = [
                JournalEntry(
                    id: .random(), kind: 200, createdAt: 1, payload: [1], section: nil)
            ]
        }
        try set("A", "value 13", day: 60, keep: 1)
        #expect(try versions("A") == Array(1...13))
        try update { $0.index.journal = [] }
        try set("A", "value 14", day: 60, keep: 1)
        // The thirteenth is young.
        #expect(try versions("A") == [2, 13, 14])
        let vault = try Vault(opening: path, in: store)
        try vault.verify(with: creation.keys)
    }
}

import Sealing
import TestSupport
import Testing

@testable import EnvOperations
@testable import Vault

/// What a push records as pushed if the vault changed while the push compared values.
@Suite("Adopted records")
struct AdoptionTests {
    private let directory: TemporaryDirectory
    private let store = PosixFileStore(lockSeconds: 5)
    private let creation: Vault.Creation
    private let variable: Identifier
    private var path: String { directory.path + "/vault.zgv" }

    /// A vault with version 2 of KEY, of which Vercel has version 1.
    init() throws {
        directory = try TemporaryDirectory()
        let passphrase = try Array("right".utf8).withBytes { try SecretBytes(copying: $0) }
        creation = try Vault.create(
            at: directory.path + "/vault.zgv", in: store, passphrase: passphrase,
            recipe: .init(
                cost: PassphraseCost(operations: 1, memoryByteCount: 8 << 20), keyring: nil,
                time: 0))
        var made = Identifier.random()
        for value in ["compared", "newer"] {
            try Vault.update(
                directory.path + "/vault.zgv", in: store, keys: creation.keys,
                vaultID: creation.vaultID
            ) { transaction in
                let project = transaction.project(named: "web", at: 1).project
                if transaction.index.variables.isEmpty {
                    transaction.index.variables.append(
                        Variable(
                            project: project.id, name: "KEY",
                            attributes: .init(kind: .encrypted, scope: Scope(targets: .all)),
                            createdAt: 1))
                }
                made = transaction.index.variables[0].id
                _ = try Array(value.utf8).withBytes {
                    try transaction.store($0, forVariableAt: 0, at: 1)
                }
            }
        }
        variable = made
    }

    private func adopted(
        version: UInt64?, removing: Bool = false
    ) throws -> RemoteState? {
        let record = try vercelRecord(
            "env_1", VariableAttributes(kind: .encrypted, scope: Scope(targets: .all)))
        try Vault.update(path, in: store, keys: creation.keys, vaultID: creation.vaultID) {
            if removing { $0.remove(at: 0, time: 2) }
            let updates = version.map { version in
                [
                    RecordUpdate(
                        variable: variable,
                        knowledge: .matched(
                            record, version: version, attributes: record.attributes))
                ]
            }
            $0.keep(
                updates ?? [], of: $0.index.projects[0].id, account: "user", time: 3,
                vercelTime: 3)
        }
        return try Vault(opening: path, in: store)
            .index(with: creation.keys, extent: .everything).variables[0].remote
    }

    @Test func `the compared version is recorded as pushed, not a newer one`() throws {
        let remote = try #require(try adopted(version: 1))
        #expect(remote.pushedVersion == 1)
        let index = try Vault(opening: path, in: store)
            .index(with: creation.keys, extent: .everything)
        #expect(SyncState(of: index.variables[0]) == .ahead)
    }

    @Test func `a record removed meanwhile adopts nothing`() throws {
        #expect(try adopted(version: 2, removing: true) == nil)
    }

    @Test func `a record that was not compared adopts nothing`() throws {
        #expect(try adopted(version: nil) == nil)
    }
}

import Sealing
import TestSupport
import Testing

@testable import EnvOperations
@testable import Vault

/// What the vault keeps of Vercel's records when they get other variables, names or targets.
@Suite("Kept agreements")
struct KeptAgreementTests {
    private let directory: TemporaryDirectory
    private let store = PosixFileStore(lockSeconds: 5)
    private let creation: Vault.Creation
    private let variables: [Identifier]
    private var path: String { directory.path + "/vault.zgv" }

    /// A vault with A and B, each with one version. Vercel has A as `a`, for production and preview.
    init() throws {
        directory = try TemporaryDirectory()
        let path = directory.path + "/vault.zgv"
        let passphrase = try Array("right".utf8).withBytes { try SecretBytes(copying: $0) }
        creation = try Vault.create(
            at: path, in: store, passphrase: passphrase,
            recipe: .init(
                cost: PassphraseCost(operations: 1, memoryByteCount: 8 << 20), keyring: nil,
                time: 0))
        var made: [Identifier] = []
        let record = try vercelRecord("a", key: "A", Self.attributes([.production, .preview]))
        try Vault.update(path, in: store, keys: creation.keys, vaultID: creation.vaultID) {
            transaction in
            let project = transaction.project(named: "web", at: 1).project
            for name in ["A", "B"] {
                transaction.index.variables.append(
                    Variable(
                        project: project.id, name: name,
                        attributes: Self.attributes([.production, .preview]), createdAt: 1))
            }
            for place in 0..<2 {
                made.append(transaction.index.variables[place].id)
                _ = try Array("value".utf8).withBytes {
                    try transaction.store($0, forVariableAt: place, at: 1)
                }
            }
            transaction.keep(
                [
                    RecordUpdate(
                        variable: made[0],
                        knowledge: .agreed(record, version: 1, attributes: record.attributes))
                ], of: project.id, account: "me", time: 2, vercelTime: 2)
        }
        variables = made
    }

    private static func attributes(_ targets: Scope.Targets) -> VariableAttributes {
        VariableAttributes(kind: .encrypted, scope: Scope(targets: targets))
    }

    /// Changes the vault, and returns it as it is read again.
    private func keep(
        _ updates: [RecordUpdate], naming name: String? = nil
    ) throws -> VaultIndex {
        try Vault.update(path, in: store, keys: creation.keys, vaultID: creation.vaultID) {
            transaction in
            let project = transaction.index.projects[0].id
            if let name, let place = transaction.position(of: variables[0]) {
                try transaction.rename(at: [place], to: name, time: 3)
            }
            transaction.keep(updates, of: project, account: "me", time: 4, vercelTime: 4)
        }
        return try Vault(opening: path, in: store).index(with: creation.keys, extent: .everything)
    }

    private func remote(_ place: Int, in index: VaultIndex) -> RemoteState? {
        index.variables.first { $0.id == variables[place] }?.remote
    }

    private func others(in index: VaultIndex) -> [StoredAgreement] {
        index.otherAgreements[index.projects[0].id] ?? []
    }

    @Test(arguments: ["C", "Z"])
    func `a former name is kept beside the new one until its record is gone`(name: String) throws {
        let new = try vercelRecord(
            "new", key: name, Self.attributes([.production, .preview]), updatedAt: 20)
        var index = try keep(
            [
                RecordUpdate(
                    variable: variables[0],
                    knowledge: .sent(new, withValue: true, inPlaceOf: nil))
            ], naming: name)
        #expect(remote(0, in: index)?.id == "new" && remote(0, in: index)?.pushedVersion == 0)
        #expect(others(in: index).map(\.record) == ["a"])
        #expect(others(in: index).map(\.variable) == [variables[0]])
        index = try keep([RecordUpdate(variable: nil, knowledge: .gone("a"))])
        #expect(others(in: index).isEmpty && remote(0, in: index)?.id == "new")
    }

    @Test func `a record that goes on with another variable is no longer the first one's`() throws {
        let record = try vercelRecord(
            "a", key: "A", Self.attributes([.production, .preview]), updatedAt: 20)
        let index = try keep([
            RecordUpdate(
                variable: variables[1],
                knowledge: .agreed(record, version: 1, attributes: record.attributes))
        ])
        #expect(remote(0, in: index) == nil && remote(1, in: index)?.id == "a")
        #expect(others(in: index).isEmpty)
    }

    @Test func `what was not seen of a record stays as it was agreed`() throws {
        let record = try vercelRecord("a", key: "A", Self.attributes(.production), updatedAt: 20)
        var index = try keep([
            RecordUpdate(
                variable: variables[0],
                knowledge: .matched(record, version: 1, attributes: record.attributes))
        ])
        #expect(remote(0, in: index)?.agreedUpdatedAt == 20)
        #expect(remote(0, in: index)?.agreed.scope == Scope(targets: .production))
        #expect(others(in: index).map(\.scope) == [Scope(targets: .preview)])
        #expect(others(in: index).map(\.changedAt) == [10])
        index = try keep([
            RecordUpdate(
                variable: nil, knowledge: .released("a", from: Scope(targets: .preview)))
        ])
        #expect(others(in: index).isEmpty)
        #expect(remote(0, in: index)?.agreed.scope == Scope(targets: .production))
    }
}

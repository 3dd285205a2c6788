import Sealing
import TestSupport

@testable import Vault

/// A vault in a temporary directory, with a passphrase that is cheap to check.
struct VaultFixture {
    static let cost = PassphraseCost(operations: 1, memoryByteCount: 8 << 20)

    let directory: TemporaryDirectory
    let store = PosixFileStore(lockSeconds: 5)
    let keys: VaultKeys
    let vaultID: Identifier
    var path: String { directory.path + "/vault.zgv" }

    init(keyring: (any Keyring)? = nil) throws {
        directory = try TemporaryDirectory()
        let creation = try Vault.create(
            at: directory.path + "/vault.zgv", in: store, passphrase: try Self.passphrase("right"),
            recipe: .init(cost: Self.cost, keyring: keyring, time: 1_000))
        keys = creation.keys
        vaultID = creation.vaultID
    }

    static func passphrase(_ text: String) throws -> SecretBytes {
        try Array(text.utf8).withBytes { try SecretBytes(copying: $0) }
    }

    /// The same keys without the root, as from the keyring.
    var lockedKeys: VaultKeys {
        get throws {
            let copy = try keys.index.bytes.withBytes { try SecretBytes(copying: $0) }
            return VaultKeys(index: IndexKey(copy, epoch: keys.index.epoch), root: nil)
        }
    }

    func open() throws -> Vault { try Vault(opening: path, in: store) }

    /// Sets a value of the project "web", which is created if missing.
    @discardableResult
    func set(_ name: String, _ value: String, keys: VaultKeys? = nil) throws -> UInt64 {
        try Vault.update(path, in: store, keys: keys ?? self.keys, vaultID: vaultID) {
            transaction in
            let position = transaction.positionOfVariable(name)
            return try Array(value.utf8).withBytes { bytes in
                try transaction.store(bytes, forVariableAt: position, at: 2_000)
            }
        }
    }

    /// The current value of a variable, as text.
    func value(of name: String) throws -> String? {
        let vault = try open()
        let index = try vault.index(with: keys, extent: .currentValues)
        guard let variable = index.variables.first(where: { $0.name == name }),
            let reader = try ValueReader(vault: vault, index: index, keys: keys),
            let slice = try reader.currentValue(of: variable, in: SecretArena())
        else { return nil }
        return slice.withBytes { bytes in
            String(decoding: (0..<bytes.byteCount).map { bytes.byte(at: $0) }, as: UTF8.self)
        }
    }
}

extension VaultTransaction {
    /// The index of the variable `name` in the project "web", created if missing.
    mutating func positionOfVariable(_ name: String) -> Int {
        let project: Identifier
        if let found = index.project(named: "web") {
            project = found.id
        } else {
            let made = VaultProject(name: "web", createdAt: 1_000)
            index.projects.append(made)
            project = made.id
        }
        if let position = index.variables.firstIndex(where: { $0.name == name }) {
            return position
        }
        index.variables.append(
            Variable(
                project: project, name: name,
                attributes: .init(kind: .encrypted, scope: Scope(targets: .all)), createdAt: 1_000))
        return index.variables.count - 1
    }
}

/// Runs `body` and returns the code of the vault error that it throws.
func code(_ body: () throws -> Void) -> VaultError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? VaultError)?.code
    }
}

/// Runs `body` and returns the kind of damage that it throws.
func kindOfDamage(_ body: () throws -> Void) -> VaultDamage? {
    do {
        try body()
        return nil
    } catch {
        return (error as? VaultError)?.damage
    }
}

extension VaultFixture {
    /// Changes the slots under the lock, with the root unless other keys are given.
    func updateSlots(
        keys: VaultKeys? = nil, in store: (any FileStore)? = nil,
        _ body: (inout VaultTransaction) throws -> Void
    ) throws {
        try Vault.update(
            path, in: store ?? self.store, keys: keys ?? self.keys, vaultID: vaultID, body)
    }

    /// A slot of the lowest cost that opens with `passphrase`.
    func passphraseSlot(_ passphrase: String, keys: VaultKeys? = nil) throws -> KeySlot {
        try (keys ?? self.keys).passphraseSlot(
            try Self.passphrase(passphrase), cost: Self.cost, vault: vaultID, at: 3_000)
    }

    /// The keys by passphrase, or the error's code.
    func opened(_ passphrase: String) -> (keys: VaultKeys?, code: VaultError.Code?) {
        var keys: VaultKeys?
        let error = code {
            keys = try open().open(
                with: try Self.passphrase(passphrase), memoryLimitBytes: nil
            ).keys
        }
        return (keys, error)
    }
}

extension VaultFixture {
    /// Adds a project with one variable that has a value.
    func addProject(_ name: String, with variable: String) throws {
        try Vault.update(path, in: store, keys: keys, vaultID: vaultID) { transaction in
            let made = VaultProject(name: name, createdAt: 1_000)
            transaction.index.projects.append(made)
            transaction.index.variables.append(
                Variable(
                    project: made.id, name: variable,
                    attributes: .init(kind: .encrypted, scope: Scope(targets: .all)),
                    createdAt: 1_000))
            _ = try Array("value of \(variable)".utf8).withBytes {
                try transaction.store(
                    $0, forVariableAt: transaction.index.variables.count - 1, at: 2_000)
            }
        }
    }

    /// Replaces the file with one that someone with the index key alone wrote, see
    /// ``IndexKeyWriter``.
    func forge(
        changing change: (inout VaultIndex) throws -> Void = { _ in },
        header changeHeader: (inout VaultHeader) throws -> Void = { _ in },
        proof: IndexKeyWriter.Proof = .kept,
        opened changeOpened: (inout [UInt8]) throws -> Void = { _ in }
    ) throws {
        let bytes = try IndexKeyWriter.file(
            of: try open(), keys: try lockedKeys, changing: change, header: changeHeader,
            proof: proof, opened: changeOpened)
        try store.replace(path, with: [.bytes(bytes)])
    }

    /// The kind of damage that a reader of the index finds; nil for none.
    func damage(
        for keys: VaultKeys, _ extent: VaultIndex.Extent = .everything
    ) -> VaultDamage? {
        kindOfDamage { _ = try open().index(with: keys, extent: extent) }
    }
}

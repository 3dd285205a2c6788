import CommandLineKit
import CurlTransport
import EnvOperations
import Foundation
import Glibc
import Sealing
import TestSupport
import Vault

@testable import ZGEnvCommands

/// A copy of a vault, with the program run in this process: thousands of runs would take an hour as
/// processes. Everything else is real: files, network, passphrase, audit log.
final class VaultClone {
    /// A record in the vault.
    struct Record: Equatable {
        let variable: Variable
        let value: String?

        /// The fields that a pull must not change unseen.
        var content: Content {
            Content(
                key: variable.name, scope: variable.attributes.scope,
                kind: variable.attributes.kind, value: value)
        }

        /// Returns whether nothing was changed here since the last agreement.
        var isUnchanged: Bool {
            guard let remote = variable.remote, variable.isLive else { return false }
            return variable.currentVersion == remote.pushedVersion
                && variable.attributes == remote.agreed && variable.name == remote.key
        }
    }

    struct Content: Equatable {
        let key: String
        let scope: Scope
        let kind: VariableAttributes.Kind
        let value: String?

        /// Returns whether all changes from `agreed` to `old` are kept. The same change on both
        /// sides loses nothing, and the other side's further changes may be added.
        func keeps(_ old: Content, since agreed: Content?) -> Bool {
            guard let agreed else { return self == old }
            func keeps<T: Equatable>(_ field: KeyPath<Content, T>) -> Bool {
                old[keyPath: field] == agreed[keyPath: field]
                    || self[keyPath: field] == old[keyPath: field]
            }
            return keeps(\.key) && keeps(\.scope) && keeps(\.kind) && keeps(\.value)
        }
    }

    let name: String
    private let home: CommandHome
    private let vaultName: String
    private let output: (out: Int32, error: Int32)
    private let transport: CurlTransport
    private let environment: [String: String]
    private var keys: VaultKeys?

    init(_ name: String, home: CommandHome, url: String) throws {
        self.name = name
        self.home = home
        vaultName = "clone-\(name).zgv"
        func opened(_ file: String) -> Int32 {
            unsafe open(
                home.directory.path(file), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0o600)
        }
        output = (opened("out-\(name)"), opened("error-\(name)"))
        transport = try CurlTransport()
        var environment = home.environment
        environment["ZG_ENV_API_URL"] = url
        environment["ZG_ENV_PASSPHRASE_FILE"] = home.passphrasePath
        environment["ZG_ENV_VAULT"] = home.directory.path(vaultName)
        environment["ZG_ENV_AUDIT_LOG"] = home.directory.path("audit-\(name).log")
        // Another machine: it knows only what it has seen of the vault.
        environment["XDG_STATE_HOME"] = home.directory.path("state-\(name)")
        self.environment = environment
    }

    deinit {
        close(output.out)
        close(output.error)
    }

    /// Restores the vault's initial state.
    func reset(to vault: [UInt8], log: [UInt8]) throws {
        try? FileManager.default.removeItem(atPath: home.directory.path("state-\(name)"))
        try home.directory.makeDirectory("state-\(name)")
        try home.directory.write(vault, to: vaultName)
        try home.directory.write(log, to: "audit-\(name).log")
    }

    /// Runs a command. Returns its exit code and its stdout.
    func run(_ arguments: [String]) throws -> (status: Int32, output: [UInt8]) {
        _ = ftruncate(output.out, 0)
        _ = ftruncate(output.error, 0)
        let context = Context(
            program: CommandTable.program,
            arguments: arguments.map { Array($0.utf8) },
            hardening: ProcessHardening(mask: 0o022, coreLimit: rlimit()),
            environment: environment, rawEnvironment: [],
            workingDirectory: home.directory.path("work"), files: PosixFileStore(),
            keyring: { nil }, now: ProcessParts.milliseconds,
            user: { UserAccount(number: 1, name: "test") }, transport: { self.transport },
            waitingRoom: SystemSleeper(),
            output: CommandLineKit.OutputStream(descriptor: output.out),
            messages: CommandLineKit.OutputStream(descriptor: output.error))
        let status = Program(context: context).run()
        return (status, try home.directory.read("out-\(name)"))
    }

    /// The last command's stderr.
    func said() throws -> String {
        String(decoding: try home.directory.read("error-\(name)"), as: UTF8.self)
    }

    /// Every record, including removed ones, with its value.
    func records() throws -> [Identifier: Record] {
        let vault = try Vault(
            opening: home.directory.path(vaultName), in: PosixFileStore())
        let keys = try openedKeys(vault)
        let index = try vault.index(with: keys, extent: .currentValues)
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            return [:]
        }
        let arena = SecretArena()
        var records: [Identifier: Record] = [:]
        for variable in index.variables {
            let value = try reader.currentValue(of: variable, in: arena).map { slice in
                slice.withBytes { bytes in
                    String(
                        decoding: (0..<bytes.byteCount).map {
                            unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
                        }, as: UTF8.self)
                }
            }
            records[variable.id] = Record(variable: variable, value: value)
        }
        return records
    }

    private func openedKeys(_ vault: Vault) throws -> VaultKeys {
        if let keys { return keys }
        let passphrase = try Array(CommandHome.passphrase.utf8).withBytes {
            try SecretBytes(copying: $0)
        }
        let opened = try vault.open(with: passphrase, memoryLimitBytes: nil).keys
        keys = opened
        return opened
    }
}

import EnvOperations
import Foundation
import Sealing
import TestSupport
import Vault

/// A machine of the model test: a vault with all its files, and its knowledge of Vercel.
final class ModelMachine {
    /// The variables in a vault.
    struct Contents {
        /// A record with all its values.
        struct Record {
            let variable: Variable
            /// The current one.
            let value: String?

            /// How `list` shows it.
            var sync: SyncState { SyncState(of: variable) }
            /// A name for messages.
            var name: String {
                "\(variable.name) (\(variable.attributes.scope.description))"
            }
        }

        var records: [Record] = []
        /// All values, including earlier ones and those of removed variables.
        var values: Set<String> = []
        /// The writes of unfinished pushes.
        var sends: [SendEntry] = []

        /// The record that belongs to one on Vercel.
        func record(of id: String) -> Record? { records.first { $0.variable.remote?.id == id } }
        /// The same record at another time.
        func record(like other: Record) -> Record? {
            records.first { $0.variable.id == other.variable.id }
        }
    }

    let name: String
    private let home: CommandHome
    private let url: String
    private var keys: VaultKeys?
    private var template: [(path: String, bytes: [UInt8])] = []

    init(_ name: String, home: CommandHome, url: String) throws {
        self.name = name
        self.home = home
        self.url = url
        try home.directory.makeDirectory("machine-\(name)")
    }

    private func path(_ name: String) -> String { "machine-\(self.name)/\(name)" }

    /// Returns a runner for `zg-env` on this machine.
    func runner(_ words: [String], input: String? = nil) -> ProgramRunner {
        func place(_ name: String) -> String { home.directory.path(path(name)) }
        return home.runner(
            words, input: input.map { .text($0) } ?? .null,
            environment: [
                "ZG_ENV_API_URL": url, "ZG_ENV_VAULT": place("vault.zgv"),
                "ZG_ENV_AUDIT_LOG": place("audit.log"), "XDG_STATE_HOME": place("state"),
                "XDG_CACHE_HOME": place("cache"), "XDG_RUNTIME_DIR": place("runtime"),
            ])
    }

    /// Empties the machine.
    func clear() throws {
        for name in ["state", "cache", "runtime"] {
            try? FileManager.default.removeItem(atPath: home.directory.path(path(name)))
            try home.directory.makeDirectory(path(name))
        }
        for name in ["vault.zgv", "audit.log"] {
            try? FileManager.default.removeItem(atPath: home.directory.path(path(name)))
        }
    }

    /// Saves the vault's current state.
    func keepTemplate() throws {
        // The log must still be empty.
        let log = (try? home.directory.read(path("audit.log"))).map { [(path("audit.log"), $0)] }
        template = [(path("vault.zgv"), try home.directory.read(path("vault.zgv")))] + (log ?? [])
    }

    /// Makes it a copy of another machine's saved vault.
    func becomeClone(of other: ModelMachine) {
        template = other.template.map { file in
            (path(String(file.path.split(separator: "/").last ?? "")), file.bytes)
        }
    }

    /// Restores the saved vault, as on a machine that has seen nothing.
    func reset() throws {
        try clear()
        for file in template { try home.directory.write(file.bytes, to: file.path) }
    }

    /// Opens the vault, and calls `body` with its index and a function that decrypts a version.
    func read(
        _ body: (VaultIndex, (Variable, StoredVersion) throws -> String) throws -> Void
    ) throws {
        let vault = try Vault(
            opening: home.directory.path(path("vault.zgv")), in: PosixFileStore())
        let keys = try openedKeys(vault)
        var index = try vault.index(with: keys, extent: .everything)
        let cache = try ResponseCache(
            key: try keys.derivedKey(for: .answers), vault: vault.header.vaultID,
            directory: home.directory.path(path("cache/zg-env")), complain: { _ in })
        let now = UInt64(Date().timeIntervalSince1970 * 1_000)
        for project in index.projects {
            cache.sighting(of: project.id, now: now)?.show(in: &index, of: project.id)
        }
        guard let reader = try ValueReader(vault: vault, index: index, keys: keys) else {
            throw ModelError(description: "the values of \(name) are locked")
        }
        let arena = SecretArena()
        try body(index) { variable, version in
            Self.text(try reader.value(of: variable, version, in: arena))
        }
    }

    /// Returns the vault's current content.
    func contents() throws -> Contents {
        var contents = Contents()
        try read { index, value in
            contents.sends = try index.sends()
            for variable in index.variables {
                let current = try index.currentVersions[variable.id].map { try value(variable, $0) }
                if let current { contents.values.insert(current) }
                contents.records.append(.init(variable: variable, value: current))
                for version in index.earlierVersions where version.variable == variable.id {
                    contents.values.insert(try value(variable, version))
                }
            }
        }
        return contents
    }

    private static func text(_ slice: SecretSlice) -> String {
        slice.withBytes { bytes in
            String(
                decoding: (0..<bytes.byteCount).map {
                    unsafe bytes.unsafeLoad(fromByteOffset: $0, as: UInt8.self)
                }, as: UTF8.self)
        }
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

/// A failed step of the model test itself.
struct ModelError: Error, CustomStringConvertible {
    let description: String
}

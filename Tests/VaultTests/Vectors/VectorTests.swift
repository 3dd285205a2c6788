import Foundation
import Sealing
import Testing

@testable import Vault

@Suite("The format's vectors")
struct VectorTests {
    /// `make vectors` rewrites them; every other run reads the stored ones.
    private static var writes: Bool {
        ProcessInfo.processInfo.environment["ZG_ENV_VECTORS"] == "write"
    }

    @Test func `new vectors match their descriptions and the stored ones`() throws {
        let made = try VectorCatalogue().vectors
        for (vector, bytes) in made { try expect(vector, bytes) }
        #expect(Set(made.map(\.vector.file)).count == made.count)
        if Self.writes { try Self.write(made) }
        // The files differ in their nonces; their descriptions must not.
        #expect(try Vector.read() == made.map(\.vector))
    }

    @Test func `stored vectors match their descriptions`() throws {
        let vectors = try Vector.read()
        for vector in vectors { try expect(vector, try vector.bytes()) }
        let files = try FileManager.default.contentsOfDirectory(atPath: Vector.directory.path)
        #expect(
            Set(files.filter { $0.hasSuffix(".zgv") }) == Set(vectors.map(\.file)))
    }

    @Test func `every class of damage has vectors`() throws {
        let counts = Dictionary(grouping: try Vector.read(), by: \.class).mapValues(\.count)
        for damage in VaultDamage.allCases {
            #expect(counts[damage.rawValue, default: 0] >= 2, "\(damage.rawValue)")
        }
        #expect(counts["ok", default: 0] >= 20)
        #expect(counts["locked", default: 0] >= 2)
        #expect(counts["newer", default: 0] >= 2)
        #expect(counts["pre-release", default: 0] >= 2)
        // For readers with the root, and for those of the names alone.
        #expect(counts["signature", default: 0] >= 60)
        #expect(counts.values.reduce(0, +) >= 300)
    }

    /// Expects what a vector describes when `bytes` are read in this process.
    private func expect(_ vector: Vector, _ bytes: [UInt8]) throws {
        let found = try VectorReading(bytes, vector.secret)
        #expect(found.kind == vector.class, "\(vector.file): \(found.reason)")
        if vector.class == "ok" {
            #expect(
                found.values == (vector.values ?? []).map(VectorReading.line).sorted(),
                "\(vector.file)")
        }
    }

    private static func write(_ made: [(vector: Vector, bytes: [UInt8])]) throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: Vector.directory.path)
        where file.hasSuffix(".zgv") {
            try FileManager.default.removeItem(
                at: Vector.directory.appendingPathComponent(file))
        }
        for (vector, bytes) in made {
            try Data(bytes).write(to: Vector.directory.appendingPathComponent(vector.file))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let json = try encoder.encode(made.map(\.vector))
        try (json + Data("\n".utf8)).write(
            to: Vector.directory.appendingPathComponent("vectors.json"))
    }
}

/// What a reader with one secret finds in a vault.
struct VectorReading {
    /// "ok", "locked", "newer", "pre-release" or the class of damage.
    private(set) var kind = "ok"
    private(set) var reason = ""
    /// Every version, a line each, in order.
    private(set) var values: [String] = []

    init(_ bytes: [UInt8], _ secret: Vector.Secret) throws {
        do {
            let vault = try Vault(path: "vector", file: MemoryFile(bytes))
            guard let keys = try Self.keys(of: vault, secret) else {
                kind = "locked"
                return
            }
            try vault.verify(with: keys)
            values = try Self.values(of: vault, keys)
        } catch let error as VaultError {
            reason = error.reason
            switch error.code {
            case .damaged: kind = error.damage?.rawValue ?? "damage without a class"
            case .newerFormat: kind = "newer"
            case .preReleaseFormat: kind = "pre-release"
            case .wrongPassphrase: kind = "locked"
            default: kind = "\(error.code)"
            }
        }
    }

    static func keys(of vault: Vault, _ secret: Vector.Secret) throws -> VaultKeys? {
        if let text = secret.passphrase ?? secret.recoveryCode {
            return try vault.open(
                with: try VectorVault.secret(Array(text.utf8)), memoryLimitBytes: nil
            ).keys
        }
        let parts = secret.keyFile?.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let digits = secret.slotKey ?? parts?[3], let id = secret.slot ?? parts?[2] else {
            return nil
        }
        let key = stride(from: 0, to: digits.count, by: 2).map { place in
            UInt8(digits.dropFirst(place).prefix(2), radix: 16) ?? 0
        }
        guard let slot = vault.header.slots.first(where: { $0.id.hexadecimal == id }) else {
            return nil
        }
        return try vault.unlock(slot, slotKey: try VectorVault.secret(key))
    }

    private static func values(of vault: Vault, _ keys: VaultKeys) throws -> [String] {
        let index = try vault.index(with: keys, extent: .everything)
        let reader = try ValueReader(vault: vault, index: index, keys: keys)
        var found: [Vector.Value] = []
        for version in Array(index.currentVersions.values) + index.earlierVersions {
            guard let variable = index.variables.first(where: { $0.id == version.variable }) else {
                continue
            }
            let bytes = try reader?.value(of: variable, version, in: SecretArena()).withBytes {
                bytes in (0..<bytes.byteCount).map { bytes.byte(at: $0) }
            }
            let text = bytes.flatMap { String(validating: $0, as: UTF8.self) }
            let scope = variable.attributes.scope
            found.append(
                Vector.Value(
                    project: index.project(variable.project)?.name ?? "", key: variable.name,
                    type: variable.attributes.kind.name, targets: scope.targets.names,
                    customEnvironments: scope.customEnvironments, branch: scope.branch,
                    comment: variable.attributes.comment, removed: !variable.isLive,
                    version: version.version,
                    current: index.currentVersions[variable.id]?.version == version.version,
                    value: text,
                    valueHex: text == nil
                        ? bytes?.map { String(format: "%02x", $0) }.joined() : nil))
        }
        return found.map(line).sorted()
    }

    static func line(_ value: Vector.Value) -> String { "\(value)" }
}

/// A file with bytes chosen by the test.
final class MemoryFile: ReadableFile {
    private let bytes: [UInt8]
    /// The most bytes requested at once.
    private(set) var longestRead = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var byteCount: UInt64 { UInt64(bytes.count) }

    func read(at offset: UInt64, count: Int) throws(VaultError) -> [UInt8] {
        longestRead = max(longestRead, count)
        guard offset <= byteCount, UInt64(count) <= byteCount - offset else {
            throw VaultError(damaged: .truncated, "the vault is shorter than it says")
        }
        return Array(bytes[Int(offset)..<Int(offset) + count])
    }
}

import Foundation
import FuzzTargets
import Sealing
import TestSupport
import Testing

@testable import Vault

@Suite("The fuzzer's corpus")
struct FuzzCorpusTests {
    private static var directory: URL {
        Vector.directory.deletingLastPathComponent().appendingPathComponent("Fuzzing/corpus")
    }

    @Test(arguments: FuzzTarget.allCases)
    func `breaks no promise`(target: FuzzTarget) throws {
        let directory = Self.directory.appendingPathComponent(target.rawValue)
        if ProcessInfo.processInfo.environment["ZG_ENV_VECTORS"] == "write" {
            try Self.writeSeeds(of: target, to: directory)
        }
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(files.count > 5)
        for file in files {
            let input = try Data(contentsOf: directory.appendingPathComponent(file))
            #expect(throws: Never.self, "\(file)") { try target.exercise([UInt8](input)) }
        }
    }

    @Test(arguments: [
        FuzzTarget.vault, .vaultTable, .vaultSection, .eventStream, .webhook, .schema, .schemaType,
        .groupObject, .groupOperations,
    ])
    func `survives random changes`(target: FuzzTarget) throws {
        let directory = Self.directory.appendingPathComponent(target.rawValue)
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        var random = ProofRandom()
        for _ in 0..<Proof.count(short: 3_000, full: 200_000) {
            let file = directory.appendingPathComponent(files.randomElement(using: &random) ?? "")
            var input = [UInt8](try Data(contentsOf: file))
            for _ in 0..<Int.random(in: 1...4, using: &random) where !input.isEmpty {
                let place = Int.random(in: input.indices, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: input[place] = UInt8.random(in: 0...255, using: &random)
                case 1: input[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                case 2: input.remove(at: place)
                default: input.insert(input[place], at: place)
                }
            }
            do {
                try target.exercise(input)
            } catch {
                Issue.record("\(random.seedText): \(error), with \(input)")
            }
        }
    }

    /// Seeds that reach every part of their target, small ones only.
    private static func writeSeeds(of target: FuzzTarget, to directory: URL) throws {
        guard [.vault, .vaultTable, .vaultSection].contains(target) else { return }
        try? FileManager.default.removeItem(at: directory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var seen: Set<[UInt8]> = []
        for (vector, bytes) in try VectorCatalogue().vectors {
            let isOfHeader = ["header", "slot", "newer", "pre-release", "locked"].contains(
                vector.class)
            var seeds: [[UInt8]] = []
            switch target {
            case .vault:
                // The last one is whole with its table, so that slots and proof are tried.
                let others = ["ok-small.zgv", "ok-rich.zgv", "padding-one-byte.zgv"]
                guard isOfHeader || others.contains(vector.file) else { continue }
                // The header's structure matters: what follows it does not open anyway.
                seeds = [Array(bytes.prefix(1_200))]
            default:
                guard !isOfHeader, let opened = VectorReading.contents(of: bytes, vector.secret)
                else { continue }
                seeds = target == .vaultTable ? [opened.table] : opened.sections
            }
            for (number, seed) in seeds.enumerated() {
                guard seed.count <= 1_600, seen.insert(seed).inserted else { continue }
                let name = vector.file.replacingOccurrences(of: ".zgv", with: "")
                try Data(seed).write(
                    to: directory.appendingPathComponent(
                        number == 0 ? name : "\(name)-\(number + 1)"))
            }
        }
    }
}

extension VectorReading {
    /// The contents of table and sections, each after the length of all blocks or of its chunks, as
    /// the fuzzer takes them; nil if the table does not open, or if its proof does not hold.
    static func contents(
        of bytes: [UInt8], _ secret: Vector.Secret
    ) -> (table: [UInt8], sections: [[UInt8]])? {
        guard let vault = try? Vault(path: "vector", file: MemoryFile(bytes)),
            let keys = try? keys(of: vault, secret)
        else { return nil }
        // It keeps what it could open.
        _ = try? vault.index(with: keys, extent: .everything)
        guard let opening = vault.opening else { return nil }
        let places =
            (try? VaultIndex.decode(
                table: opening.table, extent: .everything,
                blocksByteCount: vault.header.blocksByteCount))?.sections
        let sections = (places ?? []).compactMap { place in
            opening.sections[place.id].flatMap { section in
                content(of: section.content, after: place.chunksByteCount)
            }
        }
        guard let table = content(of: opening.table, after: vault.header.blocksByteCount) else {
            return nil
        }
        return (table, sections)
    }

    private static func content(of padded: SecretSlice, after length: UInt64) -> [UInt8]? {
        let bytes = padded.withBytes { $0.array }
        guard bytes.count >= 4 else { return nil }
        let count = bytes[..<4].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard 4 + count <= bytes.count else { return nil }
        return u32(UInt32(truncatingIfNeeded: length)) + bytes[4..<(4 + count)]
    }
}

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
        FuzzTarget.vault, .vaultIndex, .eventStream, .webhook, .schema, .schemaType, .groupObject,
        .groupOperations,
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
        guard [.vault, .vaultIndex].contains(target) else { return }
        try? FileManager.default.removeItem(at: directory)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        var seen: Set<[UInt8]> = []
        for (vector, bytes) in try VectorCatalogue().vectors {
            let seed: [UInt8]
            let isOfHeader = ["header", "slot", "newer", "pre-release", "locked"].contains(
                vector.class)
            switch target {
            case .vault:
                // The last one is whole with its index, so that slots and proof are tried.
                let others = ["ok-small.zgv", "ok-rich.zgv", "padding-one-byte.zgv"]
                guard isOfHeader || others.contains(vector.file) else { continue }
                // The header's structure matters: what follows it does not open anyway.
                seed = Array(bytes.prefix(1_200))
            default:
                guard !isOfHeader, let content = VectorReading.content(of: bytes, vector.secret)
                else { continue }
                seed = content
            }
            guard seed.count <= 1_600, seen.insert(seed).inserted else { continue }
            try Data(seed).write(
                to: directory.appendingPathComponent(
                    vector.file.replacingOccurrences(of: ".zgv", with: "")))
        }
    }
}

extension VectorReading {
    /// The content of the index after the length of all chunks, as the fuzzer takes it; nil if it
    /// does not open, or if its proof does not hold.
    static func content(of bytes: [UInt8], _ secret: Vector.Secret) -> [UInt8]? {
        guard let vault = try? Vault(path: "vector", file: MemoryFile(bytes)),
            let keys = try? keys(of: vault, secret),
            let padded = try? vault.openedIndex(with: keys).withBytes({ $0.array }),
            padded.count >= 4
        else { return nil }
        let length = padded[..<4].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard 4 + length <= padded.count else { return nil }
        let chunks = UInt32(truncatingIfNeeded: vault.header.chunksByteCount)
        return u32(chunks) + padded[4..<(4 + length)]
    }
}

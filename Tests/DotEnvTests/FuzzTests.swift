import DotEnv
import Foundation
import FuzzTargets
import TestSupport
import Testing

@Suite("Any bytes at all") struct FuzzTests {
    static let tokens: [[UInt8]] = [
        "A", "B=", "=", "\n", "\"", "'", "`", "#", "\\", "\\n", "export ", "${A}", "${B:-x}",
        "${A:-${B}}", "$", "\r", "\r\n", "\t", " ", "\u{2028}", "\u{FEFF}", "A=\"", "B='", "é",
        "😀", "{", "}", ":", "~", ";", "__proto__=1\n", "x", "\\\"", "\\0101",
        "# Created by Vercel CLI\n", "A=1\n", "\nB=2", "\u{85}", nonCharacter,
    ].map { Array($0.utf8) }

    @Test func `random texts keep every promise`() throws {
        var random = Seeded(7)
        var variables = 0
        let total = Proof.count(short: 4_000, full: 100_000)
        for _ in 0..<total {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0..<16, using: &random) {
                if Int.random(in: 0..<40, using: &random) == 0 {
                    bytes.append(UInt8.random(in: 0...255, using: &random))
                } else {
                    bytes += Self.tokens.randomElement(using: &random) ?? []
                }
            }
            do {
                variables += try withSpan(bytes) { try DotEnvFuzzing.exercise($0) }
            } catch {
                Issue.record("\(String(decoding: bytes, as: UTF8.self).debugDescription) \(error)")
            }
        }
        #expect(variables > total / 2)
    }

    @Test func `every text of the fuzzing corpus keeps every promise`() throws {
        let corpus = Places.package.appending(path: "Tests/Fuzzing/corpus/dotenv")
        let names = try FileManager.default.contentsOfDirectory(atPath: corpus.path()).sorted()
        #expect(names.count >= 9)
        for name in names {
            let bytes = Array(try Data(contentsOf: corpus.appending(path: name)))
            do {
                _ = try withSpan(bytes) { try DotEnvFuzzing.exercise($0) }
            } catch {
                Issue.record("\(name): \(error)")
            }
        }
    }

    /// The time for 256 KiB must be far from anything quadratic, also without optimization.
    @Test(arguments: [
        "\n", "\"", "'", "`", "=", "export ", "export", " ", "\\", "\\\"", "A=\"\\\"\n", "A=\"\n",
        "A='\nB=\"\nC=`\n", "A=\n", "A\n", "A:\n", "\r", "\r\n", "#", " #", "A= #", "\u{2028}",
        "A=x\u{2028}'", "export\n", "export A\n", "$", "${A:-", "A=${A:-", "{", "A\t", "'\\", ":",
        "\u{FEFF}", " =\n", "A='x' y\n", "A=1 \\\n", ";", "A=\"",
    ])
    func `256 KiB of anything is read in linear time`(unit: String) {
        var bytes: [UInt8] = []
        while bytes.count < 1 << 18 { bytes += Array(unit.utf8) }
        let start = ContinuousClock.now
        for dialect in DotEnvDialect.allCases {
            withSpan(bytes) { _ = try? DotEnvReader.read($0, as: dialect) }
        }
        #expect(ContinuousClock.now - start < .seconds(60))
    }
}

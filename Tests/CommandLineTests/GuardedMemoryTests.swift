import Foundation
import TestSupport
import Testing

/// Each guarded region costs mappings and time, so a command must use few, however much it holds.
@Suite("Guarded memory of a command")
struct GuardedMemoryTests {
    /// The most regions that a command may use.
    private static let limit = 64

    /// The number of regions that a run used, as `--verbose` reports it.
    private func regions(
        _ home: CommandHome, _ arguments: [String], input: ProgramRunner.Input = .null,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Int {
        let result = done(
            try home.run(arguments + ["--verbose"], input: input), sourceLocation: sourceLocation)
        let words = result.error.split(whereSeparator: \.isWhitespace).map(String.init)
        let place = try #require(
            words.firstIndex(of: "regions,"), "\(arguments): \(result.error)",
            sourceLocation: sourceLocation)
        return try #require(Int(words[place - 1]), sourceLocation: sourceLocation)
    }

    @Test func `2,000 variables and 16 slots take at most 64 regions`() throws {
        let home = try CommandHome.initialised()
        var counts: [String: Int] = [:]
        func count(
            _ arguments: [String], _ input: ProgramRunner.Input = .null,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            counts[arguments.prefix(2).joined(separator: " ")] = try regions(
                home, arguments, input: input, sourceLocation: sourceLocation)
        }
        let text = (0..<2_000).map { "KEY_\($0)=value \($0)\n" }.joined()
        let file = try home.directory.write(text, to: "work/many.env")
        try count(["import", file, "-p", "web"])
        try count(["list", "-p", "web"])
        try count(["show", "KEY_7", "-p", "web"])
        try count(["set", "KEY_7", "-p", "web"], .text("other"))
        try count(["set", "NEW", "-p", "web"], .text("new"))
        try count(["reveal", "KEY_7", "-p", "web"])
        try count(["export", "-p", "web", "-t", "preview", "--format", "json"])
        try count(["verify"])
        try count(["status"])
        try count(["history", "KEY_7", "-p", "web"])
        try count(["backup", home.directory.path("copy.zgv")])
        let recovered = try (0..<15).map { number in
            let code = done(try home.run(["slot", "add", "recovery"])).output
            return try home.directory.write(code, to: "code-\(number)")
        }
        let secrets = recovered.flatMap { ["--slot-secret-file", $0] }
        try count(["rekey", "--yes"] + secrets)
        try count(["restore", home.directory.path("copy.zgv"), "--yes"])
        print("guarded regions: \(counts.sorted { $0.key < $1.key })")
        #expect(counts.filter { $0.value > Self.limit } == [:])
        #expect(counts.values.allSatisfy { $0 > 0 })
    }
}

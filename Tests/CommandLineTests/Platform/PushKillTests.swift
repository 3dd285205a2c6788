import Glibc
import Sandbox
import TestSupport
import Testing

/// A push of fifty variables, killed at each of its requests in turn.
@Suite("A killed push of fifty variables")
struct PushKillTests {
    /// Fourteen exist, of which eight change and two are deleted; thirty-eight are new, three of
    /// them sensitive.
    private func prepared() throws -> SandboxHome {
        let platform = try SandboxHome()
        func lines(_ name: String, _ range: Range<Int>, _ value: String) -> String {
            range.map { "\(name)_\($0)=\(value) \($0)\n" }.joined()
        }
        func imported(_ text: String, _ options: String...) throws {
            done(
                try platform.runner(["import", "-", "-p", "web"] + options, input: .text(text))
                    .run())
        }
        try imported(
            lines("CHANGED", 0..<8, "old") + lines("SAME", 0..<4, "same")
                + lines("GONE", 0..<2, "x"))
        try platform.pushed()
        try imported(lines("CHANGED", 0..<8, "new") + lines("NEW", 0..<35, "made"))
        try imported(lines("SECRET", 0..<3, "hidden"), "--type", "sensitive")
        for number in 0..<2 { done(try platform.run("rm", "GONE_\(number)", "-p", "web", "--yes")) }
        return platform
    }

    /// The expected result, besides the seed.
    private static let wanted: Set<String> = {
        func all(_ name: String, _ count: Int, _ value: String, _ place: String) -> [String] {
            (0..<count).map { "\(name)_\($0) \(place)=\(value) \($0)" }
        }
        let everywhere = "production,preview,development"
        return Set(
            all("CHANGED", 8, "new", everywhere) + all("SAME", 4, "same", everywhere)
                + all("NEW", 35, "made", everywhere)
                + all("SECRET", 3, "hidden", "production,preview"))
    }()

    @Test func `run again it ends with exactly the right fifty`() throws {
        #expect(Self.wanted.count == 50)
        try KilledPush.everywhere(prepared: prepared, atLeast: 10) { platform, comment in
            let stored = platform.stored.filter { $0.key != "SEED_ONLY" }
            #expect(stored.count == 50, comment)
            #expect(
                Set(stored.map { "\($0.key) \($0.targets.joined(separator: ","))=\($0.value)" })
                    == Self.wanted, comment)
            #expect(!stored.contains { $0.value.isEmpty }, comment)
        }
    }
}

import DotEnv
import Foundation
import TestSupport
import Testing

/// Random texts, read here and by other parsers: node and bash as programs, Next.js and Compose by
/// models that are checked against recorded cases.
@Suite struct ReaderProofTests {
    private static let wild: [String] = [
        "A", "B", "=", "=", "=", "\n", "\n", "\n", " ", " ", "\"", "\"", "'", "'", "`", "#", "\\",
        "\\n", "\\r", "n", "x", "export ", "export", "export\t", ":", ": ", "\t", "\r", "\r\n",
        "${A}", "$", ".", "-", "\u{2028}", "\u{A0}", "\u{FEFF}", "é", "\\\"", "\\'", "\\`", "\\\\",
        "A=", "B=\"", "C='", "D=`", "\nA=", "\nB=\"", "\"\n", "'\n", " # c", "#c", "\u{85}",
        "\u{B}", "\u{C}", "\u{1C}", "\u{200B}", "😀", "1", "_", "{", "}", ":-", "E= ", "export A=",
    ]
    private static let lines: [String] = [
        "A=1\n", "B=\"x\"\n", "C='y z'\n", "# note\n", "\n", "  # ind\n", "export D=2\n",
        "E=${A}\n", "F=\"a\\nb\"\n", "G=x#y\n", "H = 3\n", "I=\"multi\nline\"\n", "J=\n",
        "K=a b c\n", "L=\"q\" # c\n", "noeq\n", "M: 4\n", "N=\"un\n", "O='un\n", "P=`b`\n",
        "Q=it's\n", "  R=5\n", "S=5  \n", "T=\"\\t\"\n", "U=\"x\"y\n", "V=x # it's\n", "a.b=1\n",
        "W=\"\\\\\"\n", "X=a&b;c\n", "Y=~/x\n", "UID=5\n",
    ]
    /// Texts that all parsers agree on, which must get no diagnostic.
    private static let plain: [String] = [
        "A=1\n", "B='x y'\n", "C=\"x y\"\n", "# note\n", "\n", "export D=2\n", "E=x-y.z/%\n",
        "F=\n", "G='a\nb'\n", "I='$ 5'\n", "K=''\n", "L=a:b@c,d+e=f\n", "M=\"#\"\n", "N=1 # c\n",
    ]
    private static let values: [String] = [
        "$A", "$B", "${A}", "${B}", "$AB", "${C:-d}", "${A:-${B}}", "${NOPE:-x y}", "$NOPE", "$$",
        "\\$", "\\$A", "\\${A}", "$", "${", "}", "{", "x", "y ", "-", ":-", "$1", "$12", "${A-d}",
        "${A:+z}", "$&", "$'", "$`", "\\", "$(A)", "$A$B", "${A}$C", "é", "\\n", "#", "$E1",
        "pa$$word1", "$2b$12$Kix", "1", "&", ";", "~", "|",
    ]

    private static func text(_ random: inout ProofRandom) -> String {
        func pick(_ list: [String]) -> String { list.randomElement(using: &random) ?? "" }
        var text = ""
        let kind = Int.random(in: 0..<10, using: &random)
        if kind < 4 {
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let quote = pick(["", "", "\"", "'", "'", "`"])
                let value = (0..<Int.random(in: 1...4, using: &random)).map { _ in pick(values) }
                text += pick(["A", "B", "C", "AB", "_D", "E1", "1"]) + "=" + quote
                text += value.joined() + quote + "\n"
            }
            return text
        }
        let tokens = kind < 6 ? wild : kind < 8 ? lines : plain
        for _ in 0..<Int.random(in: 1...14, using: &random) {
            text += pick(tokens)
            if kind < 8, Int.random(in: 0..<20, using: &random) == 0 { text += pick(wild) }
        }
        return text
    }

    private struct Counts {
        var agree = 0
        var told = 0
        var differ: [String: Int] = [:]
    }

    @Test("USE-A1: random texts have motdotla's values, and a diagnostic where any parser differs")
    func randomTexts() throws {
        guard let node = Node.path else {
            guard ProcessInfo.processInfo.environment["CI"] == nil else {
                Issue.record("\(Node.absence)")
                return
            }
            try Test.cancel("\(Node.absence)")
        }
        var random = ProofRandom(22)
        let directory = try TemporaryDirectory(named: "texts")
        let script = Places.tests.appending(path: "Readers/readers.js").path()
        var counts = Counts()
        let total = Proof.count(short: 300, full: 100_000)
        for start in stride(from: 0, to: total, by: 500) {
            let texts = (0..<min(500, total - start)).map { _ in Self.text(&random) }
            try directory.write(texts.map { $0 + "\0" }.joined(), to: "texts")
            var runner = ProgramRunner(
                path: node, [script, directory.path("texts")],
                environment: ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path])
            runner.workingDirectory = directory.path
            let result = try runner.run()
            #expect(result.status == 0, "\(result.error)")
            let lines = result.standardOutput.split(separator: 0x0A)
            try #require(lines.count == texts.count)
            for (text, line) in zip(texts, lines) {
                let readers = ExactJSON.value(line).array ?? []
                try #require(readers.count == 3)
                try check(text, readers, random.seedText, &counts)
            }
        }
        print("\(total) texts: \(counts.agree) agree, \(counts.told) told, \(counts.differ)")
        for reader in ["node", "bash", "next", "compose"] {
            #expect((counts.differ[reader] ?? 0) > total / 10, "\(reader)")
        }
        #expect(counts.agree > total / 20)
    }

    private func check(
        _ text: String, _ readers: [ExactJSON.Value], _ seed: String, _ counts: inout Counts
    ) throws {
        func values(_ pairs: [Pair]?) -> Set<Pair>? {
            pairs.map { effective($0.filter { $0.key != "__proto__" }) }
        }
        let motdotla = readers[0].pairs ?? []
        let reference = values(motdotla)
        let own = try pairs(text).filter { $0.key != "__proto__" }
        #expect(own == motdotla, "\(seed) \(text.debugDescription)")
        let compose = try? read(text, as: .compose)
        let isLive = compose?.diagnostics.contains { $0.code == .unexpanded } ?? true
        let others: [(String, [Pair]?)] = [
            ("node", readers[1].pairs(besides: motdotla)),
            ("bash", readers[2].pairs(besides: motdotla)),
            ("next", try? expandedPairs(text, as: .next)),
            ("compose", isLive ? nil : try? pairs(text, as: .compose)),
        ]
        let differing = others.filter { values($0.1) != reference }.map(\.0)
        for reader in differing { counts.differ[reader, default: 0] += 1 }
        let found = try codes(text)
        if differing.isEmpty {
            counts.agree += 1
        } else if !found.isEmpty {
            counts.told += 1
        } else {
            Issue.record("\(seed) \(differing) unreported: \(text.debugDescription)")
        }
        // Whatever the dialect accepts must equal bash's result. Bash ends at `UID`, and sets `_`
        // itself.
        let isBashsOwn = own.contains { $0.key == "UID" }
        if !isBashsOwn, let shell = try? pairs(text, as: .shell).filter({ $0.key != "_" }) {
            #expect(values(shell) == values(others[1].1), "\(seed) \(text.debugDescription)")
        }
    }
}

/// The system's node, or the one installed from PyPI, if it can read `.env` files.
enum Node {
    static let absence = "there is no node with util.parseEnv (20.12 or later)"

    static let path: String? = {
        let installed = Places.package.appending(path: ".build/readers/bin/node").path()
        return ["/usr/local/bin/node", "/usr/bin/node", "/bin/node", installed].first { path in
            guard FileManager.default.isExecutableFile(atPath: path) else { return false }
            let check = "process.exit(require('util').parseEnv ? 0 : 1)"
            return (try? ProgramRunner(path: path, ["-e", check]).run())?.status == 0
        }
    }()
}

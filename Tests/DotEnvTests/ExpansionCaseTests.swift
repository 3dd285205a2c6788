import DotEnv
import Foundation
import Testing

/// Texts with `$` and the results of real parsers, from `Cases/expansion-cases.json`.
@Suite struct `Measured expansions` {
    struct Case {
        let input: String
        let motdotla: [Pair]
        /// The result of each parser; nil if it ends with an error.
        let readers: [String: [Pair]?]

        func expected(_ reader: String) -> Set<Pair>? {
            readers[reader].flatMap { $0 }.map { `Measured expansions`.values($0) }
        }
    }

    static let cases: [Case] = {
        let place = Places.tests.appending(path: "Cases/expansion-cases.json")
        guard let data = try? Data(contentsOf: place),
            let items = ExactJSON.value(data).object?["cases"]?.array
        else { return [] }
        return items.compactMap(\.object).map { item in
            let motdotla = item["motdotla"]?.pairs ?? []
            var readers: [String: [Pair]?] = [:]
            for name in ["next", "dotenv_expand", "node", "bash"] {
                readers[name] = .some(item[name]?.pairs(besides: motdotla))
            }
            return Case(
                input: item["input"]?.string ?? "", motdotla: motdotla, readers: readers)
        }
    }()

    static func values(_ pairs: [Pair]) -> Set<Pair> {
        effective(pairs.filter { $0.key != "__proto__" })
    }

    @Test func `the cases exist`() {
        #expect(Self.cases.count == 782)
    }

    @Test func `the default dialect expands nothing`() throws {
        for item in Self.cases {
            let found = Self.values(try pairs(item.input))
            #expect(found == Self.values(item.motdotla), "\(item.input.debugDescription)")
        }
    }

    @Test func `USE-A1: next gives what Next.js gives, and refuses what it cannot read`() {
        var refused = 0
        for item in Self.cases {
            let found = try? expandedPairs(item.input, as: .next)
            refused += found == nil ? 1 : 0
            #expect(
                found.map { Self.values($0) } == item.expected("next"),
                "\(item.input.debugDescription)")
        }
        #expect(refused > 50 && refused < 200, "\(refused)")
    }

    @Test func `USE-A1: every text that a parser reads differently has a diagnostic`() throws {
        var count = 0
        for item in Self.cases {
            let reference = Self.values(item.motdotla)
            let differs = ["next", "dotenv_expand", "node", "bash"].contains {
                item.expected($0) != reference
            }
            guard differs else { continue }
            count += 1
            #expect(!(try codes(item.input)).isEmpty, "\(item.input.debugDescription)")
        }
        #expect(count > 600, "\(count)")
    }

    /// That program removes a reference to an unset name, which stays here and is reported. It also
    /// searches for the text of a reference from the start, finds what a backslash protects, and
    /// treats `$$`, `$&`, `$'` and `` $` `` in a value specially.
    @Test func `USE-A1: --expand gives what dotenv-expand gives if all names are set`() throws {
        var count = 0
        for item in Self.cases where !item.input.contains(/\$[$&'`]|\\\$/) {
            let bytes = Array(item.input.utf8)
            let file = try read(item.input)
            guard let expansion = try? withSpan(bytes, { try DotEnvExpansion(file, in: $0) }),
                expansion.diagnostics.isEmpty, let expected = item.expected("dotenv_expand")
            else { continue }
            count += 1
            let found = Self.values(try expandedPairs(item.input, as: .dotenv))
            #expect(found == expected, "\(item.input.debugDescription)")
        }
        #expect(count > 100, "\(count)")
    }

    @Test(arguments: [
        ("A=$A\n", DotEnvError.Code.expansionCycle), ("A=$B\nB=$A\n", .expansionCycle),
        ("A=x$A$A\n", .expansionCycle), ("A=$constructor\n", .refused),
        ("A=${toString}\n", .refused),
        ("A=\(String(repeating: "$B", count: 2_000))\nB=1\n", .expansionCycle),
    ])
    func `USE-A1: next names the value that Next.js cannot read`(
        text: String, expected: DotEnvError.Code
    ) {
        let error = failure { () throws(DotEnvError) in _ = try expanded(text, as: .next) }
        #expect(error?.code == expected)
        #expect(error?.key != nil && error?.position != nil)
    }

    @Test func `next is limited in length`() {
        var text = "V0=\(String(repeating: "x", count: 1000))\n"
        for level in 1...20 { text += "V\(level)=${V\(level - 1)}${V\(level - 1)}\n" }
        let error = failure { () throws(DotEnvError) in _ = try expanded(text, as: .next) }
        #expect(error?.code == .expansionTooLarge)
    }
}

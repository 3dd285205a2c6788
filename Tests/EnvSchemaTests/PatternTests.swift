import EnvSchema
import Testing

/// Patterns mean what they mean in JavaScript.
@Suite struct PatternTests {
    private func fit(_ pattern: String, _ flags: String, _ text: String) -> ValueFit {
        let written = flags.isEmpty ? pattern : "/\(pattern)/\(flags)"
        return ValueType(.string, options: ["matches": .text(written)]).fit(of: text)
    }

    private static let supported: [Node.Pair] = [
        ("^a", "", "ab"), ("^b", "", "a\nb"), ("^b", "m", "a\nb"), ("^b", "m", "a\u{2028}b"),
        ("^\\n", "m", "\r\n"), ("a$", "", "a\n"), ("a$", "m", "a\n"), ("a$", "m", "a\rb"),
        ("^$", "m", "a\n\nb"), ("^$", "m", "a\r\nb"), ("^a.b$", "", "a\rb"),
        ("^a.b$", "", "a\u{85}b"), ("^a.b$", "", "a\u{2029}b"), ("^a.b$", "s", "a\nb"),
        ("\\s", "", "\u{FEFF}"), ("\\s", "", "\u{A0}"), ("\\s", "", "\u{85}"),
        ("\\s", "", "\u{180E}"), ("\\S", "", "\u{3000}"), ("\\w", "", "é"), ("\\W", "", "é"),
        ("\\d", "", "٣"), ("é\\b", "", "é"), ("\\bé", "", "aé"), ("\\Bé", "", "é"),
        ("[^]", "", "\n"), ("a[^]b", "", "a\nb"), ("[]", "", "a"), ("a[]*b", "", "ab"),
        ("^[]|b", "", "b"), ("{", "", "{"), ("a{", "", "a{"), ("a{,5}", "", "a{,5}"),
        ("a{,5}", "", "aaa"), ("a{1", "", "a{1"), ("a{1}}", "", "a}"), ("x{a}", "", "x{a}"),
        ("{{1}", "", "{"), ("^{", "", "{"), ("a]", "", "a]"), ("]", "", "]"), ("}", "", "}"),
        ("\\h", "", "h"), ("\\h", "", " "), ("\\A", "", "A"), ("a\\Z", "", "aZ"),
        ("\\Qa\\E", "", "QaE"), ("\\G", "", "G"), ("\\K", "", "K"), ("\\R", "", "R"),
        ("\\X", "", "X"), ("\\N", "", "N"), ("\\e", "", "e"), ("\\a", "", "a"), ("\\z", "", "z"),
        ("\\o", "", "o"), ("[\\h]", "", "h"), ("[\\B]", "", "B"), ("[\\b]", "", "\u{8}"),
        ("[[:alpha:]]", "", "a]"), ("[[:alpha:]]", "", "b"), ("[[:alpha:]]", "", "[]"),
        ("[a[b]", "", "["), ("[a&&b]", "", "&"), ("[a--b]", "", "-"), ("[\\w-z]", "", "-"),
        ("[a-]", "", "-"), ("[-a]", "", "-"), ("[\\s\\S]", "", "\n"), ("[^\\s]", "", "\u{2003}"),
        ("[^\\W]", "", "_"), ("[\\D]", "", "7"), ("[^\\d\\s]", "", "7 a"),
        ("\\x41", "", "A"), ("\\x4", "", "x4"), ("\\u0041", "", "A"), ("\\u{41}", "", "A"),
        ("\\u{3}", "", "uuu"), ("\\u004", "", "u004"), ("\\cA", "", "\u{1}"), ("\\c1", "", "\\c1"),
        ("[\\c1]", "", "\u{11}"), ("[\\c_]", "", "\u{1F}"), ("[\\c]", "", "\\"), ("\\c", "", "\\c"),
        ("\\0", "", "\0"), ("a\\0b", "", "a\0b"), ("\\v", "", "\u{B}"), ("\\f", "", "\u{C}"),
        ("k", "i", "\u{212A}"), ("[a-z]", "i", "\u{17F}"), ("s", "i", "ſ"), ("[^k]", "i", "K"),
        ("[^k]", "i", "\u{212A}"), ("[Z-a]", "i", "A"), ("[Z-a]", "i", "z"), ("[Z-a]", "i", "b"),
        ("\\x4b", "i", "k"), ("ABC", "i", "xabcx"), ("\\w", "i", "ſ"), ("\\W", "i", "K"),
        ("(a|b)c", "", "bc"), ("(?:a|b)c", "", "cc"), ("(?<year>\\d{4})", "", "2024"),
        ("(?<$a_1>x)", "", "x"), ("(|a)b", "", "b"), ("()", "", "x"), ("a||b", "", "x"),
        ("(a*)*b", "", "b"), ("(a*)+$", "", "b"), ("(?:a?){3}b", "", "ab"), ("a??b", "", "b"),
        ("a{2,3}?$", "", "aaa"), ("^a{0}$", "", "a"), ("^(?:ab){2,}$", "", "ababab"),
        ("#x", "", "#x"), ("a b", "", "a b"), ("a#", "", "a#b"), ("/", "", "a/b"),
        ("\\/", "", "a/b"), ("^\\-$", "", "-"), ("é", "", "é"), ("[à-ü]", "", "é"),
        ("é+", "", "éé"),
        ("(?:^a|b$)c?", "", "xb"), ("(?:^|x)+a", "", "a"), ("(?:\\b)+a", "", "a"), ("\\é", "", "é"),
        ("a\\", "", "a"), ("^.$", "u", "🔑"), ("🔑+", "u", "🔑🔑"), ("\\u{1F511}", "u", "🔑"),
    ]

    @Test func knownDifferencesAreBridged() throws {
        guard let expected = try Node.matches(Self.supported) else { return }
        for (pair, matches) in zip(Self.supported, expected) {
            let word = matches.map { $0 ? "fits" : "misfit" } ?? "unchecked"
            #expect(fit(pair.pattern, pair.flags, pair.text).word == word, "\(pair)")
        }
    }

    @Test(arguments: [
        "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(a)\\1", "\\k<a>", "(?<a>x)\\k<a>", "\\p{L}",
        "\\P{L}",
        "\\01", "\\8", "a++", "a*+", "a?+", "a{2}+", "a{2}{3}", "a???", "*a", "+", "?", "{1}",
        "a|*",
        "(", ")", "(a", "a)", "[", "[a", "[b-a]", "a{3,2}", "(*ACCEPT)a", "(*UTF)", "(?i)a",
        "(?#a)",
        "(?>a)", "(?P<a>b)", "(?'a'b)", "(?|a)", "(?R)", "(?1)", "^*", "$+", "\\b?", "\\b{2}", "\\",
        "(?<1a>x)", "(?<>x)", "(?<a", "(?<a>x)(?<a>y)", "/[é]/i", "/é/i", "/a/uu", "/a{/u",
        "/\\h/u",
        "\\ud83d", "🔑", "[🔑]", "a{65536}", "a{99999999999999999999}", "/\\u{110000}/u",
        "/[\\w-a]/u",
    ])
    func otherPatternsAreNotChecked(_ pattern: String) {
        let type = ValueType(.string, options: ["matches": .text(pattern)])
        #expect(type.hasUnsupportedPattern, "\(pattern)")
        #expect(type.fit(of: "a") == .unchecked("its pattern is not supported"), "\(pattern)")
    }

    @Test func longAndDeepPatternsAreNotChecked() {
        for pattern in [
            String(repeating: "a", count: 4097),
            String(repeating: "(", count: 65) + String(repeating: ")", count: 65),
            String(repeating: "(?:", count: 1000),
        ] {
            #expect(fit(pattern, "", "a") == .unchecked("its pattern is not supported"))
        }
        #expect(fit(String(repeating: "a", count: 4096), "", "a").word == "misfit")
        let deep = String(repeating: "(", count: 64) + "a" + String(repeating: ")", count: 64)
        #expect(fit(deep, "", "a") == .fits)
    }

    @Test func charactersBeyondSixteenBitsNeedTheFlag() {
        #expect(fit("^.$", "", "🔑").word == "unchecked")
        #expect(fit("^.$", "u", "🔑") == .fits)
    }

    @Test func patternsAreWrittenInEitherForm() {
        #expect(fit("/a", "", "/a") == .fits)
        #expect(fit("/a/x", "", "/a/x") == .fits)
        #expect(fit("/", "", "/") == .fits)
        #expect(fit("//", "", "//") == .fits)
        #expect(fit("a", "gy", "ba") == .fits)
        #expect(fit("a/b", "i", "A/B") == .fits)
        #expect(fit("", "", "x") == .fits)
    }

    @Test func generatedPatternsMatchAsInNode() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        let pairs: [Node.Pair] = (0..<6000).map { _ in
            var writer = PatternWriter(random: random)
            defer { random = writer.random }
            return writer.pair()
        }
        guard let expected = try Node.matches(pairs) else { return }
        var checked = 0
        for (pair, matches) in zip(pairs, expected) {
            let fit = fit(pair.pattern, pair.flags.isEmpty ? "g" : pair.flags, pair.text)
            if case .unchecked = fit { continue }
            checked += 1
            let word = matches.map { $0 ? "fits" : "misfit" } ?? "invalid"
            #expect(fit.word == word, "\(pair), seed \(seed)")
        }
        #expect(checked > 2000, "seed \(seed)")
    }

    @Test func hostilePatternsAreBounded() {
        let long = String(repeating: "a", count: 65_536)
        let repeated = String(repeating: "(?:a?)", count: 600)
        let patterns = [
            "(a+)+$", "(a+)+b", "^(a+)+$", "(a|a)*b", "(a|aa)+$", "(.*)*x", "a*a*a*a*a*b",
            "(?:a?){1000}b", "(?:(?:a{1,99}){1,99}){1,99}b", "(a{1000}){1000}", ".{0,65535}b",
            "[a-z]{1,2000}$", repeated + "b", "(?:\\b|a)*b", "(?:$|a)*b", "/(?:$|^|a)*b/m",
            "(?:[^b]*[^c]*)*d", String(repeating: "\\s?", count: 1300),
            String(repeating: "a*", count: 2000) + "b",
            "[" + (0..<500).map { "\\u\(String(0x1000 + 2 * $0, radix: 16))" }.joined() + "]*b",
        ]
        for pattern in patterns {
            let time = ProcessorTime.seconds { _ = fit(pattern, "", long) }
            #expect(time < 0.3, "\(pattern.prefix(40)) takes \(time) s")
            let many = ValueType(
                .array,
                options: [
                    "element": .type(ValueType(.string, options: ["matches": .text(pattern)]))
                ])
            let list = String(repeating: "aaaaa,", count: 9999)
            let arrayTime = ProcessorTime.seconds { _ = many.fit(of: list) }
            #expect(arrayTime < 0.5, "\(pattern.prefix(40)) takes \(arrayTime) s in an array")
        }
        #expect(fit("(a+)+$", "", long) == .fits)
        #expect(fit("(a+)+b", "", long).word == "misfit")
    }

    @Test func ordinaryPatternsOfLongValuesAreChecked() {
        let long = String(repeating: "aZ09", count: 16_384)
        let patterns = [
            "^[A-Za-z0-9+/=]+$", "^.+$", "^\\S+$", "[a-z]", "^aZ", "09$", "^(?:aZ09)+$", "/^AZ/i",
            "^[\\w-]+$", "[a-zA-Z0-9_-]{20,}", "^.{32,}$", "^.{1,65535}", "/^.*$/m", "\\baZ",
        ]
        for pattern in patterns {
            #expect(fit(pattern, "", long) == .fits, "\(pattern)")
        }
        let token = [200, 2000, 300].map { String(repeating: "x", count: $0) }
            .joined(separator: ".")
        #expect(fit("^[\\w-]+\\.[\\w-]+\\.[\\w-]+$", "", token) == .fits)
        #expect(
            fit("^(sk|pk)_(live|test)_[A-Za-z0-9]{16,99}$", "", "sk_live_" + long).word == "misfit")
    }
}

/// Writes random patterns with texts that may match.
private struct PatternWriter {
    var random: SeededGenerator

    private static let atoms = [
        "a", "b", "A", "k", "s", "1", "_", " ", ".", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S",
        "[ab]",
        "[^a]", "[a-c1]", "[^\\w]", "[\\s\\d]", "\\n", "\\t", "\\x61", "\\u0061", "\\cJ", "\\.",
        "-",
        "{", "}", "]", "[^]", "[]", "[A-z]", "\\-", "é", "[é-ü]", "\\h", "\\R", "\\v", "{,2}",
        "[k-t]",
    ]
    private static let assertions = ["^", "$", "\\b", "\\B"]
    private static let quantifiers = [
        "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "+?", "??", "{1,2}?", "{0}", "{,1}", "++",
    ]
    private static let characters = [
        "a", "b", "c", "A", "K", "k", "s", "ſ", "\u{212A}", "1", "2", "_", " ", "\n", "\r", "\t",
        "\u{2028}", "\u{A0}", "-", ".", "{", "}", "]", "é", "Z", "\u{85}", "h", "R", "\u{FEFF}",
    ]

    mutating func pair() -> Node.Pair {
        let pattern = alternatives(depth: 0)
        let flags = ["i", "m", "s"].filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
        let length = Int.random(in: 1...8, using: &random)
        let text = (0..<length).map { _ in pick(Self.characters) }.joined()
        return (pattern, flags.joined(), text)
    }

    private mutating func pick(_ texts: [String]) -> String {
        texts.randomElement(using: &random) ?? ""
    }

    private mutating func chance(_ one: Int) -> Bool {
        Int.random(in: 0..<one, using: &random) == 0
    }

    private mutating func alternatives(depth: Int) -> String {
        var text = sequence(depth: depth)
        while chance(5) { text += "|" + sequence(depth: depth) }
        return text
    }

    private mutating func sequence(depth: Int) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            if chance(8) {
                text += pick(Self.assertions)
                continue
            }
            if depth < 3, chance(4) {
                let start = ["(", "(?:", "(?<n\(Int.random(in: 0...9999, using: &random))>"]
                text += pick(start) + alternatives(depth: depth + 1) + ")"
            } else {
                text += pick(Self.atoms)
            }
            if chance(3) { text += pick(Self.quantifiers) }
        }
        return text
    }
}

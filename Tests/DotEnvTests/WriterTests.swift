import DotEnv
import Foundation
import Testing

@Suite struct `Writing` {
    @Test(arguments: [
        ("", "A=\n"), ("x-1_2/3:@%+,=.", "A=x-1_2/3:@%+,=.\n"), ("x y", "A='x y'\n"),
        ("x#y", "A='x#y'\n"), ("$ x \"q\" `b` \\n", "A='$ x \"q\" `b` \\n'\n"),
        ("it's", "A=\"it's\"\n"), ("line\nbreak", "A='line\nbreak'\n"),
        (" é\u{2028}", "A=' é\u{2028}'\n"),
    ])
    func `dotenv uses the first form that all parsers agree on`(
        value: String, expected: String
    ) throws {
        #expect(try written(["A": value], as: .dotenv) == expected)
        #expect(try pairs(expected, as: .portable) == [Pair("A", value)])
    }

    @Test(arguments: [
        "it's \"x\"", "it's $x", "a\rb", "${x}'", "x\\", "a\\\\b'", "${x}", "x\(nonCharacter)",
        "it's `x`", "$x", "a\\$", "$2b$12$abc", "'\"`", " it's \"`", "it's\n`",
    ])
    func `USE-B6: a value without such a form is written for motdotla, and named`(
        value: String
    ) throws {
        let text = try written(["B": "1", "A": value], as: .dotenv)
        #expect(try pairs(text) == [Pair("B", "1"), Pair("A", value)])
        #expect(unportable(["B": "1", "A": value], for: nil) == ["A"])
        #expect(unportable(["B": "1", "A": value], for: .dotenv).isEmpty)
        let error = failure { () throws(DotEnvError) in
            _ = try written(["A": value], as: .dotenv, for: .portable)
        }
        #expect(error?.code == .unwritableValue && error?.key == "A")
    }

    @Test func `the value whose end parsers do not see is named, not the variable after it`() {
        let error = failure { () throws(DotEnvError) in
            _ = try written(["A": "1", "TR": "trail\\", "YES": "yes"], as: .dotenv)
        }
        #expect(error?.code == .notVerified && error?.key == "TR")
    }

    @Test(
        arguments: [
            (nil, "\r'\""), (.dotenv, "'\"`\nx"), (.dotenv, "'\"`#"), (.next, "$x\n'\"`"),
            (.node, "a\rb"), (.node, "'\"`\nx"), (.portable, "$x"), (nil, "x\n'\\"),
        ] as [(DotEnvDialect?, String)])
    func `a value without any form is refused with the formats that can`(
        dialect: DotEnvDialect?, value: String
    ) {
        let error = failure { () throws(DotEnvError) in
            _ = try written(["A": value], as: .dotenv, for: dialect)
        }
        #expect(error?.code == .unwritableValue)
        #expect(error?.key == "A")
        #expect(error?.formats.contains(.json) == true)
        #expect(error?.formats.contains(.dotenv) == false)
        #expect(error?.description.contains(value) == false)
    }

    @Test func `json is right for every special character`() throws {
        var value = (0...0xA0).compactMap { Unicode.Scalar($0).map(String.init) }.joined()
        value +=
            "\u{2028}\u{2029}\u{FEFF}\u{202E}\u{E0067}\(nonCharacter)\u{10FFFF}é😀\u{10FFFF}\"\\/"
        let values: [(String, [UInt8])] = [
            ("A\"\n", Array(value.utf8)), ("B", []), ("C", Array("x".utf8)),
        ]
        let text = try written(values, as: .json)
        let object = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        #expect(object["A\"\n"].map { Array($0.utf8) } == values[0].1)
        #expect(object["B"] == "")
        #expect(object.count == 3)
        #expect(try written([:], as: .json) == "{}\n")
        #expect(
            try written(["A": "é\u{1}\t\"\\\u{7F}"], as: .json)
                == "{\n  \"A\": \"é\\u0001\\t\\\"\\\\\\u007f\"\n}\n")
    }

    @Test(arguments: [
        (DotEnvFormat.shell, "it's $x\n", "export A='it'\\''s $x\n'\n"),
        (.docker, " \"x\" # y", "A= \"x\" # y\n"),
        (.systemd, "a \"b\" \\ $c `d`\nit's", "A=\"a \\\"b\\\" \\\\ \\$c \\`d\\`\nit's\"\n"),
        (.systemd, "plain", "A=plain\n"),
        (.yaml, "no: \"x\"\n\u{85}", "\"A\": \"no: \\\"x\\\"\\n\\u0085\"\n"),
        (
            .k8s, "abcd",
            """
            apiVersion: v1
            kind: Secret
            metadata:
              name: "env"
            type: Opaque
            data:
              "A": "YWJjZA=="

            """
        ),
    ])
    func `each format has its syntax`(
        format: DotEnvFormat, value: String, expected: String
    ) throws {
        #expect(try written(["A": value], as: format) == expected)
    }

    @Test func `base64 is right for every length`() throws {
        for count in 0..<70 {
            let value = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
            let text = try written([("A", value)], as: .k8s)
            let line = try #require(text.split(separator: "\n").last)
            #expect(line == "  \"A\": \"\(Data(value).base64EncodedString())\"")
        }
    }

    @Test(arguments: [
        (DotEnvFormat.docker, Array("x\ny".utf8)), (.docker, Array("x\r".utf8)),
        (.docker, [UInt8](repeating: 0x78, count: 65_534)), (.dotenv, [0x78, 0]),
        (.shell, [0]), (.systemd, [0]), (.json, [0xFF]), (.yaml, [0xC3]), (.systemd, [0xFF]),
        (.systemd, Array(nonCharacter.utf8)),
    ])
    func `a value that a format cannot carry is refused`(format: DotEnvFormat, value: [UInt8]) {
        let error = failure { () throws(DotEnvError) in
            _ = try written([("A", value)], as: format)
        }
        #expect(error?.code == .unwritableValue)
        #expect(error?.formats.contains(.k8s) == true)
    }

    @Test(arguments: [
        (DotEnvFormat.shell, "a-b"), (.shell, "A;id"), (.shell, "1A"), (.shell, ""),
        (.shell, "UID"), (.shell, "EUID"), (.shell, "PPID"), (.shell, "BASHOPTS"),
        (.shell, "SHELLOPTS"), (.shell, "RANDOM"), (.shell, "A\nid"), (.shell, "é"),
        (.systemd, "a.b"), (.dotenv, "A B"),
        (.dotenv, "__proto__"), (.dotenv, ""), (.docker, "#A"), (.docker, "A\u{A0}"),
        (.docker, "A=B"), (.docker, ""), (.k8s, "A/B"), (.k8s, ".."),
    ])
    func `a name that a format cannot carry is refused`(format: DotEnvFormat, key: String) {
        let error = failure { () throws(DotEnvError) in
            _ = try written([(key, Array("1".utf8))], as: format)
        }
        #expect(error?.code == .unwritableName)
        #expect(error?.formats.contains(.json) == true)
    }

    @Test func `a duplicate name is refused`() {
        for format in DotEnvFormat.allCases {
            let error = failure { () throws(DotEnvError) in
                _ = try written(["A": "1", "A": "2"], as: format)
            }
            #expect(error?.code == .duplicateKey)
        }
    }

    @Test func `a Secret is named and sized as Kubernetes requires`() throws {
        for name in ["", "A", "-a", "a-", "a..b", "a_b", String(repeating: "a", count: 254)] {
            let error = failure { () throws(DotEnvError) in
                _ = try written([("A", [])], as: .k8s, secretName: name)
            }
            #expect(error?.code == .unwritableName)
        }
        let large = [UInt8](repeating: 1, count: 1_048_577)
        #expect(
            failure { () throws(DotEnvError) in
                _ = try written([("A", large)], as: .k8s)
            }?.code == .tooLarge)
    }

    @Test(arguments: DotEnvFormat.allCases)
    func `a changed text is not verified`(format: DotEnvFormat) throws {
        let text = try Array(written(["A": "some value", "B": "x"], as: format).utf8)
        let values = [Array("some value".utf8), Array("x".utf8)]
        let lend: DotEnvWriter.Lender = { index, body in withSpan(values[index]) { body($0) } }
        let writer = DotEnvWriter(format)
        try withSpan(text) { span in try writer.verify(span, holds: ["A", "B"], lending: lend) }
        for index in text.indices {
            var changed = text
            changed[index] ^= 1
            let error = failure { () throws(DotEnvError) in
                try withSpan(changed) { (span) throws(DotEnvError) in
                    try writer.verify(span, holds: ["A", "B"], lending: lend)
                }
            }
            // Whitespace and quotes may change without a change of meaning.
            if error == nil {
                #expect([0x20, 0x0A, 0x27].contains(text[index]), "\(index)")
            } else {
                #expect(error?.code == .notVerified)
            }
        }
    }

    @Test func `memory that is too short is an error`() {
        let lend: DotEnvWriter.Lender = { _, body in withSpan(Array("x".utf8)) { body($0) } }
        var memory = [UInt8](repeating: 0, count: 3)
        let error = failure { () throws(DotEnvError) in
            try withMutableSpan(&memory) { (target) throws(DotEnvError) in
                _ = try DotEnvWriter(.dotenv).writeVerified(["A"], into: &target, lending: lend)
            }
        }
        #expect(error?.code == .notVerified)
    }

    @Test func `2,000 nasty values are read back in every dialect they are for`() throws {
        var random = Seeded(42)
        let tokens = [
            "\"", "'", "#", " # ", "$", "${A}", "$x", "\\", "\\\\", "\\n", "\n", "`", " ", "\t",
            "export ", "é", "😀", "=", "a", "A=1", ":", "{\"k\":\"v\"}", "\u{A0}", "\u{2028}",
            "\u{85}", "\u{FEFF}", "\r", "\u{1}", "\u{7F}", "~", "!", "*", "%", ";", "&", "|", "(",
        ]
        var counts: [DotEnvFormat: Int] = [:]
        var forOne: [DotEnvDialect: Int] = [:]
        for _ in 0..<2000 {
            var value = ""
            for _ in 0..<Int.random(in: 0..<9, using: &random) {
                value += tokens.randomElement(using: &random) ?? ""
            }
            let expected = [Pair("BEFORE", "1"), Pair("A", value), Pair("AFTER", "x y")]
            for format in DotEnvFormat.allCases {
                let values: KeyValuePairs = ["BEFORE": "1", "A": value, "AFTER": "x y"]
                guard unportable(values, for: nil).isEmpty || format != .dotenv,
                    let text = try? written(values, as: format)
                else { continue }
                counts[format, default: 0] += 1
                let dialects: [DotEnvDialect] =
                    switch format {
                    case .dotenv: [.dotenv, .portable, .next, .node, .systemd, .compose, .shell]
                    case .docker: [.docker]
                    case .systemd: [.systemd]
                    case .shell: [.shell]
                    case .json, .yaml, .k8s: []
                    }
                for dialect in dialects where try pairs(text, as: dialect) != expected {
                    Issue.record("\(dialect) \(text.debugDescription)")
                }
            }
            for dialect in DotEnvWriter.writableDialects {
                let values: KeyValuePairs = ["BEFORE": "1", "A": value, "AFTER": "x y"]
                do throws(DotEnvError) {
                    let text = try written(values, as: .dotenv, for: dialect)
                    forOne[dialect, default: 0] += 1
                    #expect(try expandedOrPlain(text, as: dialect) == expected)
                } catch {
                    // Anything that cannot be written is refused before, except what only shows in
                    // the end.
                    #expect(error.code == .unwritableValue || value.hasSuffix("\\"), "\(value)")
                }
            }
        }
        for (dialect, count) in [
            (DotEnvDialect.dotenv, 1700), (.next, 1700), (.node, 1600), (.compose, 1950),
        ] {
            #expect((forOne[dialect] ?? 0) > count, "\(dialect) \(forOne[dialect] ?? 0)")
        }
        #expect(counts[.json] == 2000 && counts[.yaml] == 2000 && counts[.k8s] == 2000)
        #expect(counts[.shell] == 2000)
        #expect((counts[.dotenv] ?? 0) > 700 && (counts[.docker] ?? 0) > 1000)
    }
}

import EnvSchema
import Testing

/// No value and no type ends the program or takes long.
@Suite struct HostileValueTests {
    private static let pieces: [[UInt8]] =
        [
            "a", "1", "0", ".", ":", "::", "-", "+", "e", "E", "%", "%4", "%41", "[", "]", "{", "}",
            "\"", "\\", "\\u00", "\\ud83d", ",", "@", "/", "//", "http:", "file:", "?", "#", "T",
            "W",
            "Z", " ", "\n", "\u{A0}", "\u{FEFF}", "ß", "🔑", "\u{390}", "x{", "255", "99999999999",
            "s",
            "null", "true", "xn--", "2024", "(", ")", "*", "0x",
        ].map { Array($0.utf8) } + [[0xFF], [0xC2], [0xE2, 0x80], [0xF0, 0x9F], [0x80], [0x00]]

    private static func options(_ random: inout SeededGenerator) -> [String: OptionValue] {
        let names = [
            "minLength", "maxLength", "isLength", "startsWith", "endsWith", "matches",
            "toUpperCase",
            "toLowerCase", "min", "max", "isDivisibleBy", "isInt", "precision",
            "coerceToMinMaxRange", "prependHttps", "allowedDomains", "noTrailingSlash", "values",
            "normalize", "version", "output", "element", "unique", "separator", "format", "keyType",
            "entriesMinLength", "entriesMaxLength", "entriesIsLength",
        ]
        let values: [OptionValue] = [
            .flag(true), .flag(false), .number("0"), .number("-1"), .number("1e308"), .number("6"),
            .number("nan"), .number("inf"), .number(""), .text(""), .text("a"), .text("1s"),
            .text("[a-z]+$"), .text("(?:a|1)*"), .text("/\\s/i"), .list([]),
            .list(["a", "[::1]", ":"]),
            .type(ValueType(.number)), .type(ValueType(.array)), .type(ValueType(.url)),
            .type(
                ValueType(.string, options: ["toUpperCase": .flag(true), "matches": .text("^A")])),
        ]
        var options: [String: OptionValue] = [:]
        for _ in 0..<Int.random(in: 0..<16, using: &random) {
            guard let name = names.randomElement(using: &random) else { continue }
            options[name] = values.randomElement(using: &random)
        }
        return options
    }

    @Test func noValueAndNoTypeTraps() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...8, using: &random)
            let bytes = (0..<count).flatMap { _ in Self.pieces.randomElement(using: &random) ?? [] }
            guard let name = ValueType.Name.allCases.randomElement(using: &random) else { return }
            let type = ValueType(name, options: Self.options(&random))
            _ = unsafe type.fit(of: bytes.span.bytes)
            _ = type.hasUnsupportedPattern
        }
    }

    @Test func longValuesTakeLittleTime() {
        let length = 65_536
        let texts = [
            "a", "1", "0", ".", ":", "[", "{", "\"", "@", "a.", "1.", "%", " ", "\u{A0}", "a@", "-",
            "\n",
            "\u{390}", "a,", "[],", "1:", "::", "http://", "\\u0061", "0.", "\u{2028}",
        ]
        for name in ValueType.Name.allCases {
            var options: [String: OptionValue] = ["normalize": .flag(true), "unique": .flag(true)]
            if name == .string {
                options = ["toUpperCase": .flag(true), "matches": .text("\\s+$")]
            }
            for text in texts {
                let many = String(repeating: text, count: length / text.utf8.count)
                for value in [many, "[\"" + many + "\"]", "{\"a\":\"" + many, "http://" + many] {
                    let type = ValueType(name, options: options)
                    let time = ProcessorTime.seconds { _ = type.fit(of: value) }
                    #expect(time < 0.3, "\(name) \(text.debugDescription): \(time)")
                }
            }
        }
    }

    @Test func longListsOfASchemaTakeLittleTime() {
        let members = OptionValue.list((0..<200_000).map { "\($0)" })
        let list = String(repeating: "a,", count: 9999)
        for type in [
            ValueType(.enum, options: ["values": members]),
            ValueType(.url, options: ["allowedDomains": members]),
            ValueType(.string, options: ["matches": .text(String(repeating: "a", count: 1 << 20))]),
            ValueType(
                .string, options: ["endsWith": .text(String(repeating: "a", count: 1 << 20))]),
            ValueType(
                .string, options: ["minLength": .text(String(repeating: "1", count: 1 << 20))]),
        ] {
            let array = ValueType(.array, options: ["element": .type(type)])
            let time = ProcessorTime.seconds { _ = array.fit(of: list) }
            #expect(time < 1, "\(type.name): \(time)")
        }
    }
}

import EnvSchema
import Testing

/// Reasons show nothing of a value, and nothing of a schema that controls a terminal.
@Suite struct ReasonTests {
    private static let canaries = ["zqxjkv", "ZQXJKV", "74829163", "zq.74829163"]
    private static let frames = [
        "%", " % ", "-%", "+%.%", "%e%", "https://%", "http://u:%@%:99", "%://%", "%@%.com",
        "\"%\"@x",
        "%:80", "[%]", "[\"%\"]", "{\"%\":\"%\"}", "{\"%\":%}", "%,%", "1.2.%", "%s", "12%",
        "[[\"%\"]]",
        "\"%", "http://[%]", "2024-%", "%-%-%", "[{\"a\":\"%\"},null,%]", "http://ä%", "%\u{1F511}",
    ]

    private static var types: [ValueType] {
        let text = OptionValue.text("a")
        let simple: [ValueType] =
            ValueType.Name.allCases.map { ValueType($0) } + [
                ValueType(.string, options: ["minLength": .number("99")]),
                ValueType(.string, options: ["maxLength": .number("1")]),
                ValueType(.string, options: ["isLength": .number("99")]),
                ValueType(.string, options: ["startsWith": text]),
                ValueType(.string, options: ["endsWith": text]),
                ValueType(.string, options: ["matches": .text("^$")]),
                ValueType(.string, options: ["matches": .text("(?=a)")]),
                ValueType(.string, options: ["toUpperCase": .flag(true)]),
                ValueType(.string, options: ["toLowerCase": .flag(true)]),
                ValueType(.number, options: ["min": .number("1e30")]),
                ValueType(.number, options: ["max": .number("-1e30")]),
                ValueType(.number, options: ["isDivisibleBy": .number("11")]),
                ValueType(.number, options: ["isInt": .flag(true), "max": .text("x")]),
                ValueType(.url, options: ["prependHttps": .flag(true)]),
                ValueType(.url, options: ["allowedDomains": .list(["a.b"])]),
                ValueType(.enum, options: ["values": .list(["a", "b"])]),
                ValueType(.ip, options: ["version": .number("6")]),
                ValueType(.duration, options: ["min": .text("99w")]),
                ValueType(.port, options: ["max": .number("1")]),
            ]
        let lists = simple.flatMap { type in
            [
                ValueType(.array, options: ["element": .type(type), "unique": .flag(true)]),
                ValueType(.record, options: ["keyType": .type(type), "values": .type(type)]),
            ]
        }
        return simple + lists
    }

    @Test func noReasonShowsTheValue() {
        var reasons: Set<String> = []
        for type in Self.types {
            for frame in Self.frames {
                for canary in Self.canaries {
                    let text = frame.map { $0 == "%" ? canary : String($0) }.joined()
                    guard let reason = type.fit(of: text).reason else { continue }
                    reasons.insert(reason)
                    for part in ["zq", "jkv", "7482", "9163"] {
                        #expect(!reason.lowercased().contains(part), "\(type) \(text): \(reason)")
                    }
                }
            }
        }
        #expect(reasons.count > 60)
    }

    @Test func schemasCannotControlTheTerminal() {
        let members = OptionValue.list(["\u{1B}[2J", "a\nb", "\u{202E}c"])
        let types = [
            ValueType(.enum, options: ["values": members]),
            ValueType(.url, options: ["allowedDomains": members]),
            ValueType(.string, options: ["startsWith": .text("\u{1B}[2J")]),
            ValueType(.string, options: ["endsWith": .text("a\u{7}")]),
            ValueType(.duration, options: ["min": .text("9\n s")]),
            ValueType(.string, options: ["\u{1B}[2J": .flag(true)]),
            ValueType(.enum, options: ["values": .list((0..<100_000).map { "member \($0)" })]),
        ]
        for type in types {
            let reason = type.fit(of: "http://x").reason ?? type.fit(of: "1s").reason ?? ""
            #expect(!reason.isEmpty)
            #expect(reason.count < 400)
            let isSafe = reason.unicodeScalars.allSatisfy {
                $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0x202E
            }
            #expect(isSafe, "\(reason.debugDescription)")
        }
    }
}

import CommandLineKit
import Testing

@Suite("keys of a terminal")
struct KeyDecoderTests {
    private static func keys(_ text: String) -> [TerminalKey] {
        var decoder = KeyDecoder()
        return decoder.take(Array(text.utf8))
    }

    @Test(
        arguments: [
            ("a", .character("a")), ("\r", .enter), ("\n", .enter), ("\u{7F}", .backspace),
            ("\u{8}", .backspace), ("\t", .tab), ("\u{1B}[A", .up), ("\u{1B}OA", .up),
            ("\u{1B}[B", .down), ("\u{1B}[1;5B", .down), ("\u{1B}[C", .right), ("\u{1B}[D", .left),
            ("\u{1B}[H", .home), ("\u{1B}[1~", .home), ("\u{1B}[7~", .home), ("\u{1B}OF", .end),
            ("\u{1B}[4~", .end), ("\u{1B}[5~", .pageUp), ("\u{1B}[6;2~", .pageDown),
            ("\u{15}", .deleteLine), ("\u{17}", .deleteWord),
            ("\u{2}", .pageUp), ("\u{6}", .pageDown), ("\u{10}", .up), ("\u{E}", .down),
            ("ü", .character("ü")), ("世", .character("世")), ("😀", .character("😀")),
            ("\u{1B}OM", .enter),
        ] as [(String, TerminalKey)])
    func `a sequence is one key`(text: String, key: TerminalKey) {
        #expect(Self.keys(text) == [key])
    }

    @Test(arguments: [
        "\u{0}", "\u{3}", "\u{1B}[200~", "\u{1B}[3~", "\u{1B}[Z", "\u{1B}x", "\u{9B}",
        "\u{1B}]0;title\u{7}", "\u{1B}P1$r0m\u{1B}\\", "\u{202E}", "\u{200B}", "\u{FEFF}",
        "\u{301}", "\u{1B}[?1;2c",
    ])
    func `what is no key is dropped`(text: String) {
        var decoder = KeyDecoder()
        #expect(decoder.take(Array(text.utf8)) == [])
        #expect(!decoder.isWaiting)
        #expect(decoder.take(Array("j".utf8)) == [.character("j")])
    }

    @Test func `an escape alone is the key once nothing follows`() {
        var decoder = KeyDecoder()
        #expect(decoder.take([0x1B]) == [])
        #expect(decoder.isWaiting)
        #expect(decoder.timeOut() == .escape)
        #expect(!decoder.isWaiting && decoder.timeOut() == nil)
        #expect(decoder.take([0x1B, 0x1B]) == [.escape])
        #expect(decoder.timeOut() == .escape)
    }

    @Test func `keys may come byte by byte, and broken characters spoil no other`() {
        var decoder = KeyDecoder()
        #expect(decoder.take([0xE4]) == [] && decoder.take([0xB8]) == [])
        #expect(decoder.take([0x96]) == [.character("世")])
        #expect(decoder.take([0xE4, 0xB8, UInt8(ascii: "q")]) == [.character("q")])
        #expect(decoder.take([0xC0, 0x80, 0xF5, 0xFF, UInt8(ascii: "r")]) == [.character("r")])
        // A surrogate and what is longer than it need be are no characters.
        #expect(decoder.take([0xED, 0xA0, 0x80, 0xE0, 0x80, 0x80]) == [])
        #expect(decoder.take([0x1B, 0x5B]) == [] && decoder.isWaiting)
        #expect(decoder.take([0x42]) == [.down])
        // An unfinished one does not swallow the next.
        #expect(decoder.take(Array("\u{1B}[1;\u{1B}[A".utf8)) == [.up])
    }

    @Test func `every sequence of up to three bytes, and much more by chance, traps nowhere`() {
        var random = SystemRandomNumberGenerator()
        // Bytes of one kind behave alike; these are the borders of all kinds.
        let borders: [UInt8] = [
            0, 1, 7, 8, 0x0A, 0x0D, 0x1A, 0x1B, 0x1F, 0x20, 0x30, 0x3B, 0x3F, 0x40, 0x41, 0x4F,
            0x50, 0x5B, 0x5C, 0x5D, 0x5E, 0x5F, 0x7E, 0x7F, 0x80, 0x9B, 0xBF, 0xC0, 0xC1, 0xC2,
            0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF,
        ]
        var failureCount = 0
        for first in UInt8.min...UInt8.max {
            for second in borders {
                for third in borders {
                    var decoder = KeyDecoder()
                    let keys = decoder.take([first, second, third])
                    _ = decoder.timeOut()
                    if keys.count > 3 || decoder.isWaiting { failureCount += 1 }
                }
            }
        }
        #expect(failureCount == 0)
        for _ in 0..<500 {
            var decoder = KeyDecoder()
            let bytes = (0..<200).map { _ in borders.randomElement(using: &random) ?? 0 }
            #expect(decoder.take(bytes).count <= bytes.count)
            _ = decoder.timeOut()
            #expect(decoder.take([0x6A]) == [.character("j")])
        }
    }
}

import Foundation
import Sealing
import Testing

@testable import Searching

@Suite("Masking values in a text")
struct RedactorTests {
    private static let mask = String(decoding: Redactor.mask, as: UTF8.self)

    private static func slices(_ values: [String]) throws -> [SecretSlice] {
        let arena = SecretArena()
        return try values.map { text in
            try Array(text.utf8).withBytes { (bytes) throws(SealingError) in
                try arena.copy(bytes)
            }
        }
    }

    /// Processes pieces, each at its time, and returns the output after each of them and at the
    /// end.
    private static func released(
        _ pieces: [(text: [UInt8], time: UInt64)], _ values: [String], interactive: Bool = false
    ) throws -> [String] {
        let patterns = try ValuePatterns(
            slices(values), shortestLine: ValuePatterns.shortestLine)
        var redactor = try Redactor(patterns, isInteractive: interactive)
        var all: [String] = []
        for piece in pieces {
            var out: [UInt8] = []
            var rest = piece.text[...]
            repeat {
                let count = redactor.take(at: piece.time) { memory in
                    let some = Array(rest.prefix(memory.byteCount))
                    some.withBytes { bytes in
                        unsafe memory.withUnsafeMutableBytes { target in
                            unsafe bytes.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
                        }
                    }
                    return some.count
                }
                rest = rest.dropFirst(count)
                redactor.release(at: piece.time) { bytes in
                    unsafe bytes.withUnsafeBytes { unsafe out += Array($0) }
                }
            } while !rest.isEmpty
            all.append(String(decoding: out, as: UTF8.self))
        }
        var out: [UInt8] = []
        redactor.finish { bytes in unsafe bytes.withUnsafeBytes { unsafe out += Array($0) } }
        all.append(String(decoding: out, as: UTF8.self))
        return all
    }

    private static func masked(_ text: String, _ values: [String]) throws -> String {
        try released([(Array(text.utf8), 0)], values).joined()
    }

    @Test(arguments: [
        ("nothing here", ["secret value"], "nothing here"),
        ("a secret value b", ["secret value"], "a # b"),
        ("secret value", ["secret value"], "#"),
        ("secret valuesecret value", ["secret value"], "#"),
        ("secret value secret value", ["secret value"], "# #"),
        ("xabcdefghix", ["abcdef", "defghi"], "x#x"),
        ("abcdefgh abcdef", ["abcdef", "abcdefgh"], "# #"),
        ("xbcdefgabcdefgh", ["abcdefgh", "bcdefg"], "x#"),
        ("aaaaaaaaaaab", ["aaaaaa"], "#b"),
        ("secret valu", ["secret value"], "secret valu"),
        ("short", ["short"], "short"), ("6bytes", ["6bytes"], "#"),
        ("line one\r\nline two", ["line one\nline two"], "#"),
        ("line one\nline two", ["line one\nline two"], "#"),
        ("Grüße an alle", ["Grüße"], "# an alle"),
    ])
    func `every occurrence is masked, and nothing else`(
        text: String, values: [String], expected: String
    ) throws {
        #expect(
            try Self.masked(text, values) == expected.replacing("#", with: Self.mask))
    }

    private static let key =
        "-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEG\n  too short\n"
        + "  an indented line\r\n-----END PRIVATE KEY-----\n"
    private static let text = "say \"hi\", it's C:\\dir</b>"

    @Test(
        "VAL-F9: lines of a value and its forms with backslash escapes are masked",
        arguments: Self.writtenForms)
    func forms(text: String, value: String, expected: String) throws {
        #expect(
            try Self.masked(text, [value]) == expected.replacing("@", with: Self.mask))
    }

    /// Text, value and result.
    private static let writtenForms: [(String, String, String)] = [
        (
            "1| -----BEGIN PRIVATE KEY-----\n1| MIGHAgEAMBMGByqGSM49AgEG\n1|   too short\n"
                + "1| an indented line\n1| -----END PRIVATE KEY-----\n",
            key, "1| @\n1| @\n1|   too short\n1| @\n1| @\n"
        ),
        ("\t MIGHAgEAMBMGByqGSM49AgEG ", key, "\t @ "),
        ("an indented line", key, "@"), ("too short", key, "too short"),
        (key, key, "@"),
        (
            #"{"a":"-----BEGIN PRIVATE KEY-----\nMIGHAgEAMBMGByqGSM49AgEG\n  too short\n  "#
                + #"an indented line\r\n-----END PRIVATE KEY-----\n"}"#, key, #"{"a":"@"}"#
        ),
        ("TUlHSEFnRUFNQk1HQnlxR1NNNDlBZ0VH", key, "@"),
        (#"{"a":"say \"hi\", it's C:\\dir</b>"}"#, text, #"{"a":"@"}"#),
        (#"{"a":"say \"hi\", it's C:\\dir<\/b>"}"#, text, #"{"a":"@"}"#),
        (#"{"a":"say \"hi\", it's C:\\dir\u003c/b\u003e"}"#, text, #"{"a":"@"}"#),
        (#"'say "hi", it\'s C:\\dir</b>'"#, text, "'@'"),
        (#"<caf\u00e9 cr\u00e8me>"#, "café crème", "<@>"),
    ]

    @Test(arguments: 0..<3, [6, 7, 8, 9, 30, 57, 58, 100, 1_000])
    func `base64 with the value at any offset is masked`(offset: Int, length: Int) throws {
        var random = SystemRandomNumberGenerator()
        let bytes = (0..<length).map { _ in UInt8.random(in: 0x21...0x7E, using: &random) }
        let value = String(decoding: bytes, as: UTF8.self)
        for tail in ["", "x", "xy", "xyz"] {
            let whole = Data(Array("abc".utf8.prefix(offset)) + bytes + Array(tail.utf8))
            let plain = whole.base64EncodedString()
            let wrapped = whole.base64EncodedString(options: .lineLength76Characters)
            let wrappedPlain = whole.base64EncodedString(
                options: [.lineLength76Characters, .endLineWithLineFeed])
            let forURLs = plain.replacing("+", with: "-").replacing("/", with: "_")
            for text in [plain, forURLs, wrapped, wrappedPlain] {
                let found = try Self.masked("<\(text)>", [value])
                // Digits that also depend on other bytes stay, and one more.
                let parts = found.dropFirst().dropLast().split(
                    separator: Self.mask, omittingEmptySubsequences: false)
                #expect(parts.count == 2, "\(found)")
                #expect(parts.allSatisfy { $0.count <= 9 }, "\(found)")
            }
        }
    }

    @Test func `a value split anywhere is masked`() throws {
        let text = Array("before secret value after".utf8)
        for split in 1..<text.count {
            let out = try Self.released(
                [(Array(text[..<split]), 0), (Array(text[split...]), 500)], ["secret value"])
            #expect(out.joined() == "before \(Self.mask) after", "\(split)")
        }
        let bytes = text.enumerated().map { ([$1], UInt64($0) * 10) }
        #expect(
            try Self.released(bytes, ["secret value"]).joined() == "before \(Self.mask) after")
    }

    @Test func `only a possible beginning is held back, and not for long`() throws {
        func out(_ pieces: [(String, UInt64)], interactive: Bool = false) throws -> [String] {
            try Self.released(
                pieces.map { (Array($0.0.utf8), $0.1) }, ["secret value"],
                interactive: interactive)
        }
        #expect(try out([("all of it\n", 0)]) == ["all of it\n", ""])
        #expect(try out([("some secr", 0), ("ets", 10)]) == ["some ", "secret", "s"])
        #expect(try out([("some secr", 0), ("x", 10)]) == ["some ", "secrx", ""])
        // A second later it is written, and what follows is still masked.
        #expect(try out([("secret", 0), ("", 800), ("", 1_000)]) == ["", "", "secret", ""])
        #expect(
            try out([("secret", 0), ("", 1_000), (" value.", 1_100)])
                == ["", "secret", "\(Self.mask).", ""])
        #expect(
            try out([("secret", 0), (" v", 500), ("", 1_000), ("alue.", 1_100)])
                == ["", "", "secret", "\(Self.mask).", ""])
        // A person who types does not wait for the echo, but a longer beginning is held there too.
        #expect(try out([("s", 0), ("", 50)], interactive: true) == ["", "s", ""])
        #expect(try out([("secr", 0), ("", 50)], interactive: true) == ["", "", "secr"])
    }

    /// The result of searching for each value separately.
    private static func expected(_ text: [UInt8], _ values: [String]) -> [UInt8] {
        var isMasked = [Bool](repeating: false, count: text.count + 1)
        for value in values.map({ Array($0.utf8) }) where value.count >= 6 {
            for start in 0..<max(0, text.count - value.count + 1)
            where text[start..<start + value.count].elementsEqual(value) {
                for index in start..<start + value.count { isMasked[index] = true }
            }
        }
        var out: [UInt8] = []
        var index = 0
        while index < text.count {
            if !isMasked[index] {
                out.append(text[index])
                index += 1
                continue
            }
            out += Redactor.mask
            while isMasked[index] { index += 1 }
        }
        return out
    }

    @Test func `random values in random texts are masked as by a simple search`() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var random = Seeded(seed)
        for round in 0..<400 {
            let letters = Array("abc".prefix(Int.random(in: 1...3, using: &random)))
            func word(_ count: Int) -> String {
                String((0..<count).map { _ in letters.randomElement(using: &random) ?? "a" })
            }
            let values = (0..<Int.random(in: 1...12, using: &random)).map { _ in
                word(Int.random(in: 4...12, using: &random))
            }
            let text = Array(word(Int.random(in: 0...300, using: &random)).utf8)
            var pieces: [(text: [UInt8], time: UInt64)] = []
            var rest = text[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...40, using: &random))
                pieces.append((Array(piece), 0))
                rest = rest.dropFirst(piece.count)
            }
            let found = try Self.released(pieces, values).joined()
            let wanted = String(decoding: Self.expected(text, values), as: UTF8.self)
            // Adjacent values that came in two pieces may have two masks.
            func plain(_ text: String) -> String {
                var text = text
                while text.contains(Self.mask + Self.mask) {
                    text = text.replacing(Self.mask + Self.mask, with: Self.mask)
                }
                return text
            }
            #expect(plain(found) == plain(wanted), "seed \(seed), round \(round), \(values)")
        }
    }

    @Test func `2,000 values of all kinds take little time`() throws {
        let values = (0..<2_000).map { "value number \($0) \(String(repeating: "x", count: 60))" }
        let text = Array(values.map { "<\($0)>\n" }.joined().utf8)
        let start = ContinuousClock.now
        let out = try Self.released([(text, 0)], values).joined()
        #expect(out == String(repeating: "<\(Self.mask)>\n", count: 2_000))
        #expect(ContinuousClock.now - start < .seconds(10))
    }
}

/// A seeded generator, so that a failure can be repeated.
private struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}

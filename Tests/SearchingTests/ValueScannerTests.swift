import Foundation
import Sealing
import Testing

@testable import Searching

@Suite("Finding values in a text")
struct ValueScannerTests {
    private static func slices(_ values: [[UInt8]]) throws -> [SecretSlice] {
        let arena = SecretArena()
        return try values.map { bytes in
            try bytes.withBytes { (bytes) throws(SealingError) in try arena.copy(bytes) }
        }
    }

    /// The matches in a text that arrives in pieces of these sizes, repeated.
    private static func found(
        _ text: [UInt8], _ values: [String], pieces: [Int] = [1 << 20]
    ) throws -> [ScanMatch] {
        try found(text, SearchTable(slices(values.map { Array($0.utf8) })), pieces: pieces)
    }

    private static func found(
        _ text: [UInt8], _ table: SearchTable, pieces: [Int]
    ) throws -> [ScanMatch] {
        let scanner = ValueScanner(table, pieceByteCount: 64)
        var (rest, turn) = (text[...], 0)
        while !rest.isEmpty {
            let count = unsafe try scanner.read { room in
                let some = rest.prefix(min(room.count, pieces[turn % pieces.count]))
                unsafe room.copyBytes(from: some)
                return some.count
            }
            turn += 1
            rest = rest.dropFirst(count)
        }
        return try scanner.finish()
    }

    private static func forms(_ text: String, _ values: String...) throws -> [String] {
        try found(Array(text.utf8), values).map { "\($0.line) \($0.value) \($0.form.rawValue)" }
    }

    private static let secret = "sk_live/4eC39+HqLyjW?&\"x\\"

    @Test func `a literal value is found, with its line`() throws {
        let text = "one\ntwo \(Self.secret)\n\n\(Self.secret)\(Self.secret)"
        #expect(try Self.forms(text, Self.secret) == ["2 0 plain", "4 0 plain"])
        #expect(try Self.forms(String(text.dropLast(40)), "nothing-like-it-9") == [])
        #expect(try Self.forms("", Self.secret) == [])
        #expect(try Self.forms("short", Self.secret) == [])
    }

    @Test func `in base64 at any offset, in both alphabets and with any line breaks`() throws {
        for before in ["", "a", "ab", "abc"] {
            for after in ["", "z", "zz"] {
                let data = Data((before + Self.secret + after).utf8)
                let plain = data.base64EncodedString()
                let url = plain.replacing("+", with: "-").replacing("/", with: "_")
                for text in [plain, url, url.replacing("=", with: "")] {
                    #expect(try Self.forms("x\n" + text, Self.secret) == ["2 0 base64"], "\(text)")
                }
                for width in 24...40 {
                    for lineEnd in ["\n", "\r\n", "\n    ", "\\n"] {
                        let lines = stride(from: 0, to: plain.count, by: width).map {
                            String(plain.dropFirst($0).prefix(width))
                        }
                        let text = lines.joined(separator: lineEnd)
                        #expect(try Self.forms(text, Self.secret).count == 1, "\(text)")
                    }
                }
            }
        }
    }

    @Test func `a short value in base64 with a line break within`() throws {
        let value = "p4ss?wRd"
        let digits = Data(value.utf8).base64EncodedString()
        for cut in 1..<digits.count {
            for lineEnd in ["\n", "\r\n"] {
                let text = digits.prefix(cut) + lineEnd + digits.dropFirst(cut)
                #expect(try Self.forms(String(text), value) == ["1 0 base64"], "\(text)")
            }
        }
    }

    @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian])
    func `in UTF-16, as another system writes a file`(encoding: String.Encoding) throws {
        let values = [Self.secret, "pässwörd-🔑-9", Self.pem()]
        let (secret, second) = (values[0], values[1])
        let text = "\u{FEFF}ONE=1\r\nKEY=\(secret)\r\nB='\(second)'\r\n\(values[2])\r\nL=\(secret)"
        let bytes = Array(try #require(text.data(using: encoding)))
        let expected = ["2 0 utf-16", "3 1 utf-16", "4 2 utf-16", "13 0 utf-16"]
        let lineFeeds = text.unicodeScalars.count { $0 == "\n" }
        #expect(lineFeeds == 12)
        for (ends, form) in [("\n", text), ("\r\n", text.replacing("\n", with: "\r\n"))] {
            let wide = Array(try #require(form.data(using: encoding)))
            for pieces in [[1 << 20], [1], [3, 8, 64]] {
                let found = try Self.found(wide, values, pieces: pieces)
                    .map { "\($0.line) \($0.value) \($0.form.rawValue)" }
                #expect(found == expected, "\(ends.count) \(pieces)")
            }
        }
        // Letters with one byte equal to a line feed.
        let letters = "\u{FEFF}\u{0A05}\n上《\u{010A}KEY=\(secret)\n\u{0A0A}\n《=\(second)"
        let lines = Array(try #require(letters.data(using: encoding)))
        for pieces in [[1 << 20], [1], [5, 2]] {
            #expect(try Self.found(lines, values, pieces: pieces).map(\.line) == [2, 4])
        }
        // A different unit, and half of the file.
        let place = bytes.count - 10
        let changed = bytes.enumerated().map { $0 == place ? $1 ^ 1 : $1 }
        #expect(try Self.found(changed, [secret]).map(\.line) == [2])
        #expect(try Self.found(Array(bytes.dropFirst(bytes.count - 40)), [secret]).isEmpty)
    }

    @Test(arguments: ["密码锁", "密码é1", "密码锁x"])
    func `of a value with few distinct characters only long enough forms are searched`(
        value: String
    ) throws {
        #expect(value.utf8.count >= SearchTable.shortest)
        #expect(try Self.forms("KEY=\(value)\n", value) == ["1 0 plain"])
        let wide = Array(try #require("KEY=\(value)\n".data(using: .utf16LittleEndian)))
        #expect(try Self.found(wide, [value]).count == (value.utf16.count < 4 ? 0 : 1))
    }

    @Test func `encoded in URLs and forms`() throws {
        let value = "p@ss word/with:all&of=it+é%41~!"
        var allowed = CharacterSet.urlQueryAllowed
        allowed.remove(charactersIn: "&+=/?:@!$'()*,;")
        let component = try #require(value.addingPercentEncoding(withAllowedCharacters: allowed))
        let texts = [
            component, component.replacing("%20", with: "+"),
            component.replacing("%2F", with: "/"),
            value.utf8.map { byte in
                let digits = String(byte, radix: 16, uppercase: true)
                return "%" + (digits.count < 2 ? "0" : "") + digits
            }.joined(),
        ]
        for text in texts {
            #expect(try Self.forms("?a=\(text)&b", value) == ["1 0 url-encoded"], "\(text)")
        }
        let lower = component.replacing("%2F", with: "%2f").replacing("%3A", with: "%3a")
            .replacing("%3D", with: "%3d").replacing("%2B", with: "%2b")
            .replacing("%C3%A9", with: "%c3%a9")
        #expect(try Self.forms(lower, value) == ["1 0 url-encoded"])
    }

    @Test func `encoded in JSON`() throws {
        let value = "first \"line\"\nsecond/line\t\\ é 😀 <&>"
        let slashed = try JSONEncoder().encode([value])
        let unslashed = JSONEncoder()
        unslashed.outputFormatting = .withoutEscapingSlashes
        for text in [slashed, try unslashed.encode([value])] {
            let text = String(decoding: text, as: UTF8.self)
            #expect(try Self.forms(text, value) == ["1 0 escaped"], "\(text)")
        }
        let ascii = #""first \"line\"\nsecond/line\t\\ \u00e9 \ud83d\ude00 <&>""#
        #expect(try Self.forms(ascii, value) == ["1 0 escaped"])
        let html = #""first \"line\"\nsecond/line\t\\ é 😀 \u003c\u0026\u003e""#
        #expect(try Self.forms(html, value) == ["1 0 escaped"])
        #expect(
            try Self.forms(value.replacing("\n", with: "\r\n"), value) == ["1 0 plain"])
    }

    private static func pem(_ width: Int = 64, lineEnd: String = "\n") -> String {
        let body = Data((0..<300).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 / 7) })
            .base64EncodedString()
        let lines = stride(from: 0, to: body.count, by: width).map {
            String(body.dropFirst($0).prefix(width))
        }
        return (["-----BEGIN PRIVATE KEY-----"] + lines + ["-----END PRIVATE KEY-----"])
            .joined(separator: lineEnd)
    }

    @Test func `a PEM block with any line breaks`() throws {
        for value in [Self.pem() + "\n", Self.pem(lineEnd: "\r\n"), Self.pem(lineEnd: "\\n")] {
            for width in [24, 32, 63, 64, 65, 76, 1_000] {
                for lineEnd in ["\n", "\r\n", "\n      ", "\n\t", "\\n", "\\r\\n", "\\\n"] {
                    let text = Self.pem(width, lineEnd: lineEnd)
                    #expect(
                        try Self.forms("a\n" + text, value).count == 1,
                        "\(width) \(lineEnd.debugDescription)")
                }
            }
            #expect(try Self.forms(Self.pem().replacing("A", with: "B"), value) == [])
        }
        #expect(try Self.forms(Self.pem(), Self.pem()) == ["1 0 plain"])
        #expect(try Self.forms(Self.pem(50), Self.pem()) == ["2 0 pem"])
    }

    @Test func `one value within another, and names as numbers`() throws {
        let (short, long) = ("inner-value-77", "outer inner-value-77 outer")
        #expect(
            try Self.forms("\(long)\n\(short)", short, long) == [
                "1 1 plain", "1 0 plain", "2 0 plain",
            ])
    }

    @Test func `as many bytes are kept as documented`() throws {
        let text = String(repeating: "\(Self.secret)\n", count: 1_500)
        #expect(try Self.forms(text, Self.secret).count == ValueScanner.matchLimit)
        let oneLine = String(repeating: Self.secret, count: 5_000)
        #expect(try Self.forms(oneLine, Self.secret) == ["1 0 plain"])
    }

    /// The plain and base64 matches of a search at every position.
    private static func naive(_ text: [UInt8], _ values: [[UInt8]]) -> Set<String> {
        var found: Set<String> = []
        func places(_ needle: [UInt8], _ text: [UInt8], _ label: String) {
            guard !needle.isEmpty, text.count >= needle.count else { return }
            for start in 0...(text.count - needle.count)
            where text[start..<start + needle.count].elementsEqual(needle) {
                let line = text[..<start].count { $0 == 0x0A } + 1
                found.insert("\(line) \(label)")
            }
        }
        for (number, value) in values.enumerated() {
            places(value, text, "\(number) plain")
        }
        return found
    }

    @Test(arguments: 0..<60)
    func `random texts and cuts match a search at every position`(seed: UInt64) throws {
        var random = SplitMix(state: seed)
        // Few different bytes, for many near misses.
        let alphabet = Array("ab1\n".utf8)
        func bytes(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] }
        }
        var values: [[UInt8]] = []
        while values.count < 4 {
            let value = [0x61] + bytes(7 + Int(random.next() % 5)) + [0x62]
            if !value.contains(0x0A), !values.contains(value) { values.append(value) }
        }
        var text = bytes(400)
        for _ in 0..<12 {
            let place = Int(random.next() % UInt64(text.count))
            text.insert(contentsOf: values[Int(random.next() % 4)], at: place)
        }
        let expected = Self.naive(text, values)
        let table = try SearchTable(Self.slices(values))
        let whole = try Self.found(text, table, pieces: [1 << 20])
        let plain = whole.filter { $0.form == .plain }
        #expect(Set(plain.map { "\($0.line) \($0.value) plain" }) == expected)
        #expect(plain.count == expected.count)
        for pieces in [[1], [2, 3], [7], [Int(random.next() % 40) + 1, 13]] {
            #expect(try Self.found(text, table, pieces: pieces) == whole)
        }
    }

    @Test func `cuts do not affect long forms`() throws {
        let values = [Self.pem(), Self.secret, "p@ss word/with:all&of=it"]
        let table = try SearchTable(Self.slices(values.map { Array($0.utf8) }))
        let encoded = Data(values[2].utf8).base64EncodedString()
        var text = ""
        for round in 0..<8 {
            text += "line \(round)\n" + Self.pem(50 + round, lineEnd: "\n  ") + "\n"
            text += Self.secret + " p%40ss%20word%2Fwith%3Aall%26of%3Dit\n" + encoded + "\n"
        }
        let whole = try Self.found(Array(text.utf8), table, pieces: [1 << 20])
        #expect(whole.count == 32)
        for pieces in [[1], [17], [100, 3], [999]] {
            #expect(try Self.found(Array(text.utf8), table, pieces: pieces) == whole)
        }
    }

    @Test func `values that would be found everywhere are left out`() throws {
        let values = [
            "true", "production", "3000", "1234567", "aaaaaaaaaaaaaa", "127.0.0.1:80",
            "development-1",
            "s3cret-value", "  s3cret-value\n", "us-east",
        ]
        let found = try zip(values, Self.slices(values.map { Array($0.utf8) })).map { text, value in
            (owner: ScanValues.Owner(project: "web", key: text), value: value)
        }
        let chosen = try ScanValues(found)
        #expect(
            chosen.owners.map { $0.map(\.key) } == [
                ["development-1"], ["s3cret-value", "  s3cret-value\n"],
            ])
        #expect(chosen.leftOut.count == 7)
        #expect(try ScanValues(found, minimum: 13).owners.count == 1)
    }
}

/// Random numbers that are the same in each run.
private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

import CommandLineKit
import Foundation
import Testing

@Suite struct `Text for a terminal` {
    @Test(arguments: [
        ("plain", "plain"), ("a\u{1B}[31mred\u{1B}[0m", "ared"), ("a\u{1B}]0;title\u{7}b", "ab"),
        ("a\u{1B}]0;title\u{1B}\\b", "ab"), ("a\u{9B}2Jb", "ab"),
        ("a\u{1B}]never ended", "anever ended"),
        ("a\u{1B}", "a"), ("a\u{1B}[", "a"), ("a\u{1B}[1;2", "a"), ("a\u{1B}cb", "ab"),
        ("a\u{1B}(Bb", "ab"), ("a\u{1B}[?25lb", "ab"), ("a\u{1B}P1$r\u{1B}\\b", "ab"),
        ("a\u{0}\u{8}\u{7F}\u{84}b", "ab"), ("a\nb\r\nc\td\re", "a b c d e"),
        ("a\u{202E}b\u{2066}c\u{200F}d\u{061C}e", "abcde"), ("a\u{2028}b\u{85}c", "a b c"),
        ("a\u{E0041}\u{FEFF}\u{200B}b", "ab"), ("a\u{1B}\u{1B}[31mb", "ab"),
        ("\u{1B}[\u{1B}[31mb", "b"), ("grün 日本 👩‍👩‍👧 e\u{301}", "grün 日本 👩‍👩‍👧 e\u{301}"),
    ])
    func `keeps nothing that steers it`(_ text: String, _ expected: String) {
        #expect(DisplayText.safe(text) == expected)
    }

    @Test(arguments: [
        ("plain", "plain"), ("x\u{1B}] has ended", "x] has ended"),
        ("x\u{1B}[ has ended", "x[ has ended"), ("x\u{9D} has ended", "x has ended"),
        ("x\u{9B} has \u{90}ended", "x has ended"), ("a\nb\r\nc\td\re\u{85}f", "a b c d e f"),
        ("\u{1B}]a of b\u{7} has ended", "]a of b has ended"),
        ("\u{1B}Pa of b\u{1B}\\ has ended", "Pa of b\\ has ended"),
        ("\u{202E}a\u{2066}\u{E0041}\u{FEFF}\u{200B}\u{7F}\u{0}b\u{1B}", "ab"),
        ("grün 日本 👩‍👩‍👧 e\u{301}", "grün 日本 👩‍👩‍👧 e\u{301}"),
    ])
    func `a sentence keeps all that shows`(_ sentence: String, _ expected: String) {
        #expect(DisplayText.safe(sentence: sentence) == expected)
    }

    @Test func `is safe once and for all, whatever it was`() {
        var seed: UInt64 = 42
        let alphabet: [UInt32] = [
            0x1B, 0x5B, 0x5D, 0x07, 0x5C, 0x9B, 0x9C, 0x90, 0x31, 0x6D, 0x20, 0x41, 0x202E, 0x0A,
            0x0D,
        ]
        for _ in 0..<20_000 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<12 {
                seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                if let scalar = Unicode.Scalar(alphabet[Int(seed >> 33) % alphabet.count]) {
                    scalars.append(scalar)
                }
            }
            let safe = DisplayText.safe(String(scalars))
            let isSafe = safe.unicodeScalars.allSatisfy {
                $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) && $0.value != 0x202E
            }
            let sentence = DisplayText.safe(sentence: String(scalars))
            guard isSafe, DisplayText.safe(safe) == safe, DisplayText.safe(sentence) == sentence
            else {
                Issue.record("\(scalars.map(\.value))")
                return
            }
        }
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("grün", 4), ("e\u{301}", 1), ("日本語", 6), ("한국", 4), ("😀", 2),
        ("👩‍👩‍👧", 2), ("🇩🇪", 2), ("❤\u{FE0F}", 2), ("❤", 1), ("ＡＢ", 4), ("ﾊﾝ", 2), ("…", 1), ("✔", 1),
        ("a\u{200D}b", 2), ("\u{1B}", 0), ("１", 2), ("👍🏽", 2),
    ])
    func `takes so many columns`(_ text: String, _ columns: Int) {
        #expect(DisplayText.width(text) == columns)
    }

    @Test(arguments: [
        ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("abcdef", 1, "…"), ("abcdef", 0, ""),
        ("日本語", 5, "日本…"), ("日本語", 4, "日…"), ("", 0, ""),
    ])
    func `is cut at characters`(_ text: String, _ columns: Int, _ expected: String) {
        #expect(DisplayText.truncated(text, to: columns) == expected)
        #expect(DisplayText.width(DisplayText.truncated(text, to: columns)) <= columns)
    }

    @Test func `is wrapped at words, paragraphs and examples apart`() {
        let text = "one two three four\nfive\n\n  kept   as it is\nsix"
        #expect(
            DisplayText.wrapped(text, to: 10) == [
                "one two", "three four", "five", "", "  kept   as it is", "six",
            ])
        #expect(DisplayText.wrapped("", to: 10) == [])
        #expect(DisplayText.wrapped("longerthanten x", to: 10) == ["longerthanten", "x"])
    }
}

@Suite struct `A table` {
    @Test func `aligns its columns by what they take`() {
        var table = Table([
            Table.Column("NAME"), Table.Column("N", trailing: true), Table.Column("X"),
        ])
        table.append(["日本", "1", "a"])
        table.append(["KEY", "100", ""])
        table.append(["A\u{1B}[2JB\nC", "7"])
        #expect(
            table.text() == """
                NAME    N  X
                日本    1  a
                KEY   100
                AB C    7

                """)
    }

    @Test func `shrinks what may be shrunk, down to a limit`() {
        var table = Table([Table.Column("KEY"), Table.Column("COMMENT", canShrink: true)])
        table.append(["DATABASE_URL", "a comment that is rather long"])
        for line in table.text(width: 30).split(separator: "\n") { #expect(line.count <= 30) }
        #expect(table.text(width: 30).contains("a comment that…"))
        #expect(table.text(width: 5).contains("DATABASE_URL  a comme…"))
    }

    @Test func `leaves out empty columns, and then the last ones, rather than be too wide`() {
        var table = Table([
            Table.Column("ID"), Table.Column("TARGET", canShrink: true),
            Table.Column("BRANCH", canShrink: true), Table.Column("COMMIT", canShrink: true),
        ])
        table.append(["0123456789", "production", "", "a long message"])
        #expect(table.text().hasPrefix("ID          TARGET      BRANCH  COMMIT\n"))
        #expect(table.text(width: 40).hasPrefix("ID          TARGET      COMMIT\n"))
        #expect(table.text(width: 40).contains("production  a long message\n"))
        #expect(table.text(width: 25) == "ID          TARGET\n0123456789  production\n")
    }

    @Test func `long lines are broken at blanks`() {
        let line = "  web  failed  with exit code 7"
        #expect(DisplayText.folded(line + "\n", to: 40) == line + "\n")
        #expect(
            DisplayText.folded(line + "\nb\n", to: 27)
                == "  web  failed  with exit\n    code 7\nb\n")
        #expect(DisplayText.folded("0123456789 0123456789", to: 5) == "0123456789\n    0123456789")
    }

    @Test func `colours whole cells, never blanks, and only when told`() {
        var table = Table([Table.Column(""), Table.Column("")])
        table.append([Table.Cell("ok", as: .good), Table.Cell("x", as: .bad)])
        table.append(["longer", "y"])
        #expect(table.text() == "ok      x\nlonger  y\n")
        let colored = table.text(style: Style(usesColor: true))
        #expect(colored == "\u{1B}[32mok\u{1B}[0m      \u{1B}[31mx\u{1B}[0m\nlonger  y\n")
    }

    @Test func `without rows is nothing`() {
        #expect(Table([Table.Column("KEY")]).text() == "")
    }
}

@Suite struct `Times` {
    @Test func `agree with Foundation from the year 1589 to 9999`() throws {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime]
        // Foundation goes over to the Julian calendar before 1582.
        var time: Int64 = -12_000_000_000_000
        var compared = 0
        while time < 253_402_300_799_000 {
            let date = Date(timeIntervalSince1970: Double(time / 1000))
            let expected = formatter.string(from: date)
            guard TimeText.utc(time / 1000 * 1000) == expected else {
                #expect(TimeText.utc(time / 1000 * 1000) == expected)
                break
            }
            #expect(TimeText.time(expected) == (time < 0 ? nil : time / 1000 * 1000))
            compared += 1
            time += 13_333_337_777
        }
        #expect(compared > 19_000)
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
            (1_795_230_840_250, "2026-11-21T03:14:00Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59Z"),
            (253_402_300_800_000, "+010000-01-01T00:00:00Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00Z"),
            (-62_167_219_200_001, "-000001-12-31T23:59:59Z"),
            (Int64.max, "+292278994-08-17T07:12:55Z"), (Int64.min, "-292275055-05-16T16:47:04Z"),
        ] as [(Int64, String)])
    func `are right at the edges`(_ time: Int64, _ text: String) {
        #expect(TimeText.utc(time) == text)
    }

    @Test func `are read as days and as times in UTC`() {
        #expect(TimeText.time("1970-01-01") == 0)
        #expect(TimeText.time("2026-11-21T03:14:00Z") == 1_795_230_840_000)
        for text in [
            "", "2026-02-29", "2026-00-01", "2026-01-00", "2026-12-32", "2026-11-21T24:00:00Z",
            "2026-11-21T03:60:00Z", "2026-11-21 03:14:00Z", "2026-11-21T03:14:00", "1969-12-31",
            "2026-1-1-01", "99999-01-01", "2026-11-2１",
        ] { #expect(TimeText.time(text) == nil, "\(text)") }
    }

    @Test func `have milliseconds when wanted`() {
        #expect(
            TimeText.utc(1_795_230_840_250, withMilliseconds: true) == "2026-11-21T03:14:00.250Z")
        #expect(TimeText.utc(-1, withMilliseconds: true) == "1969-12-31T23:59:59.999Z")
    }

    @Test(
        arguments: [
            (0, "just now"), (9999, "just now"), (-9999, "just now"), (10_000, "10 s ago"),
            (180_000, "3 min ago"), (-180_000, "in 3 min"), (7_199_999, "1 h ago"),
            (86_400_000, "1 day ago"), (172_800_000, "2 days ago"), (5_184_000_000, "2 months ago"),
            (63_072_000_000, "2 years ago"),
        ] as [(Int64, String)])
    func `have ages`(_ elapsed: Int64, _ text: String) {
        #expect(TimeText.age(of: 1_000_000_000_000 - elapsed, at: 1_000_000_000_000) == text)
    }

    @Test func `have ages at any distance`() {
        #expect(TimeText.age(of: .min, at: .max) == "long ago")
        #expect(TimeText.age(of: .max, at: .min) == "in the far future")
        #expect(TimeText.age(of: 0, at: .min).hasPrefix("in "))
    }
}

@Suite struct `Durations` {
    @Test(
        arguments: [
            ("0s", 0), ("15m", 900), ("2h", 7200), ("90d", 7_776_000), ("007s", 7),
            ("9223372036854775s", 9_223_372_036_854_775), ("106751991167d", 9_223_372_036_828_800),
        ] as [(String, Int64)])
    func `are a whole number and a unit`(_ text: String, _ seconds: Int64) {
        #expect(DurationText.duration(text) == .seconds(seconds))
    }

    @Test(arguments: [
        "", "s", "15", "0", "-1s", "+1s", "1.5h", "1 h", " 1h", "1h ", "1H", "1w", "1ms", "h1",
        "1h30m",
        "９s", "1\u{301}s", "9223372036854776s", "106751991168d", "99999999999999999999s",
        "153722867280912931m", "1s\u{0}",
    ])
    func `are nothing else`(_ text: String) {
        #expect(DurationText.duration(text) == nil)
    }

    @Test func `say what is missing`() {
        #expect(Fixture.failure(["list", "--stale", "90"])?.message == "--stale needs a unit.")
        #expect(
            Fixture.failure(["list", "--stale", "soon"])?.message
                == "--stale is not a valid duration.")
    }

    @Test(
        arguments: [
            ("0s", 0), ("59s", 59), ("1m", 60), ("90m", 5400), ("2h", 7200), ("1d", 86400),
            ("61s", 61),
        ] as [(String, Int64)])
    func `are written in their largest unit`(_ text: String, _ seconds: Int64) {
        #expect(DurationText.text(.seconds(seconds)) == text)
        #expect(DurationText.duration(text) == .seconds(seconds))
    }
}

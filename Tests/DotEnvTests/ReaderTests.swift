import DotEnv
import Testing

@Suite struct `Reading` {
    @Test func `an entry has its position and the length of its value`() throws {
        let text = "# note\nexport A=\"x\\ny\" # c\n  é=\nB = 2\n"
        let file = try read(text)
        #expect(file.entries.map(\.key) == ["A", "B"])
        #expect(file.entries[0].position == DotEnvPosition(line: 2, column: 8))
        #expect(file.entries[1].position == DotEnvPosition(line: 4, column: 1))
        let bytes = Array(text.utf8)
        withSpan(bytes) { span in
            #expect(file.entries[0].decodedLength(in: span) == 3)
            #expect(file.entries[1].decodedLength(in: span) == 1)
        }
        #expect(String(decoding: bytes[file.entries[0].valueRange], as: UTF8.self) == "x\\ny")
        let extent = bytes[file.entries[0].extent]
        #expect(String(decoding: extent, as: UTF8.self) == "export A=\"x\\ny\" # c")
    }

    @Test func `columns count scalars and lines end at LF, CR and CR LF`() throws {
        let file = try read("\u{FEFF}A=1\r\n\n\rB=é C=2\r  D=3\n# é\u{2028}E=4")
        #expect(
            file.entries.map(\.position) == [
                DotEnvPosition(line: 1, column: 1), DotEnvPosition(line: 4, column: 1),
                DotEnvPosition(line: 5, column: 3), DotEnvPosition(line: 6, column: 5),
            ])
    }

    @Test func `a value is decoded into memory of exactly its length`() throws {
        let text = Array("A=\"one\\ntwo\"\r\n".utf8)
        let file = try read(String(decoding: text, as: UTF8.self))
        let entry = try #require(file.entries.first)
        withSpan(text) { span in
            var memory = [UInt8](repeating: 0, count: entry.decodedLength(in: span))
            let count = withMutableSpan(&memory) { entry.decodeValue(in: span, into: &$0) }
            #expect(count == 7)
            #expect(memory == Array("one\ntwo".utf8))
            var short = [UInt8](repeating: 0, count: 6)
            let none = withMutableSpan(&short) { entry.decodeValue(in: span, into: &$0) }
            #expect(none == nil)
        }
        withSpan(Array("A=\"".utf8)) { other in
            // Other bytes than those it was parsed from must not stop it.
            #expect(entry.decodedLength(in: other) == 0)
        }
    }

    @Test func `the last entry of a name counts`() throws {
        let file = try read("A=1\nB=2\nA=3\n")
        #expect(file.entries.count == 3)
        #expect(file.effectiveEntries.map(\.key) == ["B", "A"])
        #expect(file.diagnostics.map(\.code) == [.duplicateKey])
    }

    @Test(
        arguments: [
            ([0x41, 0x3D, 0xFF], 2), ([0xC3], 0), ([0x41, 0xC0, 0xAF], 1),
            ([0xE0, 0x80, 0x80], 0), ([0xED, 0xA0, 0x80], 0), ([0x20, 0xF4, 0x90, 0x80, 0x80], 1),
            (Array("A=é\nB=".utf8) + [0x80], 7),
            ([UInt8](repeating: 0x61, count: 100) + [0xE2, 0x80], 100),
        ] as [([UInt8], Int)])
    func `bytes that are not UTF-8 are refused with their offset`(
        bytes: [UInt8], offset: Int
    ) {
        for dialect in DotEnvDialect.allCases {
            let error = failure { () throws(DotEnvError) in
                try withSpan(bytes) { (span) throws(DotEnvError) in
                    _ = try DotEnvReader.read(span, as: dialect)
                }
            }
            #expect(error?.code == .invalidUTF8)
            #expect(error?.offset == offset)
        }
    }

    @Test func `NUL is refused with its position`() {
        let error = failure { () throws(DotEnvError) in _ = try read("A=1\nB=x\0y\n") }
        #expect(error?.code == .nulByte)
        #expect(error?.offset == 7)
        #expect(error?.position == DotEnvPosition(line: 2, column: 4))
        #expect(error?.description == "line 2, column 4: contains a NUL byte (byte 7)")
    }

    @Test func `a text over the limits is refused`() {
        let large = [UInt8](repeating: 0x0A, count: DotEnvReader.maximumSize + 1)
        let error = failure { () throws(DotEnvError) in
            try withSpan(large) { (span) throws(DotEnvError) in
                _ = try DotEnvReader.read(span)
            }
        }
        #expect(error?.code == .tooLarge)
        let many = String(repeating: "A=\n", count: DotEnvReader.maximumEntries + 1)
        #expect(failure { () throws(DotEnvError) in _ = try read(many) }?.code == .tooManyEntries)
    }

    @Test func `a text of the largest size is read`() throws {
        let text = "A='" + String(repeating: "x", count: DotEnvReader.maximumSize - 4) + "'"
        let file = try read(text)
        #expect(file.entries.first?.valueRange.count == DotEnvReader.maximumSize - 4)
    }

    @Test(
        arguments: [
            ("# Created by Vercel CLI\nA=\"1\"\n", DotEnvDialect.vercelPull),
            ("\u{FEFF}# Created by Vercel CLI  \r\nA=\"1\"\n", .vercelPull),
            ("# Created by Vercel CLI", .vercelPull),
            ("# Created by Vercel CLI 2\n", nil), ("\n# Created by Vercel CLI\n", nil), ("", nil),
        ] as [(String, DotEnvDialect?)])
    func `a text written by Vercel's CLI is recognized`(text: String, dialect: DotEnvDialect?) {
        let found = withSpan(Array(text.utf8)) { DotEnvReader.detectedDialect(of: $0) }
        #expect(found == dialect)
    }

    @Test func `no error and no diagnostic holds a value`() throws {
        let secret = "s3cr3tvalue"
        let text = "A=\(secret)#\(secret)\nB=\"\(secret)\n\(secret)\n!\(secret)=\(secret)\nA=1\n"
        for dialect in DotEnvDialect.allCases {
            do throws(DotEnvError) {
                let file = try read(text, as: dialect)
                for diagnostic in file.diagnostics {
                    #expect(!diagnostic.description.contains(secret))
                }
            } catch {
                #expect(!error.description.contains(secret))
            }
        }
    }
}

@Suite struct `Diagnostics` {
    @Test(arguments: [
        ("A=x#y\n", ["differs-hash-in-value"]),
        ("A=\t1\n", ["differs-whitespace"]),
        ("export\tA=1\n", ["differs-extra-name", "differs-export-tab"]),
        ("A=\"x\\\"y\"\n", ["differs-escape"]),
        ("A=\"x\"y\"\n", ["differs-quote-inside"]),
        ("A=`x`\n", ["differs-backtick"]),
        ("A=1\nB=${A}\n", ["differs-expansion"]), ("A=$B\n", ["differs-expansion"]),
        ("A='$B'\n", ["differs-expansion"]), ("A=\"pa$$word\"\n", ["differs-expansion"]),
        ("A=$$\n", ["differs-expansion"]), ("A='\\$'\n", ["differs-expansion"]),
        ("A=$(id)\n", ["differs-expansion"]), ("A=\"`id`\"\n", ["differs-expansion"]),
        ("A=~/x\n", ["differs-expansion"]), ("A='$ $. x$'\n", []), ("A=\"$ x\"\n", []),
        ("A=x y\n", ["differs-shell"]), ("A=x&B=2\n", ["differs-shell"]),
        ("A = 1\n", ["differs-shell"]), ("A=C:\\dir\n", ["differs-escape"]),
        ("A='x'\nB='y\n", ["differs-unterminated-quote", "ignored-unterminated-quote"]),
        ("UID=1\n", ["differs-shell"]), ("SITE NAME=x\n", ["differs-extra-name", "ignored-junk"]),
        ("\u{FEFF}A=1\n", ["differs-bom"]),
        ("A=1\rB=2", ["differs-line-ending", "differs-name"]),
        // bash has no comment here, but a command and a quote without an end.
        ("\r# it's\nA=1\n", ["differs-line-ending"]), ("\r# it's\n", []),
        ("\r\n# it's\nA=1\n", []),
        ("A: 1\n", ["differs-colon"]),
        ("A=\n'x'\n", ["differs-line-crossing", "differs-extra-name"]),
        ("A=\"x\nB=2\n", ["differs-unterminated-quote", "ignored-unterminated-quote"]),
        ("A=1\n  # OLD=x\nB=2\n", ["differs-comment"]),
        ("A=1\n#B=2", ["differs-comment"]),
        ("__proto__=1\n", ["differs-prototype-name"]),
        ("A\nB=2\n", ["differs-extra-name", "ignored-no-equals", "differs-name"]),
        ("a b=2\n", ["differs-extra-name", "ignored-junk"]),
        ("A=1\nA=2\n", ["duplicate-key"]),
        ("a.b=1\n", ["name-not-portable"]),
        ("A=x # y\nexport B='1'\n\n# c\n", []),
    ])
    func `each line has its code`(text: String, expected: [String]) throws {
        let found = try codes(text)
        #expect(found == expected)
    }

    @Test func `a diagnostic has a position, a name and a message`() throws {
        let diagnostic = try #require(try read("\n A=x#y\n").diagnostics.first)
        #expect(diagnostic.position == DotEnvPosition(line: 2, column: 2))
        #expect(diagnostic.key == "A")
        #expect(
            diagnostic.description
                == "2:2: A: differs-hash-in-value: some parsers end an unquoted value at # and some "
                + "keep it; quote the value")
    }

    @Test func `the number of diagnostics is limited`() throws {
        let file = try read(String(repeating: "x y\n", count: 50_000))
        #expect(file.diagnostics.count == DotEnvReader.maximumDiagnostics + 1)
        #expect(file.diagnostics.last?.code == .truncated)
    }

    @Test(arguments: DotEnvDiagnostic.Code.allCases)
    func `every code has a message`(code: DotEnvDiagnostic.Code) {
        #expect(!code.message.isEmpty)
        #expect(code.isDisagreement == code.rawValue.hasPrefix("differs-"))
    }
}

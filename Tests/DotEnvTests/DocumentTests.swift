import DotEnv
import Testing

@Suite struct `Rewriting in place` {
    static let text = """
        # The database.
        #   Ask before a change.
        DB=old # local

        export TOKEN="a b"  # rotate
        # LOCAL=1
        LOCAL='keep
        # me'
        junk line
        DUP=1
        DUP=2

        """

    @Test func `only the bytes of the values change`() throws {
        let result = try merged(["DB": "new value", "TOKEN": "t", "NEW": "it's"], into: Self.text)
        let expected = Self.text
            .replacing("DB=old #", with: "DB='new value' #")
            .replacing("\"a b\"", with: "t")
        #expect(result == expected + "NEW=\"it's\"\n")
    }

    @Test func `equal values change nothing`() throws {
        #expect(
            try merged(
                ["DB": "old", "TOKEN": "a b", "LOCAL": "keep\n# me", "DUP": "2"], into: Self.text)
                == Self.text)
    }

    @Test(arguments: [
        ("A=x#c\n", "A=y #c\n"), ("A= # c\n", "A= y # c\n"), ("A=\n'x'\nB=1\n", "A=\n'y'\nB=1\n"),
        ("A: x\n", "A: y\n"), ("A=`x`", "A=y"), ("A=\"x\" \"z\"\n", "A=y\n"), ("A=", "A=y"),
        ("A=\nB=1\n", "A=y\nB=1\n"), ("A=1\nA=2\n", "A=1\nA=y\n"),
        ("\u{FEFF}A=1\r\n", "\u{FEFF}A=y\r\n"),
        ("A=\"un\nB=1\n", "A=y\nB=1\n"), ("B=1", "B=1\nA=y\n"), ("B=1\r\n", "B=1\r\nA=y\r\n"),
        ("", "A=y\n"), ("# c", "# c\nA=y\n"),
    ])
    func `odd texts keep everything but the value`(text: String, expected: String) throws {
        #expect(Array(try merged(["A": "y"], into: text).utf8) == Array(expected.utf8))
    }

    @Test func `a text in the form of Vercel's CLI stays recognizable`() throws {
        let text = "# Created by Vercel CLI\nA=\"say \"hi\"\\n\"\nB=\"x\"\n"
        let result = try merged(["B": "p q", "C": "r"], into: text, as: .vercelPull)
        #expect(result == "# Created by Vercel CLI\nA=\"say \"hi\"\\n\"\nB='p q'\nC=r\n")
    }

    @Test func `an unclosed quote above the end stops the merge`() {
        let error = failure { () throws(DotEnvError) in
            _ = try merged(["A": "\nit's"], into: "B=\"x\nC=y\n")
        }
        #expect(error?.code == .notVerified)
    }

    @Test func `a value without a form stops the merge`() {
        let error = failure { () throws(DotEnvError) in
            _ = try merged(["A": "it's\n\"`"], into: "A=1")
        }
        #expect(error?.code == .unwritableValue)
        #expect(error?.key == "A")
    }

    @Test func `a dialect other than dotenv is refused`() {
        let error = failure { () throws(DotEnvError) in
            _ = try merged(["A": "1"], into: "A=2", as: .docker)
        }
        #expect(error?.code == .refused)
    }

    @Test func `comments above a name are its comment`() throws {
        let comments = try withSpan(Array(Self.text.utf8)) { span in
            let document = try DotEnvDocument(span)
            return document.file.entries.indices.map { document.file.comment(above: $0, in: span) }
        }
        #expect(
            comments == [
                "The database.\n  Ask before a change.", nil, "LOCAL=1", nil, nil,
            ])
    }

    @Test(
        arguments: [
            ("\u{FEFF}# a\r\n  #b\r\nA=1", "a\nb"), ("# a\n\nA=1", nil), ("#\nA=1", ""),
            ("#a\rA=1", "a"), ("B=1 # a\nA=1", nil), ("B='x\n# a'\nA=1", nil),
            ("# a\njunk\n#b\nA=1", "b"),
        ] as [(String, String?)])
    func `comments end at anything else`(text: String, expected: String?) throws {
        let comment = try withSpan(Array(text.utf8)) { span in
            let document = try DotEnvDocument(span)
            return document.file.comment(
                above: document.file.entries.count - 1, in: span)
        }
        #expect(comment == expected)
    }
}

@Suite struct `Expanding` {
    @Test(arguments: [
        ("A=1\nB=x${A}y\n", ["1", "x1y"]),
        ("B=${A}\nA=1\n", ["1", "1"]),
        ("B=${A:-d}\n", ["d"]), ("A=\nB=${A:-d}${A}\n", ["", "d"]),
        ("A=1\nB=${N:-x${A}${M:-z}}\n", ["1", "x1z"]),
        ("A=1\nB='${A}'\nC=\"${A}\\n\"\n", ["1", "1", "1\n"]),
        ("A=1\nB=\\${A}${A}\n", ["1", "${A}1"]), ("A=1\nB=\\$A\\$\\$$A\n", ["1", "$A$$1"]),
        ("A=1\nB=$A $$ ${A ${A-d} ${} ${A:?x} $\n", ["1", "1 $$ ${A 1 ${} ${A:?x} $"]),
        ("A=1\nB=$AB $A.B $A-$1\n", ["1", "$AB 1.B 1-$1"]),
        ("A=1\nB=${N-d}${A:+x$A}${A+y}${N:+z}\nC=${B-}\n", ["1", "dx1y", "dx1y"]),
        ("B=${NOPE}\n", ["${NOPE}"]),
        ("A=1\nA=2\nB=${A}\n", ["1", "2", "2"]),
        ("A=$\nB=${A}{A}\n", ["$", "${A}"]),
    ])
    func `references are replaced by values of the same text`(
        text: String, expected: [String]
    ) throws {
        #expect(try expanded(text) == expected)
    }

    @Test func `text quoted by a shell stays`() throws {
        #expect(try expanded("A=1\nB='${A}'\n", as: .shell) == ["1", "${A}"])
        #expect(try expanded("A=1\nB='$A'\nC=$A\n", as: .compose) == ["1", "$A", "1"])
    }

    @Test func `an unset name is reported`() throws {
        let text = "A=${NOPE} ${NOPE}\nB=${NOPE:-x}\n"
        let file = try read(text)
        let diagnostics = try withSpan(Array(text.utf8)) { span in
            try DotEnvExpansion(file, in: span).diagnostics
        }
        #expect(diagnostics.map(\.code) == [.unexpanded])
        #expect(diagnostics.first?.key == "A")
    }

    @Test func `USE-A1: unexpanded references are reported, also $NAME`() throws {
        for value in ["$NOPE", "$(id)", "${NOPE", "$1", "a$2b$12$x"] {
            let text = "A='\(value)'\n"
            let file = try read(text)
            let (diagnostics, result) = try withSpan(Array(text.utf8)) { span in
                (try DotEnvExpansion(file, in: span).diagnostics, try expanded(text))
            }
            #expect(diagnostics.map(\.code) == [.unexpanded], "\(value)")
            #expect(result == [value])
        }
    }

    @Test(arguments: ["A=$A\n", "A=${A}\n", "A=${B}\nB=x${C}\nC=${A}\n", "A=${N:-${A}}\n"])
    func `a cycle is an error`(text: String) {
        let error = failure { () throws(DotEnvError) in _ = try expanded(text) }
        #expect(error?.code == .expansionCycle)
        #expect(error?.key != nil)
    }

    @Test func `growth is limited`() {
        var text = "V0=\(String(repeating: "x", count: 1000))\n"
        for level in 1...20 { text += "V\(level)=${V\(level - 1)}${V\(level - 1)}\n" }
        var empty = "V0=\n"
        for level in 1...40 { empty += "V\(level)=${V\(level - 1)}${V\(level - 1)}\n" }
        var chain = "V0=x\n"
        for level in 1...100 { chain += "V\(level)=${V\(level - 1)}\n" }
        let nested =
            "A=" + String(repeating: "${N:-", count: 1000) + String(repeating: "}", count: 1000)
        let open = "A=" + String(repeating: "${N:-", count: 100_000) + "\n"
        for (text, isError) in [
            (text, true), (empty, false), (chain, true), (nested, true), (open, true),
        ] {
            let error = failure { () throws(DotEnvError) in _ = try expanded(text) }
            #expect(error?.code == (isError ? .expansionTooLarge : nil))
        }
    }
}

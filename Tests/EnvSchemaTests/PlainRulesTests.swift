import Testing

@testable import EnvSchema

/// Rules of example files beyond the cases.
@Suite struct PlainRulesTests {
    @Test func namesThatAreNotPortable() throws {
        let schema = try readPlain("2FA_KEY=\nA-B=1\nC: x\nexport D=2\n")
        #expect(schema.items.map(\.key) == ["2FA_KEY", "A-B", "C", "D"])
        #expect(
            schema.notes.map(\.inCases) == ["key-not-portable:2FA_KEY", "key-not-portable:A-B"])
        #expect(schema.items.map(\.line) == [1, 2, 3, 4])
    }

    @Test(
        arguments: [
            ("# a\n\n# b\nA=", "b"), ("  # a\nA=", "a"), ("# a\njunk\nA=", nil),
            ("# a\n# B=1\n# c\nA=", "a\nc"), ("# a\n# export B=1\nA=", "a"),
            ("# a\n# see B=1\nA=", "a\nsee B=1"), ("X=\"1\"\n# a\nA=", "a"),
            ("X=\"1\" # x\n# a\nA=", "a"), ("X=\"1\"\n\n# a\nA=", "a"), ("X=\n# a\nA=", "a"),
            ("# a\nA=1 # b", "a"), ("A=1 # b", "b"), ("A=1# b", nil), ("A='1'# b", "b"),
            ("A=# b", nil), ("A= #", nil), ("# @required\nA=", "@required"), ("#\nA=", nil),
            ("# a\n#\n# b\nA=", "a\n\nb"), ("# a\n--- \nA=", nil), ("# a\r\nA=\r\n", "a"),
            ("X=\"\n# a\n\"\nA=", nil),
        ] as [(String, String?)])
    func descriptionIsFound(_ text: String, _ expected: String?) throws {
        #expect(try readPlain(text).items.last?.description == expected)
    }

    @Test func lineNumbersOfNotes() throws {
        let schema = try readPlain(
            "junk\nA=\"x\ny\"\n\nmore junk\n# B=1\nC=^a$ # c\nA=\nJ=\nD=a\\sb\nE=(a)|b\nrest")
        #expect(
            schema.notes.map { "\($0.line) \($0.inCases)" } == [
                "1 line-ignored", "5 line-ignored", "6 commented-name:B", "7 regex-like:C",
                "8 duplicate-key:A", "10 regex-like:D", "12 line-ignored",
            ])
    }

    @Test func nothingIsStatedOfTheName() throws {
        let item = try #require(try readPlain("A='x\\n'\n").items.first)
        #expect(item == SchemaItem(key: "A", line: 1, value: .placeholder("x\\n")))
    }

    @Test(
        arguments: [
            ("# @required\nA=", true), ("# @required # text\nA=", true),
            ("# @required text\nA=", false), ("# @import(./a,\n# pick=[A])\nA=", true),
            ("# @import(./a,\nA=", false), ("A=\"# @public\"\n", false), ("A='x' # @public", true),
            ("A=x #@public", true), ("A=\"\n# @public\n\"", false), ("A=\"\n# @public\n", true),
            ("# @generatePython()\n", true), ("# @Required\n", false), ("# @required.\n", false),
            ("junk # @type=url\n", true), ("# # @required\n", false), ("", false),
        ])
    func decoratorsAreDetected(_ text: String, _ isSpec: Bool) {
        let notation = SchemaReader.notation(of: Array(text.utf8), fileName: ".env.example")
        #expect(notation == (isSpec ? .envSpec : .plain))
    }
}

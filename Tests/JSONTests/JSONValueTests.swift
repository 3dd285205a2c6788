import JSON
import Testing

@Suite struct `JSON texts` {
    @Test(
        arguments: [
            ("null", JSONValue.null), (" [1, -2.5, 1e3] ", [1, .number(-2.5), .number(1000)]),
            (#"{"a":{"b":[true,false]}}"#, ["a": ["b": [true, false]]]),
            (#""\u00e9\ud83d\ude00\n""#, "é😀\n"), ("9223372036854775807", .integer(.max)),
            ("9223372036854775808", .number(9_223_372_036_854_775_808)),
        ] as [(String, JSONValue)])
    func `are read`(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: Array(text.utf8)) == value)
    }

    @Test(arguments: [
        "", "{", "[1,]", "01", "1.", "1e", "-", "+1", "nul", "\"", "\"\u{1}\"", #""\x""#,
        #""\u12g4""#, "{1:2}", "[] []", "{\"a\" 1}", "1e999",
    ])
    func `are refused`(text: String) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: Array(text.utf8)) }
    }

    @Test func `with bytes that are not UTF-8 are refused`() {
        #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22, 0xFF, 0x22]) }
    }

    @Test func `nest up to a limit`() throws {
        let depth = JSONTree.maximumDepth
        let good = Array(
            (String(repeating: "[", count: depth) + "1"
                + String(repeating: "]", count: depth)).utf8)
        _ = try JSONValue(parsing: good)
        #expect(throws: JSONError.tooDeep) {
            try JSONValue(parsing: Array(String(repeating: "[", count: 1_000_000).utf8))
        }
    }

    @Test func `are written in the given order, and read back`() throws {
        let value: JSONValue = ["b": ["\u{1}\"\\/\n", .null, .number(1.5)], "a": -7]
        #expect(value.encodedText == #"{"b":["\u0001\"\\/\n",null,1.5],"a":-7}"#)
        #expect(JSONValue.members(["b": 1, "a": 2]).encodedText == #"{"a":2,"b":1}"#)
        #expect(try JSONValue(parsing: value.encoded) == value)
    }
}

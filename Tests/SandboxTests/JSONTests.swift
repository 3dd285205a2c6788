import Sandbox
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
        #expect(try JSONParser.value(of: Array(text.utf8)) == value)
    }

    @Test(arguments: [
        "", "{", "[1,]", "01", "1.", "1e", "-", "+1", "nul", "\"", "\"\u{1}\"", #""\x""#,
        #""\ud800""#, #""\udc00""#, #""\u12g4""#, "{1:2}", "[] []", "{\"a\" 1}", "1e999",
        "\u{FEFF}1",
    ])
    func `are refused`(text: String) {
        #expect(throws: JSONError.self) { try JSONParser.value(of: Array(text.utf8)) }
    }

    @Test func `with bytes that are not UTF-8 are refused`() {
        #expect(throws: JSONError.self) { try JSONParser.value(of: [0x22, 0xFF, 0x22]) }
    }

    @Test func `nest at most so deep`() throws {
        let depth = JSONParser.maximumDepth
        let good = Array(
            (String(repeating: "[", count: depth - 1) + "1"
                + String(repeating: "]", count: depth - 1)).utf8)
        _ = try JSONParser.value(of: good)
        #expect(throws: JSONError.tooDeep) {
            try JSONParser.value(of: Array(String(repeating: "[", count: 1_000_000).utf8))
        }
    }

    @Test func `come out in the order of their names and read back`() throws {
        let value: JSONValue = ["b": ["\u{1}\"\\/\n", nil, .number(1.5)], "a": .integer(-7)]
        #expect(value.text == #"{"a":-7,"b":["\u0001\"\\/\n",null,1.5]}"#)
        #expect(try JSONParser.value(of: value.encoded) == value)
    }
}

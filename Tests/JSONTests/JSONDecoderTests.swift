import Foundation
import JSON
import Testing

@Suite struct `Reading JSON` {
    private struct Record: Decodable, Equatable {
        struct Inner: Decodable, Equatable { var list: [Int?] }

        var name: String
        var count: Int64
        var share: Double?
        var isOn: Bool
        var inner: Inner?
        var table: [String: [String]]
    }

    private func read<Value: Decodable>(_ text: String, as type: Value.Type) throws -> Value {
        try JSON.JSONDecoder().decode(type, from: Array(text.utf8))
    }

    @Test func `a record with all kinds of members`() throws {
        let text = """
             {"unknown":{"deep":[[{}],[]]}, "name":"n\\u00e9\\ud83d\\ude00\\n\\/", "count":-9007199254740993,
            "share":2.5e-1,"isOn":true,"inner":{"list":[1,null,3]},"table":{"a":["x"],"b":[]}} \n
            """
        let record = try read(text, as: Record.self)
        #expect(
            record
                == Record(
                    name: "né😀\n/", count: -9_007_199_254_740_993, share: 0.25, isOn: true,
                    inner: .init(list: [1, nil, 3]), table: ["a": ["x"], "b": []]))
    }

    @Test func `missing and null members are nil if the type allows it`() throws {
        let text = #"{"name":"","count":0,"share":null,"isOn":false,"table":{}}"#
        let record = try read(text, as: Record.self)
        #expect(record.share == nil)
        #expect(record.inner == nil)
        #expect(throws: DecodingError.self) {
            try read(#"{"name":null,"count":0,"isOn":false,"table":{}}"#, as: Record.self)
        }
    }

    @Test(arguments: [
        "", " ", "{", "}", "[", "]", "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
        "{a:1}", "{1:1}", "{\"a\":1 \"b\":2}", "[1}", "{\"a\":1]", "[01]", "[1.]", "[.5]", "[+1]",
        "[1e]", "[-]", "[0x1]", "[NaN]", "[tru]", "[nulL]", "[true false]", "1 2", "[] []", "\"",
        "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\\u12\"", "\"a\nb\"",
        "\"\u{0}\"", "'a'", "[1]//", "\u{feff}",
    ])
    func `invalid JSON is refused`(text: String) {
        #expect(throws: JSONError.self) { try read(text, as: Anything.self) }
    }

    /// Takes every value.
    private struct Anything: Decodable { init(from decoder: any Decoder) {} }

    @Test func `every prefix of a text is refused, and no inserted byte causes a trap`() throws {
        let text = Array(#"{"a":[1,-2.5e+3,"\u00e9\ud83d\ude00",true,false,null,{"b":{}}]}"#.utf8)
        for count in 0..<text.count {
            #expect(throws: JSONError.self) {
                try JSON.JSONDecoder().decode(Anything.self, from: Array(text.prefix(count)))
            }
        }
        for place in text.indices {
            for byte: UInt8 in [0, 0x22, 0x2C, 0x30, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x80, 0xFF] {
                var changed = text
                changed[place] = byte
                _ = try? JSON.JSONDecoder().decode(Tree.self, from: changed)
            }
        }
    }

    /// Any value, as a tree.
    private indirect enum Tree: Decodable, Equatable {
        case object([String: Tree])
        case array([Tree])
        case text(String)
        case flag(Bool)
        case number(Double)
        case null

        init(from decoder: any Decoder) throws {
            if let object = try? [String: Tree](from: decoder) {
                self = .object(object)
            } else if let array = try? [Tree](from: decoder) {
                self = .array(array)
            } else {
                let container = try decoder.singleValueContainer()
                if container.decodeNil() {
                    self = .null
                } else if let flag = try? container.decode(Bool.self) {
                    self = .flag(flag)
                } else if let number = try? container.decode(Double.self) {
                    self = .number(number)
                } else {
                    self = .text(try container.decode(String.self))
                }
            }
        }
    }

    /// Foundation's decoder reads the same texts as the same trees.
    @Test func `ten thousand random texts are read as by Foundation`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = Generator(state: seed)
        for _ in 0..<10_000 {
            let text = Self.text(depth: 0, &random)
            let ours = try? JSON.JSONDecoder().decode(Tree.self, from: Array(text.utf8))
            let theirs = try? Foundation.JSONDecoder().decode(Tree.self, from: Data(text.utf8))
            #expect(ours != nil, "seed \(seed): \(text)")
            #expect(ours == theirs, "seed \(seed): \(text)")
        }
    }

    private struct Generator: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    private static func text(depth: Int, _ random: inout Generator) -> String {
        let blank = [" ", "", "", "\n", "\t"].randomElement(using: &random) ?? ""
        let words = ["\"\"", "\"a/\\\\\"", "\"\\u0041\\n\"", "\"é\\ud83d\\ude00\"", "\"x\\\"y\""]
        let numbers = ["0", "-0", "12", "-3.25", "1e3", "1E-2", "9007199254740993", "0.1"]
        let rest = ["true", "false", "null"]
        let scalar = (words + numbers + rest).randomElement(using: &random) ?? "0"
        guard depth < 5 else { return blank + scalar + blank }
        let count = Int.random(in: 0..<4, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let elements = (0..<count).map { _ in text(depth: depth + 1, &random) }
            return "\(blank)[\(elements.joined(separator: ","))\(blank)]\(blank)"
        case 1, 2:
            let members = (0..<count).map { number in
                "\(blank)\"k\(number)\\u0061\"\(blank):\(text(depth: depth + 1, &random))"
            }
            return "\(blank){\(members.joined(separator: ","))\(blank)}\(blank)"
        default: return blank + scalar + blank
        }
    }

    @Test(arguments: [
        ("127", Int8(127)), ("-128", -128), ("1e2", 100), ("5.0", 5), ("128", nil), ("0.5", nil),
        ("1e400", nil), ("\"1\"", nil), ("true", nil), ("null", nil),
    ])
    func `whole numbers are exact or refused`(text: String, number: Int8?) {
        #expect((try? read(text, as: Int8.self)) == number)
    }

    @Test(arguments: [0, 60])
    func `names are compared byte for byte, in small and large objects`(others: Int) throws {
        let composed = "caf\u{E9}"
        let decomposed = "cafe\u{301}"
        let more = (0..<others).map { ",\"k\($0)\":0" }.joined()
        for (name, other) in [(composed, decomposed), ("caf\\u00e9", decomposed)] {
            let text = "{\"\(other)\":1,\"\(name)\":2\(more)}"
            let members = try read(text, as: Members.self)
            #expect(members.composed == 2 && members.decomposed == 1, "\(text)")
        }
    }

    private struct Members: Decodable {
        let composed: Int
        let decomposed: Int

        enum CodingKeys: String, CodingKey {
            case composed = "caf\u{E9}"
            case decomposed = "cafe\u{301}"
        }
    }

    @Test func `the largest numbers are read, and none out of range`() throws {
        #expect(try read("18446744073709551615", as: UInt64.self) == .max)
        #expect(try read("-9223372036854775808", as: Int64.self) == .min)
        #expect((try? read("18446744073709551616", as: UInt64.self)) == nil)
        #expect((try? read("-1", as: UInt64.self)) == nil)
        #expect((try? read("1e999", as: Double.self)) == nil)
        // A fraction or exponent makes it a Double, which would be the next whole number.
        for text in ["9007199254740993.0", "9007199254740993e0", "1e16"] {
            #expect((try? read(text, as: Int64.self)) == nil)
            #expect(try JSONValue(parsing: Array(text.utf8)).integer == nil)
        }
        #expect(try read("9007199254740991.0", as: Int64.self) == 9_007_199_254_740_991)
        #expect(try read("[1.5]", as: [Float].self) == [1.5])
        #expect(try read("[1,2]", as: [UInt8].self) == [1, 2])
    }

    @Test func `of two members with one name the first counts, in small and large objects`() throws
    {
        #expect(try read(#"{"a":1,"a":2}"#, as: [String: Int].self) == ["a": 1])
        let members = (0..<2_000).map { #""k\#($0 % 1_000)":\#($0)"# }
        let table = try read("{\(members.joined(separator: ","))}", as: [String: Int].self)
        #expect(table == Dictionary(uniqueKeysWithValues: (0..<1_000).map { ("k\($0)", $0) }))
    }

    @Test func `an object of a hundred thousand members is read in linear time`() throws {
        let members = (0..<100_000).map { #""k\#($0)":\#($0)"# }
        let clock = ContinuousClock()
        let text = "{\(members.joined(separator: ","))}"
        let start = clock.now
        #expect(try read(text, as: [String: Int].self).count == 100_000)
        let elapsed = start.duration(to: clock.now)
        // Scanning all members for each lookup takes minutes.
        #expect(elapsed < .seconds(20))
    }

    @Test func `bytes that are not UTF-8 are refused, wherever they are`() throws {
        let bytes = Array(#"["a","?",{"?":1}]"#.utf8)
        for place in bytes.indices where bytes[place] == UInt8(ascii: "?") {
            var changed = bytes
            changed[place] = 0xFF
            #expect(throws: JSONError.malformed) {
                try JSON.JSONDecoder().decode(Anything.self, from: changed)
            }
        }
    }

    @Test(arguments: [
        (#""\ud800""#, "\u{FFFD}"), (#""\ud800\n""#, "\u{FFFD}\n"), (#""a\udc00b""#, "a\u{FFFD}b"),
        (#""\ud800\ud800""#, "\u{FFFD}\u{FFFD}"), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀"),
    ])
    func `half of a surrogate pair is replaced`(json: String, text: String) throws {
        #expect(try read(json, as: String.self) == text)
    }

    @Test func `deep nesting is refused before the stack overflows`() throws {
        let limit = JSONTree.maximumDepth
        func nested(_ count: Int) -> String {
            String(repeating: "[", count: count) + String(repeating: "]", count: count)
        }
        _ = try read(nested(limit), as: Anything.self)
        #expect(throws: JSONError.self) { try read(nested(limit + 1), as: Anything.self) }
        #expect(throws: JSONError.self) {
            try read(String(repeating: "[{\"a\":", count: 1_000_000), as: Anything.self)
        }
    }

    @Test func `a file with a byte order mark is read`() throws {
        #expect(try read("\u{feff}[1]", as: [Int].self) == [1])
    }

    @Test func `a decoder that is kept afterwards reads nothing`() throws {
        struct Keeper: Decodable {
            let decoder: any Decoder
            init(from decoder: any Decoder) { self.decoder = decoder }
        }
        let keeper = try read("[\"a\"]", as: Keeper.self)
        #expect((try? [String](from: keeper.decoder)) == nil)
        #expect((try? String(from: keeper.decoder)) == nil)
    }

    @Test func `errors do not contain the text`() throws {
        for text in [#"{"secret":"marker"}"#, #"{"marker":"#, #"["marker"]"#, #""marker""#] {
            do {
                _ = try read(text, as: [String: Int].self)
                Issue.record("read \(text)")
            } catch {
                #expect(!"\(error)".contains("marker"))
            }
        }
    }

    @Test func `elements one by one, nested and skipped`() throws {
        struct Walk: Decodable {
            var found: [String] = []
            private enum Key: String, CodingKey { case a }
            init(from decoder: any Decoder) throws {
                var list = try decoder.unkeyedContainer()
                #expect(list.count == 5)
                let nulls = [try list.decodeNil(), try list.decodeNil()]
                #expect(nulls == [true, false])
                found.append(try list.decode(String.self))
                var inner = try list.nestedUnkeyedContainer()
                found.append("\(try inner.decode(Int.self))")
                let object = try list.nestedContainer(keyedBy: Key.self)
                #expect(object.allKeys == [.a])
                found.append("\(try object.decode(Bool.self, forKey: .a))")
                #expect((try? list.decode(Int.self)) == nil)
                found.append(try list.decode(String.self))
                #expect(list.isAtEnd)
                #expect((try? list.decode(String.self)) == nil)
            }
        }
        #expect(
            try read(#"[null,"x",[7],{"b":0,"a":true},"y"]"#, as: Walk.self).found
                == ["x", "7", "true", "y"])
    }
}

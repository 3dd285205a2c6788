import Foundation
import HTTPClient
import JSON
import Sealing
import Testing

@testable import VercelAPI

@Suite struct `Scanning JSON for values` {
    private func accepts(_ bytes: [UInt8]) -> Bool { bytes.withBytes(JSONTree.isJSON) }

    /// Whether every text has whole characters.
    private func isWhole(_ bytes: [UInt8]) -> Bool {
        guard let value = try? JSONValue(parsing: bytes) else { return false }
        return !value.encodedText.unicodeScalars.contains("\u{FFFD}")
    }

    private func value(_ json: String) throws -> [UInt8]? {
        let arena = SecretArena()
        return try Array(json.utf8).withBytes { span throws(JSONError) in
            try SecretMembers.text("value", of: span, into: arena)
        }?.exposed
    }

    @Test(arguments: [
        "{}", "[]", "null", "true", "false", "0", "-0", "10", "1.5", "-1.5e10", "1E+2", "2e-2",
        #""""#, #"{"a":[{"b":null},1,"x"]}"#, " \t\r\n{ \"a\" : 1 , \"b\" : [ ] } ",
        #""\ud83d\ude00\u0000\/""#, "[[[[[[]]]]]]", "\"\u{7f}\"",
    ])
    func `JSON is accepted`(json: String) {
        #expect(accepts(Array(json.utf8)))
    }

    @Test(arguments: [
        "", " ", "{", "[", "]", "{]", "[1,]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "[1 2]",
        "01", "1.", ".5", "+1", "1e", "1e+", "-", "tru", "nul", "truex", "\"a", "\"\\\"", "\"\\x\"",
        "\"\\u12\"", "\"\\u12g4\"", "\"a\nb\"", "{} {}", "[1]]", "'a'", "<html></html>", "{\"a\":1",
        "\"\\ud83d\\ude0\"", "NaN", "{\"a\" 1}",
    ])
    func `anything else is refused`(json: String) {
        #expect(!accepts(Array(json.utf8)))
    }

    @Test func `nesting is bounded`() {
        let deep = { (depth: Int) in
            Array(
                (String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
        }
        #expect(accepts(deep(JSONTree.maximumDepth)))
        #expect(!accepts(deep(JSONTree.maximumDepth + 1)))
        #expect(!accepts([UInt8](repeating: 0x5B, count: 1 << 20)))
        #expect(!accepts(Array(String(repeating: "{\"a\":", count: 100_000).utf8)))
    }

    @Test(arguments: [
        (#"{"value":"abc"}"#, "abc"), (#"{"id":"1","value":"","key":"K"}"#, ""),
        (#"{"value":"a\n\t\"\\\/\u0041\ud83d\ude00"}"#, "a\n\t\"\\/A😀"),
        (#"{"x":{"value":"no"},"value":"yes"}"#, "yes"),
        (#"{"x":["value"],"y":"\"value\":\"no\"","value":"yes"}"#, "yes"),
        (#"{"v\u0061lue":"same name"}"#, "same name"), (#"{"value":"é€"}"#, "é€"),
    ])
    func `the member is found and its escapes are decoded`(json: String, text: String) throws {
        #expect(try value(json).map { String(decoding: $0, as: UTF8.self) } == text)
    }

    @Test(arguments: ["{}", #"{"value":null}"#, #"{"values":"x"}"#, #"{"x":{"value":"no"}}"#])
    func `a missing member has no value`(json: String) throws {
        #expect(try value(json) == nil)
    }

    @Test(arguments: [
        #"{"value":1}"#, #"{"value":{}}"#, #"{"value":["a"]}"#, #"{"value":"a","value":"b"}"#,
        #"{"value":null,"value":"b"}"#, #"["value"]"#, #"{"value":"a"} x"#, #"{"value":"a""#,
        #"{"value":"a","x":}"#, #"{"value":"\ud800"}"#,
    ])
    func `a response of another form has no value`(json: String) {
        #expect(throws: JSONError.malformed) { try value(json) }
    }

    @Test func `lists are read in each of their three forms`() throws {
        let arena = SecretArena()
        func texts(_ json: String, wanted: (Int) -> Bool = { _ in true }) throws -> [String?] {
            try Array(json.utf8).withBytes { span throws(JSONError) in
                try SecretMembers.texts(
                    "value", ofList: "envs", of: span, into: arena, where: wanted)
            }.map { $0?.exposedText }
        }
        let list = #"[{"value":"a"},{"value":null},{"id":"x"},{"value":"b"}]"#
        #expect(try texts(list) == ["a", nil, nil, "b"])
        #expect(try texts("{\"envs\":\(list),\"pagination\":{}}") == ["a", nil, nil, "b"])
        #expect(try texts("{\"envs\":\(list)}") { $0 == 3 } == [nil, nil, nil, "b"])
        #expect(try texts(#"{"id":"1","value":"a"}"#) == ["a"])
        #expect(try texts("[]").isEmpty)
        for bad in [#"{"envs":[1]}"#, #"{"envs":{},"x":1}"#, #"{"envs":[],"envs":[]}"#] {
            #expect(throws: JSONError.malformed) { try texts(bad) }
        }
    }

    @Test func `maps are read whole`() throws {
        let arena = SecretArena()
        func map(_ json: String) throws -> [String: String]? {
            try Array(json.utf8).withBytes { span throws(JSONError) in
                try SecretMembers.map("env", of: span, into: arena)
            }?.mapValues(\.exposedText)
        }
        #expect(
            try map(#"{"env":{"A":"1","B\u005f":"","é":"2"}}"#) == ["A": "1", "B_": "", "é": "2"])
        #expect(try map(#"{"env":null}"#) == nil)
        #expect(try map(#"{"buildEnv":{"A":"1"}}"#) == nil)
        for bad in [#"{"env":{"A":1}}"#, #"{"env":{"A":"1","A":"2"}}"#, #"{"env":["A"]}"#] {
            #expect(throws: JSONError.malformed) { try map(bad) }
        }
    }

    @Test func `any value written is scanned back byte by byte`() throws {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<5_000 {
            let length = Int.random(in: 0..<40, using: &generator)
            var text = String.UnicodeScalarView()
            for _ in 0..<length {
                let code = UInt32.random(in: 0...0x10FFFF, using: &generator)
                let small = UInt32.random(in: 0...0x7F, using: &generator)
                let scalar = Bool.random(using: &generator) ? small : code
                if let scalar = Unicode.Scalar(scalar) { text.append(scalar) }
            }
            let bytes = Array(String(text).utf8)
            let arena = SecretArena()
            let secret = try bytes.withBytes { try arena.copy($0) }
            let body = try GuardedBytes.json { json throws(OutputError) in
                try json.object { json throws(OutputError) in
                    try json.member("key", "value")
                    try json.member("value", secret)
                }
            }
            let found = try body.withBytes { span throws(JSONError) in
                try SecretMembers.text("value", of: span, into: arena)
            }
            #expect(found?.exposed == bytes)
        }
    }

    @Test func `accepted texts are JSON to another parser too`() throws {
        var generator = SeededGenerator(seed: 3)
        let seeds = [
            #"{"envs":[{"id":"1","key":"A","value":"x\n\u00e9","target":["production"]}]}"#,
            #"{"env":{"A":"1"},"n":[1,-2.5,true,null,{}]}"#, #"{"value":"\ud83d\ude00"}"#,
        ]
        var accepted = 0
        for _ in 0..<60_000 {
            var bytes = Array(seeds[Int.random(in: 0..<seeds.count, using: &generator)].utf8)
            for _ in 0..<Int.random(in: 0..<4, using: &generator) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(bytes[place], at: place)
                default: bytes.removeSubrange(place...)
                }
            }
            guard accepts(bytes) else { continue }
            accepted += 1
            // Halves of characters are JSON by its grammar, and the other parser refuses them.
            if !isWhole(bytes) { continue }
            #expect(throws: Never.self, "\(String(decoding: bytes, as: UTF8.self))") {
                _ = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
            }
        }
        #expect(accepted > 5_000)
    }

    @Test func `random bytes never trap`() {
        var generator = SeededGenerator(seed: 4)
        let alphabet = Array("{}[]\":,\\u0d8e-+.tfn \n1".utf8) + [0xC3, 0xFF]
        let arena = SecretArena()
        var count = 0
        for _ in 0..<100_000 {
            let length = Int.random(in: 0..<24, using: &generator)
            let bytes = (0..<length).map { _ in
                alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
            }
            if accepts(bytes) { count += 1 }
            bytes.withBytes { span in
                _ = try? SecretMembers.text("", of: span, into: arena)
                _ = try? SecretMembers.map("", of: span, into: arena)
                _ = try? SecretMembers.texts("", ofList: "", of: span, into: arena) { _ in true }
            }
        }
        #expect(count > 100)
    }

    @Test func `half of a character costs only its own text`() throws {
        struct Answer: Decodable {
            let id: String
            let message: String
        }
        let text = #"{"id":"d","message":"cut \ud83d","more":"\ud83d\ude00","\\ud800":1}"#
        let answer = Array(text.utf8).withBytes { JSONDecoding.value(Answer.self, from: $0) }
        #expect(answer?.id == "d" && answer?.message == "cut \u{FFFD}")
        // A value is never reported other than as it was sent.
        #expect(throws: JSONError.malformed) { try value(#"{"value":"\ud83d"}"#) }
        #expect(try value(#"{"value":"a","more":"\ud83d"}"#) == Array("a".utf8))
    }
}

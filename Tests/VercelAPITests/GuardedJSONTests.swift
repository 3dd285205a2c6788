import Foundation
import HTTPClient
import JSON
import Sealing
import Testing
import VercelAPI

@Suite struct `Writing JSON` {
    private func written(_ bytes: [UInt8]) throws -> [UInt8] {
        try GuardedBytes.json { json throws(OutputError) in
            try bytes.withBytes { span throws(OutputError) in try json.string(utf8: span) }
        }.exposed
    }

    @Test func `objects, arrays and every kind of value`() throws {
        let secret = try SecretArena().secret("s\"1")
        var writer = GuardedJSONWriter(to: try GuardedBytes())
        try writer.object { json throws(OutputError) in
            try json.member("a", "x")
            try json.member("b", secret)
            try json.member("c", ["1", "2"])
            try json.name("d")
            try json.array { json throws(OutputError) in
                try json.object { _ throws(OutputError) in }
                try json.integer(-5)
                try json.bool(true)
                try json.null()
                try json.array { _ throws(OutputError) in }
            }
            try json.member("e", "")
        }
        #expect(
            try writer.finish().exposedText
                == #"{"a":"x","b":"s\"1","c":["1","2"],"d":[{},-5,true,null,[]],"e":""}"#)
    }

    @Test(arguments: [
        ("", #""""#), ("a\"b\\c", #""a\"b\\c""#), ("\n\r\t", #""\n\r\t""#),
        ("\u{0}\u{1}\u{1f}\u{7f}", #""\u0000\u0001\u001f\u007f""#), ("/é€😀", #""/é€😀""#),
        ("\u{8}\u{c}", #""\b\f""#), ("\u{2028}", #""\u2028""#),
    ])
    func `texts are escaped as JSON requires`(text: String, json: String) throws {
        #expect(try written(Array(text.utf8)) == Array(json.utf8))
    }

    @Test(
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80],
            [0xF0, 0x80, 0x80, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
            [0xC3], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0x41, 0xC3, 0x41], [0xE2, 0x28, 0xA1],
        ] as [[UInt8]])
    func `bytes that are not UTF-8 are refused`(bytes: [UInt8]) throws {
        #expect(throws: OutputError.invalidUTF8) { try written(bytes) }
    }

    @Test func `any bytes are either refused or read back unchanged`() throws {
        var generator = SeededGenerator(seed: 1)
        var accepted = 0
        for _ in 0..<20_000 {
            let alphabet: [UInt8] = [0x22, 0x5C, 0x0A, 0x00, 0x1F, 0x41, 0x7F, 0xC3, 0xA9, 0xE2]
            let length = Int.random(in: 0..<12, using: &generator)
            let bytes = (0..<length).map { _ -> UInt8 in
                Bool.random(using: &generator)
                    ? alphabet[Int.random(in: 0..<alphabet.count, using: &generator)]
                    : UInt8.random(in: 0...0x7F, using: &generator)
            }
            let isText = String(validating: bytes, as: UTF8.self) != nil
            do {
                let json = try written(bytes)
                accepted += 1
                #expect(isText)
                let decoded = try JSONDecoder().decode(
                    [String].self, from: Data([0x5B] + json + [0x5D]))
                #expect(decoded.first.map { Array($0.utf8) } == bytes)
            } catch is OutputError {
                #expect(!isText)
            }
        }
        #expect(accepted > 5000)
    }

    @Test func `a megabyte is written in guarded memory that grows`() throws {
        let bytes = [UInt8](repeating: 0x22, count: 1 << 20)
        #expect(try written(bytes).count == (2 << 20) + 2)
    }
}

import Foundation
import JSON
import Testing

@Suite struct `Writing types as JSON` {
    private enum Shape: Codable, Equatable {
        case point
        case circle(radius: Double)
    }

    private enum Word: String, Codable { case first, second }

    private struct Record: Codable, Equatable {
        var name: String
        var count: Int
        var large: UInt64
        var share: Double?
        var isOn: Bool
        var words: [Word]
        var shapes: [Shape]
        var table: [String: [Int?]]
        var places: Set<Int>
        var numbers: [Int: String]
    }

    private let record = Record(
        name: "a\"\\/\n\u{0}\u{1f}é😀", count: -5, large: .max, share: 0.1, isOn: true,
        words: [.second, .first], shapes: [.point, .circle(radius: 2)],
        table: ["k": [1, nil, 3], "": []], places: [1, 2], numbers: [7: "seven"])

    @Test func `written values are read back unchanged, here and by Foundation`() throws {
        let bytes = try JSON.JSONEncoder().encode(record)
        #expect(try JSON.JSONDecoder().decode(Record.self, from: bytes) == record)
        #expect(
            try Foundation.JSONDecoder().decode(Record.self, from: Data(bytes)) == record)
    }

    @Test func `Foundation's output is read unchanged`() throws {
        let data = try Foundation.JSONEncoder().encode(record)
        #expect(try JSON.JSONDecoder().decode(Record.self, from: Array(data)) == record)
    }

    @Test func `members are in the order of the type`() throws {
        struct Pair: Encodable {
            var second = [true, false]
            var first = "x\u{1}\"\\"
            var third: Int?
            var empty: [String: Int] = [:]
        }
        let text = String(decoding: try JSON.JSONEncoder().encode(Pair()), as: UTF8.self)
        #expect(text == #"{"second":[true,false],"first":"x\u0001\"\\","empty":{}}"#)
    }

    @Test func `single values, and none`() throws {
        func text(_ value: some Encodable) throws -> String {
            String(decoding: try JSON.JSONEncoder().encode(value), as: UTF8.self)
        }
        struct Nothing: Encodable { func encode(to encoder: any Encoder) {} }
        #expect(try text("x") == "\"x\"")
        #expect(try text(Int?.none) == "null")
        #expect(try text([Int]()) == "[]")
        #expect(try text([[Int8(-1)], []]) == "[[-1],[]]")
        #expect(try text([1.5, 1e30]) == "[1.5,1e+30]")
        #expect(try text(Nothing()) == "{}")
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan])
    func `a number that JSON cannot represent is refused`(number: Double) {
        #expect(throws: EncodingError.self) { try JSON.JSONEncoder().encode([number]) }
        #expect(throws: EncodingError.self) {
            try JSON.JSONEncoder().encode(["a": Float(number)])
        }
    }
}

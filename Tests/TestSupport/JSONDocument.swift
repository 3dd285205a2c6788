import Foundation

/// A JSON value that a program wrote, for comparison with a test's expectation.
package enum JSONDocument: Equatable, Sendable, Decodable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONDocument])
    case object([String: JSONDocument])

    /// Parses one whole value.
    package init(_ bytes: [UInt8]) throws {
        self = try JSONDecoder().decode(JSONDocument.self, from: Data(bytes))
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONDocument].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONDocument].self))
        }
    }

    /// A member; nil if it is missing or this is not an object.
    package subscript(_ name: String) -> JSONDocument? {
        if case .object(let members) = self { members[name] } else { nil }
    }

    /// The elements; empty if this is not an array.
    package var elements: [JSONDocument] {
        if case .array(let elements) = self { elements } else { [] }
    }

    /// The names of the members; empty if this is not an object.
    package var names: Set<String> {
        if case .object(let members) = self { Set(members.keys) } else { [] }
    }

    /// The text; nil if this is not one.
    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The texts of an array of texts.
    package var texts: [String] { elements.compactMap(\.text) }
}

extension JSONDocument: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(nilLiteral: ()) { self = .null }
    package init(arrayLiteral elements: JSONDocument...) { self = .array(elements) }
    package init(dictionaryLiteral elements: (String, JSONDocument)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}

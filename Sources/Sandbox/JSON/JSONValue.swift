/// One JSON value; objects forget the order of their members.
package enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number without fraction or exponent that fits in 64 bits.
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The members of an object, else `nil`.
    package var object: [String: JSONValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements of an array, else `nil`.
    package var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text of a string, else `nil`.
    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The truth value, else `nil`.
    package var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// The whole number, also of a floating value without a fraction, else `nil`.
    package var integer: Int64? {
        switch self {
        case .integer(let whole): whole
        case .number(let floating): Int64(exactly: floating)
        default: nil
        }
    }

    /// Any number as floating point, else `nil`.
    package var number: Double? {
        switch self {
        case .integer(let whole): Double(whole)
        case .number(let floating): floating
        default: nil
        }
    }

    /// The member of that name; `nil` for a missing member and for anything but an object.
    package subscript(name: String) -> JSONValue? { object?[name] }

    /// The element at that index; `nil` outside the bounds and for anything but an array.
    package subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}

extension JSONValue {
    /// The text, or null.
    init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

    /// The number, or null.
    init(_ number: Int64?) { self = number.map(JSONValue.integer) ?? .null }

    /// An array of texts.
    init(_ texts: [String]) { self = .array(texts.map(JSONValue.string)) }

    /// An object of texts.
    init(_ texts: [String: String]) { self = .object(texts.mapValues(JSONValue.string)) }

    /// An object of the given members without those that are `nil`.
    static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues { $0 })
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// A text.
    package init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    package init(integerLiteral value: Int64) { self = .integer(value) }
    /// A truth value.
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Null; where an optional is expected, `nil` means a missing member instead.
    package init(nilLiteral: ()) { self = .null }
    /// An object; of members with the same name the last one stays.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

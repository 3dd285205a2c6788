/// A JSON value without secrets. Members keep their order.
package indirect enum JSONValue: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package let name: String
        package let value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    case null
    case bool(Bool)
    /// A number without fraction and exponent that fits in 64 bits.
    case integer(Int64)
    /// Any other number; finite.
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package static func string(orNull text: String?) -> JSONValue {
        text.map { .string($0) } ?? .null
    }

    package static func integer(orNull number: Int64?) -> JSONValue {
        number.map { .integer($0) } ?? .null
    }

    package static func bool(orNull value: Bool?) -> JSONValue {
        value.map { .bool($0) } ?? .null
    }

    package static func strings(_ texts: [String]) -> JSONValue {
        .array(texts.map { .string($0) })
    }
}

extension JSONValue {
    /// Parses a whole text. If several members have the same name, lookups find the first.
    ///
    /// - Throws: ``JSONError``, also for numbers that are too large.
    package init(parsing bytes: RawSpan) throws(JSONError) {
        do {
            self = try JSONTree.read(bytes) { try JSONValue($0, 0) }
        } catch {
            throw error as? JSONError ?? .malformed
        }
    }

    package init(parsing bytes: [UInt8]) throws(JSONError) {
        try unsafe self.init(parsing: bytes.span.bytes)
    }

    private init(_ tree: JSONTree, _ node: Int) throws {
        switch tree.kind(node) {
        case .null: self = .null
        case .yes: self = .bool(true)
        case .no: self = .bool(false)
        case .text, .escapedText: self = .string(try tree.text(node))
        case .number:
            if let whole = tree.whole(node) {
                self = .integer(whole)
            } else {
                self = .number(try tree.real(node))
            }
        case .array:
            self = .array(try tree.elements(of: node).map { try JSONValue(tree, $0) })
        case .object:
            var members: [Member] = []
            try tree.forEachMember(of: node) { name, value in
                members.append(Member(try tree.text(name), try JSONValue(tree, value)))
                return true
            }
            self = .object(members)
        }
    }

    /// The members of an object, or nil. The first of several with the same name counts.
    package var object: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return Dictionary(
            members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    package var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// A whole number, even if written with a zero fraction or an exponent, or nil.
    package var integer: Int64? {
        switch self {
        case .integer(let whole): whole
        case .number(let floating): floating.whole()
        default: nil
        }
    }

    package var number: Double? {
        switch self {
        case .integer(let whole): Double(whole)
        case .number(let floating): floating
        default: nil
        }
    }

    /// Returns the first member with that name, or nil.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// Returns the element at that index of an array, or nil.
    package subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }

    /// Returns an object of the members that are not nil, sorted by name.
    package static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(
            members.sorted { $0.key < $1.key }.compactMap { name, value in
                value.map { Member(name, $0) }
            })
    }
}

extension JSONValue {
    /// The value as compact UTF-8 text.
    package var encoded: [UInt8] {
        // In this module, the compiler specializes the writer for this sink, which is five times as
        // fast for a long list as the generic one.
        var writer = JSONWriter(to: ByteBuffer())
        // This cannot fail: Swift's strings are valid UTF-8, and the value is complete.
        guard (try? writer.value(self)) != nil, let bytes = try? writer.finish().bytes else {
            return []
        }
        return bytes
    }

    package var encodedText: String { String(decoding: encoded, as: UTF8.self) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// Creates an object, keeping the order of its members.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}

extension JSONValue: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }
}

extension JSONValue: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension JSONValue: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) {
        self = .integer(value)
    }
}

extension JSONValue: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) {
        self = .bool(value)
    }
}

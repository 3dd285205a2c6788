/// A JSON value that holds no secret, members in order.
package indirect enum JSONValue: Sendable, Equatable {
    /// A member of an object.
    package struct Member: Sendable, Equatable {
        /// Its name.
        package let name: String
        /// Its value.
        package let value: JSONValue

        /// Makes a member.
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

    /// A text, or null for nil.
    package static func string(orNull text: String?) -> JSONValue {
        text.map { .string($0) } ?? .null
    }

    /// A number, or null for nil.
    package static func integer(orNull number: Int64?) -> JSONValue {
        number.map { .integer($0) } ?? .null
    }

    /// A truth value, or null for nil.
    package static func bool(orNull value: Bool?) -> JSONValue {
        value.map { .bool($0) } ?? .null
    }

    /// A list of texts.
    package static func strings(_ texts: [String]) -> JSONValue {
        .array(texts.map { .string($0) })
    }
}

extension JSONValue {
    /// Reads a whole text. Of members with the same name the first one counts for a look-up by name.
    ///
    /// - Throws: ``JSONError``, also for numbers that are too large.
    package init(parsing bytes: RawSpan) throws(JSONError) {
        do {
            self = try JSONTree.read(bytes) { try JSONValue($0, 0) }
        } catch {
            throw error as? JSONError ?? .malformed
        }
    }

    /// The same.
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

    /// The members of an object, else nil. Of several with the same name the first one counts.
    package var object: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return Dictionary(
            members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    /// The elements of an array, else nil.
    package var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text of a string, else nil.
    package var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The truth value, else nil.
    package var bool: Bool? {
        if case .bool(let flag) = self { flag } else { nil }
    }

    /// The whole number, also of one that is written with a fraction of zero or an exponent, else nil.
    package var integer: Int64? {
        switch self {
        case .integer(let whole): whole
        case .number(let floating): Int64(exactly: floating)
        default: nil
        }
    }

    /// Any number, else nil.
    package var number: Double? {
        switch self {
        case .integer(let whole): Double(whole)
        case .number(let floating): floating
        default: nil
        }
    }

    /// The member of that name; nil for a missing member and for anything but an object.
    package subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }

    /// The element at that index; nil outside the bounds and for anything but an array.
    package subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }

    /// An object of the given members without those that are nil, in the order of their names.
    package static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(
            members.sorted { $0.key < $1.key }.compactMap { name, value in
                value.map { Member(name, $0) }
            })
    }
}

extension JSONValue {
    /// The value as text in UTF-8, without blanks.
    package var encoded: [UInt8] {
        // Here, in the writer's own module, the compiler makes a writer for just this sink: five
        // times as fast for a long list as one for any sink.
        var writer = JSONWriter(to: ByteBuffer())
        // This cannot fail: Swift's strings are valid UTF-8, and the value is complete.
        guard (try? writer.value(self)) != nil, let bytes = try? writer.finish().bytes else {
            return []
        }
        return bytes
    }

    /// ``encoded`` as a text.
    package var encodedText: String { String(decoding: encoded, as: UTF8.self) }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
    /// Makes an object with its members in the order written.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member($0.0, $0.1) })
    }
}

extension JSONValue: ExpressibleByArrayLiteral {
    /// Makes an array.
    package init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }
}

extension JSONValue: ExpressibleByStringLiteral {
    /// Makes a string.
    package init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension JSONValue: ExpressibleByIntegerLiteral {
    /// Makes a number.
    package init(integerLiteral value: Int64) {
        self = .integer(value)
    }
}

extension JSONValue: ExpressibleByBooleanLiteral {
    /// Makes a truth value.
    package init(booleanLiteral value: Bool) {
        self = .bool(value)
    }
}

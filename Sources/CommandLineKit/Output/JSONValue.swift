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
    case integer(Int64)
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

    /// A point of time in UTC, or null for nil; see ``TimeText``.
    package static func time(orNull milliseconds: Int64?) -> JSONValue {
        milliseconds.map { .string(TimeText.utc($0)) } ?? .null
    }

    /// A list of texts.
    package static func strings(_ texts: [String]) -> JSONValue {
        .array(texts.map { .string($0) })
    }
}

extension JSONValue {
    /// The value as text, compact.
    ///
    /// - Throws: ``OutputError/invalidUTF8`` never, since every text of Swift is valid.
    package func encoded() throws(OutputError) -> [UInt8] {
        // Here, in the writer's own module, the compiler makes a writer for just this sink: five
        // times as fast for a long list as one for any sink.
        var writer = JSONWriter(to: ByteBuffer())
        try writer.value(self)
        return try writer.finish().bytes
    }
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

internal import JSON

/// A key of a JSON object whose name is only known at run time.
struct JSONKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringLiteral name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

typealias JSONObject = KeyedDecodingContainer<JSONKey>

extension KeyedDecodingContainer<JSONKey> {
    /// The member as a text; nil if it is missing or anything else.
    func text(_ key: JSONKey) -> String? {
        // An error that is thrown and dropped costs more than all the rest.
        contains(key) ? try? decode(String.self, forKey: key) : nil
    }

    /// The member as an object; nil if it is missing or anything else.
    func object(_ key: JSONKey) -> JSONObject? {
        contains(key) ? try? nestedContainer(keyedBy: JSONKey.self, forKey: key) : nil
    }

    /// The member as a text that must be there.
    func requiredText(_ key: JSONKey) throws -> String { try decode(String.self, forKey: key) }

    /// The member as `true` or `false`; nil if it is missing or anything else.
    func bool(_ key: JSONKey) -> Bool? {
        contains(key) ? try? decode(Bool.self, forKey: key) : nil
    }

    /// The member as a whole number, which may also come as a text or with a fraction of zero.
    func number(_ key: JSONKey) -> Int64? {
        guard contains(key) else { return nil }
        if let number = try? decode(Int64.self, forKey: key) { return number }
        if let number = try? decode(Double.self, forKey: key) { return Int64(exactly: number) }
        return text(key).flatMap { Int64($0) }
    }

    /// The member as a time; nil if it is missing or anything else.
    func time(_ key: JSONKey) -> APITime? { number(key).map { APITime(milliseconds: $0) } }

    /// The member as a list of texts, which may also come as a single one.
    func texts(_ key: JSONKey) -> [String]? {
        if let texts = try? decode([String].self, forKey: key) { return texts }
        return text(key).map { [$0] }
    }

    /// The member as `T`; nil if it is missing or cannot be read as one.
    func part<T: Decodable>(_ key: JSONKey, as type: T.Type = T.self) -> T? {
        try? decode(T.self, forKey: key)
    }

    /// The member as a list whose unreadable elements are left out; nil if it is no list.
    func list<T: Decodable>(_ key: JSONKey, of type: T.Type = T.self) -> [T]? {
        part(key, as: [Readable<T>].self)?.compactMap(\.value)
    }
}

extension Decoder {
    /// The members of the object that is being decoded.
    func object() throws -> JSONObject { try container(keyedBy: JSONKey.self) }
}

/// An element of a list that is passed over where it cannot be read.
struct Readable<T: Decodable>: Decodable {
    let value: T?

    init(from decoder: any Decoder) { value = try? T(from: decoder) }
}

/// Reads answers.
package enum JSONDecoding {
    /// Decodes `body` in place, without a copy of the bytes. Halves of characters are replaced: one cut
    /// text must not hide all others.
    ///
    /// - Returns: Nil if the bytes are not such a value. The decoder's own error is dropped: it may
    ///   quote what it read.
    package static func value<T: Decodable>(_ type: T.Type, from body: RawSpan) -> T? {
        try? JSONDecoder().decode(T.self, from: body)
    }
}

internal import JSON

/// A JSON member name that is only known at run time.
struct JSONKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringLiteral name: String) { stringValue = name }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

typealias JSONObject = KeyedDecodingContainer<JSONKey>

extension KeyedDecodingContainer<JSONKey> {
    /// Returns the member as a string, or nil if it is missing or of a different type.
    func text(_ key: JSONKey) -> String? {
        // Throwing and discarding an error would cost more than everything else here.
        contains(key) ? try? decode(String.self, forKey: key) : nil
    }

    /// Returns the member as an object, or nil if it is missing or of a different type.
    func object(_ key: JSONKey) -> JSONObject? {
        contains(key) ? try? nestedContainer(keyedBy: JSONKey.self, forKey: key) : nil
    }

    /// Returns the member as a string, or throws if it is missing or of a different type.
    func requiredText(_ key: JSONKey) throws -> String { try decode(String.self, forKey: key) }

    /// Returns the member as a Boolean, or nil if it is missing or of a different type.
    func bool(_ key: JSONKey) -> Bool? {
        contains(key) ? try? decode(Bool.self, forKey: key) : nil
    }

    /// Returns the member as an integer; also accepts a string, or a fraction of zero.
    func number(_ key: JSONKey) -> Int64? {
        guard contains(key) else { return nil }
        if let number = try? decode(Int64.self, forKey: key) { return number }
        if let number = try? decode(Double.self, forKey: key) { return Int64(exactly: number) }
        return text(key).flatMap { Int64($0) }
    }

    /// Returns the member as a time, or nil if it is missing or of a different type.
    func time(_ key: JSONKey) -> APITime? { number(key).map { APITime(milliseconds: $0) } }

    /// Returns the member as a list of strings; also accepts a single string.
    func texts(_ key: JSONKey) -> [String]? {
        if let texts = try? decode([String].self, forKey: key) { return texts }
        return text(key).map { [$0] }
    }

    /// Returns the member as `T`, or nil if it is missing or cannot be decoded.
    func part<T: Decodable>(_ key: JSONKey, as type: T.Type = T.self) -> T? {
        try? decode(T.self, forKey: key)
    }

    /// Returns the member as a list without its undecodable elements, or nil if it is not a list.
    func list<T: Decodable>(_ key: JSONKey, of type: T.Type = T.self) -> [T]? {
        part(key, as: [Readable<T>].self)?.compactMap(\.value)
    }
}

extension Decoder {
    /// Returns the members of the object being decoded.
    func object() throws -> JSONObject { try container(keyedBy: JSONKey.self) }
}

/// A list element that is skipped if it cannot be decoded.
struct Readable<T: Decodable>: Decodable {
    let value: T?

    init(from decoder: any Decoder) { value = try? T(from: decoder) }
}

/// Decodes response bodies.
package enum JSONDecoding {
    /// Decodes `body` in place, without copying the bytes. Unpaired surrogates are replaced, so
    /// that one truncated string does not hide all others.
    ///
    /// - Returns: Nil if the bytes are not valid JSON for `type`. The decoder's own error is
    ///   dropped because it may quote its input.
    package static func value<T: Decodable>(_ type: T.Type, from body: RawSpan) -> T? {
        try? JSONDecoder().decode(T.self, from: body)
    }
}

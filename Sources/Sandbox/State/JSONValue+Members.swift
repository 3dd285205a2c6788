package import JSON

extension JSONValue {
    /// The text, or null.
    init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

    /// The number, or null.
    init(_ number: Int64?) { self = number.map(JSONValue.integer) ?? .null }

    /// An array of texts.
    init(_ texts: [String]) { self = .array(texts.map(JSONValue.string)) }

    /// An object of texts.
    init(_ texts: [String: String]) { self = .members(texts.mapValues(JSONValue.string)) }
}

extension JSONValue: ExpressibleByNilLiteral {
    /// Null; where an optional is expected, `nil` means a missing member instead.
    package init(nilLiteral: ()) { self = .null }
}

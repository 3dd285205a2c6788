package import JSON

extension JSONValue {
    /// A string or null.
    init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

    /// A number or null.
    init(_ number: Int64?) { self = number.map(JSONValue.integer) ?? .null }

    init(_ texts: [String]) { self = .array(texts.map(JSONValue.string)) }

    init(_ texts: [String: String]) { self = .members(texts.mapValues(JSONValue.string)) }
}

extension JSONValue: ExpressibleByNilLiteral {
    /// Null; where an optional is expected, `nil` means an absent member instead.
    package init(nilLiteral: ()) { self = .null }
}

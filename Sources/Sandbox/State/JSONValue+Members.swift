package import JSON

extension JSONValue {
    init(_ texts: [String: String]) { self = .members(texts.mapValues(JSONValue.string)) }
}

extension JSONValue: ExpressibleByNilLiteral {
    /// Null; where an optional is expected, `nil` means an absent member instead.
    package init(nilLiteral: ()) { self = .null }
}

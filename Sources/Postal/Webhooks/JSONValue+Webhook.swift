internal import JSON

extension JSONValue {
    /// The text; nil for anything else, and for an empty one.
    var filledText: String? { string.flatMap { $0.isEmpty ? nil : $0 } }
}

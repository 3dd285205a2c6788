internal import JSON

extension JSONValue {
    /// The text, if there is one and it is not empty.
    var nonEmptyString: String? { string.flatMap { $0.isEmpty ? nil : $0 } }
}

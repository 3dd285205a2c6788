internal import JSON

/// Texts of a schema in a reason: cut, and without what a terminal obeys, because a cloned
/// repository may hold any schema.
enum SchemaText {
    private static let maximumLength = 40
    private static let maximumMembers = 8

    static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars
        var shown = String.UnicodeScalarView()
        for scalar in scalars.prefix(maximumLength) {
            shown.append(JSONText.isUnsafe(scalar) ? "\u{FFFD}" : scalar)
        }
        return String(shown) + (scalars.dropFirst(maximumLength).isEmpty ? "" : "…")
    }

    static func shown(_ members: [String]) -> String {
        members.prefix(maximumMembers).map { shown($0) }.joined(separator: ", ")
            + (members.count > maximumMembers ? ", …" : "")
    }

    /// A number without a fraction of zero.
    static func shown(_ number: Double) -> String {
        Int(exactly: number).map { "\($0)" } ?? "\(number)"
    }

    /// "1 character", "2 characters".
    static func counted(_ number: Double, _ one: String, _ many: String) -> String {
        "\(shown(number)) \(number == 1 ? one : many)"
    }
}

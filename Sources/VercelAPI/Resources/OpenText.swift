/// A text of a known set that the platform extends at will: known ones have names, unknown ones
/// stay as they came.
package protocol OpenText: RawRepresentable<String>, Hashable, Sendable, Codable,
    CustomStringConvertible
{
    /// Wraps the platform's own word.
    init(rawValue: String)
}

extension OpenText {
    /// Decodes from a JSON text.
    package init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    /// The platform's own word.
    package var description: String { rawValue }
}

/// A string enumeration that Vercel may extend: known values have names, unknown ones are kept.
package protocol OpenText: RawRepresentable<String>, Hashable, Sendable, Codable,
    CustomStringConvertible
{
    init(rawValue: String)
}

extension OpenText {
    package init(from decoder: any Decoder) throws {
        self.init(rawValue: try decoder.singleValueContainer().decode(String.self))
    }

    package var description: String { rawValue }
}

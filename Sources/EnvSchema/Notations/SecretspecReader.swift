/// Reads secretspec.toml.
package enum SecretspecReader {
    /// - Parameter target: `production`, `preview`, `development`, or the slug of a custom
    ///   environment. Nil asks for the profile `default`.
    package static func read(_ text: [UInt8], target: String?) throws(SchemaError) -> Schema {
        var reading = SecretspecReading(try TOMLDocument(text))
        reading.readHeader()
        guard let profile = try reading.profile(for: target) else {
            return Schema(notation: .secretspec, notes: reading.sortedNotes)
        }
        let items = reading.items(of: profile)
        return Schema(
            notation: .secretspec, items: items, notes: reading.sortedNotes, profile: profile.name)
    }

    /// The profiles that may stand for a target, best first.
    static func profileNames(for target: String?) -> [String] {
        guard let target else { return [defaultProfile] }
        let others =
            switch target {
            case "production": ["prod"]
            case "preview": ["staging", "stage"]
            case "development": ["dev", "local"]
            default: [String]()
            }
        return [target] + others + [defaultProfile]
    }

    static let defaultProfile = "default"
}

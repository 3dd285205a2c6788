package import Vault

/// A Vercel project that members are asked to bind a shared project to.
package struct GroupBinding: Hashable, Sendable {
    /// The API origin.
    package let origin: String
    /// Vercel's id; nil for a personal account.
    package let team: String?
    /// Vercel's id.
    package let project: String
    /// For people.
    package let name: String

    package init(origin: String, team: String?, project: String, name: String) {
        self.origin = origin
        self.team = team
        self.project = project
        self.name = name
    }

    package func encode(into writer: inout ByteWriter) {
        writer.text(origin)
        writer.optionalText(team)
        writer.text(project)
        writer.text(name)
    }

    package static func decode(from reader: inout ByteReader) throws(VaultError) -> GroupBinding {
        GroupBinding(
            origin: try reader.filledText(limit: GroupLimits.text),
            team: try reader.optionalText(limit: GroupLimits.text),
            project: try reader.filledText(limit: GroupLimits.text),
            name: try reader.text(limit: GroupLimits.text))
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        encode(into: &writer)
        return writer.bytes
    }
}

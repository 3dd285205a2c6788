/// A set of variables in the vault, optionally bound to a project on Vercel.
package struct VaultProject: Equatable, Sendable {
    /// The Vercel project that a project is bound to.
    package struct Binding: Equatable, Sendable {
        /// The API's origin, such as "https://api.vercel.com".
        package var origin: String
        /// The Vercel id of the user through whom it was bound.
        package var accountID: String
        /// The team's id on Vercel, for a team's project.
        package var teamID: String?
        /// The team's slug, for display.
        package var teamSlug: String?
        /// The project's id on Vercel.
        package var projectID: String
        /// The project's name on Vercel when it was bound.
        package var projectName: String

        package init(
            origin: String, accountID: String, teamID: String?, teamSlug: String?,
            projectID: String, projectName: String
        ) {
            self.origin = origin
            self.accountID = accountID
            self.teamID = teamID
            self.teamSlug = teamSlug
            self.projectID = projectID
            self.projectName = projectName
        }
    }

    /// The deployment that serves production, as last seen.
    package struct LiveDeployment: Equatable, Sendable {
        /// The id on Vercel.
        package var id: String
        /// Vercel's creation time, in milliseconds since 1970.
        package var createdAt: UInt64

        package init(id: String, createdAt: UInt64) {
            self.id = id
            self.createdAt = createdAt
        }
    }

    /// Permanent, even if the project is renamed.
    package let id: Identifier
    /// The name for people, unique in a vault.
    package var name: String
    /// Milliseconds since 1970.
    package let createdAt: UInt64
    /// The project on Vercel, if bound.
    package var binding: Binding?
    /// The live deployment, as last seen. Not in the vault.
    package var live: LiveDeployment?
    /// When Vercel was last checked, by this machine's clock; 0 for never. Not in the vault.
    package var seenAt: UInt64

    package init(id: Identifier = .random(), name: String, createdAt: UInt64) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
        seenAt = 0
    }

    func encode(into writer: inout ByteWriter) {
        writer.identifier(id)
        writer.text(name)
        writer.uint64(createdAt)
        Binding.encode(binding, into: &writer)
    }

    static let minimumByteCount = 29

    static func decode(from reader: inout ByteReader) throws(VaultError) -> VaultProject {
        let id = try reader.identifier()
        let name = try reader.text(limit: VaultFormat.nameLimit)
        var project = VaultProject(id: id, name: name, createdAt: try reader.uint64())
        project.binding = try Binding.decode(from: &reader)
        guard !name.isEmpty else { throw VaultError(damaged: .encoding, "a project has no name") }
        return project
    }
}

extension VaultProject.Binding {
    /// Encodes an optional binding.
    static func encode(_ binding: Self?, into writer: inout ByteWriter) {
        writer.flag(binding != nil)
        guard let binding else { return }
        writer.text(binding.origin)
        writer.text(binding.accountID)
        writer.optionalText(binding.teamID)
        writer.optionalText(binding.teamSlug)
        writer.text(binding.projectID)
        writer.text(binding.projectName)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> Self? {
        let limit = VaultFormat.textLimit
        guard try reader.flag() else { return nil }
        return Self(
            origin: try reader.text(limit: limit), accountID: try reader.text(limit: limit),
            teamID: try reader.optionalText(limit: limit),
            teamSlug: try reader.optionalText(limit: limit),
            projectID: try reader.text(limit: limit),
            projectName: try reader.text(limit: limit))
    }
}

/// A group of variables in the vault and, once bound, one project of the platform.
package struct VaultProject: Equatable, Sendable {
    /// The platform's project that a vault project belongs to.
    package struct Binding: Equatable, Sendable {
        /// The API's origin, such as "https://api.vercel.com".
        package var origin: String
        /// The platform's id of the user through whom it was bound.
        package var accountID: String
        /// The platform's id of the team, where it is a team's project.
        package var teamID: String?
        /// The team's slug, for people.
        package var teamSlug: String?
        /// The platform's id of the project.
        package var projectID: String
        /// The project's name on the platform when it was bound.
        package var projectName: String

        /// Names all parts.
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
        /// The platform's id.
        package var id: String
        /// The platform's time of creation, in milliseconds since 1970.
        package var createdAt: UInt64

        /// Names both.
        package init(id: String, createdAt: UInt64) {
            self.id = id
            self.createdAt = createdAt
        }
    }

    /// Names the project for ever, whatever it is called.
    package let id: Identifier
    /// What people call it; one in a vault.
    package var name: String
    /// Milliseconds since 1970.
    package let createdAt: UInt64
    /// The platform's project, where there is one.
    package var binding: Binding?
    /// What serves production, as last seen.
    package var live: LiveDeployment?
    /// When the platform was last seen, by this machine's clock; 0 for never.
    package var seenAt: UInt64

    /// Makes an unbound project.
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
        writer.flag(live != nil)
        if let live {
            writer.text(live.id)
            writer.uint64(live.createdAt)
        }
        writer.uint64(seenAt)
    }

    static func decode(from reader: inout ByteReader) throws(VaultError) -> VaultProject {
        let limit = VaultFormat.textLimit
        let id = try reader.identifier()
        let name = try reader.text(limit: VaultFormat.nameLimit)
        var project = VaultProject(id: id, name: name, createdAt: try reader.uint64())
        project.binding = try Binding.decode(from: &reader)
        if try reader.flag() {
            project.live = LiveDeployment(
                id: try reader.text(limit: limit), createdAt: try reader.uint64())
        }
        project.seenAt = try reader.uint64()
        guard !name.isEmpty else { throw VaultError(damaged: .encoding, "a project has no name") }
        return project
    }
}

extension VaultProject.Binding {
    /// Writes a binding that may be absent.
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

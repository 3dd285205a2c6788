package import Vault
package import VercelAPI

/// A variable on Vercel, in the vault's terms.
package struct VercelRecord: Equatable, Sendable {
    /// Vercel's id.
    package let id: String
    package let key: String
    /// Type, scope and comment; custom environments by their names in the vault.
    package let attributes: VariableAttributes
    /// Vercel's modification time, in milliseconds since 1970.
    package private(set) var updatedAt: UInt64
    /// Vercel's creation time, in milliseconds since 1970; 0 if unknown.
    package let createdAt: UInt64
    /// The user who last changed it, if Vercel reports it.
    package let updatedBy: String?
    /// Vercel's id of the user who last changed it or, if nobody did, created it.
    package let author: String?
    /// The display name of the user who last changed it, if Vercel reports it.
    let editorName: String?
    /// What an integration says that it put there; nil if the project alone has it.
    package let integration: String?

    /// Converts a record of the API.
    package init(_ variable: EnvironmentVariable, environments: CustomEnvironmentNames) {
        id = variable.id
        key = variable.key
        var targets: Scope.Targets = []
        for target in variable.targets {
            targets.formUnion(Scope.Targets(name: target.rawValue) ?? [])
        }
        attributes = VariableAttributes(
            kind: VariableAttributes.Kind(name: variable.type.rawValue) ?? .encrypted,
            scope: Scope(
                targets: targets,
                customEnvironments: variable.customEnvironmentIds.map { environments.name(of: $0) },
                branch: variable.gitBranch),
            comment: variable.comment.flatMap { $0.isEmpty ? nil : $0 })
        updatedAt = UInt64(clamping: (variable.updatedAt ?? variable.createdAt)?.milliseconds ?? 0)
        createdAt = UInt64(clamping: variable.createdAt?.milliseconds ?? 0)
        updatedBy = variable.updatedBy
        author = variable.updatedBy ?? variable.createdBy
        integration = variable.integration
        editorName = variable.editorName.flatMap { $0.isEmpty ? nil : String($0.prefix(64)) }
    }

    /// Returns the record with an earlier modification time.
    func agreed(at time: UInt64) -> VercelRecord {
        var record = self
        record.updatedAt = time
        return record
    }

    /// Returns the author for a sentence: " by …", or an empty string if unknown.
    ///
    /// - Parameters:
    ///   - id: Vercel's id of a user, which means nothing to people.
    ///   - own: Vercel's id of this program's user; nil or empty if unknown.
    package func phrase(for id: String?, as own: String?) -> String {
        let isOwnKnown = own.map { !$0.isEmpty } ?? false
        if isOwnKnown, id == own { return " by your account" }
        if let editorName { return " by \(editorName)" }
        return id != nil && isOwnKnown ? " by another user" : ""
    }
}

/// Maps between the slugs of custom environments, which people use, and the ids, which Vercel
/// requires.
package struct CustomEnvironmentNames: Equatable, Sendable {
    private let idsBySlug: [String: String]
    private let slugsByID: [String: String]

    /// Uses Vercel's list; with an empty one, names stay unchanged.
    package init(_ environments: [CustomEnvironment]) {
        idsBySlug = Dictionary(firstOf: environments.map { ($0.slug, $0.id) })
        slugsByID = Dictionary(firstOf: environments.map { ($0.id, $0.slug) })
    }

    /// Returns the slug for an id, or the id itself if it is unknown.
    func name(of id: String) -> String { slugsByID[id] ?? id }

    /// Returns the id of an environment by slug or id, or nil if it is unknown.
    package func id(of name: String) -> String? {
        idsBySlug[name] ?? (slugsByID[name] == nil ? nil : name)
    }
}

package import Vault
package import VercelAPI

/// A variable as the platform has it, in the vault's terms.
package struct PlatformRecord: Equatable, Sendable {
    /// The platform's id.
    package let id: String
    /// The key.
    package let key: String
    /// Type, scope and comment; custom environments by the names the vault knows them by.
    package let attributes: VariableAttributes
    /// The platform's time of change, in milliseconds since 1970.
    package private(set) var updatedAt: UInt64
    /// When it was made, by the platform's clock, in milliseconds since 1970; 0 where it does not say.
    let createdAt: UInt64
    /// Who changed it last, where the platform says.
    package let updatedBy: String?
    /// Who changed it last or, where nobody did, made it: the platform's id of a user.
    package let author: String?
    /// What the platform calls whoever changed it last, where it says.
    let editorName: String?

    /// Translates a record of the API.
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
        editorName = variable.editorName.flatMap { $0.isEmpty ? nil : String($0.prefix(64)) }
    }

    /// The same record with an earlier time of change.
    func agreed(at time: UInt64) -> PlatformRecord {
        var record = self
        record.updatedAt = time
        return record
    }

    /// Who changed or made it, for a sentence: " by …", or nothing where that is not known.
    ///
    /// - Parameters:
    ///   - id: The platform's id of a user, which says nothing to people.
    ///   - own: The platform's id of the user of this program; nil or empty where it is not known.
    package func phrase(for id: String?, as own: String?) -> String {
        let isOwnKnown = own.map { !$0.isEmpty } ?? false
        if isOwnKnown, id == own { return " by you, elsewhere" }
        if let editorName { return " by \(editorName)" }
        return id != nil && isOwnKnown ? " by another user" : ""
    }
}

/// The two names of custom environments: the slug people use, and the id the platform wants.
package struct CustomEnvironmentNames: Equatable, Sendable {
    private let idsBySlug: [String: String]
    private let slugsByID: [String: String]

    /// Takes what the platform lists; an empty list leaves every name as it is.
    package init(_ environments: [CustomEnvironment]) {
        idsBySlug = Dictionary(
            environments.map { ($0.slug, $0.id) }, uniquingKeysWith: { first, _ in first })
        slugsByID = Dictionary(
            environments.map { ($0.id, $0.slug) }, uniquingKeysWith: { first, _ in first })
    }

    /// What people call the environment of an id.
    func name(of id: String) -> String { slugsByID[id] ?? id }

    /// The id of an environment by slug or id; nil where the platform has none.
    package func id(of name: String) -> String? {
        idsBySlug[name] ?? (slugsByID[name] == nil ? nil : name)
    }
}

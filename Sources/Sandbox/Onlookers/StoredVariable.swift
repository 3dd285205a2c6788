/// A variable in the sandbox, with its value for any type.
package struct StoredVariable: Sendable, Equatable {
    package let id: String
    package let key: String
    /// The clear value.
    package let value: String
    /// `system`, `encrypted`, `plain` or `sensitive`.
    package let type: String
    /// Whether it counts as a Secret, by its type or its visibility.
    package let isSecret: Bool
    /// What an integration says that it is; `nil` if none manages it.
    package let integration: String?
    /// `production`, `preview`, `development`.
    package let targets: [String]
    package let customEnvironmentIds: [String]
    /// The branch of a preview record; `nil` for all.
    package let gitBranch: String?
    package let comment: String?
    /// Milliseconds since 1970.
    package let updatedAt: Int64
    /// The id of the creator.
    package let createdBy: String?
    /// The id of the last editor, if any.
    package let updatedBy: String?

    init(_ variable: EnvironmentVariable) {
        id = variable.id
        key = variable.key
        value = variable.value
        type = variable.type.rawValue
        isSecret = variable.isSecret
        integration = variable.integration
        targets = variable.targets.map(\.rawValue)
        customEnvironmentIds = variable.customEnvironmentIds
        gitBranch = variable.gitBranch
        comment = variable.comment
        updatedAt = variable.updatedAt
        createdBy = variable.createdBy
        updatedBy = variable.updatedBy
    }
}

/// One variable as the sandbox keeps it, with its value whatever its type.
package struct StoredVariable: Sendable, Equatable {
    /// The record's id.
    package let id: String
    /// The name.
    package let key: String
    /// The clear value.
    package let value: String
    /// `system`, `encrypted`, `plain` or `sensitive`.
    package let type: String
    /// `production`, `preview`, `development`.
    package let targets: [String]
    /// The ids of custom environments.
    package let customEnvironmentIds: [String]
    /// The branch of a preview record, `nil` for all.
    package let gitBranch: String?
    /// What was noted beside it.
    package let comment: String?
    /// Milliseconds since 1970.
    package let updatedAt: Int64
    /// The id of the user who made it.
    package let createdBy: String?
    /// The id of the user who changed it last, `nil` when nobody did.
    package let updatedBy: String?

    /// The record as it is kept.
    init(_ variable: EnvironmentVariable) {
        id = variable.id
        key = variable.key
        value = variable.value
        type = variable.type.rawValue
        targets = variable.targets.map(\.rawValue)
        customEnvironmentIds = variable.customEnvironmentIds
        gitBranch = variable.gitBranch
        comment = variable.comment
        updatedAt = variable.updatedAt
        createdBy = variable.createdBy
        updatedBy = variable.updatedBy
    }
}

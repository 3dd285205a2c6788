/// A variable of a team that several projects use.
package struct SharedVariable: Codable, Sendable, Equatable {
    /// The id, `env_…`.
    package let id: String
    /// The variable's name.
    package let key: String
    /// How the platform keeps the value.
    package let type: EnvironmentVariable.Kind
    /// What it is for.
    package let targets: [EnvironmentVariable.Target]
    /// The projects that use it, by their ids.
    package let projectIds: [String]
    /// Whether it is for all custom environments too.
    package let appliesToAllCustomEnvironments: Bool
    /// A note.
    package let comment: String?
    /// When it was made.
    package let createdAt: APITime?
    /// When it was changed last.
    package let updatedAt: APITime?

    /// All that is ever written of one, to be kept.
    private enum CodingKeys: String, CodingKey {
        case id, key, type, comment, createdAt, updatedAt
        case targets = "target"
        case projectIds = "projectId"
        case appliesToAllCustomEnvironments = "applyToAllCustomEnvironments"
    }

    /// Reads a record. The value is passed over.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.requiredText("id")
        key = try object.requiredText("key")
        type = EnvironmentVariable.Kind(rawValue: object.text("type") ?? "unknown")
        targets = (object.texts("target") ?? []).map { .init(rawValue: $0) }
        projectIds = object.texts("projectId") ?? []
        appliesToAllCustomEnvironments = object.bool("applyToAllCustomEnvironments") ?? false
        comment = object.text("comment")
        createdAt = object.time("createdAt")
        updatedAt = object.time("updatedAt")
    }
}

extension SharedVariable: ListElement {
    static var listNames: [JSONKey] { ["data", "envs"] }
}

extension VercelClient {
    /// Lists the shared variables of the team, without values.
    ///
    /// - Parameter projectId: Only those that this project uses.
    package func sharedVariables(
        usedByProject projectId: String? = nil
    ) throws(VercelAPIError) -> [SharedVariable] {
        try list(try sharedVariablesCall(projectId), cursor: "until")
    }

    func sharedVariablesCall(_ projectId: String?) throws(VercelAPIError) -> APICall {
        try APICall(.get, "/v1/env", query: [("projectId", projectId)])
    }
}

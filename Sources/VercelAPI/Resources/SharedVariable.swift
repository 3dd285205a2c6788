internal import HTTPClient

/// A variable of a team that several projects use.
package struct SharedVariable: Codable, Sendable, Equatable {
    /// The id, `env_…`.
    package let id: String
    package let key: String
    package let type: EnvironmentVariable.Kind
    package let targets: [EnvironmentVariable.Target]
    /// The ids of the projects that use it.
    package let projectIds: [String]
    /// Whether it also applies to all custom environments.
    package let appliesToAllCustomEnvironments: Bool
    package let comment: String?
    package let createdAt: APITime?
    package let updatedAt: APITime?

    /// The members of the cached form.
    private enum CodingKeys: String, CodingKey {
        case id, key, type, comment, createdAt, updatedAt
        case targets = "target"
        case projectIds = "projectId"
        case appliesToAllCustomEnvironments = "applyToAllCustomEnvironments"
    }

    /// Decodes a record, skipping the value.
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

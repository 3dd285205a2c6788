/// An environment of a project besides production, preview and development.
package struct CustomEnvironment: Decodable, Sendable, Equatable {
    /// The id, `env_…`.
    package let id: String
    /// The name.
    package let slug: String
    /// `production`, `preview` or `development`: what it behaves like.
    package let type: String?
    /// A note.
    package let note: String?
    /// When it was changed last.
    package let updatedAt: APITime?

    /// Reads a record.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.requiredText("id")
        slug = try object.requiredText("slug")
        type = object.text("type")
        note = object.text("description")
        updatedAt = object.time("updatedAt")
    }
}

extension CustomEnvironment: ListElement {
    static var listNames: [JSONKey] { ["environments"] }
}

extension VercelClient {
    /// Lists the custom environments of a project. A plan without them has none, which is not an
    /// error.
    package func customEnvironments(
        ofProject project: String
    ) throws(VercelAPIError) -> [CustomEnvironment] {
        let call = try customEnvironmentsCall(project)
        return try customEnvironments { () throws(VercelAPIError) in
            try self.list(call, cursor: "until")
        }
    }

    func customEnvironmentsCall(_ project: String) throws(VercelAPIError) -> APICall {
        try APICall(.get, "/v9/projects/\(project)/custom-environments")
    }

    /// None where the plan of the account has none.
    func customEnvironments(
        _ list: () throws(VercelAPIError) -> [CustomEnvironment]
    ) throws(VercelAPIError) -> [CustomEnvironment] {
        do throws(VercelAPIError) {
            return try list()
        } catch {
            guard error.code == .notFound else { throw error }
            return []
        }
    }
}

internal import HTTPClient

/// An environment of a project other than production, preview and development.
package struct CustomEnvironment: Decodable, Sendable, Equatable {
    /// The id, `env_…`.
    package let id: String
    package let slug: String

    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.requiredText("id")
        slug = try object.requiredText("slug")
    }
}

extension CustomEnvironment: ListElement {
    static var listNames: [JSONKey] { ["environments"] }
}

extension VercelClient {
    /// Lists the custom environments of a project; empty if the account's plan has none.
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

    /// Calls `list`; returns an empty list if the account's plan has no custom environments.
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

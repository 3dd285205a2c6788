/// A domain of a deployment.
package struct DeploymentAlias: Decodable, Sendable, Equatable {
    package let id: String
    /// The host name.
    package let alias: String
    package let createdAt: APITime?
    /// The host name it redirects to.
    package let redirect: String?

    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        alias = try object.requiredText("alias")
        id = object.text("uid") ?? object.text("id") ?? alias
        createdAt = object.time("createdAt") ?? object.time("created")
        redirect = object.text("redirect")
    }
}

extension DeploymentAlias: ListElement {
    static var listNames: [JSONKey] { ["aliases"] }
}

extension VercelClient {
    /// Lists the domains of a deployment.
    package func aliases(
        ofDeployment id: String
    ) throws(VercelAPIError) -> [DeploymentAlias] {
        try list(try APICall(.get, "/v2/deployments/\(id)/aliases"), cursor: "until")
    }
}

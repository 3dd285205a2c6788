internal import HTTPClient
internal import JSON

/// A project on Vercel.
package struct Project: Codable, Sendable, Equatable {
    /// The id, `prj_…`.
    package let id: String
    /// The name; unique in its scope.
    package let name: String
    /// The user or team that owns it.
    package let accountId: String?
    package let framework: String?
    package let updatedAt: APITime?
    /// The repository it is built from.
    package let link: Link?
    /// The live deployment, if there is one and the response contains it.
    package let production: Deployment?
    package let latestDeployments: [Deployment]
    /// The latest promotion or rollback.
    package let lastAliasRequest: AliasRequest?
    /// Whether production deployments get the domains automatically; nil if the response does not
    /// say.
    package let assignsDomains: Bool?

    /// Whether production was rolled back, so that new deployments go live only by a promotion. False
    /// if the project was read without the latest promotion or rollback.
    package var isRolledBack: Bool {
        guard assignsDomains != true, let request = lastAliasRequest else { return false }
        return request.type == "rollback" && request.jobStatus == .succeeded
            && request.toDeploymentId == production?.id
    }

    package struct Link: Decodable, Sendable, Equatable {
        /// The production branch, which cannot have preview variables.
        package let productionBranch: String?

        package init(from decoder: any Decoder) throws {
            productionBranch = try decoder.object().text("productionBranch")
        }
    }

    /// A requested promotion or rollback.
    package struct AliasRequest: Decodable, Sendable, Equatable {
        package let jobStatus: JobStatus
        /// The deployment that becomes live.
        package let toDeploymentId: String?
        /// `promote` or `rollback`.
        package let type: String?

        package init(from decoder: any Decoder) throws {
            let object = try decoder.object()
            jobStatus = JobStatus(rawValue: try object.requiredText("jobStatus"))
            toDeploymentId = object.text("toDeploymentId")
            type = object.text("type")
        }
    }

    /// The progress of a promotion or rollback.
    package struct JobStatus: OpenText {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        package static var succeeded: Self { Self(rawValue: "succeeded") }
        /// Failed permanently.
        package static var failed: Self { Self(rawValue: "failed") }
        /// Not necessary.
        package static var skipped: Self { Self(rawValue: "skipped") }
        package static var pending: Self { Self(rawValue: "pending") }
        package static var inProgress: Self { Self(rawValue: "in-progress") }
    }

    /// The members of the cached form.
    private enum CodingKeys: String, CodingKey {
        case id, name, accountId, framework, updatedAt, production
    }

    /// Decodes the API's form or the cached one.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.requiredText("id")
        name = try object.requiredText("name")
        accountId = object.text("accountId")
        framework = object.text("framework")
        updatedAt = object.time("updatedAt")
        link = object.part("link")
        production = object.object("targets")?.part("production") ?? object.part("production")
        latestDeployments = object.list("latestDeployments") ?? []
        lastAliasRequest = object.part("lastAliasRequest")
        assignsDomains = object.bool("autoAssignCustomDomains")
    }
}

extension Project: ListElement {
    static var listNames: [JSONKey] { ["projects"] }
}

extension VercelClient {
    /// Lists the projects of the scope.
    ///
    /// - Parameters:
    ///   - search: Only projects whose name contains this.
    ///   - limit: The largest number of projects; a request returns a hundred.
    package func projects(
        search: String? = nil, limit: Int = .max
    ) throws(VercelAPIError) -> [Project] {
        let call = try APICall(
            .get, "/v10/projects", query: [("limit", "100"), ("search", search)])
        return try list(call, cursor: "from", limit: limit)
    }

    /// Reads one project by its id or name.
    ///
    /// - Parameter withRollbackInfo: Whether to include the latest promotion or rollback.
    package func project(
        _ idOrName: String, withRollbackInfo: Bool = false
    ) throws(VercelAPIError) -> Project {
        let call = try projectCall(idOrName, withRollbackInfo: withRollbackInfo)
        return try read(try perform(call), as: Project.self)
    }

    /// Creates a project without a repository or a deployment.
    ///
    /// - Throws: ``VercelAPIError/Code/conflict`` if the scope has a project of that name.
    package func createProject(_ name: String) throws(VercelAPIError) -> Project {
        var call = try APICall(.post, "/v11/projects")
        call.names = [name]
        try call.writeObject { (json) throws(OutputError) in try json.member("name", name) }
        return try readCreated(try perform(call), as: Project.self)
    }

    func projectCall(
        _ idOrName: String, withRollbackInfo: Bool = false
    ) throws(VercelAPIError) -> APICall {
        try APICall(
            .get, "/v9/projects/\(idOrName)",
            query: [("rollbackInfo", withRollbackInfo ? "true" : nil)])
    }
}

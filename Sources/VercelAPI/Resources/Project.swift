/// A project.
package struct Project: Codable, Sendable, Equatable {
    /// The id, `prj_…`.
    package let id: String
    /// The name; unique in its scope.
    package let name: String
    /// The user or team it belongs to.
    package let accountId: String?
    /// The framework it is built with.
    package let framework: String?
    /// When it was made.
    package let createdAt: APITime?
    /// When its settings were changed last.
    package let updatedAt: APITime?
    /// The repository it is built from.
    package let link: Link?
    /// The current production deployment, if there is one and the answer tells.
    package let production: Deployment?
    /// The newest deployments.
    package let latestDeployments: [Deployment]
    /// The latest promotion or rollback.
    package let lastAliasRequest: AliasRequest?
    /// Whether a gradual release is set up.
    package let hasRollingRelease: Bool
    /// Whether production deployments get the domains by themselves; nil where the answer does not tell.
    package let assignsDomains: Bool?

    /// The repository of a project.
    package struct Link: Decodable, Sendable, Equatable {
        /// `github`, `gitlab`, `bitbucket` or another word.
        package let type: String?
        /// Owner and name, as far as they are told.
        package let repository: String?
        /// The branch that production is built from; preview variables cannot be for it.
        package let productionBranch: String?

        /// Reads the members of whatever service it is.
        package init(from decoder: any Decoder) throws {
            let object = try decoder.object()
            type = object.text("type")
            productionBranch = object.text("productionBranch")
            let owner =
                object.text("org") ?? object.text("projectNamespace") ?? object.text("owner")
            let name = object.text("repo") ?? object.text("projectName") ?? object.text("slug")
            repository = [owner, name].compactMap { $0 }.joined(separator: "/")
        }
    }

    /// A promotion or rollback that was asked for.
    package struct AliasRequest: Decodable, Sendable, Equatable {
        /// How far it is.
        package let jobStatus: JobStatus
        /// The deployment that was current.
        package let fromDeploymentId: String?
        /// The deployment that becomes current.
        package let toDeploymentId: String?
        /// When it was asked for.
        package let requestedAt: APITime?
        /// `promote` or `rollback`.
        package let type: String?

        /// Reads a request.
        package init(from decoder: any Decoder) throws {
            let object = try decoder.object()
            jobStatus = JobStatus(rawValue: try object.requiredText("jobStatus"))
            fromDeploymentId = object.text("fromDeploymentId")
            toDeploymentId = object.text("toDeploymentId")
            requestedAt = object.time("requestedAt")
            type = object.text("type")
        }
    }

    /// How far a promotion or rollback is.
    package struct JobStatus: OpenText {
        /// The platform's own word.
        package let rawValue: String
        /// Wraps the platform's own word.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// Done.
        package static var succeeded: Self { Self(rawValue: "succeeded") }
        /// Not done, for good.
        package static var failed: Self { Self(rawValue: "failed") }
        /// Not needed.
        package static var skipped: Self { Self(rawValue: "skipped") }
        /// Not begun.
        package static var pending: Self { Self(rawValue: "pending") }
        /// Begun.
        package static var inProgress: Self { Self(rawValue: "in-progress") }
    }

    /// All that is ever written of one, to be kept.
    private enum CodingKeys: String, CodingKey {
        case id, name, accountId, framework, updatedAt, production
    }

    /// Reads a project, in the platform's form or in the one that is kept.
    package init(from decoder: any Decoder) throws {
        let object = try decoder.object()
        id = try object.requiredText("id")
        name = try object.requiredText("name")
        accountId = object.text("accountId")
        framework = object.text("framework")
        createdAt = object.time("createdAt")
        updatedAt = object.time("updatedAt")
        link = object.part("link")
        let targets = try? object.nestedContainer(keyedBy: JSONKey.self, forKey: "targets")
        production = targets?.part("production") ?? object.part("production")
        latestDeployments = object.list("latestDeployments") ?? []
        lastAliasRequest = object.part("lastAliasRequest")
        assignsDomains = object.bool("autoAssignCustomDomains")
        hasRollingRelease =
            object.contains("rollingRelease")
            && (try? object.decodeNil(forKey: "rollingRelease")) == false
    }
}

extension Project: ListElement {
    static var listNames: [JSONKey] { ["projects"] }
}

extension VercelClient {
    /// Reads the projects of the scope.
    ///
    /// - Parameters:
    ///   - search: Only those whose name holds it.
    ///   - limit: The largest number of them; a hundred take one request.
    package func projects(
        search: String? = nil, limit: Int = .max
    ) throws(VercelAPIError) -> [Project] {
        let call = try APICall(
            .get, "/v10/projects", query: [("limit", "100"), ("search", search)])
        return try list(call, cursor: "from", limit: limit)
    }

    /// Reads one project by its id or name.
    ///
    /// - Parameter withRollbackInfo: Asks for the latest promotion or rollback too.
    package func project(
        _ idOrName: String, withRollbackInfo: Bool = false
    ) throws(VercelAPIError) -> Project {
        let call = try projectCall(idOrName, withRollbackInfo: withRollbackInfo)
        return try read(try perform(call), as: Project.self)
    }

    func projectCall(
        _ idOrName: String, withRollbackInfo: Bool = false
    ) throws(VercelAPIError) -> APICall {
        try APICall(
            .get, "/v9/projects/\(idOrName)",
            query: [("rollbackInfo", withRollbackInfo ? "true" : nil)])
    }
}

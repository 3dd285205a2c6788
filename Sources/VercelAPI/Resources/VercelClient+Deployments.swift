internal import HTTPClient
internal import JSON

/// Selects the deployments to list.
package struct DeploymentFilter: Sendable, Equatable {
    /// Only deployments of this project, by its id.
    package var projectId: String?
    /// `production`, `preview` or `staging`.
    package var target: String?
    /// Only deployments in one of these states.
    package var states: [Deployment.State] = []
    package var branch: String?
    package var commit: String?
    /// Only deployments created after this time.
    package var since: APITime?
    /// Only deployments created before this time.
    package var until: APITime?
    /// Only deployments that production can be rolled back to.
    package var isRollbackCandidate: Bool?
    /// The largest number of deployments.
    package var limit = 20

    /// Creates a filter that matches everything, or what one project deployed for one target.
    package init(project: String? = nil, target: String? = nil, limit: Int = 20) {
        (projectId, self.target, self.limit) = (project, target, limit)
    }
}

/// A redeploy of an existing deployment's source.
package struct NewDeployment: Sendable, Equatable {
    /// The deployment whose source is used.
    package var sourceId: String
    /// The project's name.
    package var projectName: String
    /// `production` or `staging`; nil for a preview.
    package var target: String?
    /// A custom environment, by id or name.
    package var customEnvironment: String?
    /// Whether to use the build cache.
    package var usesCache = false
    /// Whether to use the newest commit of the branch instead of the source's own.
    package var usesLatestCommit = false
    /// The recorded reason: `redeploy` or `promote`.
    package var action = "redeploy"
    /// The deployment marker, by which a deployment is found if its response is lost.
    package var mark: String?

    /// The name of ``mark`` in a deployment's `meta`.
    static let markName = "zgEnvMark"

    /// Creates a description of a build of the same commit without cache.
    package init(sourceId: String, projectName: String, target: String? = nil) {
        self.sourceId = sourceId
        self.projectName = projectName
        self.target = target
    }
}

/// The result of a deletion.
package enum DeletionOutcome: Sendable, Equatable {
    case deleted
    /// It was not found by a retry, so the first attempt most likely deleted it.
    case alreadyGone
}

extension VercelClient {
    /// Lists deployments, newest first.
    package func deployments(_ filter: DeploymentFilter) throws(VercelAPIError) -> [Deployment] {
        let states = filter.states.map(\.rawValue).joined(separator: ",")
        let call = try APICall(
            .get, "/v6/deployments",
            query: [
                ("projectId", filter.projectId), ("target", filter.target),
                ("state", states.isEmpty ? nil : states), ("branch", filter.branch),
                ("sha", filter.commit), ("since", filter.since.map { String($0.milliseconds) }),
                ("until", filter.until.map { String($0.milliseconds) }),
                ("rollbackCandidate", filter.isRollbackCandidate.map { $0 ? "true" : "false" }),
                ("limit", String(min(max(filter.limit, 1), 100))),
            ])
        return try list(call, cursor: "until", limit: max(filter.limit, 0))
    }

    /// Reads one deployment by its id or host name.
    ///
    /// - Throws: ``VercelAPIError/Code/notFound`` also for a malformed id.
    package func deployment(_ idOrHost: String) throws(VercelAPIError) -> Deployment {
        let call = try APICall(.get, "/v13/deployments/\(idOrHost)")
        do throws(VercelAPIError) {
            return try read(try perform(call), as: Deployment.self)
        } catch {
            guard error.code == .badRequest, error.vercelMessage?.contains("`id`") == true
            else { throw error }
            throw error.recoded(.notFound, reason: "not found, and not a deployment ID")
        }
    }

    /// Creates a deployment.
    ///
    /// - Throws: ``VercelAPIError/Code/outcomeUnknown`` if it may have been created. Before trying
    ///   again, look for a deployment with the same ``NewDeployment/mark``.
    package func createDeployment(_ new: NewDeployment) throws(VercelAPIError) -> Deployment {
        var call = try APICall(
            .post, "/v13/deployments",
            query: [("forceNew", "1"), ("withCache", new.usesCache ? "1" : nil)])
        try call.writeObject { (json) throws(OutputError) in
            try json.member("deploymentId", new.sourceId)
            try json.member("name", new.projectName)
            if let target = new.target { try json.member("target", target) }
            if let environment = new.customEnvironment {
                try json.member("customEnvironmentSlugOrId", environment)
            }
            if new.usesLatestCommit {
                try json.name("withLatestCommit")
                try json.bool(true)
            }
            try json.name("meta")
            try json.object { (json) throws(OutputError) in
                try json.member("action", new.action)
                if let mark = new.mark { try json.member(NewDeployment.markName, mark) }
            }
        }
        return try readCreated(try perform(call), as: Deployment.self)
    }

    /// Cancels an unfinished deployment.
    package func cancelDeployment(_ id: String) throws(VercelAPIError) -> Deployment {
        try read(
            try perform(try APICall(.patch, "/v12/deployments/\(id)/cancel")),
            as: Deployment.self)
    }

    /// Deletes a deployment.
    package func deleteDeployment(_ id: String) throws(VercelAPIError) -> DeletionOutcome {
        try delete(try APICall(.delete, "/v13/deployments/\(id)"))
    }

    /// Makes a call that deletes. Not found is accepted only for a retry.
    func delete(_ call: APICall) throws(VercelAPIError) -> DeletionOutcome {
        var call = call
        call.expectation = .nothingOrJSON
        do throws(VercelAPIError) {
            _ = try perform(call)
            return .deleted
        } catch {
            guard error.code == .notFound, error.isAfterRepeat else { throw error }
            return .alreadyGone
        }
    }

    /// Decodes the response to a call that created something, which exists even if that fails.
    func readCreated<T: Decodable>(
        _ answer: APIResult, as type: T.Type
    ) throws(VercelAPIError) -> T {
        do throws(VercelAPIError) {
            return try read(answer, as: type)
        } catch {
            throw error.recoded(
                .outcomeUnknown,
                reason: "Vercel accepted the request, but its response cannot be read",
                hint: "check whether the change was made before trying again")
        }
    }
}
